"""Every query of docs/dashboards/prometheus.json asked of a real Prometheus, over metrics that rdblens wrote.

The metrics of a report with everything in it are loaded as samples of the last hour. Each query has to be understood and to
have an answer.
"""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checks.inputs import LATER, POLICY, ROOT, SHOP
from checks.program import Program

BOARD = ROOT / "docs" / "dashboards" / "prometheus.json"
# What Grafana fills in.
VARIABLES = {"$instance": ".*", "$snapshot": ".*", "$top": "10", "$__range": "30m"}


def queries() -> list[tuple[str, str]]:
    """Returns title and expression of each query of the dashboard."""
    found = []
    for row in json.loads(BOARD.read_text(encoding="utf-8"))["panels"]:
        for panel in [row, *row.get("panels", [])]:
            for target in panel.get("targets", []):
                expression = target["expr"]
                for name, value in VARIABLES.items():
                    expression = expression.replace(name, value)
                found.append((panel["title"], expression))
    return found


QUERIES = queries()


def metrics(program: Program, folder: Path) -> str:
    old, new = folder / "old.json", folder / "new.prom"
    program.run("analyze", SHOP, "--policy", POLICY, "--quiet", "-o", old)
    more = ["--policy", POLICY, "--baseline", old, "--what-if", "newest", "--maxmemory", "8MB", "--label", "snapshot=cache-1"]
    program.run("analyze", LATER, *more, "--quiet", "-o", new)
    return new.read_text(encoding="utf-8")


def history(text: str, path: Path) -> None:
    """Writes the metrics as samples of each minute of the last hour, scraped from one place, in OpenMetrics."""
    now = int(time.time())
    with path.open("w", encoding="utf-8") as file:
        for line in text.splitlines():
            if line.startswith("#"):
                print(line, file=file)
                continue
            series, value = line.rsplit(" ", 1)
            series = series.replace("{", '{instance="node",', 1)
            for at in range(now - 3600, now + 1, 60):
                print(series, value, at, file=file)


def wait(server: subprocess.Popen, address: str, log: Path) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{address}/-/ready", timeout=5):
                return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    raise RuntimeError(f"prometheus does not start:\n{log.read_text()}")


@pytest.fixture(scope="module")
def prometheus(program: Program, tool: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory, summary: list[str]) -> Iterator[str]:
    """The address of a Prometheus that has the metrics."""
    folder = tmp_path_factory.mktemp("prometheus")
    samples, data, config, log = (folder / name for name in ["samples", "data", "prometheus.yml", "log"])
    history(metrics(program, folder), samples)
    subprocess.run([tool("promtool"), "tsdb", "create-blocks-from", "openmetrics", samples, data], check=True)
    config.write_text("{}\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    command = [tool("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={data}", f"--web.listen-address={listen}"]
    with log.open("w") as file:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    try:
        wait(server, f"http://{listen}", log)
        yield f"http://{listen}"
    finally:
        server.terminate()
        server.wait()
    summary.append(f"{len(QUERIES)} queries of the dashboard asked")


@pytest.mark.parametrize("expression", [pytest.param(expression, id=f"{title}-{at}") for at, (title, expression) in enumerate(QUERIES)])
def test_query_has_an_answer(prometheus: str, expression: str) -> None:
    query = urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.urlopen(f"{prometheus}/api/v1/query?{query}", timeout=30) as response:
            result = json.load(response)["data"]["result"]
    except urllib.error.HTTPError as error:
        pytest.fail(f"{json.load(error).get('error')}: {expression}", pytrace=False)
    assert result, f"no answer: {expression}"


def test_dashboard_has_its_queries() -> None:
    assert len(QUERIES) >= 40
