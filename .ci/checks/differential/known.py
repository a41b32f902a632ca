"""Kinds of disagreement that stay, each as docs/reliability.md has it."""

import re

from checks.differential.verdicts import Checked

# A part of what rdblens says of a false alarm, and the name of the kind.
FALSE_ALARMS = {
    "expected a length, found string encoding": "a length in the form of a string",
    "score is NaN": "a packed score that is NaN",
    "vector set: projection matrix of": "a projection matrix of another size",
    "a type or opcode of RDB": "a type or opcode of a later version than that of the file",
}
# A part of what the server says of a miss, and the name of the kind.
MISSES = {
    "no matching module type": "a module that the server has not loaded",
    "FATAL: Data file was created with a": "a database beyond the server's setting",
    "aborting for OUT OF MEMORY": "a table size beyond all memory",
    "Pre-release function format not supported": "a function of a release candidate",
    "Invalid object type: 107": "an opcode of Redis Enterprise",
    "Invalid object type: 121": "an opcode of Redis Enterprise",
}
REPEATED = "repeats the key at byte"
EXPIRED = re.compile(r"keys expired: [1-9]")


def reason(log: str, checked: Checked, cell: str) -> str | None:
    """Returns the documented kind of a disagreement, or nothing."""
    if cell == "miss":
        if "Stream " in log and any("stored counts differ" in warning for warning in checked.warnings):
            return "counts of a stream that only other servers compare"
        return next((kind for part, kind in MISSES.items() if part in log), None)
    # A server refuses a key that it has already, so it can only have dropped one of the two: those that have expired.
    expired = {REPEATED: "a key twice, one of them expired"} if EXPIRED.search(log) else {}
    known = FALSE_ALARMS | expired
    # Of a file with several faults, all have to be known.
    kinds = [next((kind for part, kind in known.items() if part in error), None) for error in checked.errors]
    return kinds[0] if kinds and None not in kinds else None
