"""The shape of the code, held by tests: who may import whom, how long things are, what is never written."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LONGEST_MODULE = 330
LONGEST_FUNCTION = 60

# Any module may import these; what these may import stands in their own rows.
FREE = {"problems", "registry", "limits"}
# module or package of ragdash → what of ours it may import beside itself and FREE. "*" is anything but ui and cli.
MAY_IMPORT: dict[str, set[str]] = {
    "problems": set(),
    "registry": {"problems"},
    "limits": set(),
    "casting": {"limits"},
    "schema": {"casting"},
    "sources": set(),
    "ranking": set(),
    "resolution": {"schema"},
    "cited": {"schema", "resolution"},
    "matching": {"ranking", "schema"},
    "stats": set(),
    "metrics": {"ranking", "cited"},
    "formats": {"schema", "sources"},
    "citations": {"schema"},
    "judges": {"schema"},
    "retrievers": {"schema"},
    "citing": {"citations", "cited", "metrics", "resolution", "schema"},
    "tables": {"schema"},
    "inputs": {"formats", "sources", "schema", "tables"},
    "settings": {"metrics", "matching"},
    "scores": {"metrics", "ranking", "settings"},
    "scoring": {"metrics", "citing", "matching", "ranking", "cited", "schema", "tables", "scores", "settings"},
    "evaluation": {"metrics", "citations", "citing", "ranking", "cited", "schema", "matching"}
    | {"tables", "settings", "scores", "scoring"},
    "lists": {"metrics", "ranking", "citing", "settings"},
    "summary": {"metrics", "stats", "scores"},
    "verdict": {"metrics", "stats"},
    "cautions": {"metrics", "stats", "scores", "verdict"},
    "comparison": {"evaluation", "stats", "metrics", "settings", "scores", "verdict", "cautions"},
    "api": {"comparison", "evaluation", "inputs", "metrics", "schema", "scores", "settings", "summary", "tables"},
    "drilldown": {"evaluation", "matching", "ranking", "schema", "scores", "settings", "tables"},
    "slices": {"ranking", "schema"},
    "placed": {"matching", "ranking", "schema"},
    "losses": {"metrics", "ranking", "scores"},
    "funnel": {"cited", "metrics", "ranking", "scores", "tables"},
    "imagined": {"comparison", "matching", "metrics", "placed", "ranking", "scores", "settings", "tables"},
    "tipping": {"comparison", "imagined", "matching", "ranking", "schema", "scores", "tables", "verdict"},
    "robustness": {
        "comparison",
        "evaluation",
        "matching",
        "metrics",
        "scores",
        "settings",
        "tables",
        "tipping",
        "verdict",
    },
    "incorpus": {"drilldown", "matching", "placed", "ranking", "schema", "tables"},
    "reproduce": {"comparison", "evaluation", "inputs", "metrics", "settings"},
    "bundle": set(),
    "reference": {"citations", "formats", "metrics"},
    "diagnosis": {"comparison", "stats"},
    "testset": {"comparison", "stats"},
    "significance": {"comparison", "metrics", "ranking", "schema", "scores", "slices", "stats", "verdict"},
    "charts": {"comparison", "summary", "diagnosis", "testset", "significance", "verdict", "citationdiff"},
    "citation_status": {"cited", "citing", "resolution", "schema", "settings"},
    "citationdiff": {"citation_status", "cited", "resolution"},
    "invented": {"cited", "schema", "tables"},
    "stylefit": {"citations", "cited", "resolution", "settings"},
    "spreadsheet": set(),
    "exporting": {"__init__", "citation_status", "comparison", "drilldown", "metrics", "spreadsheet", "tables"},
    "results": {"__init__", "comparison", "funnel", "inputs", "losses", "matching", "metrics", "ranking", "schema"}
    | {"scores", "settings", "sources", "tables"},
    "report": {"charts", "comparison", "summary", "diagnosis", "citation_status", "cited", "citing", "drilldown"}
    | {"evaluation", "funnel", "metrics", "reproduce", "results", "settings", "slices", "verdict"},
    "engines": {"formats", "evaluation", "stats"},
    "history": {"comparison", "schema"},
    "ui": {"*"},
    "cli": {"*"},
    "__init__": {"*"},
    "__main__": {"*", "cli"},
}
# other people's packages → the parts of the project that may import them
ONLY_IN: dict[str, set[str]] = {
    "streamlit": {"app", "pages", "ui"},
    "plotly": {"charts", "ui", "report"},
    "pandas": {"api", "charts", "ui", "report"},
    "scipy.stats": set(),
}
STATS_LEANS_ON = {"numpy", "scipy"}
EMPTY_WORDS = {"utils", "util", "helpers", "helper", "common", "manager", "handler", "data", "df", "tmp", "misc"}
EMPTY_VARIABLES = {"data", "df", "tmp"}

MODULES = sorted(path for path in (ROOT / "ragdash").rglob("*.py") if "_bundle" not in path.parts)
SCREENS = sorted((ROOT / "pages").rglob("*.py"))
SOURCES = [*MODULES, *SCREENS, *(path for path in [ROOT / "app.py"] if path.exists())]

each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
each_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())


def part_of(path: Path) -> str:
    """Which row of the tables a file belongs to: `stats` for ragdash/stats/tests.py, `pages`, `app`."""
    names = path.relative_to(ROOT).with_suffix("").parts
    return names[1] if names[0] == "ragdash" else names[0]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything that a file imports, at any depth, relative imports made absolute."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def ours(path: Path) -> Iterator[tuple[int, str]]:
    """Line and part of everything of ours that a file imports."""
    for line, name in imports(path):
        first, _, rest = name.partition(".")
        if first == "ragdash":
            yield line, rest.split(".")[0] or "__init__"
        elif first in {"app", "pages"}:
            yield line, first


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def allowed(part: str) -> set[str]:
    """Every part of ours that `part` may import."""
    if part in FREE:
        return MAY_IMPORT[part] | {part}
    row = MAY_IMPORT[part]
    anything = {*MAY_IMPORT, *map(part_of, MODULES)} - {"ui", "cli", "__main__"} if "*" in row else set()
    return row - {"*"} | FREE | anything | {part}


# --- the tests of the test: a rule that cannot fail holds nothing ------------------------------------------------


def test_imports_are_seen_in_every_spelling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    module = tmp_path / "ragdash" / "stats" / "paired.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "import numpy as np\nimport ragdash.ui.shell\nfrom ragdash import charts\nfrom ..schema import conform\n"
        "from .. import cited\nfrom . import bootstrap\ndef later():\n    from scipy import stats\n"
    )
    assert [name for _, name in sorted(imports(module))] == [
        "numpy",
        "ragdash.ui.shell",
        "ragdash.charts",
        "ragdash.schema.conform",
        "ragdash.cited",
        "ragdash.stats.bootstrap",
        "scipy.stats",
    ]
    assert [part for _, part in sorted(ours(module))] == ["ui", "charts", "schema", "cited", "stats"]


def test_the_table_names_only_parts_it_has_and_has_no_cycle() -> None:
    assert set().union(*MAY_IMPORT.values()) - {"*"} <= set(MAY_IMPORT)
    done: set[str] = set(FREE)
    left = {part: allowed(part) & set(MAY_IMPORT) - {part} for part in MAY_IMPORT if part not in FREE | {"__init__"}}
    while ready := {part for part, needs in left.items() if needs - {"__init__"} <= done}:
        done |= ready
        left = {part: needs for part, needs in left.items() if part not in ready}
    assert left == {}


# --- who may import whom -----------------------------------------------------------------------------------------


@each_module
def test_a_module_imports_only_what_its_row_allows(path: Path) -> None:
    part = part_of(path)
    assert part in MAY_IMPORT, f"{part} has no row in MAY_IMPORT: say there what it may import"
    permitted = allowed(part)
    broken = [f"line {line}: {part} → {other}" for line, other in ours(path) if other not in permitted]
    assert broken == []


@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.name)
def test_a_page_imports_only_ui_and_streamlit(path: Path) -> None:
    assert {part for _, part in ours(path)} <= {"ui"}
    foreign = {name.partition(".")[0] for _, name in imports(path)} - {"ragdash", "streamlit"}
    assert foreign <= sys.stdlib_module_names


def test_the_app_is_the_shell() -> None:
    found = {name for _, name in imports(ROOT / "app.py")} - {"__future__.annotations"}
    assert found == {"ragdash.ui.shell"}


@each_source
@pytest.mark.parametrize("package", ONLY_IN)
def test_a_foreign_package_stays_where_it_belongs(path: Path, package: str) -> None:
    lines = [f"line {line}: {name}" for line, name in imports(path) if within(name, package)]
    assert not lines or part_of(path) in ONLY_IN[package], lines


@each_module
def test_stats_leans_on_numpy_and_scipy_alone(path: Path) -> None:
    if part_of(path) == "stats":
        foreign = {name.partition(".")[0] for _, name in imports(path)} - sys.stdlib_module_names - {"ragdash"}
        assert foreign <= STATS_LEANS_ON


# --- how long things are -----------------------------------------------------------------------------------------


@each_source
def test_a_module_and_its_functions_can_be_read_at_once(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_MODULE
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}


# --- what is never written ---------------------------------------------------------------------------------------


@each_source
def test_what_is_never_written(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or path.name == "app.py", "a module says first what it is for"
    assert [f"line {line}: {what}" for line, what in sorted(never_written(tree))] == []


def never_written(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of every construct that the project does without."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.lineno, "assert"
        elif isinstance(node, ast.ExceptHandler):
            if node.type is None:
                yield node.lineno, "bare except"
            if all(isinstance(line, ast.Pass) for line in node.body):
                yield node.lineno, "swallowed exception"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"eval", "exec"}:
            yield node.lineno, node.func.id
        elif isinstance(node, ast.Attribute) and ast.unparse(node).startswith(("np.random.", "numpy.random.")):
            if node.attr not in {"default_rng", "Generator", "SeedSequence", "PCG64", "Philox", "BitGenerator"}:
                yield node.lineno, f"global random state: {ast.unparse(node)}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name in EMPTY_WORDS:
            yield node.lineno, f"a name that says nothing: {node.name}"
        elif isinstance(node, ast.arg) and node.arg in EMPTY_VARIABLES:
            yield node.lineno, f"a name that says nothing: {node.arg}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in EMPTY_VARIABLES:
            yield node.lineno, f"a name that says nothing: {node.id}"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("assert x", "assert"),
        ("try:\n    f()\nexcept:\n    raise", "bare except"),
        ("try:\n    f()\nexcept ValueError:\n    pass", "swallowed exception"),
        ("eval(text)", "eval"),
        ("np.random.shuffle(x)", "global random state: np.random.shuffle"),
        ("df = read()", "a name that says nothing: df"),
        ("def score(data): ...", "a name that says nothing: data"),
        ("class manager: ...", "a name that says nothing: manager"),
    ],
)
def test_the_construct_is_found(source: str, what: str) -> None:
    assert [found for _, found in never_written(ast.parse(source))] == [what]


def test_an_own_generator_is_no_global_state() -> None:
    assert list(never_written(ast.parse("rng = np.random.default_rng(seed)\ndef f(g: np.random.Generator): ..."))) == []


@each_source
def test_no_file_has_a_name_that_says_nothing(path: Path) -> None:
    page_named_data = {"data"} if part_of(path) in {"pages", "charts"} else set()
    assert not (EMPTY_WORDS - page_named_data) & set(path.relative_to(ROOT).with_suffix("").parts)


# --- what starting costs -----------------------------------------------------------------------------------------


def test_the_command_line_starts_without_the_heavy_packages() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "ragdash", "metrics"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "ragdash" in loaded
    assert loaded & {"streamlit", "plotly", "scipy", "pandas", "pyarrow"} == set()
