"""The sections of the report that say how far to trust it: cautions, what the metrics mean, how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from ragdash.comparison import Comparison, Terms
from ragdash.problems import InputError, Problem
from ragdash.report.markup import Inner, Markup, table, tag, theirs
from ragdash.report.sections import name_of, section
from ragdash.reproduce import compare_command
from ragdash.results.stored import StoredResult
from ragdash.settings import Settings

BEST = {"higher": "Higher is better.", "lower": "Lower is better.", "none": "Neither direction is better by itself."}


def cautions(comparison: Comparison, problems: Sequence[Problem]) -> Markup:
    """What to know before believing the verdict, and what was set aside."""
    one = comparison.metrics[comparison.primary]
    ordered = sorted(comparison.metrics.values(), key=lambda other: other is not one)
    said = [(name_of(other.spec), text) for other in ordered for text in other.warnings]
    said += [(problem.where, problem.found) for problem in (*comparison.problems, *problems)]
    if comparison.scores.positive_only:
        said.append(("judgments", "all are positive: what is not listed cannot be told from what is not relevant"))
    items = [tag("li", tag("b", theirs(where)), ": ", theirs(text)) for where, text in dict.fromkeys(said)]
    body = tag("ul", *items) if items else tag("p", "Nothing was found that speaks against the numbers.")
    return section("cautions", "What to keep in mind", body)


def provenance(stored: StoredResult) -> Markup:
    """Files with their digests, settings, versions, and the command line that gives these numbers again."""
    comparison, files = stored.comparison, stored.tables.files
    rows = [
        (
            theirs(one.name), one.format, ", ".join(f"{count:,} {kind}" for kind, count in one.rows.items()),
            theirs(", ".join(one.systems) or "–"), tag("code", one.digest or "–", class_="digest"),
        )
        for one in files
    ]  # fmt: skip
    head = ("file", "read as", "rows", "system", "SHA-256")
    listed = table("Files", head, rows) if rows else tag("p", "The tables came from memory, not from files.")
    chosen = [(name, value, "the default" if usual else "chosen") for name, value, usual in _settings(comparison)]
    options = table("Settings", ("setting", "value", "which is"), chosen)
    version = tag("p", f"ragdash {stored.version}; primary metric {comparison.primary}.")
    return section("provenance", "How this was made", version, listed, *_command(stored), options)


def _command(stored: StoredResult) -> Iterator[Markup]:
    comparison = stored.comparison
    try:
        command = compare_command(
            stored.tables, comparison.baseline, comparison.candidate, metrics=tuple(comparison.metrics),
            primary=comparison.primary, settings=comparison.scores.settings, terms=comparison.terms,
        )  # fmt: skip
    except InputError as error:
        yield tag("p", "No command line gives these numbers again: ", theirs(error.problems[0].found), ".")
        return
    yield tag("p", "The same numbers again, where the files are:")
    yield tag("pre", tag("code", theirs(command)), tabindex="0", role="region", aria_label="Command line")


def _settings(comparison: Comparison) -> Iterator[tuple[str, Inner, bool]]:
    for given, usual in ((comparison.scores.settings, Settings()), (comparison.terms, Terms())):
        for field in fields(given):
            value = getattr(given, field.name)
            shown = "–" if value is None else f"{value}"
            yield field.name.replace("_", " "), theirs(shown), value == getattr(usual, field.name)


def glossary(comparison: Comparison) -> Markup:
    """What each metric used means, from the registry."""
    entries = []
    for spec in comparison.metrics:
        entries.append(tag("dt", name_of(spec), class_="term"))
        entries.append(tag("dd", f"{spec.metric.meaning} {BEST[spec.metric.direction]}"))
    return section("glossary", "What the metrics mean", tag("dl", *entries))
