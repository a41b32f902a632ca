"""docs/python.md as it is written: the blocks of Python run in order, in a folder with the files they name."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import LATER, ROOT, SHARDS, SHOP

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(SHOP, tmp_path / "dump.rdb")
    shutil.copy(LATER, tmp_path / "later.rdb")
    (tmp_path / "shards").mkdir()
    for shard in SHARDS:
        shutil.copy(shard, tmp_path / "shards")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE)
    assert len(blocks) >= 6
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        line = PAGE[: PAGE.index(block)].count("\n") + 1
        # Lines keep their numbers, so that a failure names that of the page.
        exec(compile("\n" * (line - 1) + block, "docs/python.md", "exec"), names)
