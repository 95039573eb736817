"""The result file: what is read is what was written, to the bit, and no file that is wrong does more than say so."""

import io
import json
import zipfile
from dataclasses import asdict, fields

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ragdash
import ragdash.comparison
import ragdash.schema
from ragdash.api import compare_tables
from ragdash.bundle import bundled
from ragdash.comparison import Terms, companions
from ragdash.evaluation import chosen_specs, evaluate
from ragdash.funnel import funnel_specs, funnels
from ragdash.inputs import read_inputs
from ragdash.losses import loss_specs
from ragdash.metrics.registry import parse
from ragdash.problems import InputError
from ragdash.results import keeping, layout
from ragdash.results.reading import is_result, read_result
from ragdash.results.stored import StoredResult
from ragdash.results.writing import write_result
from ragdash.settings import Settings
from ragdash.sources import Source
from ragdash.tables import Tables

RUN_A = "q1 Q0 d1 1 3.0 alpha\nq1 Q0 d2 2 3.0 alpha\nq2 Q0 d3 1 1.0 alpha\nq2 Q0 d4 2 1.0 alpha\nq9 Q0 d1 1 1 alpha\n"
RUN_B = "q1 Q0 d2 1 3.0 beta\nq1 Q0 d2 2 2.0 beta\nq1 Q0 d1 3 2.0 beta\nq3 Q0 d1 1 2.0 beta\n"
JUDGMENTS = "q1 0 d2 2\nq1 0 d1 0\nq2 0 d3 1\nq3 0 d7 -1\n"
ANSWERS = (
    '{"system": "alpha", "query_id": "q1", "generated_answer": "Tides [doc_id d1] [doc_id d9].", '
    '"context_doc_ids": ["d1"], "x/y": -0.0}\n'
    '{"system": "beta", "query_id": "q1", "generated_answer": "«Moon» [doc_id d2]", '
    '"context_doc_ids": ["d1", "d2"], "x/y": 0.1}\n'
)
QUERIES = (
    '{"query_id": "q1", "query": "Why?", "slice": ["a", "b"]}\n{"query_id": "q2", "query": "=1", "answerable": true}\n'
)


def small(**others):
    files = {"alpha.run": RUN_A, "beta.run": RUN_B, "j.qrels": JUDGMENTS, "ans.jsonl": ANSWERS, "q.jsonl": QUERIES}
    files |= others
    return read_inputs((), (), [Source.from_bytes(name, text.encode()) for name, text in files.items()])


@pytest.fixture(scope="module")
def inputs():
    return small()


@pytest.fixture(scope="module")
def content(inputs):
    return write_result(compare_tables(inputs, "alpha", "beta"), inputs)


def read(content, name="mine.ragdash"):
    return read_result(Source.from_bytes(name, content))


def same_bits(one, other):
    assert one.dtype == other.dtype and one.shape == other.shape
    return one.tobytes() == other.tobytes()


def assert_same(stored: StoredResult, comparison):
    again = stored.comparison
    assert (again.baseline, again.candidate, again.primary, again.terms) == (
        comparison.baseline, comparison.candidate, comparison.primary, comparison.terms,
    )  # fmt: skip
    assert again.problems == comparison.problems
    assert [again.badge, again.sentence, again.in_answers, again.decision] == [
        comparison.badge, comparison.sentence, comparison.in_answers, comparison.decision,
    ]  # fmt: skip
    for name in ("specs", "settings", "problems", "positive_only"):
        assert getattr(again.scores, name) == getattr(comparison.scores, name)
    assert again.scores.query_ids.tolist() == comparison.scores.query_ids.tolist()
    assert list(again.scores.systems) == list(comparison.scores.systems)
    for system, one in comparison.scores.systems.items():
        for field in fields(one):
            mine, theirs = getattr(one, field.name), getattr(again.scores.systems[system], field.name)
            assert mine == theirs if field.name == "extra" else same_bits(mine, theirs), (system, field.name)
    assert list(again.metrics) == list(comparison.metrics)
    for spec, one in comparison.metrics.items():
        other = again.metrics[spec]
        assert repr(asdict(one.interval)) == repr(asdict(other.interval)), spec
        assert repr((one.baseline, one.candidate, one.bootstrap, one.common)) == repr(
            (other.baseline, other.candidate, other.bootstrap, other.common)
        )
        assert (one.verdict, one.missing, one.warnings) == (other.verdict, other.missing, other.warnings)
        assert same_bits(one.differences, other.differences)


