"""The command line `rdblens`: `python -m rdblens` is the same program."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> None:
    """Runs the command of this process, and exits with its status."""
    # Python's handler would wait for the command to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.run(["rdblens", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
