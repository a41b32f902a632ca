"""Reports, verification, comparison, and reports in parts."""

from __future__ import annotations

import copy
import json
import pickle
import random
from datetime import datetime, timezone
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from conftest import LATER, ROOT, SHARDS, SHOP, dumps, run

import rdblens


@pytest.mark.parametrize("dump", dumps()[::4], ids=lambda path: str(path.relative_to(ROOT / "testdata")))
@pytest.mark.parametrize("policy", ["default", "platform"])
def test_the_report_is_that_of_the_command_line(dump: Path, policy: str) -> None:
    report = rdblens.analyze(dump, policy)
    stored = run("analyze", dump, "--policy", policy, "--format", "json", "--quiet").stdout
    assert report.to_json() == stored.decode()
    assert report.to_dict() == json.loads(stored)


def test_options_are_those_of_the_command_line(tmp_path: Path) -> None:
    policy = tmp_path / "team.toml"
    policy.write_text('extends = "platform"\n')
    report = rdblens.analyze(
        SHOP, policy, types=["string", "hash"], match="*:*", top=5, depth=2, min_share=0.5, what_if="valkey-8.1",
        maxmemory=64 << 20, maxmemory_policy="allkeys-lru", now=datetime(2026, 11, 22, tzinfo=timezone.utc), mask=True,
        mask_key=b"secret", server="redis-7.4", allocator="glibc",
    )  # fmt: skip
    key = tmp_path / "key"
    key.write_bytes(b"secret")
    stored = run(
        "analyze", SHOP, "--policy", policy, "--type", "string", "--type", "hash", "--match", "*:*", "--top", "5", "--depth", "2",
        "--min-share", "0.5", "--what-if", "valkey-8.1", "--maxmemory", "64MB", "--maxmemory-policy", "allkeys-lru",
        "--now", "2026-11-22T00:00:00Z", "--mask", "--mask-key", key, "--server", "redis-7.4", "--allocator", "glibc",
        "--format", "json", "--quiet",
    )  # fmt: skip
    assert stored.returncode == 0, stored.stderr
    assert report.to_json() == stored.stdout.decode()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no device without an end")
def test_policies_are_read_up_to_a_limit(tmp_path: Path) -> None:
    policy = tmp_path / "team.toml"
    policy.symlink_to("/dev/zero")
    with pytest.raises(rdblens.ReadError, match="larger than 16 MiB"):
        rdblens.analyze(SHOP, policy)
    with pytest.raises(rdblens.UsageError, match="not from stores"):
        rdblens.analyze(SHOP, "s3://bucket/team.toml")


def test_fields_are_attributes() -> None:
    report = rdblens.analyze(SHOP)
    assert report.totals.keys == 5257
    assert report.top.by_memory[0].key == "leaderboard:spending:all-time"
    assert report.complete and "totals" in dir(report)
    assert repr(report).startswith("<rdblens.Report: 5257 keys")
    with pytest.raises(AttributeError, match="no field 'totale'"):
        report.totale  # noqa: B018
    assert pickle.loads(pickle.dumps(report)) == copy.deepcopy(report) == report
    assert rdblens.Report.from_json(report.to_json()) == report


def test_pages_are_those_of_the_command_line() -> None:
    report = rdblens.analyze(SHOP)
    assert report.to_html() == run("analyze", SHOP, "--format", "html", "--quiet").stdout.decode()
    page = report.to_html(lang="zh", title="Shop", environment="production")
    flags = ["--lang", "zh", "--title", "Shop", "--environment", "production"]
    assert page == run("analyze", SHOP, "--format", "html", "--quiet", *flags).stdout.decode()
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "<script" not in shown
    with pytest.raises(rdblens.UsageError, match="no language"):
        report.to_html(lang="fr")


