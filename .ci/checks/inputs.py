"""Dumps that the checks read: those of testdata, and the corpus beside the clone."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "testdata"
CORPORA = [ROOT.parent / "shared" / name for name in ("corpus", "corpus-new")]
SHOP = TESTDATA / "dumps" / "shop.rdb"
LATER = TESTDATA / "dumps" / "shop-later.rdb"
POLICY = TESTDATA / "policy" / "shop.toml"
# As many dumps as testdata alone has.
LEAST = 20
FILES = ["dump.rdb", "appendonly.aof", "appendonlydir"]


def folders(corpora: list[Path]) -> list[Path]:
    """Returns the folders of all corpora, one a server; a corpus without any is an error."""
    found = []
    for corpus in corpora:
        some = sorted(path for path in corpus.iterdir() if path.is_dir()) if corpus.is_dir() else []
        if not some:
            raise pytest.UsageError(f"{corpus} is missing or empty: it has to lie beside the clone")
        found += some
    return found


def snapshots(folder: Path) -> list[Path]:
    """Returns the dump and the append-only file of a corpus folder, at least one of them."""
    found = [folder / name for name in FILES if (folder / name).exists()]
    if not found:
        raise pytest.UsageError(f"{folder} has none of {', '.join(FILES)}")
    return found


def dumps(corpora: list[Path]) -> list[Path]:
    """Returns all dumps of testdata and of the corpora."""
    found = sorted((TESTDATA / "dumps").iterdir())
    found += [path for folder in folders([TESTDATA / "corpus", *corpora]) for path in snapshots(folder)]
    if len(found) < LEAST:
        raise pytest.UsageError(f"only {len(found)} dumps: testdata is not complete")
    return found


def label(dump: Path) -> str:
    """Returns the name under which a dump appears in the output."""
    return "/".join(dump.parts[-3:]) if dump.name in FILES else dump.name
