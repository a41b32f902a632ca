#!/usr/bin/env python3
"""Holds `--format prometheus` against its readers: promtool, and both parsers of Prometheus' own Python client.

    python3 .ci/prometheus_check.py [--corpus ../shared/corpus] [--rdblens target/release/rdblens]

For every dump of testdata and of the corpus, one of hostile names, and a report with everything in it: promtool has nothing to
say, the text format and OpenMetrics read the same samples, none stands twice, and they are what the JSON of the same run says.
Any difference ends with status 1. promtool is in Debian's package prometheus (.ci/run installs it); prometheus_client is
installed into target/prometheus-python when it is not there yet.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # a run leaves nothing in the tree

from dumps import ROOT, count_differences, dumps, options  # noqa: E402
from packages import run_with  # noqa: E402

PACKAGES = ["prometheus_client==0.26.0"]
SHOP, LATER = (os.path.join(ROOT, "testdata", "dumps", name) for name in ["shop.rdb", "shop-later.rdb"])
LABEL = 'a "b" \\n {c="d"} 键'


def promtool(text):
    """What promtool complains of."""
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, encoding="utf-8")
    said = (done.stdout + done.stderr).strip()
    if done.returncode or said:
        yield f"promtool, status {done.returncode}: {said}"


def samples(families):
    """All samples by name and labels, and what stands twice."""
    found, twice = {}, []
    for family in families:
        for sample in family.samples:
            series = (sample.name, tuple(sorted(sample.labels.items())))
            if series in found:
                twice.append(series)
            found[series] = sample.value
    return found, twice


def of_report(report):
    """What the report says, as samples without the labels that a user gave."""
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


def differences(rdblens, stem, words, label=None):
    """What is wrong with the metrics of one run, whose files begin with `stem`."""
    from prometheus_client import openmetrics, parser
    import prometheus_client.openmetrics.parser  # noqa: F401

    labels = ["--label", f"mine={label}"] if label else []
    forms = ["--format", "json", "--format", "prometheus", "-o", stem]
    subprocess.run([rdblens, "analyze", *words, *labels, *forms, "--quiet"], check=True)
    with open(stem + ".json", encoding="utf-8") as file:
        report = json.load(file)
    with open(stem + ".prom", encoding="utf-8", newline="") as file:
        text = file.read()
    yield from promtool(text)
    plain, twice = samples(parser.text_string_to_metric_families(text))
    yield from (f"stands twice: {series}" for series in twice)
    strict, _ = samples(openmetrics.parser.text_string_to_metric_families(text))
    if plain != strict:
        yield f"OpenMetrics reads other samples: {sorted(set(plain.items()) ^ set(strict.items()))[:5]}"
    own = (("mine", label),) if label else ()
    for (name, labels), value in of_report(report).items():
        found = plain.get((name, tuple(sorted(labels + own))))
        if found != value:
            yield f"{name} {labels}: the report has {value}, the metrics {found}"
    patterns = sum(name == "rdblens_pattern_keys" for name, _ in plain)
    if not 0 < patterns <= report["options"]["rows"]:
        yield f"{patterns} patterns, {report['options']['rows']} were asked for"


def runs(corpus, folder, rdblens):
    """Names of reports, the words that make them, and a label."""
    for name, dump in dumps(corpus):
        yield name, [dump], None
    hostile = os.path.join(folder, "hostile.rdb")
    subprocess.run([sys.executable, os.path.join(ROOT, ".ci", "html", "hostile_names.py"), hostile], check=True)
    yield "hostile names", [hostile, "--top", "10000"], LABEL
    old = os.path.join(folder, "old.json")
    subprocess.run([rdblens, "analyze", SHOP, "--quiet", "-o", old], check=True)
    everything = ["--policy", os.path.join(ROOT, "testdata", "policy", "shop.toml"), "--baseline", old, "--what-if", "newest"]
    yield "everything", [LATER, *everything, "--maxmemory", "8MB", "--top", "3"], LABEL


def main():
    words = options()
    if not shutil.which("promtool"):
        sys.exit("promtool is missing: it is in Debian's package prometheus")
    run_with("prometheus-python", PACKAGES)
    with tempfile.TemporaryDirectory() as folder:
        cases = (
            (name, differences(words.rdblens, os.path.join(folder, str(at)), asked, label))
            for at, (name, asked, label) in enumerate(runs(words.corpus, folder, words.rdblens))
        )
        status = count_differences("metrics of {} reports read by promtool and prometheus_client", cases)
    sys.exit(status)


if __name__ == "__main__":
    main()
