"""Passages that the presets and docs/standards.md cite, compared with the standards word by word.

In presets, white space and the marks of Markdown do not count. Headings must follow each other, and the sentence must follow the last of them;
so must its parts, between which an ellipsis stands.
"""

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from checks.inputs import ROOT

PRESETS = sorted((ROOT / "src" / "policy" / "presets").glob("*.toml"))
STANDARDS = ROOT.parent / "shared" / "standards"
# Titles as the presets cite them, with the beginning of the file's name.
DOCUMENTS = {
    "Redis 使用规范": "000",
    "Redis开发规范": "001",
    "Redis 开发规范（二十一章）": "002",
    "Redis 键值设计规约与业务规范": "003",
    "阿里云Redis开发规范": "004",
}
# More than this many in each preset; fewer would mean that they were not found.
LEAST = 3
PAGE = ROOT / "docs" / "standards.md"
# Presets whose parts of the page quote one standard each, and how many sentences each part quotes at least.
PARTS = {"service": ("000", 50), "hzero": ("001", 30), "platform": ("002", 100), "strict": ("003", 30), "aliyun": ("004", 35)}


class Passage(NamedTuple):
    """A passage that a preset cites for a rule."""

    rule: str
    document: str
    chapter: str
    quote: str


def bare(text: str) -> str:
    """Returns the text without white space and marks of Markdown."""
    return re.sub(r"[\s*_~`#>|-]", "", text)


def standard(document: str) -> str:
    """Returns the text of a standard."""
    [path] = STANDARDS.glob(f"{DOCUMENTS[document]}_*.txt")
    return bare(path.read_text(encoding="utf-8"))


def passages(preset: Path) -> list[Passage]:
    """Returns what a preset cites, one for each limit."""
    policy = tomllib.loads(preset.read_text(encoding="utf-8"))
    found = []
    for rule, settings in policy["rules"].items():
        for setting in settings if isinstance(settings, list) else [settings]:
            # A severity alone, or a parameter: the citation is that of the preset below.
            if isinstance(setting, dict) and "quote" in setting:
                document = setting.get("document", policy.get("document"))
                found.append(Passage(rule, document, setting["source"], setting["quote"]))
    return found


def place(passage: Passage, text: str) -> str | None:
    """Returns what of a passage is not in the text."""
    at = 0
    for part in [*passage.chapter.split(" / "), *passage.quote.split("…")]:
        at = text.find(bare(part), at)
        if at < 0:
            return part
    return None


@pytest.mark.parametrize("preset", PRESETS, ids=lambda path: path.stem)
def test_passages_are_in_the_standards(preset: Path) -> None:
    cited = passages(preset)
    assert len(cited) > LEAST
    lost = [(passage.rule, passage.document, missing) for passage in cited if (missing := place(passage, standard(passage.document)))]
    assert not lost


def test_a_wrong_word_is_found() -> None:
    document = next(iter(DOCUMENTS))
    right = Passage("key.length", document, "Key 命名规范 / Key 长度限制", "建议 Key 长度不超过 128 字符")
    assert place(right, standard(document)) is None
    for wrong in [right._replace(quote="建议 Key 长度不超过 129 字符"), right._replace(chapter="禁止事项 / Key 长度限制")]:
        assert place(wrong, standard(document)) is not None


def part(page: str, preset: str) -> str:
    """Returns the part of the page on one standard."""
    return page.partition(f"\n## {preset}: ")[2].partition("\n## ")[0]


def lost_quotes(page: str, preset: str) -> list[str]:
    """Returns what the page quotes and the standard does not say, character by character."""
    number, least = PARTS[preset]
    [path] = STANDARDS.glob(f"{number}_*.txt")
    text = path.read_text(encoding="utf-8")
    quotes = re.findall("「(.*?)」", part(page, preset))
    assert len(quotes) > least
    return [quote for quote in quotes if quote not in text]


@pytest.mark.parametrize("preset", PARTS)
def test_the_page_quotes_the_standards(preset: str) -> None:
    assert not lost_quotes(PAGE.read_text(encoding="utf-8"), preset)


def test_a_wrong_quote_on_the_page_is_found() -> None:
    page = PAGE.read_text(encoding="utf-8").replace("「不要空标识」", "「不要空标志」")
    assert lost_quotes(page, "service") == ["不要空标志"]
