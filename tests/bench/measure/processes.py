"""Running commands: how long they take, and how much memory of their own they have at most."""

import os
import statistics
import subprocess
import time
from dataclasses import dataclass, field


@dataclass
class Command:
    """A command under a name, and what was measured of it."""

    name: str
    words: list
    # Its figures are of a dump of a tenth of the keys, and count ten times.
    tenth: bool = False
    # Exit statuses that are no failure: 1 is a report with findings.
    good: tuple = (0,)
    seconds: list = field(default_factory=list)
    processor: list = field(default_factory=list)

    @property
    def median(self):
        """Seconds for the whole dump."""
        return statistics.median(self.seconds) * (10 if self.tenth else 1)

    @property
    def processor_median(self):
        """Seconds of all processors together for the whole dump."""
        return statistics.median(self.processor) * (10 if self.tenth else 1)

    def run(self):
        """Runs it once and keeps the time."""
        start = time.perf_counter()
        process = subprocess.Popen(
            self.words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in self.good:
            raise SystemExit(f"{self.name}: exit status {process.returncode}: {' '.join(self.words)}")
        self.seconds.append(elapsed)
        self.processor.append(usage.ru_utime + usage.ru_stime)


def alternate(commands, rounds):
    """Runs all commands in turns, so that a busy minute of the machine hurts all of them alike."""
    for _ in range(rounds):
        for command in commands:
            command.run()


def anonymous_peak(words):
    """The most anonymous memory in bytes that a process has had: pages of mapped files belong to the page cache.

    Seen every millisecond or so, in a run of its own, for looking takes time."""
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    peak = 0
    with open(f"/proc/{process.pid}/status", "rb", buffering=0) as status:
        while process.poll() is None:
            try:
                status.seek(0)
                text = status.read(8192)
            except ProcessLookupError:
                continue
            for line in text.splitlines():
                if line.startswith(b"RssAnon:"):
                    peak = max(peak, int(line.split()[1]) * 1024)
            time.sleep(0.0005)
    return peak


def start_up(words, times):
    """The mean seconds from starting a process to its end, over many, with as little around it as there can be."""
    null = os.open(os.devnull, os.O_RDWR)
    files = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
    start = time.perf_counter()
    for _ in range(times):
        os.waitpid(os.posix_spawn(words[0], words, os.environ, file_actions=files), 0)
    elapsed = time.perf_counter() - start
    os.close(null)
    return elapsed / times


def output(words):
    """What a command prints."""
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
