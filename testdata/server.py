"""A private redis-server on loopback, and a minimal RESP client.

Used by make_shop.py and by the live checks in .ci/checks. Python's standard library only.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time


class ReplyError(Exception):
    """Error reply of the server (`-`)."""


def encode(*words):
    """Encodes a command as RESP; text and numbers are encoded, bytes are sent unchanged."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


class Client:
    """A connection. `call` sends one command, `pipeline` many at once."""

    # Commands in flight at a time: few enough for the socket buffers of both sides, so that neither blocks forever.
    WINDOW = 500

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.stream = self.socket.makefile("rb")

    def close(self):
        self.stream.close()
        self.socket.close()

    def call(self, *words):
        self.socket.sendall(encode(*words))
        reply = self.reply()
        if isinstance(reply, ReplyError):
            raise ReplyError(f"{words[0]}: {reply}")
        return reply

    def pipeline(self, commands):
        """Returns the replies in order; an error reply raises, naming its command."""
        commands = list(commands)
        replies = []
        for start in range(0, len(commands), self.WINDOW):
            window = commands[start : start + self.WINDOW]
            self.socket.sendall(b"".join(encode(*words) for words in window))
            for words in window:
                reply = self.reply()
                if isinstance(reply, ReplyError):
                    raise ReplyError(f"{words[:2]}: {reply}")
                replies.append(reply)
        return replies

    def reply(self):
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        mark, rest = line[:1], line[1:-2]
        if mark == b"+":
            return rest
        if mark == b"-":
            return ReplyError(rest.decode(errors="replace"))
        if mark == b":":
            return int(rest)
        if mark == b"$":
            size = int(rest)
            return None if size < 0 else self.stream.read(size + 2)[:-2]
        if mark == b"*":
            size = int(rest)
            return None if size < 0 else [self.reply() for _ in range(size)]
        raise ConnectionError(f"unexpected reply {line!r}")


def free_port():
    """Returns a free port; in cluster mode the server also uses the port 10000 above."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port <= 55535:
            return port


class Server:
    """`with Server("--maxmemory-policy", "allkeys-lru") as server:` starts one in a directory of its own, and ends it.

    `binary` is another than the installed redis-server, `dump` a file that the server loads when it starts, `folder` one whose content it
    finds in its directory.
    """

    def __init__(self, *options, binary=None, dump=None, folder=None):
        self.binary = binary or shutil.which("redis-server")
        if self.binary is None:
            raise RuntimeError("redis-server is not installed: apt-get install redis-server")
        self.options = options
        self.loaded = dump
        self.folder = folder

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="rdblens-")
        if self.loaded is not None:
            shutil.copyfile(self.loaded, self.dump)
        if self.folder is not None:
            shutil.copytree(self.folder, self.directory, dirs_exist_ok=True)
        self.port = free_port()
        command = [self.binary, "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.directory]
        command += ["--save", "", "--appendonly", "no", "--daemonize", "no", "--enable-debug-command", "local"]
        self.log = open(os.path.join(self.directory, "log"), "wb")
        self.process = subprocess.Popen(command + list(self.options), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        try:
            self.client = self._connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _connect(self):
        for _ in range(200):
            if self.process.poll() is not None:
                with open(self.log.name, errors="replace") as log:
                    raise RuntimeError(f"{self.binary} did not start:\n" + log.read())
            try:
                client = Client(self.port)
                client.call("PING")
                return client
            except (OSError, ReplyError):
                time.sleep(0.05)
        raise RuntimeError(f"{self.binary} does not answer")

    def __exit__(self, *_):
        if hasattr(self, "client"):
            self.client.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def info(self, section):
        """Returns a section of INFO as a dictionary of texts."""
        lines = self.client.call("INFO", section).decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def wait_until_loaded(self):
        while self.info("persistence")["loading"] != "0":
            time.sleep(0.05)

    def wait_until_idle(self):
        """Waits until incremental rehashing is done: tables that grew during loading are moved by the server's cron in steps."""
        before, same = 0, 0
        for _ in range(300):
            now = int(self.info("memory")["used_memory"])
            same = same + 1 if abs(now - before) < now / 5000 else 0
            if same >= 5:
                return
            before = now
            time.sleep(0.2)
        raise RuntimeError("the server does not come to rest")

    @property
    def dump(self):
        """Returns the path that SAVE writes to."""
        return os.path.join(self.directory, "dump.rdb")
