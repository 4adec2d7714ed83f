"""Let agents return what is not so, and count who is believed.

Run as `python torture/fakes.py`; `--help` lists the options. Each fake of `fake_returns` goes through the whole walk,
with the tree looked at before and after. Controls that say the truth must be believed, or nothing is proved.
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

from remit.app.delegating.asking import Request
from remit.app.delegating.workspace import Workspace
from torture.fake_returns import TRUE, Fake, Site, list_fakes, write_harness
from torture.stage import spread
from torture.tally import tell

if TYPE_CHECKING:
    from remit.delegate.reporting.envelope import Envelope

WORKER = """\
---
name: worker
version: "1.0.0"
agent_type: research
delegation:
  can_delegate_to: ["*"]
---

# worker
"""


class Told(NamedTuple):
    """What came of a fake."""

    family: str
    name: str
    status: str
    outcome: str
    codes: tuple[str, ...]

    @property
    def is_bad(self) -> bool:
        """Whether a fake is believed, or the truth is not."""
        return (self.status == "completed") != (self.family == TRUE)


async def play(ws: Workspace, fake: Fake, number: int) -> Told:
    """Play one fake through the whole walk."""
    site = Site(ws, number)
    request = Request("worker", "Write the report.", dialect=fake.dialect, topic=site.topic, settles=False,
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
    envelope: Envelope = await ws.run(request)
    for row in ws.list():
        await ws.wait(row.session_id)
    return Told(
        fake.family, fake.name, envelope.status, envelope.outcome, tuple(each.code for each in envelope.findings)
    )


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


def main() -> int:
    """Play all, or some, and print who was believed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--most", type=int, default=0, metavar="N", help="at most N, evenly spread; controls always")
    parser.add_argument("--only", metavar="TEXT", help="those whose family or name has this text")
    parser.add_argument("--json", action="store_true", help="the results as JSON")
    options = parser.parse_args()
    fakes = [each for each in list_fakes() if not options.only or options.only in f"{each.family}: {each.name}"]
    controls = [each for each in fakes if each.family == TRUE]
    rest = [each for each in fakes if each.family != TRUE]
    began = time.perf_counter()
    told = asyncio.run(play_all([*controls, *spread(rest, options.most)]))
    bad = [each for each in told if each.is_bad]
    tell(sum(each.family != TRUE for each in told), len(bad))
    if options.json:
        print(json.dumps([each._asdict() | {"is_bad": each.is_bad} for each in told]))
        return 1 if bad else 0
    for family, count in Counter(each.family for each in told).items():
        ways = Counter(each.outcome for each in told if each.family == family)
        print(f"{family:<14} {count:>4} · {', '.join(f'{number} {way}' for way, number in sorted(ways.items()))}")
    for each in bad:
        print(f"BAD {each.family}: {each.name}: {each.status} {each.outcome} {' '.join(each.codes)}")
    fakes_played = sum(each.family != TRUE for each in told)
    believed = sum(each.is_bad for each in told if each.family != TRUE)
    print(f"{fakes_played} fakes, {believed} believed, {time.perf_counter() - began:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
