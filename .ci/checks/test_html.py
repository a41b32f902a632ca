"""HTML reports in a browser.

Headless Chromium opens reports of an ordinary dump, of one with everything in it, and of one with hostile names, clicks, types,
prints, and looks for anything that a page of strangers' names must not do: see .ci/html/check.cjs. playwright-core and axe-core
are installed into target/ci-node.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from checks import hostile_names
from checks.inputs import LATER, ROOT, SHOP
from checks.program import Program

HTML = ROOT / ".ci" / "html"
MODULES = ROOT / "target" / "ci-node"
PAGES = ["shop", "rich", "hostile"]


@pytest.fixture(scope="module")
def modules(tool: Callable[[str], str]) -> Path:
    """Packages of Node; the copy behind the installation tells which versions are there."""
    installed, lock = MODULES / "installed.json", HTML / "package-lock.json"
    if not installed.exists() or installed.read_bytes() != lock.read_bytes():
        MODULES.mkdir(parents=True, exist_ok=True)
        for name in ["package.json", "package-lock.json"]:
            shutil.copy(HTML / name, MODULES / name)
        command = [tool("npm"), "ci", "--prefix", MODULES, "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
        shutil.copy(lock, installed)
    return MODULES / "node_modules"


@pytest.fixture(scope="module")
def words(program: Program, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    """Inputs and options of each page."""
    folder = tmp_path_factory.mktemp("inputs")
    hostile, old = folder / "hostile.rdb", folder / "old.json"
    hostile_names.write(hostile)
    program.run("analyze", SHOP, "--quiet", "--format", "json", "-o", old)
    return {
        "shop": [SHOP],
        "rich": [LATER, "--policy", "strict", "--baseline", old, "--what-if", "newest", "--what-if", "valkey-8.1"],
        "hostile": [hostile, "--top", 10_000, "--depth", 8],
    }


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", PAGES)
def test_page_in_chromium(
    page: str,
    lang: str,
    words: dict[str, list[object]],
    modules: Path,
    program: Program,
    tool: Callable[[str], str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    summary: list[str],
) -> None:
    tool("chromium")
    file = tmp_path / f"{page}.{lang}.html"
    program.run("analyze", *words[page], "--quiet", "--lang", lang, "--format", "html", "-o", file)
    shots = request.config.option.shots
    if shots is not None:
        shots.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [tool("node"), HTML / "check.cjs", shots or "-", file],
        env={**os.environ, "NODE_PATH": str(modules)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # A line a page, written when all was in order.
    assert done.stdout.count("in order") == 1, done.stdout
    summary.append(done.stdout.strip())
