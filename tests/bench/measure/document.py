"""Formats figures as tables and inserts them into the document."""

import re

BEGIN = "<!-- measured: .ci/measure writes from here -->"
END = "<!-- measured: to here -->"


def table(heads, rows):
    """Formats a Markdown table; all columns but the first are aligned to the right."""
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def seconds(value):
    """Formats seconds with two decimals, or three for short times."""
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def times(value):
    """Formats a multiple."""
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def mebibytes(value):
    """Formats bytes as MiB."""
    return f"{value / 2**20:.0f}"


def write(path, text):
    """Replaces the text between the marks of the document."""
    with open(path, encoding="utf-8") as file:
        document = file.read()
    part = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if not part.search(document):
        raise SystemExit(f"{path}: no line {BEGIN!r} with {END!r} behind it")
    with open(path, "w", encoding="utf-8") as file:
        file.write(part.sub(lambda _: f"{BEGIN}\n\n{text}\n\n{END}", document))
