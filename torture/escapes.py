"""Try to lead Remit out of its workspace: by how a path is spelled, by links, and by a swap at every moment.

Run as `python torture/escapes.py`; `--help` lists the options. Each spelling is given to everything that takes a path
from an agent or a repository. In a race the folder or the file is exchanged when the work is about to make its N-th
call to the system, and put back at its M-th, for every N and M: not by chance, so that each one really happens and can
be had again as `WORK:SWAP:N:M`. Afterwards nothing outside may have changed, and nothing that was told may come from
there. A writer that looks first and opens then is raced as well: it must be found out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.agents.context import ContextPath, ContextPlan
from remit.errors import RemitError
from remit.evidence.artifacts import inspect_artifacts
from remit.ledger.home import Home
from remit.ledger.journal import FileChange, finish_interrupted, write_together
from remit.policy import PROTECTED, PathContext, Permissions, ToolCall, judge
from remit.storage.activity_frontmatter import FileActivity, write_activity
from remit.storage.context_files import load_context
from remit.storage.safe_path import replace_inside
from torture.tally import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

THEIRS = "what stands in another folder"
TEXT = f"---\nname: a\n---\n{THEIRS}\n"
OWN = "---\nname: a\n---\nown\n"
RACES = 10_000
HANGS_AFTER = 10
NAIVE = "look, then write"


class Site(NamedTuple):
    """A workspace, and a folder beside it that nobody may touch or read."""

    root: Path
    outside: Path
    home: Home


def make_site(folder: Path) -> Site:
    """A workspace with every kind of link that leads out of it."""
    root, outside = folder / "ws", folder / "outside"
    for each in (root / "specs", outside, folder / "ws-more"):
        each.mkdir(parents=True)
    (outside / "a.md").write_text(TEXT)
    (folder / "ws-more" / "a.md").write_text(TEXT)
    specs = root / "specs"
    (specs / "a.md").write_text(OWN)
    for name, target in list_links(outside).items():
        (specs / name).symlink_to(target)
    (specs / "hard.md").hardlink_to(outside / "a.md")
    home = Home(str(root))
    assert home.ledger is not None
    return Site(root, outside, home)


def list_links(outside: Path) -> dict[str, str]:
    """Links that lead out, by the names that they have in `specs`."""
    return {
        "out": str(outside), "up": "..", "upup": "../..", "file.md": str(outside / "a.md"),
        "near.md": "../../outside/a.md", "chain.md": "second.md", "second.md": "third.md", "third.md": "out/a.md",
        "top": "/", "proc": "/proc/self/root", "cwd": "/proc/self/cwd", "loop": "loop", "one": "two", "two": "one",
        "new.md": str(outside / "new.md"), "twice": "out/../outside",
    }  # fmt: skip


def list_spellings(site: Site) -> Iterator[str]:
    """Paths that lead out of the workspace, or should lead nowhere."""
    there = str(site.outside / "a.md")
    yield from (
        "../outside/a.md", "./../outside/a.md", "specs/../../outside/a.md", "specs/./.././../outside/a.md",
        "specs/../specs/../../outside/a.md", "specs//..//..//outside//a.md", "../outside/../outside/a.md", "..",
        "../..", "../../../../../../../../../../etc/passwd", "../ws-more/a.md", "../ws/../outside/a.md", there,
        f"/{there}", f"//{there}", f"/.{there}", f"/proc/self/root{there}", f"/proc/{os.getpid()}/root{there}",
        f"/proc/self/cwd/{there}", f"/proc/thread-self/root{there}", f"/dev/../{there}",
        f"specs/{'../' * 60}{there[1:]}", "/etc/passwd", "/etc/../etc/passwd", "/dev/stdin", "/dev/fd/0",
        "/proc/self/environ", "~/a.md", "~root/a.md", "$HOME/a.md", "${HOME}/a.md", f"file://{there}",
        "specs/out/a.md", "specs/out/../outside/a.md", "specs/out/.", "specs/out", "specs/up/../outside/a.md",
        "specs/upup/outside/a.md", "specs/up/specs/upup/outside/a.md", "specs/file.md", "specs/near.md",
        "specs/chain.md", "specs/second.md", f"specs/top{there}", f"specs/proc{there}", f"specs/cwd{there}",
        "specs/loop", "specs/loop/a.md", "specs/one/a.md", "specs/new.md", "specs/twice/a.md", "specs/hard.md",
        "..\\outside\\a.md", "specs\\..\\..\\outside\\a.md", "%2e%2e/outside/a.md", "..%2foutside%2fa.md",
        "..;/outside/a.md", ".../outside/a.md", "\uff0e\uff0e/outside/a.md", "..\u200b/outside/a.md",
        "\u202e../outside/a.md", "..\x00/outside/a.md", "specs/a.md\x00", "../outside/a.md\n", "\n../outside/a.md",
        " ../outside/a.md", "../outside/a.md ", "../outside/a.md/", "../outside/a.md/.", "specs/out/a.md/..",
        "x" * 5_000, "x/" * 300 + "../" * 302 + "outside/a.md", "../" * 2_000 + there[1:], ".git/config",
        ".git/../.git/config", ".remit/ledger.db", "specs/../.remit/ledger.db", "specs/.git/hooks/pre-commit", "",
        ".", "/", "//", "./.", "specs/..", "\udcff/../../outside/a.md",
    )  # fmt: skip


# --- everything that takes a path -------------------------------------------------------------------------------------


def claim(site: Site, path: str) -> str:
    """An agent says that it wrote it."""
    return "file" if inspect_artifacts([path], root=site.root, bases=[site.root])[path].state == "file" else ""


def write(site: Site, path: str) -> str:
    """Something is written there, by a writer that knows what is there now."""
    with suppress(OSError, ValueError, RemitError):
        target = site.root / path
        before = target.read_bytes() if target.is_file() else None
        replace_inside(str(site.root), path, b"changed", before=before)
    return ""


def load(site: Site, path: str) -> str:
    """An agent's file wants it loaded."""
    plan = ContextPlan(files=(ContextPath(path, "required", (path,)),))
    return "".join(each.text for each in load_context(str(site.root), plan).loaded)