# --- what is read is what was written ----------------------------------------------------------------------------


def test_ties_absent_rows_duplicates_and_brought_in_scores_come_back_to_the_bit(inputs, content):
    comparison = compare_tables(inputs, "alpha", "beta")
    scores = comparison.scores
    assert len(scores.systems["alpha"].tied) and scores.systems["alpha"].extra == ("q9",)
    assert len(scores.systems["beta"].duplicates) == 1 and scores.systems["beta"].absent.any()
    assert "x/y" in map(str, scores.specs) and np.isnan(scores.systems["alpha"].values).any()
    stored = read(content)
    assert_same(stored, comparison)
    assert stored.version == ragdash.__version__ and stored.depth is None


def test_the_tables_come_back_with_the_place_of_every_row(inputs, content):
    again = read(content).tables
    assert again.files == inputs.files and again.problems == inputs.problems and again.systems == inputs.systems
    for name in ("runs", "answers", "scores"):
        assert list(getattr(again, name)) == list(getattr(inputs, name))
        pairs = [(getattr(again, name)[system], table) for system, table in getattr(inputs, name).items()]
        assert all(mine.rows.equals(table.rows) for mine, table in pairs)
        assert all(mine.where(row) == table.where(row) for mine, table in pairs for row in range(len(table)))
    assert again.judgments.rows.equals(inputs.judgments.rows) and again.queries.rows.equals(inputs.queries.rows)
    assert again.documents is None


@pytest.mark.parametrize(
    ("chosen", "terms", "metrics", "primary"),
    [
        (Settings(missing="skip", ties="rank", gain="exp", empty=1.0), Terms(0.05, 0.9, "bootstrap"), None, None),
        (Settings(conventions="classic", no_relevant="skip"), Terms(), "P(rel=2)@5 AP nDCG@10", "AP"),
        (
            Settings(pattern=r"\[(d\d)\]"),
            Terms(margin=0.0),
            "x/y citation_validity(empty=0)",
            "citation_validity(empty=0)",
        ),
    ],
)
def test_settings_terms_and_metrics_of_every_kind_come_back(inputs, chosen, terms, metrics, primary):
    comparison = compare_tables(inputs, "beta", "alpha", metrics=metrics, primary=primary, terms=terms, settings=chosen)
    assert_same(read(write_result(comparison, inputs)), comparison)


def test_the_sample_comes_back_and_the_same_input_gives_the_same_bytes():
    names = ("bm25.jsonl", "hybrid.jsonl", "judgments.qrels", "queries.jsonl", "documents.jsonl")
    inputs = read_inputs((), (), [str(bundled("sample_data") / name) for name in names])
    comparison = compare_tables(inputs, "bm25", "hybrid")
    content = write_result(comparison, inputs)
    stored = read(content)
    assert_same(stored, comparison)
    assert stored.tables.documents.rows.equals(inputs.documents.rows) or len(stored.tables.documents) < 280
    assert content == write_result(comparison, inputs) == write_result(stored.comparison, stored.tables)
    assert len(content) < 300_000
    again = evaluate(stored.tables, comparison.scores.specs, comparison.scores.settings)
    assert same_bits(again.systems["hybrid"].values, comparison.scores.systems["hybrid"].values), "lists are whole"


