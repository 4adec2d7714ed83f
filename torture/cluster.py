"""Machines that die and freeze, databases and networks that go away: count what is lost, doubled, and run at once.

Run as `python torture/cluster.py`; `--help` lists the options. A scene has a PostgreSQL, two to eight workers with
folders of their own, callers with clones of their own, and agents that write down what they do; all are real processes.
A scene that fails is named with its seed: `--only SCENE:SEED` plays it again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from tests.support.postgres import Missing, running
from torture.cluster_hostile import HOSTILE
from torture.cluster_scenes import SCENES
from torture.cluster_stage import Failed, Report, clean_environment, open_stage
from torture.tally import tell

if TYPE_CHECKING:
    from tests.support.postgres import Server

ALL = {**SCENES, **HOSTILE}
NO_POSTGRESQL = 2


def play(scene: str, seed: int, size: int, server: Server, folder: Path, *, keep: bool) -> Report:
    """Play a scene once, and say what came of it."""
    act = ALL[scene][0]
    began = time.perf_counter()
    place = folder / f"{scene}-{seed}"
    with open_stage(place, server, seed) as stage:
        try:
            act(stage, size)
        except (Failed, AssertionError) as error:
            stage.complain(f"{type(error).__name__}: {error}")
        except Exception:  # noqa: BLE001 - one that breaks costs no other
            stage.complain(traceback.format_exc())
    report = Report(scene, seed, dict(stage.counts), stage.complaints, round(time.perf_counter() - began, 1))
    if not (keep and report.complaints):
        shutil.rmtree(place, ignore_errors=True)
    return report


def render(reports: list[Report]) -> str:
    """One line for all reports of a scene."""
    total: Counter[str] = Counter()
    for report in reports:
        for name, count in report.counts.items():
            total[name] = max(total[name], count) if name in ("seconds", "slowest") else total[name] + count
    told = ", ".join(f"{count} {name}" for name, count in total.items())
    bad = sum(bool(report.complaints) for report in reports)
    seconds = sum(report.seconds for report in reports)
    return f"{reports[0].scene}: {len(reports)} played, {bad} bad, {seconds:.0f} s · {told}"


def main() -> int:
    """Play all scenes, or some."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--scene", action="append", choices=sorted(ALL), help="may be given again")
    parser.add_argument("--times", type=int, help="how often each is played")
    parser.add_argument("--size", type=int, help="how many agents, machines or takeovers, as the scene has it")
    parser.add_argument("--seed", type=int, default=0, help="of the first one played")
    parser.add_argument("--only", metavar="SCENE:SEED", help="play one again")
    parser.add_argument("--keep", action="store_true", help="keep the folders of those that fail")
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    options = parser.parse_args()
    clean_environment()
    folder = Path(tempfile.mkdtemp(prefix="remit-cluster-"))
    try:
        with running() as server:
            reports = _play_all(options, server, folder)
    except Missing as error:
        print(f"NO POSTGRESQL, nothing was played: {error}")
        return NO_POSTGRESQL
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    tell(len(reports), sum(bool(report.complaints) for report in reports))
    if options.json:
        print(json.dumps([report._asdict() for report in reports]))
    return 1 if any(report.complaints for report in reports) else 0


def _play_all(options: Any, server: Server, folder: Path) -> list[Report]:  # noqa: ANN401 - of argparse
    only, _, seed = (options.only or "").partition(":")
    reports = []
    for scene in [only] if only else options.scene or list(ALL):
        _, times, size = ALL[scene]
        seeds = [int(seed)] if only else [options.seed + at for at in range(options.times or times)]
        played = []
        for each in seeds:
            report = play(scene, each, options.size or size, server, folder, keep=options.keep)
            played.append(report)
            if report.complaints and not options.json:
                print(
                    f"{scene}:{each} (load {os.getloadavg()[0]:.0f})", *report.complaints[:10], sep="\n  ", flush=True
                )
        if not options.json:
            print(render(played), flush=True)
        reports += played
    return reports


if __name__ == "__main__":
    sys.exit(main())
