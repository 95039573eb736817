"""`ragdash metrics`, `formats` and `styles`: what the registries hold."""

from __future__ import annotations

import argparse
import importlib
import json

REGISTRIES = {
    "metrics": ("ragdash.metrics.registry", "METRICS"),
    "formats": ("ragdash.formats.registry", "FORMATS"),
    "styles": ("ragdash.citations.registry", "STYLES"),
}


def add_arguments(parser: argparse.ArgumentParser, _: str) -> None:
    """The arguments of the listing commands."""
    parser.add_argument("name", nargs="?", help="explain this one in full")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="what stdout gets")


def run(options: argparse.Namespace) -> int:
    """Print a registry: a line an entry, or one entry in full."""
    module, variable = REGISTRIES[options.command]
    registry = getattr(importlib.import_module(module), variable)
    name = options.name
    if name and options.command == "metrics" and name not in registry:
        name = importlib.import_module(module).parse(name).metric.name
    entries = [registry[name]] if name else list(registry)
    if options.format == "json":
        facts = [{"name": e.name, "label": e.label, "explanation": e.explanation} for e in entries]
        print(json.dumps(facts, ensure_ascii=False, indent=1))
    elif options.name:
        print(f"{entries[0].name}: {entries[0].label}\n\n{entries[0].explanation}")
    else:
        width = max(len(entry.name) for entry in entries)
        print("\n".join(f"{entry.name:{width}}  {entry.meaning}" for entry in entries))
    return 0