def test_metrics_without_a_name_to_type_come_back_too(inputs):
    """Those behind the funnel and the loss split are not in the registry of metrics."""
    named = companions(chosen_specs(inputs, None, Settings()))
    unnamed = [*funnel_specs(inputs, 10), *loss_specs(parse("nDCG@10"))]
    scores = evaluate(inputs, tuple(dict.fromkeys([*named, *unnamed])))
    comparison = ragdash.comparison.compare(scores, "alpha", "beta", parse("nDCG@10"), shown=[parse("nDCG@10")])
    stored = read(write_result(comparison, inputs))
    assert_same(stored, comparison)
    before, after = (funnels(one, inputs, 10)["alpha"].counts() for one in (scores, stored.comparison.scores))
    assert before == after


VALUES = st.floats(-1e100, 1e100) | st.just(float("nan"))


@given(st.lists(VALUES, min_size=1, max_size=8), st.lists(VALUES, min_size=1, max_size=8))
def test_any_number_comes_back_to_the_bit(a, b):
    def scored(values):
        rows = {"query_id": [f"q{n}" for n in range(len(values))], "metric": ["m"] * len(values), "value": values}
        return ragdash.schema.table_of("scores", pa.table(rows), "scores")

    tables = Tables(scores={"A": scored(a), "B": scored(b)})
    try:
        comparison = compare_tables(tables, "A", "B")
    except InputError:  # nothing in common
        return
    assert_same(read(write_result(comparison, tables)), comparison)


def test_tables_from_memory_have_no_files(inputs):
    tables = Tables(inputs.runs, inputs.judgments)
    stored = read(write_result(compare_tables(tables, "alpha", "beta"), tables))
    assert stored.tables.files == () and stored.tables.systems == ("alpha", "beta")


def test_hostile_names_of_systems_are_only_names(inputs):
    renamed = Tables({"../../x": inputs.runs["alpha"], "C:\\b\0": inputs.runs["beta"]}, inputs.judgments)
    content = write_result(compare_tables(renamed, *renamed.systems), renamed)
    assert read(content).tables.systems == renamed.systems
    assert {name.partition("/")[0] for name in zipfile.ZipFile(io.BytesIO(content)).namelist()} == {
        "result.json", "scores.parquet", "ties.parquet", "tables",
    }  # fmt: skip


# --- what is kept ------------------------------------------------------------------------------------------------


def deep_run(depth, repeat=False):
    rows = [(query, f"d{n:03}", float(-n), str(r)) for query in "xy" for r in range(2) for n in range(depth)]
    rows = rows if repeat else [row for row in rows if row[3] == "0"]
    names = ("query_id", "doc_id", "score", "repeat") if repeat else ("query_id", "doc_id", "score")
    return ragdash.schema.table_of(
        "run", pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=False))), "r"
    )


@pytest.mark.parametrize("repeat", [False, True])
def test_the_first_places_of_every_list_are_kept(repeat):
    kept = keeping.top_of(deep_run(50, repeat), 3)
    assert kept.column("doc_id").to_pylist() == ["d000", "d001", "d002"] * (4 if repeat else 2)
    assert len(keeping.top_of(deep_run(2, repeat), 3)) == (8 if repeat else 4)


def test_lists_are_whole_while_they_are_few_and_cut_beyond(monkeypatch):
    judged = ragdash.schema.table_of(
        "judgments", pa.table({"query_id": ["x", "y"], "doc_id": ["d120"] * 2, "grade": [1, 1]}), "j"
    )
    tables = Tables({"a": deep_run(150), "b": deep_run(120)}, judged)
    comparison = compare_tables(tables, "a", "b")
    whole = read(write_result(comparison, tables))
    assert whole.depth is None and len(whole.tables.runs["a"]) == 300
    monkeypatch.setenv("RAGDASH_MAX_RESULT_ROWS", "500")
    cut = read(write_result(comparison, tables))
    assert cut.depth == 100 and len(cut.tables.runs["a"]) == 200 and cut.tables.runs["a"].lines.max() == 250
    assert_same(cut, comparison)


