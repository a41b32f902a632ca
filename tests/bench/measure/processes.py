"""Runs commands and measures their time and peak anonymous memory."""

import os
import statistics
import subprocess
import time
from dataclasses import dataclass, field


@dataclass
class Command:
    """A named command and its measurements."""

    name: str
    words: list
    # Set if it reads a dump with a tenth of the keys: its times are multiplied by ten.
    tenth: bool = False
    # Exit statuses of success: 1 is a report with findings.
    good: tuple = (0,)
    seconds: list = field(default_factory=list)
    processor: list = field(default_factory=list)

    @property
    def median(self):
        """Returns the seconds for the whole dump."""
        return statistics.median(self.seconds) * (10 if self.tenth else 1)

    @property
    def processor_median(self):
        """Returns the CPU seconds, summed over all processors, for the whole dump."""
        return statistics.median(self.processor) * (10 if self.tenth else 1)

    def run(self):
        """Runs the command once and records the time."""
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
    """Runs all commands in turns, so that noise of the machine affects all alike."""
    for _ in range(rounds):
        for command in commands:
            command.run()


def anonymous_peak(words):
    """Returns the peak anonymous memory of a process in bytes; pages of mapped files belong to the page cache.

    Sampled about every millisecond, in a run of its own, since sampling takes time."""
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
    """Returns the mean seconds from start to exit of a process, over many runs with minimal overhead."""
    null = os.open(os.devnull, os.O_RDWR)
    files = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
    start = time.perf_counter()
    for _ in range(times):
        os.waitpid(os.posix_spawn(words[0], words, os.environ, file_actions=files), 0)
    elapsed = time.perf_counter() - start
    os.close(null)
    return elapsed / times


def output(words):
    """Returns the output of a command."""
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
