"""Runs the program against object stores on the loopback interface; see .ci/fleet."""

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import botocore.config

ROOT = Path(__file__).resolve().parents[2]
SHOP = ROOT / "testdata" / "dumps" / "shop.rdb"
SECRET = "hunter2-secret"
# Azurite's account is the same everywhere and part of its documentation.
AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
LEAST_THROUGHPUT = 0.7


class Failed(Exception):
    """A check that failed."""


def check(condition: bool, what: str) -> None:
    if not condition:
        raise Failed(what)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def server(command: list[str], port: int, folder: Path, env: dict[str, str] | None = None) -> Iterator[None]:
    """Starts a server, waits until it listens, and stops it at the end."""
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **(env or {})}, start_new_session=True)
    try:
        # Servers on Node take half a minute on a machine busy with other work.
        for _ in range(900):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            check(process.poll() is None, f"{command[0]} ended: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.1)
        else:
            raise Failed(f"{command[0]} does not listen")
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


class Program:
    """The program under test, with the settings of a store."""

    def __init__(self, path: Path, env: dict[str, str]) -> None:
        self.path, self.env = path, {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", **env}

    def run(self, *arguments: str | Path, status: int = 0, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([self.path, *arguments], env={**self.env, **(env or {})}, capture_output=True, text=True, timeout=300)
        check(SECRET not in done.stdout + done.stderr, f"a secret is shown: {arguments}")
        check(done.returncode == status, f"{arguments}: status {done.returncode}, not {status}: {done.stderr}")
        return done

    def report(self, *arguments: str | Path) -> dict:
        return json.loads(self.run("analyze", "--format", "json", *arguments).stdout)


def figures(report: dict, folder: str = "") -> dict:
    """What a report says, but for where the files are (below `folder`) and how they are packed."""
    if folder:
        report = json.loads(json.dumps(report).replace(json.dumps(folder).strip('"'), ""))
    packed = ("files", "source", "generated_by", "warnings", "command")
    found = {name: value for name, value in report.items() if name not in packed}
    # The arguments, if they are folders or patterns.
    found["options"] = {name: value for name, value in report["options"].items() if name != "inputs"}
    return found


def files(folder: Path) -> list[Path]:
    """Dumps of one night: shards that differ in their names and times, and one compressed."""
    shards = []
    for dump in sorted((ROOT / "testdata" / "servers" / "enterprise").glob("*.rdb.gz")):
        shards.append(Path(shutil.copy(dump, folder / dump.name)))
    check(len(shards) > 1, "no shards in testdata/servers/enterprise")
    return shards


def of_store(program: Program, prefix: str, put: Callable[[str, bytes], None], folder: Path) -> None:
    """What holds for every store: `prefix` is an address, `put` writes an object below it."""
    put("shop.rdb", SHOP.read_bytes())
    packed = subprocess.run(["zstd", "-q", "-c", SHOP], capture_output=True, check=True).stdout
    put("shop.rdb.zst", packed)
    local = figures(program.report(SHOP))
    check(figures(program.report(f"{prefix}/shop.rdb")) == local, "the report differs from that of the file")
    check(figures(program.report(f"{prefix}/shop.rdb.zst")) == local, "the report differs from that of the packed file")
    check("ok" in program.run("check", f"{prefix}/shop.rdb").stdout, "check")
    rows = program.run("keys", f"{prefix}/shop.rdb", "--mask").stdout
    check(rows.count("\n") > 5000, "keys that read twice")

    shards = files(folder)
    for shard in shards:
        put(f"night 1/{shard.name}", shard.read_bytes())
    put("night 1/temp-1.rdb", b"cut")
    put("night 1/notes.txt", b"text")
    wanted = figures(program.report(folder), f"{folder}/")
    for address in (f"{prefix}/night 1/", f"{prefix}/night 1/*.rdb.gz", f"{prefix}/night*/*.rdb.gz"):
        found = figures(program.report(address), f"{prefix}/night 1/")
        differing = [name for name in wanted if found.get(name) != wanted[name]]
        check(not differing, f"{address}: the report differs from that of the folder in {differing}")
    twice = program.run("analyze", f"{prefix}/shop.rdb", f"{prefix}/shop.rdb.zst", status=2).stderr
    check("are the same snapshot" in twice, "copies are not refused")

    plan, part = folder / "plan.json", folder / "1.part"
    program.run("plan", f"{prefix}/night 1/", "-o", plan)
    check(all(file["etag"] and file["size"] for file in json.loads(plan.read_text())["files"]), "the plan has no tags")
    program.run("analyze", "--partial", "--plan", plan, "--shard", "1/1", "-o", part)
    merged = json.loads(program.run("merge", "--plan", plan, part, "--format", "json").stdout)
    check(figures(merged, f"{prefix}/night 1/") == wanted, "the merged report differs")
    replaced = shards[0].read_bytes()
    put(f"night 1/{shards[0].name}", replaced[:-1] + bytes([replaced[-1] ^ 1]))
    said = program.run("analyze", "--partial", "--plan", plan, "--shard", "1/1", "-o", part, status=3).stderr
    check("was replaced" in said and shards[0].name in said, f"a replaced object is not named: {said}")

    said = program.run("analyze", f"{prefix}/missing.rdb", status=3).stderr
    check("404" in said and f"{prefix}/missing.rdb" in said, f"a missing object: {said}")
    program.run("analyze", SHOP, "--format", "json", "-o", f"{prefix}/out/report.json")
    again = program.run("analyze", SHOP, "--format", "json", "-o", f"{prefix}/out/report.json")
    check(again.stderr == "", "an output is not replaced")
    said = program.run("analyze", SHOP, "-o", f"{prefix}/shop.rdb", status=2).stderr
    check("is a snapshot" in said, f"a snapshot is written over: {said}")
    program.run("keys", SHOP, "--format", "csv", "-o", f"{prefix}/out/keys.csv")


def s3_client(port: int):
    options = botocore.config.Config(s3={"addressing_style": "path"}, signature_version="s3v4")
    keys = {"aws_access_key_id": "AKIAEXAMPLE", "aws_secret_access_key": SECRET, "region_name": "us-east-1"}
    return boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", config=options, **keys)


def s3(options: argparse.Namespace, command: list[str], port: int, folder: Path) -> None:
    env = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": SECRET}
    env["AWS_REGION"] = "us-east-1"
    program = Program(options.rdblens, env)
    with server(command, port, folder):
        client = s3_client(port)
        client.create_bucket(Bucket="backup")
        of_store(program, "s3://backup/redis", lambda key, body: client.put_object(Bucket="backup", Key=f"redis/{key}", Body=body), folder)
        listed = client.get_object(Bucket="backup", Key="redis/out/report.json")["Body"].read()
        check(json.loads(listed)["totals"]["keys"] == 5257, "what -o wrote is not the report")
        url = client.generate_presigned_url("get_object", Params={"Bucket": "backup", "Key": "redis/shop.rdb"})
        check(program.report(url)["totals"]["keys"] == 5257, "a signed address is not read")
        check(program.run("plan", url, status=2).stderr.count("signature") > 0, "a plan holds a signed address")
        # Many pages of a list, in order.
        for at in range(1100):
            client.put_object(Bucket="backup", Key=f"many/{at:04}.txt", Body=b"")
        client.put_object(Bucket="backup", Key="many/9999.rdb", Body=SHOP.read_bytes())
        check(program.report("s3://backup/many/")["totals"]["keys"] == 5257, "the second page of a list is not read")
        # The same keys from a profile.
        home = folder / "home"
        (home / ".aws").mkdir(parents=True)
        (home / ".aws" / "credentials").write_text(f"[night]\naws_access_key_id=AKIAEXAMPLE\naws_secret_access_key={SECRET}\n")
        by_profile = {"HOME": str(home), "AWS_PROFILE": "night", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
        program.run("check", "s3://backup/redis/shop.rdb", env=by_profile)


def moto(options: argparse.Namespace, folder: Path) -> None:
    port = free_port()
    s3(options, [str(Path(sys.executable).with_name("moto_server")), "-H", "127.0.0.1", "-p", str(port)], port, folder)


def s3s(options: argparse.Namespace, folder: Path) -> None:
    """A store that checks signatures, which moto does not."""
    port, root = free_port(), folder / "buckets"
    root.mkdir()
    command = [str(options.tools / "bin" / "s3s-fs"), "--host", "127.0.0.1", "--port", str(port)]
    command += ["--access-key", "AKIAEXAMPLE", "--secret-key", SECRET, str(root)]
    env = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_REGION": "us-east-1"}
    program = Program(options.rdblens, env)
    with server(command, port, folder):
        client = s3_client(port)
        client.create_bucket(Bucket="backup")
        client.put_object(Bucket="backup", Key="night 1/shop=1+2.rdb", Body=SHOP.read_bytes())
        right, wrong = {"AWS_SECRET_ACCESS_KEY": SECRET}, {"AWS_SECRET_ACCESS_KEY": "another"}
        for address in ("s3://backup/night 1/shop=1+2.rdb", "s3://backup/night 1/", "s3://backup/night*/*.rdb"):
            done = program.run("analyze", address, "--format", "json", env=right)
            check(json.loads(done.stdout)["totals"]["keys"] == 5257, f"{address} is not read")
            said = program.run("analyze", address, status=3, env=wrong).stderr
            check("403" in said and "backup" in said, f"a wrong key: {said}")
        program.run("analyze", SHOP, "--format", "json", "-o", "s3://backup/out/report 1.json", env=right)
        written = client.get_object(Bucket="backup", Key="out/report 1.json")["Body"].read()
        check(json.loads(written)["totals"]["keys"] == 5257, "what -o wrote is not the report")
        said = program.run("analyze", SHOP, "-o", "s3://backup/out/report.json", status=3, env=wrong).stderr
        check("403" in said, f"a wrong key for the output: {said}")
        url = client.generate_presigned_url("get_object", Params={"Bucket": "backup", "Key": "night 1/shop=1+2.rdb"})
        check(program.report(url)["totals"]["keys"] == 5257, "a signed address is not read")
        check("HTTP 403" in program.run("analyze", url[:-1] + ("0" if url[-1] != "0" else "1"), status=3).stderr, "a false signature")


def azurite(options: argparse.Namespace, folder: Path) -> None:
    from azure.storage.blob import BlobServiceClient

    port = free_port()
    command = [str(options.tools / "node_modules" / ".bin" / "azurite-blob"), "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    command += ["--location", str(folder / "azurite"), "--skipApiVersionCheck", "--silent"]
    url = f"http://127.0.0.1:{port}"
    program = Program(options.rdblens, {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": url})
    with server(command, port, folder):
        client = BlobServiceClient(f"{url}/devstoreaccount1", credential=AZURITE_KEY)
        container = client.create_container("backup")
        of_store(program, "az://backup/redis", lambda key, body: container.upload_blob(f"redis/{key}", body, overwrite=True), folder)


NGINX = """
{user} daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ }}
http {{
    access_log off; sendfile on;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    server {{ listen 127.0.0.1:{port}; root {folder}/www; }}
}}
"""


def nginx(options: argparse.Namespace, folder: Path) -> None:
    port, www = free_port(), folder / "www"
    www.mkdir()
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, user="user root;" if os.getuid() == 0 else ""))
    shutil.copy(SHOP, www / "shop of 1.rdb")
    program = Program(options.rdblens, {})
    with server([shutil.which("nginx") or "nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)], port, folder):
        url = f"http://127.0.0.1:{port}"
        check(program.report(f"{url}/shop%20of%201.rdb?token={SECRET}")["totals"]["keys"] == 5257, "a web server is not read")
        signed = f"{url}/shop%20of%201.rdb?X-Amz-Signature={SECRET}"
        for form in ("table", "json", "html", "markdown"):
            program.run("compare", signed, signed, "--format", form)
            program.run("capacity", signed, "--node-memory", "1GB", "--format", form)
        program.run("show", signed, "no-such-key", status=3)
        program.run("merge", "--plan", f"{url}/missing.json?sig={SECRET}", "none.part", status=3)
        check("HTTP 404" in program.run("analyze", f"{url}/missing.rdb?token={SECRET}", status=3).stderr, "a missing file")
        big = www / "big.rdb"
        write_big(big)
        throughput(program, f"{url}/big.rdb", big.stat().st_size)


def write_big(path: Path) -> None:
    """Writes a dump of 300,000 strings of 1,000 bytes, without a checksum."""
    value = bytes(range(256)) * 4
    with path.open("wb") as out:
        out.write(b"REDIS0011\xfe\x00")
        for at in range(300_000):
            out.write(b"\x00\x0esession:%06d" % at)
            out.write(b"\x43\xe8" + value[:1000])
        out.write(b"\xff" + bytes(8))


def throughput(program: Program, url: str, size: int) -> None:
    """Compares with the same bytes through a pipe, in alternating runs."""
    piped, read = [], []
    for _ in range(5):
        start = time.monotonic()
        curl = subprocess.Popen(["curl", "-sS", url], stdout=subprocess.PIPE)
        subprocess.run([program.path, "analyze", "-", "--format", "json"], stdin=curl.stdout, stdout=subprocess.DEVNULL, check=True)
        check(curl.wait() == 0, "curl")
        piped.append(time.monotonic() - start)
        start = time.monotonic()
        subprocess.run([program.path, "analyze", url, "--format", "json"], stdout=subprocess.DEVNULL, check=True)
        read.append(time.monotonic() - start)
    piped_rate, read_rate = (size / 1e6 / statistics.median(times) for times in (piped, read))
    print(f"{size / 1e6:.0f} MB: {read_rate:.0f} MB/s, {piped_rate:.0f} MB/s by curl and a pipe: {read_rate / piped_rate:.0%}", flush=True)
    check(read_rate >= LEAST_THROUGHPUT * piped_rate, "slower than a pipe")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rdblens", type=Path, required=True)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("stores", nargs="+", choices=["moto", "s3s", "azurite", "nginx"])
    options = parser.parse_args()
    options.rdblens = options.rdblens.resolve()
    stores = {"moto": moto, "s3s": s3s, "azurite": azurite, "nginx": nginx}
    failed = 0
    for name in options.stores:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                stores[name](options, Path(folder))
            except Failed as error:
                failed += 1
                print(f"{name}: FAILED: {error}", flush=True)
            else:
                print(f"{name}: ok, {time.monotonic() - start:.0f} s", flush=True)
    print(f"{len(options.stores) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
