"""`.ci/differential`: mutants of real dumps against real servers and `rdblens check`; see the package's first lines."""

import argparse
import concurrent.futures
import dataclasses
import datetime
import random
import shutil
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

from checks.conftest import server
from checks.differential import dump, known
from checks.differential.mutants import Library, Mutant
from checks.differential.verdicts import Checked, Loaded, check, command, load
from checks.inputs import CORPORA, ROOT, TESTDATA
from checks.servers import SOURCES

# Files in one run of rdblens, and mutants of one choice of dumps: reading a dump takes as long as fifty mutants.
BATCH = 200


@dataclasses.dataclass(frozen=True)
class Case:
    """A mutant, the server that can load what it was made of, and what both sides say."""

    mutant: Mutant
    server: str
    loaded: Loaded
    checked: Checked

    @property
    def cell(self) -> str:
        match self.loaded.loaded, self.checked.sound:
            case True, True:
                return "both load" if self.loaded.keys == self.checked.keys else "other keys"
            case False, False:
                return "both refuse"
            case False, True:
                return "miss"
            case _:
                return "false alarm"


CELLS = ["both load", "both refuse", "miss", "false alarm", "other keys"]


# Seed unless another one is asked for: the gate tries the same mutants every day, so that it fails only on a change.
USUAL_SEED = 1


def seed(text: str) -> int:
    """Returns the seed that an option gives: a number, or `today` for the date."""
    return int(datetime.date.today().strftime("%Y%m%d")) if text == "today" else int(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=".ci/differential", description=__doc__)
    parser.add_argument("mutants", nargs="?", type=int, default=1000, help="number of mutants [default: 1000]")
    parser.add_argument("--seed", type=seed, default=USUAL_SEED, help="of the first mutant; today is the date, such as 20261122 [default: %(default)s]")
    parser.add_argument("--only", type=int, metavar="N", help="mutant N of this seed alone, whatever comes of it")
    parser.add_argument("--rdblens", type=Path, default=ROOT / "target" / "ci" / "rdblens", help="the program under test")
    parser.add_argument("--corpus", type=Path, action="append", help="folders with dumps of real servers")
    parser.add_argument("--server", type=server, action="append", metavar="NAME=PATH,ALLOCATOR", help="servers in place of those that are installed")
    parser.add_argument("--without", action="append", default=[], choices=SOURCES, metavar="NAME", help="an installed server to do without")
    parser.add_argument("--type", type=int, action="append", help="only records of these types, by number")
    parser.add_argument("--keep", type=Path, default=ROOT / "target" / "differential", help="folder for disagreements")
    parser.add_argument("--jobs", type=int, default=2, help="servers at a time")
    return parser.parse_args()


def dumps(folders: list[Path]) -> list[Path]:
    """Returns the dumps of the folders, of testdata if there is none."""
    found = sorted(path for folder in folders for path in folder.glob("*/dump.rdb"))
    return found or sorted((TESTDATA / "corpus").glob("*/dump.rdb"))


def servers(options: argparse.Namespace) -> dict[str, Path]:
    if options.server:
        return {given.name: given.path for given in options.server}
    return {name: find() for name, find in SOURCES.items() if name not in options.without}


