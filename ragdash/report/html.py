"""One HTML file that says everything about a comparison: no script, no request, both themes, and it prints."""

from __future__ import annotations

from importlib.resources import files

from ragdash.report import background, sections
from ragdash.report.markup import Markup, joined, tag
from ragdash.report.questions import worst_questions
from ragdash.results.stored import StoredResult

# Nothing may be loaded and nothing run, whatever a mistake of ours or a hostile text would ask for.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html_report(stored: StoredResult) -> str:
    """The report as one document; `StoredResult.of(comparison, tables)` takes a comparison just made.

    The same result gives the same text. All text of users is escaped in `ragdash.report.markup`.
    """
    comparison = stored.comparison
    title = f"{comparison.candidate} against {comparison.baseline}: {comparison.badge}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"ragdash {stored.version}"),
        tag("title", title),
        tag("style", Markup(files("ragdash.report").joinpath("report.css").read_text(encoding="utf-8"))),
    )
    main = tag(
        "main",
        sections.verdict(comparison),
        sections.funnel(stored),
        *sections.cards(comparison),
        sections.differences(comparison),
        sections.slices(stored),
        worst_questions(stored),
        sections.citations(stored),
        background.cautions(comparison, stored.tables.problems),
        background.glossary(comparison),
        background.provenance(stored),
    )
    return joined([Markup("<!doctype html>\n"), tag("html", head, tag("body", main), lang="en"), "\n"])
