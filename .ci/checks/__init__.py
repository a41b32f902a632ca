"""Checks of the built program by readers and servers that are not ours: real Redis and Valkey, DuckDB, Prometheus, Chromium.

`.ci/run` prepares everything and runs each file as a step. By hand, after one such run:

    target/ci-python/bin/pytest .ci/checks/test_live_server.py [--seed N] [-k TEXT]

`pytest .ci/checks --help` lists further options under "rdblens". Nothing is skipped: what is missing is a failure.
"""
