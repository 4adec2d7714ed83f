"""Let many processes write at once, and count.

Run as `python torture/writers.py`; `--help` lists the options. Lines of 1 byte to 1 MB go into one manifest, moves and
new tasks into one state.json and TODO.md, events into one ledger. Afterwards every line, every move and every event
must be there once, whole and in its writer's order.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.ledger.events import add_event, follow_events
from remit.ledger.home import MANIFEST, Home
from remit.runs.tasks.workspace_tasks import Tasks
from remit.storage.files import append_line
from remit.tasks.drift import check_drift
from remit.tasks.state import parse_state
from remit.tasks.todo import parse_todo
from torture.tally import tell
from torture.workspaces import find_damage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGEST = 1_000_000
EACH_ADDS = 5
"""So many of a writer's changes to tasks make a new one; the others move its own."""


class Report(NamedTuple):
    """What was written by whom, and what was found of it."""

    what: str
    writers: int
    each: int
    wanted: int
    found: int
    lost: int
    torn: int
    """Found, and written by nobody."""
    complaints: list[str]
    seconds: float

    @property
    def is_good(self) -> bool:
        """Whether everything is there, once and whole."""
        return not self.lost and not self.torn and not self.complaints and self.found == self.wanted


def run_writers(write: Callable[[int], None], writers: int) -> list[str]:
    """Run so many processes that begin at once; what went wrong in them."""
    hear, tell = os.pipe()
    children = [_fork_writer(write, number, hear, tell) for number in range(writers)]
    os.close(hear)
    os.close(tell)  # the last one to close it gives the start
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    return [f"writer {number} ended with {code}" for number, code in enumerate(codes) if code]


