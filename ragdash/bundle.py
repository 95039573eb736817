"""Where app.py, its pages and the sample data are: in the wheel's bundle, else beside the package in a checkout."""

from __future__ import annotations

from pathlib import Path

from ragdash.problems import refuse

PACKAGE = Path(__file__).resolve().parent


def bundled(name: str) -> Path:
    """The path of app.py or sample_data. Raises InputError where this installation came without it.

    >>> bundled("app.py").name
    'app.py'
    """
    for folder in (PACKAGE / "_bundle", PACKAGE.parent):
        if (folder / name).exists():
            return folder / name
    raise refuse(name, "this installation came without it", "Install ragdash again, from a wheel or a checkout")
