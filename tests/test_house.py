"""The house around the code: what installs, what the lock holds, what no file may name, what the wheel carries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CORE = [Requirement(line) for line in PYPROJECT["project"]["dependencies"]]

# Written in halves, so that this file does not name them itself.
NOWHERE = ("/wo" + "rk/", "/fa" + "rm/", "/opt/py" + "pi", "py" + "pi.org", "python" + "hosted", "file:/" + "//")
ONLY_IN_TESTS = ("/tm" + "p/", "/ro" + "ot/")


def lines(name: str) -> list[str]:
    """The lines of a requirements file without comments."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return [line for raw in text.splitlines() if (line := raw.partition("#")[0].strip())]


def git(*arguments: str) -> str:
    """What git says about this checkout; skips outside one."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def kept_files() -> list[Path]:
    """Every file that is in the repository or about to be."""
    names = git("ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


# --- what installs -----------------------------------------------------------------------------------------------


def test_requirements_txt_says_what_pyproject_says() -> None:
    assert [str(Requirement(line)) for line in lines("requirements.txt")] == [str(need) for need in CORE]


@pytest.mark.parametrize("need", CORE, ids=lambda need: need.name)
def test_a_core_dependency_has_a_lower_and_an_upper_bound(need: Requirement) -> None:
    assert sorted(part.operator for part in need.specifier) == ["<", ">="]


def test_the_lock_pins_everything_that_is_asked_for() -> None:
    pins = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lock())}
    extras = PYPROJECT["project"]["optional-dependencies"]
    asked = [*CORE, *(Requirement(line) for line in (*extras["test"], *extras["dev"]))]
    for need in asked:
        if need.name != "ragdash":
            assert need.specifier.contains(pins[canonicalize_name(need.name)]), need


def lock() -> list[str]:
    return lines("requirements.lock")


def test_the_lock_holds_pins_and_nothing_else() -> None:
    assert [line for line in lock() if not re.fullmatch(r"[a-z0-9._-]+==[0-9][a-z0-9.]*", line)] == []


def test_make_and_ci_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    assert {"run", "test", "check", "slow", "test-min", "bench", "clean"} <= targets
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert PYPROJECT["project"]["license"] == "Apache-2.0"
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_readme_starts_with_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make run" in text
    assert "make test" in text


# --- what no file may name ---------------------------------------------------------------------------------------


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = []
    for path in kept_files():
        banned = NOWHERE if "tests" in path.relative_to(ROOT).parts else (*NOWHERE, *ONLY_IN_TESTS)
        content = path.read_bytes()
        found += [f"{path.relative_to(ROOT)}: {word}" for word in banned if word.encode() in content]
    assert found == []


def test_test_files_have_names_of_their_own() -> None:
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


# --- what Streamlit reads ----------------------------------------------------------------------------------------


def test_streamlit_knows_every_key_of_our_config() -> None:
    command = [sys.executable, "-m", "streamlit", "config", "show"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    assert "not a valid config option" not in done.stdout + done.stderr
    ours = {"maxUploadSize = 2048", 'toolbarMode = "viewer"', 'showErrorDetails = "type"', "gatherUsageStats = false"}
    assert ours <= set(done.stdout.splitlines())


# --- what the wheel carries --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the wheel of this checkout and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    for path in kept_files():
        copy = folder / "source" / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder / "dist", folder / "source")
    (wheel,) = (folder / "dist").glob("ragdash-*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", wheel)
    return python


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What a command prints; fails with all it printed if it failed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", cwd=cwd, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.mark.slow
def test_the_wheel_carries_the_app(installed: Path) -> None:
    where = "import ragdash, pathlib; print(pathlib.Path(ragdash.__file__).parent)"
    package = Path(run(installed, "-c", where, cwd=installed.parent).strip())
    assert installed.parent.parent in package.parents
    bundle = package / "_bundle"
    carried = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    kept = [path.relative_to(ROOT).as_posix() for path in kept_files()]
    wanted = {name for name in kept if re.match(r"(app\.py|\.streamlit/config\.toml|(pages|sample_data)/.+)$", name)}
    assert {"app.py", ".streamlit/config.toml"} <= wanted
    assert {name for name in carried if "__pycache__" not in name} == wanted


@pytest.mark.slow
def test_the_wheel_brings_the_command(installed: Path) -> None:
    borrowed = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib")}
    listed = run(installed.parent / "ragdash", "metrics", cwd=installed.parent, env=borrowed)
    assert "nDCG" in listed
