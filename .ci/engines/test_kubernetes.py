"""The manifests of examples/kubernetes: valid, without rights, and their commands make the report of one run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import botocore.config
import pytest
import yaml
from conftest import BUCKET, ROOT, environment, program

import rdblens

FOLDER = ROOT / "examples" / "kubernetes"
BASE = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
RESOURCES = {name: yaml.safe_load((FOLDER / name).read_text()) for name in BASE["resources"]}
JOBS = ["plan.yaml", "parts.yaml", "merge.yaml"]


def test_every_manifest_is_listed_and_valid() -> None:
    assert sorted(RESOURCES) == sorted(path.name for path in FOLDER.glob("*.yaml") if path.name != "kustomization.yaml")
    validator = Path(sys.executable).with_name("kubernetes-validate")
    subprocess.run([validator, "--strict", *(FOLDER / name for name in RESOURCES)], check=True)
    assert BASE["images"] == [{"name": "rdblens", "newTag": rdblens.__version__}]


def test_nothing_needs_rights() -> None:
    assert {resource["kind"] for resource in RESOURCES.values()} == {"ServiceAccount", "ConfigMap", "Job"}


@pytest.mark.parametrize("name", JOBS)
def test_jobs_are_locked_down(name: str) -> None:
    pod = RESOURCES[name]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False and pod["restartPolicy"] == "Never"
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 65532
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "memory" in container["resources"]["limits"] and container["volumeMounts"] == [{"name": "tmp", "mountPath": "/tmp"}]
    assert container["image"] == "rdblens" and "command" not in container


def arguments(name: str, settings: dict[str, str]) -> list[str]:
    """Arguments of a container, with variables in them as the kubelet replaces them."""
    (container,) = RESOURCES[name]["spec"]["template"]["spec"]["containers"]
    return [re.sub(r"\$\((\w+)\)", lambda found: settings[found[1]], text) for text in container["args"]]


def run(arguments: list[str], env: dict[str, str], status: int = 0) -> None:
    done = subprocess.run([*program(), *arguments], env=env, capture_output=True, text=True)
    assert done.returncode == status, done.stderr


def test_the_commands_make_the_report_of_one_run(storage_options: dict[str, str], night: rdblens.Report) -> None:
    settings = {"INPUT": f"s3://{BUCKET}/night/*.rdb.gz", "WORK": f"s3://{BUCKET}/work", "POLICY": "platform"}
    assert settings.keys() < RESOURCES["settings.yaml"]["data"].keys()
    env = environment(storage_options)
    run(arguments("plan.yaml", settings), env)
    completions = RESOURCES["parts.yaml"]["spec"]["completions"]
    for index in range(completions):
        part = arguments("parts.yaml", {**settings, "INDEX": str(index)})
        assert f"{index}/{completions}" in part
        run(part, env)
    run(arguments("merge.yaml", settings), env)
    client = boto3.client(
        "s3",
        endpoint_url=storage_options["aws_endpoint_url"],
        region_name="us-east-1",
        aws_access_key_id=storage_options["aws_access_key_id"],
        aws_secret_access_key=storage_options["aws_secret_access_key"],
        config=botocore.config.Config(s3={"addressing_style": "path"}),
    )
    read = lambda key: client.get_object(Bucket=BUCKET, Key=key)["Body"].read()  # noqa: E731
    expected = night.to_dict()
    expected["options"]["inputs"] = [settings["INPUT"]]  # `night` was read as a folder
    assert json.loads(read("work/report.json")) == expected
    assert read("work/report.html").startswith(b"<!DOCTYPE html>")

    # A part that failed for good: the others make a report that says so.
    missing = next(index for index in range(completions) if len(read(f"work/parts/{index}.part")) > 400)
    client.delete_object(Bucket=BUCKET, Key=f"work/parts/{missing}.part")
    run(arguments("merge.yaml", settings), env, status=4)
    report: dict[str, Any] = json.loads(read("work/report.json"))
    assert report["complete"] is False and report["totals"]["keys"] < night.totals.keys