class Run:
    """A batch of mutants, the servers for them, and a folder for each server that runs."""

    def __init__(self, options: argparse.Namespace, work: Path):
        self.options, self.work = options, work
        self.servers = servers(options)
        self.known: dict[tuple[bytes, frozenset[int]], list[str]] = {}

    def load(self, job: str, binary: str, file: bytes) -> Loaded:
        folder = self.work / job
        folder.mkdir(exist_ok=True)
        return load(self.servers[binary], folder, file)

    def able(self, magic: bytes, types: frozenset[int], sound: bytes) -> list[str]:
        """Returns the servers that load sound files of this version with these types."""
        if (magic, types) not in self.known:
            folder = f"able-{threading.get_ident()}"
            self.known[magic, types] = [name for name in self.servers if self.load(folder, name, sound).loaded]
        return self.known[magic, types]

    def judge(self, job: str, mutant: Mutant, checked: Checked) -> Case | None:
        """Loads a mutant; nothing comes of one whose original no server loads, as with types of a fork."""
        able = self.able(mutant.sound[:9], mutant.types, mutant.sound)
        if not able:
            return None
        name = random.Random(mutant.seed).choice(able)
        case = Case(mutant, name, self.load(job, name, mutant.file), checked)
        agreed = case.cell in CELLS[:2]
        return case if agreed or self.load(job, name, mutant.sound).loaded else None

    def reads(self, path: Path) -> bool:
        """Returns whether any server loads files of the dump's version."""
        with path.open("rb") as file:
            magic = file.read(9)
        return bool(self.able(magic, frozenset(), dump.sealed(magic + b"\xff")))

    def batch(self, library: Library, seeds: range) -> list[Case]:
        mutants = [library.mutant(seed) for seed in seeds]
        files = []
        for mutant in mutants:
            files.append(self.work / f"{mutant.seed}.rdb")
            files[-1].write_bytes(mutant.file)
        checked = check(self.options.rdblens, files)
        for file in files:
            file.unlink()
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            # One worker takes the mutants of its residue, so that no two servers share a folder.
            lanes = [range(lane, len(mutants), self.options.jobs) for lane in range(self.options.jobs)]
            judged = pool.map(lambda lane: [self.judge(f"job-{lane.start}", mutants[at], checked[at]) for at in lane], lanes)
            return [case for lane in judged for case in lane if case is not None]


def keep(case: Case, folder: Path, options: argparse.Namespace, binary: Path) -> None:
    """Keeps a disagreement with all that is needed to see it again."""
    folder = folder / f"{case.cell.replace(' ', '-')}-{case.mutant.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dump.rdb").write_bytes(case.mutant.file)
    (folder / "sound.rdb").write_bytes(case.mutant.sound)
    (folder / "server.log").write_text(case.loaded.log)
    again = " ".join(command(binary, Path(".")))
    said = "\n".join([*case.checked.errors, *(f"note: {note}" for note in case.checked.warnings)])
    (folder / "README").write_text(
        f"{case.mutant.dump}: {case.mutant.done}\n{case.cell}: {case.server} has {case.loaded.keys} keys, rdblens {case.checked.keys}\n"
        f"{said}\n\nrdblens check dump.rdb\n{again}\n"
    )


def main() -> int:
    options = arguments()
    corpus = options.corpus or CORPORA
    first = options.seed * 1_000_000 + (options.only or 0)
    left = 1 if options.only is not None else options.mutants
    cells, reasons, kept = Counter(), Counter(), options.keep / str(options.seed)
    shutil.rmtree(kept, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="rdblens-differential-") as work:
        run = Run(options, Path(work))
        paths = [path for path in dumps(corpus) if run.reads(path)]
        while left > 0:
            # Dumps are drawn anew for each block of seeds, so that a mutant depends on its seed alone.
            block = first // BATCH
            library = Library(read(random.Random(block).sample(paths, min(6, len(paths))), options.type))
            seeds = range(first, min(first + left, (block + 1) * BATCH))
            for case in run.batch(library, seeds) if library.dumps else []:
                cells[case.cell] += 1
                if case.cell not in CELLS[:2]:
                    reason = known.reason(case.loaded.log, case.checked, case.cell)
                    reasons[reason] += 1
                    if reason is None:
                        keep(case, kept, options, run.servers[case.server])
            left -= len(seeds)
            first += len(seeds)
    unknown = reasons.pop(None, 0)
    print(f"seed {options.seed}: {cells.total()} mutants; " + ", ".join(f"{cell} {cells[cell]}" for cell in CELLS))
    for reason, count in sorted(reasons.items()):
        print(f"  documented, {reason}: {count}")
    if unknown:
        print(f"  not documented: {unknown}, see {kept}")
    return 1 if unknown else 0


def read(paths: list[Path], types: list[int] | None) -> list[dump.Dump]:
    found = [dump.records(path.read_bytes(), str(path)) for path in paths]
    if types:
        found = [dataclasses.replace(each, records=tuple(r for r in each.records if r.type in types)) for each in found]
    return found


if __name__ == "__main__":
    sys.exit(main())
