"""The command `ragdash`, also `python -m ragdash`."""

import sys

from ragdash.cli import entry


def main() -> int:
    """Run the command in a process of its own."""
    return entry.main(own_process=True)


if __name__ == "__main__":
    sys.exit(main())
