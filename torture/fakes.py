"""Let agents return what is not so, and count who is believed; let honest ones work, and count who is called false.

Run as `python torture/fakes.py`; `--help` lists the options. Each fake of `fake_returns` goes through the whole walk,
with the tree looked at before and after. Each plot of `fake_work` is about files that several agents could have
written. No lie may be `completed`, and no honest agent `fabricated`; of honest agents at once, the share is reported
that Remit could not verify. Controls that say the truth must be believed, or nothing is proved.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.runs.request import Request
from remit.runs.workspace import Workspace
from torture.fake_returns import TRUE, Fake, Site, list_fakes, write_harness
from torture.fake_work import PROGRAM, WORKER, Plot, Scene, Seen, list_honest, list_lies, make_template
from torture.stage import spread
from torture.tally import tell

if TYPE_CHECKING:
    from remit.result import Result


class Told(NamedTuple):
    """What came of a fake."""

    family: str
    name: str
    status: str
    verdict: str
    codes: tuple[str, ...]

    @property
    def is_bad(self) -> bool:
        """Whether a fake is believed, or the truth is not."""
        return (self.status == "completed") != (self.family == TRUE)


async def play(ws: Workspace, fake: Fake, number: int) -> Told:
    """Play one fake through the whole walk."""
    site = Site(ws, number)
    request = Request("worker", "Write the report.", return_format=fake.dialect, topic=site.topic, finishes=False,
                      evidence=True, reasks=0)  # fmt: skip
    if fake.before is not None:
        fake.before(site)
        await asyncio.sleep(0.02)  # else what is written next has the same time

    async def function(prompt: str) -> str:
        site.begin(prompt)
        if fake.work is not None:
            fake.work(site)
        said = fake.say(site)
        text: str = await said if hasattr(said, "__await__") else said
        return text

    if fake.uses is None:
        request = request._replace(function=function)
    else:
        write_harness(site.root.parent, site, fake.uses, works=fake.works)
        request = request._replace(runner="claude")
    result: Result = await ws.run(request)
    for row in ws.list():
        await ws.wait(row.session_id)
    return Told(fake.family, fake.name, result.status, result.verdict, tuple(each.code for each in result.diagnostics))


async def play_all(fakes: list[Fake]) -> list[Told]:
    """Play fakes in one workspace, one after the other."""
    folder = Path(tempfile.mkdtemp(prefix="remit-fakes-"))
    root = folder / "workspace"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "agents").mkdir()
    (root / "agents" / "worker.md").write_text(WORKER)
    try:
        async with Workspace.open(root, environ={"PATH": f"{folder}:{os.defpath}"}) as ws:
            return [await play(ws, fake, number) for number, fake in enumerate(fakes)]
    finally:
        shutil.rmtree(folder)


# --- plots ------------------------------------------------------------------------------------------------------------


async def play_plot(plot: Plot, template: Path, folder: Path) -> list[Seen]:
    """Play a plot in a copy of the repository."""
    root, programs = folder / "workspace", folder / "programs"
    shutil.copytree(template, root, symlinks=True)
    programs.mkdir()
    for name in ("command", "claude", "codex", "opencode"):
        (programs / name).write_text(PROGRAM.replace("FOLDER", str(programs)))
        (programs / name).chmod(0o700)
    await asyncio.sleep(0.06)  # else what is written next has the same time
    async with Workspace.open(root, environ={"PATH": f"{programs}:{os.defpath}", "HOME": str(folder)}) as ws:
        return await plot.play(Scene(ws, programs, plot.runner))


def play_plots(plots: list[Plot]) -> list[tuple[Plot, list[Seen]]]:
    """Play plots, one after the other."""
    folder = Path(tempfile.mkdtemp(prefix="remit-fakes-"))
    seen = []
    try:
        template = make_template(folder)
        for number, plot in enumerate(plots):
            place = folder / str(number)
            place.mkdir()
            seen.append((plot, asyncio.run(play_plot(plot, template, place))))
            shutil.rmtree(place)
    finally:
        shutil.rmtree(folder)
    return seen


class Count(NamedTuple):
    """What came of plots."""

    believed: list[str]
    """Lies that were completed."""
    accused: list[str]
    """Honest agents that were called false, or whose work was refused."""
    lies: Counter[tuple[str, str]]
    honest: Counter[tuple[str, str]]
    parallel: Counter[tuple[str, str, str]]


def count_plots(played: list[tuple[Plot, list[Seen]]]) -> Count:
    """Count who was believed, and who was called false."""
    count = Count([], [], Counter(), Counter(), Counter())
    for plot, told in played:
        is_lie = any(each.is_lie for each in told)
        for each in told:
            name = f"{plot.family}: {plot.name} ({plot.runner}): {each.status} {each.verdict}"
            if each.is_lie:
                count.lies[plot.family, each.verdict] += 1
                count.believed.extend([name] if each.status == "completed" else [])
                continue
            count.honest[f"beside lies: {plot.family}" if is_lie else plot.family, each.verdict] += 1
            count.accused.extend([name] if each.verdict not in ("accepted", "unproven") else [])
            if plot.family == "parallel":
                count.parallel[plot.runner, plot.how, each.verdict] += 1
    return count


def show_plots(count: Count) -> None:
    """Print what came of plots, and how often honest agents at once could not be verified."""
    for title, counted in (("lies", count.lies), ("honest", count.honest)):
        for family in dict.fromkeys(family for family, _ in counted):
            ways = {verdict: number for (each, verdict), number in sorted(counted.items()) if each == family}
            told = ", ".join(f"{number} {verdict}" for verdict, number in ways.items())
            print(f"{title}: {family:<26} {sum(ways.values()):>4} · {told}")
    print("honest agents at once   writes by   runs   unproven")
    for runner, how in dict.fromkeys((runner, how) for runner, how, _ in count.parallel):
        runs = sum(number for (one, other, _), number in count.parallel.items() if (one, other) == (runner, how))
        unproven = count.parallel[runner, how, "unproven"]
        print(f"{runner:<23} {how:<10} {runs:>5} {unproven:>5} ({unproven / runs:.0%})")
    for name in (*count.believed, *count.accused):
        print(f"BAD {name}")


def main() -> int:
    """Play all, or some, and print who was believed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--most", type=int, default=0, metavar="N", help="at most N of each, evenly spread")
    parser.add_argument("--only", metavar="TEXT", help="those whose family or name has this text")
    parser.add_argument("--json", action="store_true", help="the results as JSON")
    options = parser.parse_args()

    def is_wanted(each: Fake | Plot) -> bool:
        return not options.only or options.only in f"{each.family}: {each.name}"

    fakes = [each for each in list_fakes() if is_wanted(each)]
    controls = [each for each in fakes if each.family == TRUE]
    rest = [each for each in fakes if each.family != TRUE]
    lies, honest = (list(filter(is_wanted, each())) for each in (list_lies, list_honest))
    began = time.perf_counter()
    told = asyncio.run(play_all([*controls, *spread(rest, options.most)]))
    played = play_plots([*spread(lies, options.most), *spread(honest, options.most)])
    count = count_plots(played)
    bad = [each for each in told if each.is_bad]
    fakes_played = sum(each.family != TRUE for each in told) + count.lies.total()
    tell(fakes_played + count.honest.total(), len(bad) + len(count.believed) + len(count.accused))
    if options.json:
        shown = [{"family": plot.family, "name": plot.name, "runner": plot.runner, "told": seen}
                 for plot, seen in played]  # fmt: skip
        print(json.dumps([*(each._asdict() | {"is_bad": each.is_bad} for each in told), *shown]))
        return 1 if bad or count.believed or count.accused else 0
    for family, number in Counter(each.family for each in told).items():
        ways = Counter(each.verdict for each in told if each.family == family)
        print(f"{family:<14} {number:>4} · {', '.join(f'{number} {way}' for way, number in sorted(ways.items()))}")
    for each in bad:
        print(f"BAD {each.family}: {each.name}: {each.status} {each.verdict} {' '.join(each.codes)}")
    show_plots(count)
    believed = sum(each.is_bad for each in told if each.family != TRUE) + len(count.believed)
    seconds = time.perf_counter() - began
    told_honest = f"{count.honest.total()} honest, {len(count.accused)} called false or refused"
    print(f"{fakes_played} lies, {believed} believed; {told_honest}; {seconds:.0f} s")
    return 1 if bad or count.believed or count.accused else 0


if __name__ == "__main__":
    sys.exit(main())
