#!/usr/bin/env python3
"""Runs docs/cookbook.md: every `sh` block as it stands, in order, in one folder.

    python3 .ci/cookbook_check.py [--rdblens target/release/rdblens]

The folder has dump.rdb, yesterday.rdb and shards/*.rdb, all from testdata. A comment before a block says what else it is:
`<!-- file: NAME -->` is saved, `<!-- status: N -->` ends with that status, `<!-- manifest -->` is held against the schemas of
Kubernetes. YAML is parsed, lines of a crontab are read as cron and sh do. Needs jq and promtool (Debian: jq, prometheus). DuckDB and
readers of YAML are installed into target/cookbook-python when they are not there yet.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # a run leaves nothing in the tree

from packages import ROOT, run_with  # noqa: E402

PAGE = os.path.join(ROOT, "docs", "cookbook.md")
PACKAGES = ["duckdb==2.0.0", "pytz==2026.6", "PyYAML==6.0.3", "kubernetes-validate==1.34.1"]
KUBERNETES = "1.34"
BLOCK = re.compile(r"^(?:<!-- (?P<note>.*?) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
# `duckdb -c SQL` for the Python package, which has no program: rows between bars.
DUCKDB = """#!{python}
import sys, duckdb
assert sys.argv[1] == "-c" and len(sys.argv) == 3
rows = duckdb.sql(sys.argv[2])
print(rows)
sys.exit(0 if rows.limit(1).fetchall() else "no rows")
"""


def prepare(folder, rdblens):
    """Dumps and programs; returns the environment in which the page is run."""
    dumps = os.path.join(ROOT, "testdata", "dumps")
    os.mkdir(os.path.join(folder, "shards"))
    for source, name in [
        ("shop-later.rdb", "dump.rdb"),
        ("shop.rdb", "yesterday.rdb"),
        ("shop.rdb", "shards/cache-1.rdb"),
        ("shop-later.rdb", "shards/cache-2.rdb"),
    ]:
        shutil.copy(os.path.join(dumps, source), os.path.join(folder, name))
    programs = os.path.join(folder, ".programs")
    os.mkdir(programs)
    os.symlink(os.path.abspath(rdblens), os.path.join(programs, "rdblens"))
    duckdb = os.path.join(programs, "duckdb")
    with open(duckdb, "w") as file:
        file.write(DUCKDB.format(python=sys.executable))
    os.chmod(duckdb, 0o755)
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}


def run(text, note, folder, environment):
    expected = int(note.removeprefix("status: ")) if note.startswith("status: ") else 0
    done = subprocess.run(
        ["sh", "-eu", "-c", text], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    print(done.stdout, end="")
    if done.returncode != expected:
        return f"ended with {done.returncode}, not {expected}: {done.stderr}"
    if done.stderr and "Checking" not in done.stderr:
        return f"said {done.stderr}"
    return None


def crontab(text, folder):
    for line in text.splitlines():
        entry = re.fullmatch(r"(?:@reboot|(?:[\d*/,-]+\s+){4}[\d*/,-]+)\s+\w+\s+(.+)", line)
        if entry is None:
            return f"no line of a crontab: {line}"
        # Cron takes a bare % for the end of the line.
        if "%" in entry[1]:
            return f"a bare % in {line}"
        subprocess.run(["sh", "-n", "-c", entry[1]], cwd=folder, check=True)
    return None


def yaml_block(text, note):
    import kubernetes_validate
    import yaml

    documents = list(yaml.safe_load_all(text))
    if not all(isinstance(document, dict) for document in documents):
        return "no mapping"
    if note == "manifest":
        for document in documents:
            kubernetes_validate.validate(document, KUBERNETES, strict=True)
    return None


def check(kind, note, text, folder, environment):
    if note.startswith("file: "):
        with open(os.path.join(folder, note.removeprefix("file: ")), "w") as file:
            file.write(text)
        return subprocess.run(["sh", "-n", "-c", text]).returncode or None if kind == "sh" else None
    if kind == "sh":
        return run(text, note, folder, environment)
    if kind == "crontab":
        return crontab(text, folder)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rdblens", default=os.path.join(ROOT, "target", "release", "rdblens"))
    arguments = parser.parse_args()
    run_with("cookbook-python", PACKAGES)
    for program in ["jq", "promtool"]:
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing")
    with open(PAGE) as file:
        page = file.read()
    counts = {}
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        environment = prepare(folder, arguments.rdblens)
        for block in BLOCK.finditer(page):
            kind, note, text = block["kind"], block["note"] or "", block["text"]
            counts[kind] = counts.get(kind, 0) + 1
            try:
                problem = check(kind, note, text, folder, environment)
                if kind == "yaml":
                    problem = problem or yaml_block(text, note)
            except Exception as error:  # Whatever a reader of a block has to say of it.
                problem = repr(error)
            if problem is not None:
                wrong += 1
                line = page.count("\n", 0, block.start()) + 1
                print(f"docs/cookbook.md:{line}: {problem}\n{text}")
    if page.count("```") != 2 * sum(counts.values()):
        wrong += 1
        print(f"docs/cookbook.md: {page.count('```')} fences, {counts}")
    print(f"blocks of the cookbook: {counts}, {wrong} wrong")
    # The page has at least these.
    enough = counts.get("sh", 0) >= 15 and counts.get("yaml", 0) >= 3 and counts.get("crontab", 0) >= 3
    sys.exit(1 if wrong or not enough else 0)


if __name__ == "__main__":
    main()