def test_a_damaged_file_gives_an_incomplete_report(tmp_path: Path) -> None:
    cut = tmp_path / "cut.rdb"
    cut.write_bytes(SHOP.read_bytes()[:100_000])
    report = rdblens.analyze(cut)
    assert not report.complete and 0 < report.totals.keys < 5257
    assert "byte 0x" in report.source.files[0].errors[0].text
    verdict = rdblens.check(cut)
    assert not verdict and verdict.verdict == "truncated" and verdict.errors[0].offset > 90_000
    with pytest.raises(rdblens.ReadError):
        rdblens.analyze(tmp_path / "missing.rdb")


def test_a_sound_file_is_true() -> None:
    verdict = rdblens.check(SHOP)
    assert verdict and verdict.keys == 5257 and verdict.checksum == "ok"
    assert verdict.to_json() == run("check", SHOP, "--format", "json").stdout.decode()
    with pytest.raises(rdblens.UsageError, match="check one at a time"):
        rdblens.check(SHOP.parent)


@pytest.mark.parametrize(
    "asked",
    [
        dict(mask_key=b"secret"), dict(mask=True, mask_key=b""), dict(threads=1025), dict(top=0), dict(top=10_001), dict(depth=0),
        dict(depth=17), dict(min_share=-0.1), dict(min_share=float("nan")), dict(at=float("inf")), dict(at=1e30), dict(limit=-1),
        dict(maxmemory=-1),
    ],
    ids=str,
)  # fmt: skip
def test_values_out_of_range_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(rdblens.UsageError):
        rdblens.analyze(SHOP, **asked)


@pytest.mark.parametrize(
    "asked",
    [
        dict(patterns="user:*"), dict(breaking="ttl.missing"), dict(owners="shop"), dict(tops=5), dict(mask=True, mask_key=16),
        dict(mask=True, mask_key="secret"), dict(threads=1.5), dict(db=True), dict(storage_options="x"), dict(at="now"),
    ],
    ids=str,
)  # fmt: skip
def test_options_of_other_functions_and_other_types_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        rdblens.analyze(SHOP, **asked)


def test_errors_survive_pickling(tmp_path: Path) -> None:
    with pytest.raises(rdblens.ReadError) as missing:
        rdblens.analyze(tmp_path / "missing.rdb")
    again = pickle.loads(pickle.dumps(missing.value))
    assert (again.errno, again.filename, str(again)) == (2, missing.value.file, str(missing.value))
    assert again.strerror == "No such file or directory"
    cut = tmp_path / "cut.json"
    cut.write_text("{")
    with pytest.raises(rdblens.Error) as unreadable:
        rdblens.compare([cut, cut])
    again = pickle.loads(pickle.dumps(unreadable.value))
    assert (type(again), again.file, again.hint) == (type(unreadable.value), unreadable.value.file, unreadable.value.hint)


def test_comparisons_are_those_of_the_command_line(tmp_path: Path) -> None:
    comparison = rdblens.compare([SHOP, LATER])
    stored = run("compare", SHOP, LATER, "--format", "json", "--quiet").stdout
    assert comparison.to_dict() == json.loads(stored)
    assert comparison.to_html() == run("compare", SHOP, LATER, "--format", "html", "--quiet").stdout.decode()
    again = rdblens.compare([rdblens.analyze(SHOP), rdblens.analyze(LATER)], names=["monday", "tuesday"])
    assert [snapshot.name for snapshot in again.snapshots] == ["monday", "tuesday"]
    for one in ([SHOP], SHOP, str(SHOP)):
        with pytest.raises(rdblens.UsageError, match="two reports"):
            rdblens.compare(one)
    stored = tmp_path / "stored.JSON"
    stored.write_text(rdblens.analyze(SHOP, top=10_000).to_json())
    assert rdblens.compare([stored, LATER]).growth == comparison.growth


