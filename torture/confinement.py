"""Try to get past the kernel's limits, and do ordinary work inside them.

Run as `python torture/confinement.py PART`; `--help` lists the options. `writes`: scripts that change protected places
if nothing stops them, as the user of the torture and as one without privileges; each has to change one bare, and none
may confined. `escapes`: ways around the mounts and out of the process, bare of privileges and inside namespaces of
their own. `work`: what developers do all day, by an agent of `remit run` with ordinary permissions; nothing may fail
there, or come out differently, that isn't listed in the guide. `session`: the same by the user's own session, with the
hooks installed: nothing differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

import pytest

from remit.confine.profile import Profile
from remit.testing.agent import ScriptedAgent
from tests.support import escape_attempts, protected_writes
from tests.support.confined_users import PATH, Caller, make_caller
from torture.ordinary import SETUP, WORK, Work, write_project
from torture.tally import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 3600
_OUT = ".out"
"""The folder of the project with the commands and what they said; git ignores it."""


class Told(NamedTuple):
    """What came of a case."""

    name: str
    bad: str = ""
    """What is wrong, in a sentence; empty if nothing is."""


def list_callers() -> Iterator[Caller]:
    """The user of the torture, and one without privileges if this one may become one."""
    for name in ("own", "unprivileged"):
        try:
            caller = make_caller(name)
        except pytest.skip.Exception as skipped:
            print(f"{name}: {skipped}", flush=True)
            continue
        yield caller
        shutil.rmtree(caller.folder)


# --- writes ----------------------------------------------------------------------------------------------------------


def try_writes(only: str) -> Iterator[Told]:
    """Run every script bare and confined, each in workspaces of its own."""
    rows = [row for row in protected_writes.ROWS if protected_writes.has_tools(row) and only in row["script"]]
    for caller in list_callers():
        bare, confined = protected_writes.prepare(caller, rows)
        environ = {**protected_writes.ENVIRON, "HOME": str(caller.make_folder("home")), "PATH": PATH}
        export = "export " + " ".join(f"{name}='{value}'" for name, value in environ.items())
        protect = tuple(confined.list_protected())
        profile = Profile(write=(str(confined.folder), environ["HOME"]), protect=protect)
        verdicts = []
        for places in (bare, confined):
            before = places.read()
            script = f"{export}; set -- {places.folder}; {protected_writes.RUN_ALL}"
            words = ["bash", "-c", f"{script}\ntouch $1/000/src/end"]
            words = [*caller.prefix, *words] if places is bare else caller.make_words(profile, words)
            subprocess.run(words, env={"PATH": PATH}, check=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S)
            assert (places.folder / "000" / "src" / "end").exists()
            verdicts.append({name for name, state in places.read().items() if state != before[name]})
        for number, row in enumerate(rows):
            changes, gets_past = (f"{number:03}" in changed for changed in verdicts)
            bad = (
                "it changed a protected place"
                if gets_past
                else ""
                if changes
                else "bare, it changes no protected place"
            )
            yield Told(f"{caller.name}: {row['script']}", bad)


# --- escapes ---------------------------------------------------------------------------------------------------------


def try_escapes(only: str) -> Iterator[Told]:
    """Try every way out by itself, as it is and inside each kind of namespace."""
    for caller in list_callers():
        work, outside = caller.make_folder("work"), caller.make_folder("outside")
        (work / "conf").mkdir()
        (work / "conf" / "locked").write_text("locked\n", encoding="utf-8")
        (outside / "file").write_text("outside\n", encoding="utf-8")
        caller.own(work)
        caller.own(outside)
        words = [*caller.prefix, "bash", "-c", "exec 9>> file; exec sleep 3600"]
        with subprocess.Popen(words, cwd=outside) as process:
            place = escape_attempts.Place(work, outside, process)
            for name, script in escape_attempts.ATTEMPTS.items():
                for form in ("bash {}", *escape_attempts.NESTED):
                    if only in name:
                        yield Told(f"{caller.name}: {name}: {form}", _escape(caller, place, script, form))
            process.kill()


def _escape(caller: Caller, place: escape_attempts.Place, script: str, form: str) -> str:
    """Make one attempt; what it achieved."""
    (caller.folder / "attempt").write_text(script, encoding="utf-8")
    before = place.read()
    variables = f"export W={place.work} O={place.outside} PID={place.process.pid}"
    inner = form.format(caller.folder / "attempt")
    ran = caller.run(
        place.profile, f"{variables}; timeout 30 {inner} < /dev/null > /dev/null 2>&1; echo over", cwd=place.work
    )
    if ran.stdout != "over\n":
        return f"it ended the command: {ran.stderr.strip()[-200:]}"
    found = [*place.check(), *(["it changed what it may not change"] if place.read() != before else [])]
    return "; ".join(found)


# --- ordinary work ---------------------------------------------------------------------------------------------------

_PROBE = "echo evil > remit.toml && echo open > .out/unconfined; cat secrets/key > .out/secret"
_RUN = """
unset REMIT_TICKET REMIT_SESSION_ID REMIT_RETURN_FILE
for file in .out/[0-9]*.sh; do
    name=${file%.sh}
    timeout 300 bash $file > $name.said 2> $name.errors < /dev/null
    echo $? > $name.status
