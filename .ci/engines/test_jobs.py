"""The examples for Argo, Airflow and Slurm of docs/engines.md: their commands are run one after the other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import BUCKET, ROOT, SHARDS, code, environment, program

import rdblens


def run(command: list[str | Path], env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """A folder with the shards of a night."""
    folder = tmp_path / "night"
    folder.mkdir()
    for shard in SHARDS:
        shutil.copy(shard, folder)
    return folder


def test_slurm(shards: Path, tmp_path: Path) -> None:
    script, bin_folder, work = tmp_path / "night.sh", tmp_path / "bin", tmp_path / "work"
    script.write_text(code("Slurm", "sh"))
    bin_folder.mkdir()
    shutil.copy(ROOT / ".ci" / "engines" / "sbatch", bin_folder)
    (bin_folder / "rdblens").symlink_to(program()[0])
    work.mkdir()
    run(["sh", script, shards, work], {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"})
    assert len(list((work / "parts").iterdir())) == 16
    assert (work / "report.html").read_text() == rdblens.analyze(shards, "platform").to_html()


def test_argo(storage_options: dict[str, str], night: rdblens.Report, tmp_path: Path) -> None:
    from hera.workflows.models import Workflow

    text = yaml.safe_load(code("Argo Workflows", "yaml"))
    Workflow.model_validate(text)
    values = {"workflow.parameters.input": f"s3://{BUCKET}/night/*.rdb.gz", "workflow.parameters.work": f"s3://{BUCKET}/argo"}
    templates = {template["name"]: template for template in text["spec"]["templates"]}
    dag = {task["name"]: task for task in templates["night"]["dag"]["tasks"]}
    assert [dag["parts"]["depends"], dag["merge"]["depends"]] == ["plan", "parts.Succeeded || parts.Failed || parts.Errored"]
    env = environment(storage_options)

    def execute(template: str, index: int | None = None) -> None:
        given = {**values, "inputs.parameters.index": str(index)}
        args = templates[template]["container"]["args"]
        run([*program(), *(re.sub(r"\{\{(.*?)\}\}", lambda found: given[found[1]], text) for text in args)], env)

    execute("plan")
    for index in range(int(dag["parts"]["withSequence"]["count"])):
        execute("part", index)
    execute("merge")
    client_env = {**env, "OUT": str(tmp_path / "report.html")}
    fetch = "import boto3, os; boto3.client('s3').download_file('backup', 'argo/report.html', os.environ['OUT'])"
    run([sys.executable, "-c", fetch], client_env)
    assert (tmp_path / "report.html").read_text() == night.to_html()


def test_airflow(shards: Path, tmp_path: Path) -> None:
    airflow = ROOT / "target" / "ci-fleet-airflow" / "bin" / "airflow"
    dags, work, bin_folder = tmp_path / "dags", tmp_path / "work", tmp_path / "bin"
    for folder in (dags, work, bin_folder):
        folder.mkdir()
    (bin_folder / "rdblens").symlink_to(program()[0])
    page = code("Airflow")
    local = page.replace('"s3://backup/redis/{{ ds }}/*.rdb"', repr(f"{shards}/*.rdb.gz"))
    local = local.replace('"s3://backup/rdblens/{{ ds }}"', repr(str(work)))
    assert local.count("s3://") == 0
    (work / "parts").mkdir()
    (dags / "night.py").write_text(local)
    env = {
        **os.environ,
        "PATH": f"{bin_folder}:{airflow.parent}:{os.environ['PATH']}",
        "AIRFLOW_HOME": str(tmp_path / "home"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    }
    run([airflow, "db", "migrate"], env, tmp_path)
    run([airflow, "dags", "test", "rdblens", "2026-11-21"], env, tmp_path)
    assert len(list((work / "parts").iterdir())) == 16
    assert (work / "report.html").read_text() == rdblens.analyze(f"{shards}/*.rdb.gz", "platform").to_html()