def test_only_documents_that_can_be_shown_are_kept_and_their_texts_fit(monkeypatch, inputs):
    rows = {"doc_id": ["d1", "d7", "d8", "d2"], "title": ["t" * 400, "", "", ""], "text": ["é" * 5000] * 4}
    documents = ragdash.schema.table_of("documents", pa.table(rows), "docs")
    tables = Tables(inputs.runs, inputs.judgments, inputs.answers, documents=documents)
    comparison = compare_tables(tables, "alpha", "beta")
    kept = read(write_result(comparison, tables)).tables.documents.rows.to_pylist()
    assert [row["doc_id"] for row in kept] == ["d1", "d2"], "d7 is judged not relevant, nobody knows d8"
    assert [len(row["text"]) for row in kept] == [2000, 2000] and len(kept[0]["title"]) == 300
    monkeypatch.setenv("RAGDASH_MAX_RESULT_DOCUMENT_CHARACTERS", "1000")
    kept = read(write_result(comparison, tables)).tables.documents.rows.to_pylist()
    assert [len(row["text"]) for row in kept] == [500, 500]


# --- what is refused ---------------------------------------------------------------------------------------------


def refusal(content, name="mine.ragdash"):
    with pytest.raises(InputError) as caught:
        read(content, name)
    assert len(caught.value.problems) == 1
    return str(caught.value)