done
"""


def try_work(only: str) -> Iterator[Told]:
    """Do all work bare, then in the same folder by an agent that is confined, and compare."""
    chosen = [each for each in WORK if only in each.name and all(map(shutil.which, each.needs))]
    folder = Path(tempfile.mkdtemp(prefix="remit-work-", dir="/var/tmp"))
    root, environ = folder / "root", make_environ(folder)
    bare = _do_work(root, chosen, lambda words: words, environ)
    shutil.move(root, folder / "bare")

    def delegate(words: list[str]) -> list[str]:
        agent = ScriptedAgent(root / _OUT / "player").obeys({"report.md": "# Report"}).command
        command = f"sh -c {shlex.quote(f'{_PROBE}; {shlex.join(words)}; {agent}')}"
        run = [sys.executable, "-m", "remit", "run", "builder", "Work.", "--json"]
        return [*run, "--command", command, "--timeout", str(LIMIT_S)]

    confined = _do_work(root, chosen, delegate, environ)
    assert not (root / _OUT / "unconfined").exists(), "the agent wasn't confined"
    assert not (root / _OUT / "secret").read_bytes(), "the agent wasn't confined"
    for work, before, after in zip(chosen, bare, confined, strict=True):
        yield Told(work.name, compare(work, before, after))
    yield _compare_trees(folder / "bare", root)
    shutil.rmtree(folder)


# --- the user's own session ------------------------------------------------------------------------------------------


def try_session(only: str) -> Iterator[Told]:
    """Do all work as the user's own Claude Code does: each command through the hooks and Remit's shell, and bare."""
    chosen = [each for each in WORK if only in each.name and all(map(shutil.which, each.needs))]
    folder = Path(tempfile.mkdtemp(prefix="remit-session-", dir="/var/tmp"))
    verdicts = []
    for has_hooks in (False, True):
        root, environ = folder / "root", make_environ(folder)
        root.mkdir()
        write_project(root)
        init = f"{shlex.quote(sys.executable)} -m remit hooks install claude"
        subprocess.run(["bash", "-c", f"{init} && {SETUP}"], cwd=root, env=environ, check=True, capture_output=True)
        session = Session(root, environ, has_hooks=has_hooks)
        verdicts.append([session.run(work.script) for work in chosen])
        assert session.tickets == (len(chosen) if has_hooks else 0), "commands got no tickets"
        shutil.move(root, folder / f"root-{has_hooks}")
    for work, bare, hooked in zip(chosen, *verdicts, strict=True):
        yield Told(work.name, compare(work._replace(fails=""), bare, hooked))
    yield _compare_trees(folder / "root-False", folder / "root-True")
    shutil.rmtree(folder)


class Session:
    """The user's own session of a harness, as far as shell commands go."""

    def __init__(self, root: Path, environ: dict[str, str], *, has_hooks: bool) -> None:
        self.root, self.has_hooks, self.tickets = root, has_hooks, 0
        settings = json.loads((root / ".claude" / "settings.local.json").read_text("utf-8"))
        self.hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
        shell: str = settings["env"]["CLAUDE_CODE_SHELL"]
        self.shell = shell if has_hooks else f"/bin/{Path(shell).name}"
        self.environ = environ | {"CLAUDE_CODE_SHELL": shell, "CLAUDE_CODE_SESSION_ID": "own", "SHELL": "/bin/bash"}
        if has_hooks:
            self.call("SessionStart", source="startup")

    def call(self, event: str, **given: object) -> dict[str, Any]:
        """Have the hook answer an event."""
        facts = {"session_id": "own", "transcript_path": "/nothing", "cwd": str(self.root), "hook_event_name": event}
        done = subprocess.run(["sh", "-c", self.hook], input=json.dumps(facts | given), cwd=self.root, env=self.environ,
                              capture_output=True, text=True, check=True)  # fmt: skip
        told: dict[str, Any] = json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
        return told

    def run(self, script: str) -> Done:
        """Run a command in the form that Claude Code gives it to its shell."""
        call = {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": script}}
        if self.has_hooks:
            told = self.call("PreToolUse", **call)
            assert "permissionDecision" not in told or told["permissionDecision"] == "allow", told
            script = told.get("updatedInput", call["tool_input"])["command"]
            self.tickets += script.startswith("# remit:")
        words = [self.shell, "-c", f"eval {shlex.quote(script)} < /dev/null"]
        ran = subprocess.run(words, cwd=self.root, env=self.environ, capture_output=True, check=False, timeout=600)
        if self.has_hooks:
            self.call("PostToolUse", **call | {"tool_input": {"command": script}}, tool_response={"stdout": ""})
        said, errors = (part.decode("utf-8", "replace").strip() for part in (ran.stdout, ran.stderr))
        return Done(str(ran.returncode), said, errors)


def _compare_trees(bare: Path, other: Path) -> Told:
    """Compare what two ways of doing the same work have left."""
    trees = [read_tree(each) for each in (bare, other)]
    differing = sorted(name for name in {*trees[0], *trees[1]} if trees[0].get(name) != trees[1].get(name))
    return Told("the resulting tree", f"these differ: {', '.join(differing[:5])}" if differing else "")


def make_environ(folder: Path) -> dict[str, str]:
    """Return the environment of work, with a home of its own."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    names = ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT")
    environ = {name: value for name, value in os.environ.items() if name not in names}
    environ |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "PATH": PATH, "LANG": "C.UTF-8"}
    environ |= {"PYTHONPATH": str(ROOT / "src"), "WHEELS": str(ROOT / ".wheels"), "PYTHONDONTWRITEBYTECODE": "1"}
    return environ | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "npm_config_update_notifier": "false"}


class Done(NamedTuple):
    """What came of a command."""

    status: str
    said: str
    errors: str


def _do_work(
    root: Path, chosen: list[Work], start: Callable[[list[str]], list[str]], environ: dict[str, str]
) -> list[Done]:
    """Make the project anew and run all commands in it."""
    root.mkdir()
    write_project(root)
    subprocess.run(["bash", "-c", SETUP], cwd=root, env=environ, check=True, capture_output=True)
    out = root / _OUT
    out.mkdir()
    (out / "all").write_text(_RUN, encoding="utf-8")
    for number, work in enumerate(chosen):
        (out / f"{number:03}.sh").write_text(work.script, encoding="utf-8")
    done = subprocess.run(start(["bash", f"{_OUT}/all"]), cwd=root, env=environ, capture_output=True, check=False,
                          timeout=LIMIT_S)  # fmt: skip
    names = [f"{number:03}" for number in range(len(chosen))]
    assert (out / f"{names[-1]}.status").exists(), done
    return [
        Done(*((out / f"{name}.{part}").read_text("utf-8", "replace").strip() for part in Done._fields))
        for name in names
    ]


def compare(work: Work, bare: Done, confined: Done) -> str:
    """Return how a confined command differs from the same bare; empty if it doesn't, or may."""
    if work.fails:
        return f"it works, and the guide says that it fails: {work.fails}" if confined == bare else ""
    if confined.status != bare.status:
        return f"it ends with {confined.status} instead of {bare.status}: {confined.errors[-300:]}"
    same = work.varies or confined.said == bare.said
    return "" if same else f"it says '{confined.said[-200:]}' instead of '{bare.said[-200:]}'"


def read_tree(root: Path) -> dict[str, str]:
    """Each file of a project with its mode and content, without what git, Remit and the commands keep."""
    found = {}
    for here, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", ".remit", _OUT, "__pycache__", "specs")]
        for name in files:
            file = Path(here, name)
            content = os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()
            found[str(file.relative_to(root))] = f"{file.lstat().st_mode:o} {hashlib.sha256(content).hexdigest()}"
    return {name: told for name, told in found.items() if name != "report.md"}


PARTS = {"writes": try_writes, "escapes": try_escapes, "work": try_work, "session": try_session}


def main() -> int:
    """Try one part, and print its counts; 1 if anything is bad."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--only", default="", metavar="TEXT", help="what has this in its script or name")
    options = parser.parse_args()
    done = bad = 0
    for told in PARTS[options.part](options.only):
        done += 1
        if told.bad:
            bad += 1
            print(f"{json.dumps(told.name)}: {told.bad}", flush=True)
    tell(done, bad)
    print(f"{done} cases, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
