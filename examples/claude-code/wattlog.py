"""Wattlog: what a household uses month by month, from the readings of its meter.

A file of readings has a line for each: the day, a semicolon, and what the meter shows in kilowatt hours.
"""

from __future__ import annotations

import sys
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple


class Reading(NamedTuple):
    """What the meter showed on a day."""

    day: date
    kwh: float


class ReadingsError(ValueError):
    """A line that is no reading; its message begins with the number of the line."""


def parse_readings(text: str) -> list[Reading]:
    """The readings of a file, by day. Blank lines and lines that begin with # are passed over."""
    readings = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        day, _, shown = line.partition(";")
        try:
            readings.append(Reading(date.fromisoformat(day.strip()), float(shown)))
        except ValueError:
            raise ReadingsError(f"line {number} is no reading: {line.strip()}") from None
    return sorted(readings)


def sum_months(readings: list[Reading]) -> dict[str, float]:
    """Kilowatt hours for each month: what lies between two readings counts for the month of the second."""
    months: dict[str, float] = {}
    for before, after in pairwise(readings):
        month = f"{after.day:%Y-%m}"
        months[month] = months.get(month, 0.0) + after.kwh - before.kwh
    return months


def main() -> int:
    """Print the months of the file that the command line names."""
    try:
        months = sum_months(parse_readings(Path(sys.argv[1]).read_text(encoding="utf-8")))
    except (OSError, ReadingsError) as error:
        print(f"wattlog: {error}", file=sys.stderr)
        return 1
    for month, kwh in months.items():
        print(f"{month} {kwh:8.1f} kWh")
    return 0


if __name__ == "__main__":
    sys.exit(main())
