#!/usr/bin/env python3
"""Asks a real Prometheus every question of docs/dashboards/prometheus.json, over metrics that rdblens wrote.

    python3 .ci/dashboards_check.py [--rdblens target/release/rdblens]

The metrics of a report with everything in it are loaded as samples of the last hour. Each query has to be understood and to have
an answer. Needs prometheus and promtool (Debian: prometheus).
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BOARD = os.path.join(ROOT, "docs", "dashboards", "prometheus.json")
SHOP, LATER = (os.path.join(ROOT, "testdata", "dumps", name) for name in ["shop.rdb", "shop-later.rdb"])
# What Grafana fills in.
VARIABLES = {"$instance": ".*", "$snapshot": ".*", "$top": "10", "$__range": "30m"}


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stdout}{done.stderr}")


def metrics(rdblens, folder):
    old, new = os.path.join(folder, "old.json"), os.path.join(folder, "new.prom")
    policy = os.path.join(ROOT, "testdata", "policy", "shop.toml")
    run(rdblens, "analyze", SHOP, "--policy", policy, "--quiet", "-o", old)
    run(rdblens, "analyze", LATER, "--policy", policy, "--baseline", old, "--what-if", "newest", "--maxmemory", "8MB",
        "--label", "snapshot=cache-1", "--quiet", "-o", new)
    with open(new, encoding="utf-8") as file:
        return file.read()


def history(text, path):
    """The same samples each minute of the last hour, scraped from one place, as OpenMetrics."""
    now = int(time.time())
    with open(path, "w", encoding="utf-8") as file:
        for line in text.splitlines():
            if line.startswith("#"):
                print(line, file=file)
                continue
            series, value = line.rsplit(" ", 1)
            series = series.replace("{", '{instance="node",', 1)
            for at in range(now - 3600, now + 1, 60):
                print(series, value, at, file=file)


def queries(board):
    for row in board["panels"]:
        for panel in [row, *row.get("panels", [])]:
            for target in panel.get("targets", []):
                expression = target["expr"]
                for name, value in VARIABLES.items():
                    expression = expression.replace(name, value)
                yield panel["title"], expression


def answer(address, expression):
    query = urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.urlopen(f"{address}/api/v1/query?{query}", timeout=30) as response:
            return json.load(response)["data"]["result"], None
    except urllib.error.HTTPError as error:
        return [], json.load(error).get("error")


def wait(server, address):
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{address}/-/ready", timeout=5):
                return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    sys.exit("prometheus does not start")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rdblens", default=os.path.join(ROOT, "target", "release", "rdblens"))
    arguments = parser.parse_args()
    for program in ["prometheus", "promtool"]:
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing: it is in Debian's package prometheus")
    with open(BOARD, encoding="utf-8") as file:
        board = json.load(file)
    asked = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        samples, data, config = (os.path.join(folder, name) for name in ["samples", "data", "prometheus.yml"])
        history(metrics(arguments.rdblens, folder), samples)
        run("promtool", "tsdb", "create-blocks-from", "openmetrics", samples, data)
        with open(config, "w") as file:
            file.write("{}\n")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            listen = f"127.0.0.1:{free.getsockname()[1]}"
        with open(os.path.join(folder, "log"), "w") as log:
            server = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={data}", f"--web.listen-address={listen}"],
                stdout=log, stderr=log,
            )
        try:
            wait(server, f"http://{listen}")
            for title, expression in queries(board):
                asked += 1
                result, error = answer(f"http://{listen}", expression)
                if error or not result:
                    wrong += 1
                    print(f"{title}: {error or 'no answer'}: {expression}")
        finally:
            server.terminate()
            server.wait()
    print(f"{asked} queries of the dashboard asked, {wrong} without an answer")
    sys.exit(1 if wrong or asked < 40 else 0)


if __name__ == "__main__":
    main()
