"""Reads a CSV file row by row, whatever its delimiter."""

import csv
from collections.abc import Iterator
from pathlib import Path


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a CSV file, each by column name."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        dialect = csv.Sniffer().sniff(file.read(4096), delimiters=",;\t|")
        file.seek(0)
        yield from csv.DictReader(file, dialect=dialect)