def note(site: Site, path: str) -> str:
    """What was done to it is noted in its frontmatter."""
    noted = write_activity(str(site.root), path, [FileActivity("s", None, "edit", "2026-01-19T00:00:00Z")])
    return str(noted.diagnostic)


def change(site: Site, path: str) -> str:
    """It is one of several files that change together."""
    with suppress(OSError, ValueError, RemitError):
        finish_interrupted(site.home)
        together = [FileChange(path, None, os.urandom(8)), FileChange("specs/b.md", None, b"x")]
        write_together(site.home, together, kind="torture")
    return ""


def ask(tool: str) -> Callable[[Site, str], str]:
    """An agent that may do so below `specs` asks."""

    def act(site: Site, path: str) -> str:
        root = str(site.root)
        ground = PathContext(root, root, str(site.outside), os.path.realpath, PROTECTED)
        try:
            answer = judge(ToolCall(tool, (path,)), [Permissions(None, {tool: ("specs/**",)}, {})], ground).answer
        except (OSError, ValueError) as error:
            return f"it raised {error}"
        return answer if answer == "allow" else ""

    return act


def look_then_write(site: Site, path: str) -> str:
    """How it is often done: the path is looked at, and then opened by its name."""
    place = os.path.join(site.root, path)  # noqa: PTH118 - as it is often done
    if os.path.realpath(place).startswith(f"{site.root}/"):
        with suppress(OSError), open(place, "r+b") as file:  # noqa: PTH123
            file.write(b"changed")
    return ""


WORKS: dict[str, Callable[[Site, str], str]] = {
    "claimed": claim, "written": write, "loaded": load, "noted": note, "changed": change,
    "asked to write": ask("write"), "asked to read": ask("read"),
}  # fmt: skip
NO_ESCAPES = {
    "claimed": ("specs/hard.md", ".remit/ledger.db", "specs/../.remit/ledger.db"),
    "loaded": ("specs/hard.md",),
    "asked to write": (
        "specs/hard.md",
        "specs/loop",
        "specs/loop/a.md",
        "specs/one/a.md",
        "specs/.git/hooks/pre-commit",
    ),
    "asked to read": (
        "specs/hard.md",
        "specs/loop",
        "specs/loop/a.md",
        "specs/one/a.md",
        "specs/.git/hooks/pre-commit",
    ),
}
"""What lies inside, and is only written by nobody: a second name of a file, of which nobody can tell whose it is; a
loop, which leads nowhere; folders that are not ours."""
RACED = {"written": write, "loaded": load, "noted": note, "changed": change}


