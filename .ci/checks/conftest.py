"""Options of the command line, fixtures that several files use, and the closing lines of each run."""

import argparse
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checks.inputs import CORPORA, ROOT, dumps, folders, label
from checks.program import Program
from checks.servers import SOURCES, ServerBinary, identify

SUMMARY = pytest.StashKey[list[str]]()
SHOWN = 20


def server(text: str) -> ServerBinary:
    """Parses NAME=PATH,ALLOCATOR."""
    name, _, rest = text.partition("=")
    path, _, allocator = rest.rpartition(",")
    if not (name and path and allocator):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=PATH,ALLOCATOR")
    return ServerBinary(name, Path(path).resolve(), allocator)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rdblens")
    group.addoption("--rdblens", type=Path, default=ROOT / "target" / "ci" / "rdblens", help="the program under test")
    group.addoption(
        "--corpus",
        type=Path,
        action="append",
        help="dumps of real servers, with what those said of every key; several times for several [default: both beside the clone]",
    )
    group.addoption(
        "--server", type=server, action="append", metavar="NAME=PATH,ALLOCATOR", help="a server in place of those that the live checks find"
    )
    group.addoption("--seed", type=int, help="of random keys and of damage [default: another each time for keys, always the same for damage]")
    group.addoption("--keys", type=int, help="number of random keys")
    group.addoption("--mutants", type=int, default=7, help="number of damaged copies of each dump that are salvaged")
    group.addoption("--shots", type=Path, help="a folder for screenshots and printed pages")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SUMMARY] = []
    config.option.corpus = config.option.corpus or CORPORA


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrizes over the servers, the dumps and the folders that the command line asks for."""
    options, names = metafunc.config.option, metafunc.fixturenames
    if "binary" in names:
        given = [binary.name for binary in options.server or []]
        metafunc.parametrize("binary", given or list(SOURCES), indirect=True, scope="session")
    if "dump" in names:
        metafunc.parametrize("dump", dumps(options.corpus), ids=label, scope="module")
    if "folder" in names:
        metafunc.parametrize("folder", folders(options.corpus), ids=lambda folder: folder.name, scope="module")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Turns a skipped test into a failed one: a check that did not run proves nothing."""
    report = yield
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash[SUMMARY]:
        terminalreporter.section("checked")
        for line in config.stash[SUMMARY]:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def summary(pytestconfig: pytest.Config) -> list[str]:
    """Lines to print at the end, which say how much was checked."""
    return pytestconfig.stash[SUMMARY]


@pytest.fixture(scope="session")
def program(pytestconfig: pytest.Config) -> Program:
    path = pytestconfig.option.rdblens.resolve()
    assert path.is_file(), f"{path} is missing: cargo test --profile ci --no-run"
    return Program(path)


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    given = pytestconfig.option.seed
    return random.SystemRandom().randrange(10**9) if given is None else given


@pytest.fixture(scope="session")
def mutant_count(pytestconfig: pytest.Config) -> int:
    return pytestconfig.option.mutants


@pytest.fixture(scope="session")
def binaries(pytestconfig: pytest.Config) -> dict[str, ServerBinary]:
    """All servers of the live checks, by the name that tests have for them."""
    given = pytestconfig.option.server
    return {binary.name: binary for binary in given} if given else {name: identify(path()) for name, path in SOURCES.items()}


@pytest.fixture(scope="session")
def binary(request: pytest.FixtureRequest, binaries: dict[str, ServerBinary]) -> ServerBinary:
    """A server that the live checks start."""
    return binaries[request.param]


@pytest.fixture(scope="session")
def tool() -> Callable[[str], str]:
    """Returns the path of a program that .ci/run installs, or fails."""

    def find(name: str) -> str:
        path = shutil.which(name)
        assert path is not None, f"{name} is not installed: see the step tools of .ci/run"
        return path

    return find


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Shows the first of many differences, where a list of them was expected to be empty."""
    if op != "==" or right != [] or not isinstance(left, list):
        return None
    more = [f"... and {len(left) - SHOWN} more"] if len(left) > SHOWN else []
    return [f"{len(left)} differences:", *map(str, left[:SHOWN]), *more]
