"""What servers and rdblens say of a file."""

import dataclasses
import json
import re
import selectors
import subprocess
import time
from pathlib import Path

READY = b"eady to accept connections"
LOADED = re.compile(rb"Done loading RDB, keys loaded: (\d+), keys expired: (\d+)")
# A server that has said nothing for so long has not loaded the file.
PATIENCE = 30


@dataclasses.dataclass(frozen=True)
class Loaded:
    """Whether a server loaded a file, the keys it then had or dropped as expired, and its log."""

    loaded: bool
    keys: int
    log: str


def command(binary: Path, folder: Path) -> list[str]:
    """Returns the command that starts a server on `dump.rdb` of a folder, with all its own checks."""
    settings = {"--dir": folder, "--dbfilename": "dump.rdb", "--port": 0, "--unixsocket": folder / "socket", "--save": "", "--databases": 64}
    settings |= {"--sanitize-dump-payload": "yes", "--appendonly": "no", "--crash-log-enabled": "no", "--crash-memcheck-enabled": "no"}
    return [str(binary), *(str(word) for pair in settings.items() for word in pair)]


def load(binary: Path, folder: Path, file: bytes) -> Loaded:
    """Starts a server on the file; it has loaded it once it accepts connections."""
    (folder / "dump.rdb").write_bytes(file)
    (folder / "socket").unlink(missing_ok=True)
    log, loaded = b"", False
    with subprocess.Popen(command(binary, folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder) as server:
        end = time.monotonic() + PATIENCE
        with selectors.DefaultSelector() as ready:
            ready.register(server.stdout, selectors.EVENT_READ)
            while not loaded and ready.select(max(0, end - time.monotonic())):
                more = server.stdout.raw.read(65536)
                if not more:
                    break
                log += more
                loaded = READY in log
        server.kill()
    counted = LOADED.search(log)
    return Loaded(loaded, sum(map(int, counted.groups())) if counted else 0, log.decode(errors="replace"))


@dataclasses.dataclass(frozen=True)
class Checked:
    """What `rdblens check` says of a file."""

    sound: bool
    keys: int
    errors: tuple[str, ...]
    warnings: tuple[str, ...]


def check(program: Path, files: list[Path]) -> list[Checked]:
    """Runs `rdblens check` once over many files."""
    done = subprocess.run([program, "check", "--format", "json", *files], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode in (0, 3, 4), f"status {done.returncode}\n{done.stderr.decode(errors='replace')}"
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == [str(file) for file in files], "rdblens check has not one row for each file"
    said = lambda notes: tuple(note["text"] for note in notes)  # noqa: E731
    return [Checked(row["verdict"] == "ok", row["keys"], said(row["errors"]), said(row["warnings"])) for row in rows]