class Trial(NamedTuple):
    """One spelling given to one work, or one race."""

    point: str
    complaints: tuple[str, ...]
    fired: bool = True


def look_outside(site: Site) -> dict[str, bytes]:
    """All that lies beside the workspace."""
    found: dict[str, bytes] = {}
    for beside in site.root.parent.iterdir():
        if beside != site.root:
            found |= {str(each): b"" if each.is_dir() else each.read_bytes() for each in (beside, *beside.rglob("*"))}
    return found


def try_spellings(folder: Path) -> list[Trial]:
    """Give every spelling to every work."""
    trials = []
    for number, (name, work) in enumerate(WORKS.items()):
        site = make_site(folder / str(number))
        before = look_outside(site)
        for path in list_spellings(site):
            told = work(site, path)
            wrong = []
            is_told = told in ("file", "allow") or THEIRS in told or told.startswith("it raised")
            if is_told and path not in NO_ESCAPES.get(name, ()):
                wrong.append(f"it says {told[:80]!r}")
            if (after := look_outside(site)) != before:
                wrong.append("something outside has changed")
                before = after
            trials.append(Trial(f"{name}: {path[:80]!r}", tuple(wrong)))
        site.home.close()
    return trials


# --- races ------------------------------------------------------------------------------------------------------------


class Swap(NamedTuple):
    """What is exchanged, and how it is put back."""

    put: Callable[[Site], None]
    back: Callable[[Site], None]


def _lead_folder_out(site: Site) -> None:
    (site.root / "specs").rename(site.root / "aside")
    (site.root / "specs").symlink_to(site.outside)


def _bring_folder_back(site: Site) -> None:
    (site.root / "specs").unlink()
    (site.root / "aside").rename(site.root / "specs")


def _lead_file_out(site: Site) -> None:
    with suppress(FileNotFoundError):
        (site.root / "specs" / "a.md").rename(site.root / "specs" / "a.old")
    (site.root / "specs" / "a.md").symlink_to(site.outside / "a.md")


def _make_file_pipe(site: Site) -> None:
    with suppress(FileNotFoundError):
        (site.root / "specs" / "a.md").rename(site.root / "specs" / "a.old")
    os.mkfifo(site.root / "specs" / "a.md")


def _bring_file_back(site: Site) -> None:
    (site.root / "specs" / "a.md").unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        (site.root / "specs" / "a.old").rename(site.root / "specs" / "a.md")


SWAPS = {
    "folder": Swap(_lead_folder_out, _bring_folder_back),
    "file": Swap(_lead_file_out, _bring_file_back),
    "pipe": Swap(_make_file_pipe, _bring_file_back),
}


class Moments:
    """Counts a work's calls to the system, and acts right before those that are named."""

    def __init__(self, acts: dict[int, Callable[[], None]]) -> None:
        self.acts = acts
        self.count = 0
        self.done = 0

    def __call__(self, _frame: FrameType, event: str, called: object) -> None:
        """What Python calls before every function that is written in C."""
        if event != "c_call" or getattr(called, "__module__", "") not in ("posix", "_io", "io"):
            return
        self.count += 1
        if act := self.acts.get(self.count):
            act()
            self.done += 1


def race(site: Site, work: Callable[[Site, str], str], acts: dict[int, Callable[[], None]]) -> tuple[Moments, str]:
    """Do a work, and something else at some of its moments."""
    moments = Moments(acts)
    sys.setprofile(moments)
    try:
        return moments, work(site, "specs/a.md")
    finally:
        sys.setprofile(None)


