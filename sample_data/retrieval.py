"""The two retrievers of the sample, in numpy: BM25, and the same fused with a dense one by reciprocal ranks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
from everyday import meanings
from numpy.typing import NDArray

Scores = NDArray[np.float64]  # (queries, documents); 0 or less where a document is not found

K1, B = 0.9, 0.4
DIMENSIONS = 110
FUSION_K = 10
DEPTH = 20
DENSE_WEIGHT = 1.5
WHOLE, MEANING = 3, 12  # how much a whole number and a shared meaning count beside one piece

UNSAID = """
a an and are as at be by can do does for from have how i if in is it its may my of on or our that the their there they
this to was we what when where which while who why will with you your
"""
STOPWORDS = frozenset(UNSAID.split())


def words(text: str) -> list[str]:
    """Lower-case words and numbers; `E-4471` becomes `e` and `4471`, as with most search engines."""
    return [word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOPWORDS]


def stems(text: str) -> list[str]:
    """The words without the endings of plurals and verbs, as an English analyser cuts them."""
    return [re.sub(r"(?<=[a-z]{3})(ing|ed|es|s|e)$", "", word) for word in words(text)]


def counts(
    texts: list[str], split: Callable[[str], list[str]], known: list[str] | None = None
) -> tuple[Scores, list[str]]:
    """How often each term stands in each text, and the terms."""
    bags = [Counter(split(text)) for text in texts]
    terms = known if known is not None else sorted({term for bag in bags for term in bag})
    column = {term: number for number, term in enumerate(terms)}
    table = np.zeros((len(texts), len(terms)))
    for row, bag in enumerate(bags):
        for term, count in bag.items():
            if term in column:
                table[row, column[term]] = count
    return table, terms


def bm25(documents: list[str], queries: list[str]) -> Scores:
    """BM25 as Lucene has it (Robertson and Zaragoza 2009), k1 = 0.9, b = 0.4."""
    frequency, terms = counts(documents, stems)
    length = frequency.sum(axis=1, keepdims=True)
    holding = (frequency > 0).sum(axis=0)
    rarity = np.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
    weight = rarity * frequency / (frequency + K1 * (1 - B + B * length / length.mean()))
    asked, _ = counts(queries, stems, terms)
    return np.asarray(asked @ weight.T)


def dense(documents: list[str], queries: list[str]) -> Scores:
    """Cosine in a latent space of word pieces and meanings, as an embedding model would give it.

    Numbers fall into pieces of two digits, as they do in the vocabularies of such models, so codes look alike to it.
    """
    known = meanings({word for text in documents + queries for word in words(text)})

    def pieces(text: str) -> list[str]:
        found = []
        for word in words(text):
            found += [f"={name}" for name in known.get(word, [])] * MEANING
            edged = f"<{word}>"
            if any(sign.isdigit() for sign in word):
                found += [word] * WHOLE + [word[at : at + 2] for at in range(0, len(word), 2)]
            else:
                found += [edged[at : at + size] for size in (3, 4) for at in range(max(1, len(edged) - size + 1))]
        return found

    table, terms = counts(documents, pieces)
    rarity = np.log((1 + len(documents)) / (1 + (table > 0).sum(axis=0)))
    weighted = _unit(np.log1p(table) * rarity)
    values, vectors = np.linalg.eigh(weighted @ weighted.T)
    kept = min(DIMENSIONS, len(documents) - 1)
    left, strength = vectors[:, -kept:], np.sqrt(values[-kept:])
    directions = weighted.T @ left / strength  # (terms, dimensions)
    asked, _ = counts(queries, pieces, terms)
    return np.asarray(_unit((np.log1p(asked) * rarity) @ directions) @ _unit(weighted @ directions).T)


def fuse(sparse: Scores, latent: Scores) -> Scores:
    """Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) of the two lists' first 20."""
    return _reciprocal(sparse) + DENSE_WEIGHT * _reciprocal(latent)


def best(scores: Scores, ids: list[str], most: int) -> list[list[tuple[str, float]]]:
    """For each query the documents found, best first, equal scores by id downward; scores to 6 digits, as written."""
    lists = []
    for row in scores:
        found = [(ids[number], float(round(row[number], 6))) for number in np.flatnonzero(row > 0)]
        lists.append(sorted(found, key=lambda pair: (pair[1], pair[0]), reverse=True)[:most])
    return lists


def _reciprocal(scores: Scores) -> Scores:
    scores = np.round(scores, 9)
    order = np.argsort(-scores, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(scores.shape[1])[None, :], axis=1)
    return np.where((rank < DEPTH) & (scores > 0), 1 / (FUSION_K + 1 + rank), 0.0)


def _unit(rows: Scores) -> Scores:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0))
