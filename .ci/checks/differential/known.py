"""Kinds of disagreement that stay, each as docs/reliability.md has it."""

from checks.differential.verdicts import Checked

# By the cell: a part of what rdblens says (or of the server's log, for a miss), and the name of the kind.
FALSE_ALARMS: dict[str, str] = {}
MISSES: dict[str, str] = {}


def reason(server: str, log: str, checked: Checked, cell: str) -> str | None:
    """Returns the documented kind of a disagreement, or nothing."""
    del server
    known, said = (FALSE_ALARMS, checked.refused) if cell == "false alarm" else (MISSES, log)
    return next((kind for part, kind in known.items() if part in said), None)