def race_at(site: Site, point: str) -> Trial:
    """One race: what is exchanged at the first of two moments is put back at the second."""
    name, swap_name, first, second = point.split(":")
    swap = SWAPS[swap_name]
    work = look_then_write if name == NAIVE else RACED[name]
    acts = {int(first): lambda: swap.put(site), int(second): lambda: swap.back(site)}
    before = look_outside(site)
    signal.alarm(HANGS_AFTER)
    try:
        moments, told = race(site, work, acts)
    except _HungError:
        return Trial(point, ("it hangs",))
    finally:
        signal.alarm(0)
    if moments.done == 1:
        swap.back(site)
    wrong = [f"it says {told[:80]!r}"] if THEIRS in told else []
    if look_outside(site) != before:
        wrong.append("something outside has changed")
    return Trial(point, tuple(wrong), fired=moments.done > 0)


class _HungError(Exception):
    """A race that does not end."""


def _hang(_signal: int, _frame: FrameType | None) -> None:
    raise _HungError


def make_plain_site(folder: Path) -> Site:
    """A workspace without any link; the races make their own."""
    site = make_site(folder)
    for path in (site.root / "specs").iterdir():
        if path.is_symlink() or path.name == "hard.md":
            path.unlink()
    return site


def list_races(folder: Path, most: int) -> list[str]:
    """Every pair of moments of every work, again and again until there are enough."""
    points = []
    for number, (name, work) in enumerate(RACED.items()):
        for form in ("first", "count"):  # at its first time a work loads its modules, and makes calls that no other has
            site = make_plain_site(folder / f"{form}{number}")
            calls = race(site, work, {})[0].count
            site.home.close()
        pairs = [(one, other) for one in range(1, calls + 1) for other in range(one + 1, calls + 2)]
        points += [f"{name}:{swap}:{one}:{other}" for swap in SWAPS for one, other in pairs]
    step = max(1, len(points) // most) if most < len(points) else 1
    whole = points[::step][:most]
    return whole + [points[at % len(points)] for at in range(most - len(whole))]


def list_naive_races() -> list[str]:
    """Each moment of who looks first; what is exchanged stays so."""
    return [f"{NAIVE}:{swap}:{at}:999" for swap in SWAPS for at in range(1, 80)]


def run_races(folder: Path, points: list[str]) -> list[Trial]:
    """Run races, each on files as they were."""
    signal.signal(signal.SIGALRM, _hang)
    site = make_plain_site(folder / "races")
    trials = []
    for number, point in enumerate(points):
        trials.append(race_at(site, point))
        if trials[-1].complaints or number % 500 == 499:  # a journal grows, and what was led out is led out
            site.home.close()
            shutil.rmtree(folder / "races")
            site = make_plain_site(folder / "races")
        (site.root / "specs" / "a.md").write_text(OWN)
    site.home.close()
    return trials


def main() -> int:
    """Try all, and print who got out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--races", type=int, default=RACES, metavar="N", help=f"so many races ({RACES:,})")
    parser.add_argument("--only", metavar="WORK:SWAP:N:M", help="one race, again")
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    options = parser.parse_args()
    began = time.perf_counter()
    folder = Path(tempfile.mkdtemp(prefix="remit-escapes-"))
    try:
        spelled = [] if options.only else try_spellings(folder)
        points = [options.only] if options.only else list_races(folder, options.races)
        races = run_races(folder, points)
        naive = run_races(folder / "naive", list_naive_races())
    finally:
        shutil.rmtree(folder)
    fired = [each for each in races if each.fired]
    bad = [each for each in (*spelled, *races) if each.complaints]
    found_out = any(each.complaints for each in naive)
    tell(len(spelled) + len(fired), len(bad) + (not found_out), spellings=len(spelled), races=len(fired))
    if options.json:
        counts = {"spellings": len(spelled), "races": len(fired), "points": len(set(points)), "found_out": found_out}
        print(json.dumps(counts | {"bad": [each._asdict() for each in bad]}))
        return 1 if bad or not found_out else 0
    for each in bad:
        print(f"BAD {each.point}: {'; '.join(each.complaints)}")
    if any(each in bad for each in races):
        print("  again: python torture/escapes.py --only WORK:SWAP:N:M")
    print(
        f"{len(spelled)} spellings, {len(fired):,} races at {len(set(points)):,} points, {len(bad)} got out, "
        f"{time.perf_counter() - began:.0f} s{'' if found_out else '; who looks first was not found out'}"
    )
    return 1 if bad or not found_out else 0


if __name__ == "__main__":
    sys.exit(main())
