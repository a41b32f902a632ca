"""Metrics of `--format prometheus` as promtool and both parsers of Prometheus' own Python client read them.

For every dump of testdata and of the corpus, one of hostile names, and a report with everything in it: promtool has nothing to
say, the text format and OpenMetrics read the same samples, none comes twice, and they are what the JSON of the same run says.
"""

import collections
import dataclasses
import json
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from prometheus_client import Metric, parser
from prometheus_client.openmetrics import parser as openmetrics

from checks import hostile_names
from checks.inputs import LATER, POLICY, SHOP
from checks.program import Program

LABEL = 'a "b" \\n {c="d"} 键'
Samples = dict[tuple[str, tuple], float]


def samples(families: Iterable[Metric]) -> tuple[Samples, list[tuple]]:
    """Returns all samples by name and labels, and the series that came twice."""
    found: Samples = {}
    twice = []
    for family in families:
        for sample in family.samples:
            series = (sample.name, tuple(sorted(sample.labels.items())))
            if series in found:
                twice.append(series)
            found[series] = sample.value
    return found, twice


def of_report(report: dict) -> Samples:
    """Returns what the report says, as samples without the labels that a user gave."""
    totals = report["totals"]
    said = {
        ("rdblens_report_complete", ()): float(report["complete"]),
        ("rdblens_keys", ()): totals["keys"],
        ("rdblens_memory_bytes", ()): totals["memory"],
        ("rdblens_disk_bytes", ()): totals["disk"],
        ("rdblens_keys_without_ttl", ()): report["no_ttl"]["keys"],
        ("rdblens_patterns", ()): report["patterns"]["distinct"],
    }
    for row in report["types"]:
        labels = (("encoding", row["encoding"]), ("type", row["type"]))
        said["rdblens_type_keys", labels] = row["keys"]
        said["rdblens_type_memory_bytes", labels] = row["memory"]
    for row in report["findings"]["severities"]:
        said["rdblens_findings", (("severity", row["severity"]),)] = row["findings"]
    for row in report["findings"]["list"]:
        said["rdblens_rule_broken", (("rule", row["rule"]),)] = 1
    return said


@dataclasses.dataclass
class Run:
    """JSON report and metrics of one run, and the label that was asked for."""

    report: dict
    text: str
    label: str | None

    def plain(self) -> tuple[Samples, list[tuple]]:
        """Returns the samples of the text format."""
        return samples(parser.text_string_to_metric_families(self.text))


def analyze(program: Program, folder: Path, *words: object, label: str | None = None) -> Run:
    labels = ["--label", f"mine={label}"] if label else []
    program.run("analyze", *words, *labels, "--format", "json", "--format", "prometheus", "-o", folder / "run", "--quiet")
    with (folder / "run.prom").open(encoding="utf-8", newline="") as file:
        text = file.read()
    return Run(json.loads((folder / "run.json").read_text(encoding="utf-8")), text, label)


def hostile(program: Program, folder: Path) -> Run:
    """Runs over names that try everything."""
    hostile_names.write(folder / "hostile.rdb")
    return analyze(program, folder, folder / "hostile.rdb", "--top", 10_000, label=LABEL)


def everything(program: Program, folder: Path) -> Run:
    """Runs with all options that add metrics."""
    old = folder / "old.json"
    program.run("analyze", SHOP, "--quiet", "-o", old)
    options = ["--policy", POLICY, "--baseline", old, "--what-if", "newest", "--maxmemory", "8MB", "--top", 3]
    return analyze(program, folder, LATER, *options, label=LABEL)


SPECIAL = {"hostile names": hostile, "everything": everything}


@pytest.fixture(scope="module")
def counted(summary: list[str]) -> Iterator[collections.Counter]:
    """Number of reports and samples, printed at the end."""
    counts = collections.Counter()
    yield counts
    summary.append(f"metrics of {counts['reports']} reports with {counts['samples']} samples read by promtool and prometheus_client")


def check(run: Run, promtool: str, counted: collections.Counter) -> None:
    """Checks the metrics of one run by all readers."""
    done = subprocess.run([promtool, "check", "metrics"], input=run.text, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, ""), "promtool complains"

    plain, twice = run.plain()
    strict, _ = samples(openmetrics.text_string_to_metric_families(run.text))
    counted["reports"] += 1
    counted["samples"] += len(plain)
    assert twice == []
    assert plain == strict, "OpenMetrics reads other samples"

    own = (("mine", run.label),) if run.label else ()
    said = {(name, tuple(sorted(labels + own))): value for (name, labels), value in of_report(run.report).items()}
    assert [(series, value, plain.get(series)) for series, value in said.items() if plain.get(series) != value] == []

    patterns = sum(name == "rdblens_pattern_keys" for name, _ in plain)
    assert 0 < patterns <= run.report["options"]["rows"]


def test_metrics_of_dump(dump: Path, program: Program, tool: Callable[[str], str], tmp_path: Path, counted: collections.Counter) -> None:
    check(analyze(program, tmp_path, dump), tool("promtool"), counted)


@pytest.mark.parametrize("kind", SPECIAL)
def test_metrics_with_labels(kind: str, program: Program, tool: Callable[[str], str], tmp_path: Path, counted: collections.Counter) -> None:
    check(SPECIAL[kind](program, tmp_path), tool("promtool"), counted)