def _fork_writer(write: Callable[[int], None], number: int, hear: int, tell: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.close(tell)
        os.read(hear, 1)
        write(number)
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - the child's last line: nothing of the parent's may run in it
        print(f"  writer {number}: {type(error).__name__}: {error}", file=sys.stderr)
        if number == 0:
            traceback.print_exc()
        os._exit(1)


def draw_lines(writer: int, each: int) -> Iterator[bytes]:
    """The lines of a writer, the same every time: as many short ones as long ones."""
    chance = random.Random(writer)
    for number in range(each):
        size = int(LARGEST ** chance.random())
        head = b'{"writer":%d,"number":%d,"text":"' % (writer, number)
        yield head + b"x" * (size - len(head) - 2) + b'"}' if size > len(head) + 2 else b"7" * size


def write_manifest(root: Path, *, writers: int, each: int) -> Report:
    """Lines into one manifest."""
    file = root / "MANIFEST.jsonl"
    home = Home(str(root))

    def write(writer: int) -> None:
        for line in draw_lines(writer, each):
            with home.lock(MANIFEST):
                append_line(str(file), line)

    began = time.perf_counter()
    complaints = run_writers(write, writers)
    seconds = time.perf_counter() - began
    wanted: Counter[object] = Counter(
        sha256(line).digest() for writer in range(writers) for line in draw_lines(writer, each)
    )
    with file.open("rb") as lines:
        found: Counter[object] = Counter(sha256(line.removesuffix(b"\n")).digest() for line in lines)
    return _report("manifest", Tally(wanted, found), complaints, writers=writers, each=each, seconds=seconds)


def write_tasks(root: Path, *, writers: int, each: int) -> Report:
    """Moves of a task for each writer, and now and then a new one, all in the same two files."""
    (root / "remit.toml").touch()  # a workspace of its own, whatever lies above it
    os.chdir(root)
    numbers = [Tasks().store.add(f"Task of writer {writer}").number for writer in range(writers)]
    news = [place for place in range(each) if place % max(1, each // EACH_ADDS) == 0]

    def write(writer: int) -> None:
        store, markers = Tasks().store, cycle(("ON HOLD", "IN PROGRESS"))
        for place in range(each):
            if place in news:
                store.add(f"Made by writer {writer} as its change {place}")
            else:
                store.move(numbers[writer], next(markers))

    began = time.perf_counter()
    complaints = run_writers(write, writers)
    seconds = time.perf_counter() - began
    tasks = Tasks()
    state = parse_state((root / "specs/state.json").read_text(encoding="utf-8"))
    todo = parse_todo((root / "specs/TODO.md").read_text(encoding="utf-8"))
    drift = check_drift(state, todo)
    complaints += [finding.message for finding in (*drift.in_state, *drift.in_todo)]
    wanted_numbers = list(range(1, len(numbers) + writers * len(news) + 1))
    if sorted(task.number for task in tasks.list_tasks()) != wanted_numbers:
        complaints.append(f"the numbers are {sorted(task.number for task in tasks.list_tasks())}")
    events: Counter[object] = Counter(event.kind for event in follow_events(tasks.home.ledger))
    wanted: Counter[object] = Counter(
        {"task added": len(numbers) + writers * len(news), "task moved": writers * (each - len(news))}
    )
    tasks.home.close()
    complaints += find_damage(root)
    return _report("tasks", Tally(wanted, events), complaints, writers=writers, each=each, seconds=seconds)


def write_ledger(root: Path, *, writers: int, each: int) -> Report:
    """Events into one ledger."""
    Home(str(root)).ledger.close()

    def write(writer: int) -> None:
        ledger = Home(str(root)).ledger
        for number in range(each):
            with ledger.transaction(durable=number % 10 == 0) as db:
                add_event(db, "written", {"writer": writer, "number": number, "text": "x" * (number % 50 * 100)})

    began = time.perf_counter()
    complaints = run_writers(write, writers)
    seconds = time.perf_counter() - began
    home = Home(str(root))
    seen = [(event.details["writer"], event.details["number"]) for event in follow_events(home.ledger)]
    for writer in range(writers):
        if [number for by, number in seen if by == writer] != list(range(each)):
            complaints.append(f"the events of writer {writer} are not in their order")
    home.close()
    wanted: Counter[object] = Counter((writer, number) for writer in range(writers) for number in range(each))
    complaints += find_damage(root)
    return _report("ledger", Tally(wanted, Counter(seen)), complaints, writers=writers, each=each, seconds=seconds)


class Tally(NamedTuple):
    """What should be there and what is, by whatever tells one from the other."""

    wanted: Counter[object]
    found: Counter[object]


def _report(what: str, tally: Tally, complaints: list[str], **facts: Any) -> Report:  # noqa: ANN401 - the report's own
    lost, torn = (sum(each.values()) for each in (tally.wanted - tally.found, tally.found - tally.wanted))
    wanted, found = (sum(each.values()) for each in tally)
    return Report(what, wanted=wanted, found=found, lost=lost, torn=torn, complaints=complaints, **facts)


MATTERS = {"manifest": write_manifest, "tasks": write_tasks, "ledger": write_ledger}


def main() -> int:
    """Write, count, print a line for each; 1 if anything is missing or torn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--matter", choices=MATTERS, action="append", help="only this; may be given again")
    parser.add_argument("--writers", type=int, default=32)
    parser.add_argument("--each", type=int, default=500, help="how much each of them writes")
    parser.add_argument("--folder", help="where; a folder of its own is made in it")
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    options = parser.parse_args()
    reports = []
    for what in options.matter or MATTERS:
        root = Path(tempfile.mkdtemp(prefix="torture-", dir=options.folder))
        try:
            report = MATTERS[what](root, writers=options.writers, each=options.each)
        finally:
            os.chdir("/")
            shutil.rmtree(root)
        reports.append(report)
        if not options.json:
            print(render(report), flush=True)
    tell(sum(report.found for report in reports), sum(not report.is_good for report in reports))
    if options.json:
        print(json.dumps([report._asdict() for report in reports]))
    return 0 if all(report.is_good for report in reports) else 1


def render(report: Report) -> str:
    """A report on a line, and what is wrong below it."""
    line = (
        f"{report.what:<9} {report.writers} writers with {report.each} each: {report.found} of {report.wanted}, "
        f"{report.lost} lost, {report.torn} torn, {report.seconds:.0f} s"
    )
    return "\n".join([line, *(f"  {complaint}" for complaint in report.complaints)])


if __name__ == "__main__":
    sys.exit(main())
