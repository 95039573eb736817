"""Is it in the corpus? For a miss: are the reference's words in the loaded documents, and was that passage retrieved?

A search by shared words, not a judgment: it says where to look. What the corpus says in other words is not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ragdash.drilldown import texts_of
from ragdash.matching import Ties
from ragdash.placed import place
from ragdash.problems import refuse
from ragdash.ranking import Floats, Ints
from ragdash.schema import Table
from ragdash.tables import Tables

FOUND_FROM = 0.7  # the share of a reference's content words from which a passage is said to hold it
FEWEST_WORDS = 3  # content words below which a reference is in too many passages to be looked for
TOO_COMMON = 0.2  # the share of passages from which a word says nothing about any of them
FEW_PASSAGES = 20  # below this many passages no word is too common
QUERIES_AT_ONCE, PASSAGES_AT_ONCE = 32, 20_000
BETWEEN_WORDS = r"[^\p{L}\p{N}]+"
LITTLE_WORDS = """
a an and are as at be by can do does for from has have if in is it its no not of on or so than that the their then
there they this to was were what when where which who will with yes you your
"""


class Whereabouts(Enum):
    """Where the evidence of a miss is; the name is safe in links."""

    NOT_INDEXED = "not in the loaded documents"
    NOT_RETRIEVED = "in the documents, but not retrieved"
    RETRIEVED = "retrieved and labelled relevant"
    LABELLED_OTHERWISE = "retrieved, but not labelled relevant: labelled wrong?"
    TOO_SHORT = "the reference has too few words to look for"
    NO_REFERENCE = "there is no reference to look for"


@dataclass(frozen=True)
class Search:
    """One question's best passage: `share` of the reference's content words in it, its rank in the system's list (None
    where not retrieved) and its grade (None where not judged). Without content words to look for `doc_id` is None."""

    query_id: str
    where: Whereabouts
    doc_id: str | None = None
    share: float = float("nan")
    rank: int | None = None
    grade: float | None = None


def search_corpus(tables: Tables, system: str, query_ids: Sequence[str], ties: Ties = "doc_id") -> tuple[Search, ...]:
    """For questions whose relevant documents `system` did not retrieve: is the reference's text among the documents?

    The best passage is that with the largest share of the reference's content words (words and numbers without case
    and plural s, but little English ones and those in 20 % of the passages or more); of equal ones that with the rarer
    words, then a retrieved one. From a share of 0.7 it is said to hold the reference: of the sample's answerable
    questions nine in ten have such a passage, of the unanswerable none. Below that the evidence is not in the
    documents, unless one of them is labelled relevant. Raises InputError without documents or references.

    >>> from ragdash.schema import table_of
    >>> asked = pa.table({"query_id": ["q1"], "reference": ["Charge it to 80 percent."]})
    >>> held = pa.table({"doc_id": ["d1", "d2"], "text": ["Charges to 80 percent at night.", "Call us."]})
    >>> tables = Tables(queries=table_of("queries", asked, "q"), documents=table_of("documents", held, "d"))
    >>> found = search_corpus(tables, "a", ["q1"])[0]
    >>> found.where.value, found.doc_id, found.share
    ('in the documents, but not retrieved', 'd1', 1.0)
    """
    if tables.documents is None or not len(tables.documents):
        raise refuse("in the corpus?", "no documents are loaded", "Add the corpus, with doc_id and text")
    if tables.queries is None or "reference" not in tables.queries:
        raise refuse("in the corpus?", "no reference answers are loaded", "Add questions with a column reference")
    found = texts_of(tables.queries, "query_id", ["reference"], query_ids)
    references = [found.get(query_id, ("",))[0] for query_id in query_ids]
    index = _index(tables.documents, references)
    documents = tables.documents.column("doc_id")
    ranks, grades = _labels(tables, documents, system, query_ids, ties)
    labelled = {number for (number, _), grade in grades.items() if grade > 0}
    searches: list[Search] = []
    for first in range(0, len(query_ids), QUERIES_AT_ONCE):
        some = slice(first, first + QUERIES_AT_ONCE)
        best = _best(index, first, len(query_ids[some]), ranks)
        for number, (passage, share) in enumerate(best, first):
            key = (number, passage)
            found_at = Search(query_ids[number], Whereabouts.NOT_INDEXED, documents[passage].as_py(), share)
            found_at = replace(found_at, rank=ranks.get(key), grade=grades.get(key))
            searches.append(_judged(found_at, references[number], number in labelled))
    return tuple(searches)


def _judged(best: Search, reference: str, labelled: bool) -> Search:
    """What the best passage says; `labelled` is whether a passage labelled relevant is among the documents."""
    if not reference.strip():
        return Search(best.query_id, Whereabouts.NO_REFERENCE)
    if np.isnan(best.share):
        return Search(best.query_id, Whereabouts.TOO_SHORT)
    if best.share < FOUND_FROM:
        return replace(best, where=Whereabouts.NOT_RETRIEVED) if labelled else best
    if best.rank is None:
        return replace(best, where=Whereabouts.NOT_RETRIEVED)
    relevant = best.grade is not None and best.grade > 0
    return replace(best, where=Whereabouts.RETRIEVED if relevant else Whereabouts.LABELLED_OTHERWISE)


class _Index(NamedTuple):
    """Postings of the references' words alone, by word: passages of word w stand from start[w] to start[w + 1]. The
    words of the references, flat: `query` and `word`. `rarity` (words,) is log(passages ÷ passages with it)."""

    passage: Ints
    start: Ints
    query: Ints
    word: Ints
    rarity: Floats
    passages: int


def _index(documents: Table, references: Sequence[str]) -> _Index:
    query, words = _words(pa.array(references, pa.string()))
    coded = words.dictionary_encode()
    size = len(coded.dictionary)
    wanted = np.unique(query * max(size, 1) + _whole(coded.indices))
    postings = [np.zeros(0, np.int64)]
    for first, texts in _texts(documents):
        passage, found = _words(texts)
        at = pc.index_in(found, value_set=coded.dictionary)
        held = np.asarray(pc.is_valid(at).to_numpy(zero_copy_only=False))
        postings.append(np.unique(_whole(at.drop_null()) * len(documents) + passage[held] + first))
    posting = np.sort(np.concatenate(postings))
    word, passage = np.divmod(posting, len(documents))
    frequency = np.bincount(word, minlength=size)
    common = (frequency >= TOO_COMMON * len(documents)) & (len(documents) >= FEW_PASSAGES)
    query, asked = np.divmod(wanted, max(size, 1))
    kept = ~common[asked]
    rarity = np.log(len(documents) / np.maximum(frequency, 1)) + 1e-9
    start = np.searchsorted(word, np.arange(size + 1))
    return _Index(passage, start, query[kept], asked[kept], rarity, len(documents))


def _texts(documents: Table) -> Iterator[tuple[int, pa.Array]]:
    """Titles and texts of the passages, a block at a time, with the number of the first."""
    text = pc.fill_null(documents.column("text"), "")
    title = pc.fill_null(documents.column("title"), "") if "title" in documents else pa.array([""] * len(documents))
    for first in range(0, len(documents), PASSAGES_AT_ONCE):
        both = [part.slice(first, PASSAGES_AT_ONCE) for part in (title, text)]
        yield first, pc.binary_join_element_wise(*both, " ")


def _words(texts: pa.Array) -> tuple[Ints, pa.Array]:
    """The content words of texts, flat: the number of the text and the word, without case and plural s."""
    split = pc.split_pattern_regex(pc.utf8_lower(texts), BETWEEN_WORDS)
    owner, words = _whole(pc.list_parent_indices(split)), pc.list_flatten(split)
    words = pc.replace_substring_regex(words, r"^([\p{L}]{2,}[^s])s$", r"\1")
    little = pc.is_in(words, value_set=pa.array(["", *LITTLE_WORDS.split()]))
    kept = ~np.asarray(little.to_numpy(zero_copy_only=False), dtype=bool)
    return owner[kept], words.filter(pa.array(kept))


def _best(index: _Index, first: int, count: int, ranks: dict[tuple[int, int], int]) -> list[tuple[int, float]]:
    """The best passage of each of `count` questions from the `first` on, and its share of the content words."""
    mine = (index.query >= first) & (index.query < first + count)
    query, word = index.query[mine] - first, index.word[mine]
    sizes = index.start[word + 1] - index.start[word]
    pair = np.repeat(np.arange(len(word)), sizes)
    passage = index.passage[np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes - index.start[word], sizes)]
    key, shape = query[pair] * index.passages + passage, count * index.passages
    covered = np.bincount(key, minlength=shape).reshape(count, index.passages)
    weight = np.bincount(key, weights=index.rarity[word[pair]], minlength=shape).reshape(count, index.passages)
    wanted = np.bincount(query, minlength=count)
    for number, at in ranks:
        if first <= number < first + count:
            weight[number - first, at] += 1e-6  # of equal passages a retrieved one
    best = np.argmax(covered + weight / (weight.max(initial=0.0) + 1.0), axis=1)
    share = covered[np.arange(count), best] / np.maximum(wanted, 1)
    share = np.where(wanted >= FEWEST_WORDS, share, np.nan)
    return list(zip(best.tolist(), share.tolist(), strict=True))


def _labels(
    tables: Tables, documents: pa.Array, system: str, query_ids: Sequence[str], ties: Ties
) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], float]]:
    """The rank of retrieved and the grade of judged passages, by question and passage number."""
    ids = pa.array(list(query_ids), pa.string())
    placed = place(tables.runs.get(system), ids, ties)
    ranks = _numbered(placed.query, pc.index_in(placed.doc_id, value_set=documents), placed.rank)
    grades: dict[tuple[int, int], float] = {}
    if tables.judgments is not None:
        judged = tables.judgments
        query = pc.fill_null(pc.index_in(judged.column("query_id"), value_set=ids), -1)
        at = pc.index_in(judged.column("doc_id"), value_set=documents)
        grades = _numbered(_whole(query), at, judged.column("grade").to_numpy())
    return ranks, grades


def _numbered(query: Ints, passage: pa.Array, values: NDArray[np.generic]) -> dict[tuple[int, int], Any]:
    at = _whole(pc.fill_null(passage, -1))
    held = np.flatnonzero((query >= 0) & (at >= 0))
    pairs = zip(query[held].tolist(), at[held].tolist(), strict=True)
    return dict(zip(pairs, values[held].tolist(), strict=True))


def _whole(values: pa.Array) -> Ints:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)