def repacked(content, change=lambda name, inside: inside, packing=zipfile.ZIP_STORED):
    """The archive with each member passed through `change`, which drops it by giving None."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", packing) as new:
        for entry in old.infolist():
            inside = change(entry.filename, old.read(entry))
            if inside is not None:
                new.writestr(entry.filename, inside)
    return out.getvalue()


def with_head(content, **changes):
    def change(name, inside):
        return json.dumps(json.loads(inside) | changes).encode() if name == layout.HEAD else inside

    return repacked(content, change)


def test_a_newer_file_is_refused_before_anything_else_is_read(content):
    newer = with_head(content, version=2, ragdash="9.9", terms="something new")
    assert refusal(newer) == (
        f"mine.ragdash: this result was written by ragdash 9.9 in layout 2, and this is ragdash {ragdash.__version__}, "
        "which reads layout 1. Update ragdash, or save the result with this version."
    )


@pytest.mark.parametrize("other", [b"", b"PK\x03\x04", b"q1 Q0 d1 1 2.5 t\n", b"\x1f\x8b", b"PAR1"])
def test_another_file_is_refused(other):
    assert not is_result(Source.from_bytes("x", other)) if other != b"\x1f\x8b" else True
    with pytest.raises(InputError):
        read(other)


def test_a_zip_of_something_else_is_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("qrels/test.tsv", "q1\td1\t1\n")
    found = "mine.ragdash: this is no result file of ragdash. Make one with ragdash compare … --save FILE."
    assert refusal(out.getvalue()) == found


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(content, share):
    assert refusal(content[: int(len(content) * share)]) == "mine.ragdash: the zip archive is broken. Pack it again."


@pytest.mark.parametrize(
    "name", [layout.HEAD, layout.SCORES, layout.TIES, "tables/judgments.parquet", "tables/run-1.parquet"]
)
def test_a_missing_member_is_named(content, name):
    found = refusal(repacked(content, lambda member, inside: None if member == name else inside))
    if name == layout.HEAD:
        assert found.startswith("mine.ragdash: this is no result file")
    else:
        mend = "Save the result again, or copy it again from where it came."
        assert found == f"mine.ragdash: the result file is damaged: it has no {name}. {mend}"


def test_a_bomb_is_refused_before_it_is_unpacked(content, monkeypatch):
    bomb = repacked(content, lambda n, b: b" " * 30_000_000 + b if n == layout.HEAD else b, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 200_000 and "times its packed size" in refusal(bomb)
    monkeypatch.setenv("RAGDASH_MAX_ROWS", "2")
    found = "mine.ragdash/scores.parquet: it has 6 rows, more than 2. Split it, or raise the limit"
    assert refusal(content).startswith(found)


def parquet(rows):
    out = io.BytesIO()
    pq.write_table(rows, out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("member", "change"),
    [
        (layout.SCORES, lambda rows: rows.drop_columns(["value 0"])),
        (layout.SCORES, lambda rows: rows.slice(0, 3)),
        (layout.SCORES, lambda rows: rows.set_column(2, "value 0", pa.array(["x"] * len(rows)))),
        (layout.SCORES, lambda rows: rows.set_column(2, "value 0", pa.nulls(len(rows), pa.float64()))),
        (layout.TIES, lambda rows: rows.set_column(1, "query", pa.array([10**6] * len(rows)))),
        (layout.TIES, lambda rows: rows.set_column(0, "system", pa.array([-1] * len(rows)))),
        ("tables/judgments.parquet", lambda rows: rows.drop_columns(["grade"])),
        ("tables/judgments.parquet", lambda rows: rows.drop_columns(["line"])),
        ("tables/judgments.parquet", lambda rows: rows.set_column(2, "grade", pa.array(["x"] * len(rows)))),
        ("tables/run-0.parquet", lambda rows: rows.set_column(4, "file", pa.array([7] * len(rows), pa.int16()))),
        ("tables/answers-0.parquet", lambda rows: rows.set_column(2, "context_ids", pa.array([1] * len(rows)))),
    ],
)
def test_a_table_of_another_shape_is_refused(content, member, change):
    def swap(name, inside):
        return parquet(change(pq.read_table(io.BytesIO(inside)))) if name == member else inside

    assert refusal(repacked(content, swap)).startswith("mine.ragdash: the result file is damaged: ")


@pytest.mark.parametrize(
    "changes",
    [
        {"terms": {"margin": "wide"}},
        {"terms": {"margin": -1}},
        {"settings": {"missing": "maybe"}},
        {"settings": {"ties": "doc_id", "colour": "red"}},
        {"settings": []},
        {"baseline": "nobody"},
        {"baseline": ["alpha"]},
        {"candidate": "alpha"},
        {"primary": {"metric": "nope", "k": None, "options": []}},
        {"primary": {"metric": "AP", "k": -3, "options": []}},
        {"primary": {"metric": "AP", "k": None, "options": [["judged_only", [1]]]}},
        {"primary": {"metric": "m", "k": None, "options": [], "direction": "sideways"}},
        {"shown": []},
        {"metrics": 7},
        {"systems": [{"name": "alpha", "extra": [], "duplicates": []}]},
        {"systems": [{"name": "alpha", "extra": [], "duplicates": ["x"]}] * 2},
        {"tables": {}},
        {"files": [{"name": "a"}]},
        {"problems": [{"where": 1}]},
        {"depth": "deep"},
        {"depth": -1},
        {"format": "other"},
        {"version": "1"},
    ],
    ids=repr,
)
def test_a_head_that_says_something_else_is_refused(content, changes):
    refusal(with_head(content, **changes))


@pytest.mark.parametrize("head", [b"", b"[]", b"null", b"{", b"\xff\xfe\x00", b"[" * 200_000])
def test_a_head_that_is_no_record_is_refused(content, head):
    refusal(repacked(content, lambda name, inside: head if name == layout.HEAD else inside))


FUZZ = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FUZZ
@given(st.data())
def test_whatever_bytes_are_damaged_the_answer_is_an_input_error_or_the_same_comparison(content, data):
    """Damage inside a member too, repacked with a right checksum, as only somebody malicious would."""
    member = data.draw(
        st.sampled_from([None, layout.HEAD, layout.SCORES, "tables/judgments.parquet", "tables/run-0.parquet"])
    )

    def damaged(name, inside):
        if name != member and member is not None:
            return inside
        places = data.draw(st.lists(st.integers(0, len(inside) - 1), min_size=1, max_size=4))
        broken = bytearray(inside)
        for place in places:
            broken[place] = data.draw(st.integers(0, 255))
        return bytes(broken)

    broken = damaged(None, content) if member is None else repacked(content, damaged)
    try:
        assert isinstance(read(broken), StoredResult)
    except InputError as error:
        assert str(error)