def test_addresses_are_compared() -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=SHOP.parent)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        addresses = [f"http://127.0.0.1:{server.server_port}/{path.name}?signature=secret" for path in (SHOP, LATER)]
        comparison = rdblens.compare(addresses)
        server.shutdown()
    assert [snapshot.name for snapshot in comparison.snapshots] == [address.split("?")[0] for address in addresses]
    assert comparison.growth == rdblens.compare([SHOP, LATER]).growth


@pytest.mark.parametrize("seed", range(4))
def test_parts_give_the_report_of_one_run(seed: int) -> None:
    policy = ["none", "default", "platform", "default"][seed]
    plan = rdblens.plan(SHARDS, policy=policy)
    assert len(plan) == len(SHARDS) and plan == rdblens.Plan.from_json(plan.to_json())
    parts = [rdblens.partial(plan, number) for number in range(len(plan))]
    random.Random(seed).shuffle(parts)
    whole = rdblens.analyze(SHARDS, policy)
    assert rdblens.report(plan, parts) == whole
    assert rdblens.report(plan, rdblens.merge_partials(plan, parts)) == whole
    assert rdblens.partial(plan, range(len(plan))) == rdblens.merge_partials(plan, parts)
    assert sorted(plan.shard(1, 2) + plan.shard(2, 2)) == list(range(len(plan)))


def test_a_plan_of_a_pattern_says_so() -> None:
    pattern = SHARDS[0].parent / "*.rdb.gz"
    plan = rdblens.plan(pattern)
    parts = [rdblens.partial(plan, number) for number in range(len(plan))]
    assert rdblens.report(plan, parts) == rdblens.analyze(pattern)
    for number, count in ((0, 2), (3, 2), (1, 0)):
        with pytest.raises(rdblens.UsageError, match="numbered from 1"):
            plan.shard(number, count)
    with pytest.raises(rdblens.UsageError, match="count from 0"):
        rdblens.partial(plan, -1)


def test_groups_take_several_small_files_or_one_large(tmp_path: Path) -> None:
    plan = rdblens.plan(SHARDS)
    sizes = [file.size for file in plan.files]
    assert plan.groups() == [list(range(len(SHARDS)))]
    assert plan.groups(1) == [[number] for number in range(len(SHARDS))]
    room = max(sizes) + min(sizes)
    groups = plan.groups(room)
    assert [number for group in groups for number in group] == list(range(len(SHARDS)))
    assert all(len(group) == 1 or sum(sizes[number] for number in group) <= room for group in groups)
    (tmp_path / "text.rdb").write_text("no snapshot")
    assert rdblens.plan([tmp_path / "text.rdb", SHOP]).groups() == [[1]]


def test_missing_and_foreign_parts_are_named() -> None:
    plan = rdblens.plan(SHARDS)
    part = rdblens.partial(plan, 0)
    report = rdblens.report(plan, part)
    assert not report.complete and len(report.source.files) == len(SHARDS)
    with pytest.raises(rdblens.Error, match="part 2"):
        rdblens.report(plan, [part, part])
    with pytest.raises(rdblens.UnreadableError, match="part of another plan"):
        rdblens.report(rdblens.plan(SHOP), part)
    with pytest.raises(rdblens.Error):
        rdblens.report(plan, part[:-5])
    with pytest.raises(rdblens.UsageError, match="there is no file"):
        rdblens.partial(plan, 99)


def test_parts_of_the_command_line_fit(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert run("plan", *SHARDS, "-o", plan, "--quiet").returncode == 0
    part = tmp_path / "1.part"
    assert run("analyze", "--partial", "--plan", plan, "--shard", "1/1", "-o", part, "--quiet").returncode == 0
    read = rdblens.Plan.from_json(plan.read_bytes())
    assert read == rdblens.plan(SHARDS)
    assert part.read_bytes() == rdblens.partial(read, read.shard(1, 1))


def test_the_command_line_is_there() -> None:
    assert run("--version").stdout.startswith(b"rdblens " + rdblens.__version__.encode())
    assert run("analyze", "missing.rdb").returncode == 3
    assert run("analyse").returncode == 2
