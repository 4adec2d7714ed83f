"""Run every row of the table, whatever becomes of the one before, and print one table of all.

Run as `python torture/everything.py`; `--help` lists the options. Each row's own output is shown and kept in
`.torture/ROW.log`. The table is written to `.torture/results.json`, with the source and the machine, row by row, so
that a run that was ended can be gone on with: `--missing` runs what has no good result of this source yet. `--docs`
runs nothing and puts the table into `docs/reliability.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from tools.source_name import find_source
from torture.rows import ROWS, Row
from torture.tally import VARIABLE, read

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".torture"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- torture/everything.py --docs writes this table -->\n", "<!-- the table ends -->\n"


class Result(NamedTuple):
    """What came of a row."""

    name: str
    what: str
    least: int
    unit: str
    done: int
    bad: int
    seconds: int
    again: str
    more: dict[str, int]
    trouble: str = ""
    """Why the row is bad, where nothing that it counts is."""

    @property
    def is_good(self) -> bool:
        """Whether enough was done, and none of it was bad."""
        return not self.bad and not self.trouble


def run_row(row: Row, jobs: int, folder: Path) -> Result:
    """Run one row; its output is shown and kept."""
    tally, log = folder / f"{row.name}.tally", folder / f"{row.name}.log"
    tally.unlink(missing_ok=True)
    command = [sys.executable, *row.command, *(["--jobs", str(jobs)] if row.takes_jobs else [])]
    environ = os.environ | {VARIABLE: str(tally)}
    began = time.perf_counter()
    with (
        log.open("wb") as kept,
        subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as done,
    ):
        assert done.stdout is not None
        for line in done.stdout:
            kept.write(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        code = done.wait()
    return judge(row, read(tally), code, round(time.perf_counter() - began))


def judge(row: Row, told: dict[str, Any] | None, code: int, seconds: int) -> Result:
    """Whether a row did what it should."""
    facts = (row.name, row.what, row.least, row.unit)
    if told is None:
        return Result(*facts, 0, 0, seconds, row.again, {}, f"it ended with {code} and counted nothing")
    wanted = (("done", row.least), *row.more)
    counted = {"done": told["done"], **told["more"]}
    short = [f"{counted.get(name, 0):,} {name} of {least:,}" for name, least in wanted if counted.get(name, 0) < least]
    trouble = f"too few: {', '.join(short)}" if short else f"it ended with {code}" if code and not told["bad"] else ""
    return Result(*facts, told["done"], told["bad"], seconds, row.again, told["more"], trouble)


def render(results: Sequence[Result]) -> str:
    """One line for each row, and how to have a case again where one was bad."""
    lines = [f"{'row':<18} {'wanted':>10} {'done':>10} {'bad':>4} {'seconds':>8}"]
    for each in results:
        lines.append(f"{each.name:<18} {each.least:>10,} {each.done:>10,} {each.bad:>4} {each.seconds:>8,}")
        if not each.is_good:
            lines += [f"  {each.trouble}"] * bool(each.trouble) + [f"  again: python {each.again}"]
    good = sum(each.is_good for each in results)
    return "\n".join([*lines, f"{good} of {len(results)} rows are good"])


def load_results(file: Path) -> dict[str, Any]:
    """What earlier runs have written."""
    try:
        kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept


def write_results(file: Path, results: Sequence[Result], sources: dict[str, str]) -> None:
    """Keep the table for whoever reads it later."""
    rows = [each._asdict() | {"source": sources[each.name], "is_good": each.is_good} for each in results]
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.platform()}
    file.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n", encoding="utf-8")


def render_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The table of the page: every row, also one of which nothing is known."""
    known = {each["name"]: each for each in rows}
    lines = ["| row | what | at least | done | bad | on |", "|---|---|---:|---:|---:|---|"]
    for row in ROWS:
        told = known.get(row.name)
        figures = f"{told['done']:,} | {told['bad']} | `{told['source']}`" if told else "| |"
        lines.append(f"| {row.name} | {row.what} | {row.least:,} {row.unit} | {figures} |")
    return "".join(f"{line}\n" for line in lines)


def write_page(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Put the table into the page, between its two marks."""
    before, begin, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, f"{file} has no place for the table"
    assert end, f"the place for the table does not end in {file}"
    file.write_text(f"{before}{begin}{render_markdown(rows)}{end}{after}", encoding="utf-8")


def main() -> int:
    """Run all rows, or some; 1 if any is bad."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--row", action="append", choices=[row.name for row in ROWS], help="may be given again")
    parser.add_argument("--missing", action="store_true", help="what has no good result of this source yet")
    parser.add_argument("--jobs", type=int, default=2, help="so many processes for a row that can use them (2)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where results are kept")
    parser.add_argument("--docs", action="store_true", help="run nothing; put the results into docs/reliability.md")
    options = parser.parse_args()
    options.folder = options.folder.resolve()  # rows go to folders of their own
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.docs:
        write_page(PAGE, load_results(options.folder / "results.json").get("rows", []))
        return 0
    file, source = options.folder / "results.json", find_source(ROOT)
    kept = {each["name"]: each for each in load_results(file).get("rows", [])}
    results = {name: Result(**{field: each[field] for field in Result._fields}) for name, each in kept.items()}
    sources = {name: str(each["source"]) for name, each in kept.items()}
    for row in ROWS:
        old = kept.get(row.name)
        is_left = options.missing and old is not None and old["source"] == source and old["is_good"]
        if is_left or (options.row and row.name not in options.row):
            continue
        print(f"== {row.name}: {row.what}", flush=True)
        results[row.name], sources[row.name] = run_row(row, options.jobs, options.folder), source
        write_results(file, [results[each.name] for each in ROWS if each.name in results], sources)
    shown = [results[row.name] for row in ROWS if row.name in results]
    print(render(shown))
    return 0 if all(each.is_good for each in shown) else 1


if __name__ == "__main__":
    sys.exit(main())
