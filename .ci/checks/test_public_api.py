"""The library's public items, read from its documentation, are those of docs/api.txt.

    cargo doc --no-deps && .ci/checks/test_public_api.py    as .ci/run does
    UPDATE_API=1                                            writes docs/api.txt anew: read the difference before committing
"""

import os
import re

from checks.inputs import ROOT

DOCUMENTATION = ROOT / "target" / "doc" / "rdblens"
LIST = ROOT / "docs" / "api.txt"
MEMBER = re.compile(r'<(?:section|span) id="(method|tymethod|structfield|variant)\.([^".]+)"')
PAGE = re.compile(r"(.*/)?(struct|enum|trait|fn|type|constant|macro)\.(\w+)\.html")


def members(page: str) -> list[str]:
    """Fields, variants and own methods of one item; methods of implemented traits are left out."""
    own = re.split(r'id="(?:deref-methods|trait-implementations)', page)[0]
    return sorted({f"{kind} {name}" for kind, name in MEMBER.findall(own)})


def public_items() -> list[str]:
    """Each public item with its members, one a line."""
    lines = []
    for link in re.findall(r'<li><a href="([^"]+)">', (DOCUMENTATION / "all.html").read_text()):
        match = PAGE.fullmatch(link)
        assert match, f"an item of an unknown kind: {link}"
        path, kind, name = match.groups()
        item = f"{kind} {(path or '').replace('/', '::')}{name}"
        lines.append(item)
        lines.extend(f"{item} {member}" for member in members((DOCUMENTATION / link).read_text()))
    return sorted(lines)


def test_public_api(summary: list[str]) -> None:
    items = public_items()
    summary.append(f"{len(items)} public items and members")
    assert len(items) > 100
    if os.environ.get("UPDATE_API"):
        LIST.write_text("\n".join(items) + "\n")
    listed = LIST.read_text().splitlines()
    assert items == listed, "the public API changed: see the head of .ci/checks/test_public_api.py"
