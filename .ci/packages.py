"""Python packages for the checks, each set in an environment of its own below target."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run_with(name, packages):
    """Runs the script again with a Python that has these packages, installed into target/NAME when they are not there yet."""
    folder = os.path.join(ROOT, "target", name)
    python = os.path.join(folder, "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(folder):
        return
    ready = os.path.join(folder, "installed")
    wanted = "\n".join(packages)
    if not (os.path.exists(ready) and open(ready).read() == wanted):
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        with open(ready, "w") as file:
            file.write(wanted)
    os.execv(python, [python, *sys.argv])
