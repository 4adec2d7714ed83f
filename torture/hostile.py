"""Look at a hostile repository with every command that only looks, and see what is executed.

Run as `python torture/hostile.py`; `--help` lists the options. The repository has a program for everything that a
tool could be made to run: git's hooks, filters, monitors, pagers and editors, programs beside it with names that are
looked up, modules that Python would import, settings of harnesses. Each of them would leave a mark. strace tells what
was started: the interpreter itself, and git with the settings that switch all of it off. Git without them must leave
a mark, or nothing is proved.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.git.process import SAFE
from torture.tally import tell
from torture.tracing import find_obstacle

ROOT = Path(__file__).resolve().parents[1]
NO_TRACING = 2
COMMANDS = (
    ("lint",), ("lint", "--no-cache"), ("lint", "--json"), ("lint", "--diff"), ("lint", "agents", "docs"),
    ("lint", "--fix", "--diff"), ("agent", "graph"), ("agent", "build", "--help"),
    ("check", "message.md", "--root", "."),
    ("findings", "validate"), ("findings", "list"), ("task", "list"), ("task", "sync", "--check"), ("status",),
    ("errors", "list"),
    ("ps",), ("doctor",), ("explain", "AGT001"), ("agent", "can", "planner", "bash", "make"),
)  # fmt: skip
SETTINGS = (
    "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "diff.external",
    "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
    "gpg.program", "credential.helper", "sequence.editor", "merge.evil.driver", "interactive.diffFilter",
    "core.alternateRefsCommand", "uploadpack.packObjectsHook", "alias.status", "alias.ls-files", "alias.rev-parse",
)  # fmt: skip
PROGRAMS = ("git", "python", "python3", "sh", "bash", "remit", "node", "claude", "codex", "opencode", "psql", "ls")
MODULES = ("sitecustomize", "usercustomize", "yaml", "click", "jiter", "json", "conftest", "setup", "remit")
PROBES = ("unshare", "bwrap", "true")
"""What `remit doctor` tries, to tell whether agents can be shut in; never by a name in the repository."""
_STARTED = re.compile(r'execve\("(?P<program>[^"]*)", \[(?P<arguments>.*?)\], .* = 0$')


class Seen(NamedTuple):
    """What a command started, and what is wrong with it."""

    command: tuple[str, ...]
    programs: tuple[str, ...]
    complaints: tuple[str, ...]


def lay(folder: Path) -> tuple[Path, Path]:
    """A repository in which everything that could be run leaves a mark; and the place of the marks."""
    root, marks = folder / "repository", folder / "marks"
    marks.mkdir()
    for each in ("agents", "docs", ".claude/agents", ".vscode", "bin"):
        (root / each).mkdir(parents=True)
    git = ("git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.invalid")
    subprocess.run([*git, "init", "-q"], check=True)
    (root / "agents" / "planner.md").write_text("---\nname: planner\ndescription: Plans.\n---\n# Planner\n")
    (root / "message.md").write_text('{"status": "completed", "summary": "x", "artifacts": [{"path": "a.md"}]}')
    (root / "MANIFEST.jsonl").write_text('{"id": "a-2026-01-19"}\n')
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "one"], check=True)
    for name in PROGRAMS:
        for place in (root, root / "bin"):
            _write_program(place / name, marks / f"program-{name}")
    for name in MODULES:
        (root / f"{name}.py").write_text(f"open({str(marks / f'module-{name}')!r}, 'w').close()\n")
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "post-checkout", "post-index-change", "fsmonitor-watchman", "reference-transaction"):
        _write_program(hooks / name, marks / f"hook-{name}")
    (root / ".gitattributes").write_text("* diff=evil filter=evil merge=evil\n")
    (root / ".remit-hook").write_text("x")
    (root / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [_make_hook(marks)]}}))
    (root / "Makefile").write_text(f"$(shell touch {marks / 'makefile'})\n")
    for name in SETTINGS:
        value = f"touch {marks / f'setting-{name}'}"
        subprocess.run([*git, "config", name, f"!{value}" if name.startswith("alias.") else value], check=True)
    return root, marks


def _make_hook(marks: Path) -> dict[str, object]:
    return {"matcher": "*", "hooks": [{"type": "command", "command": f"touch {marks / 'harness'}"}]}


def _write_program(file: Path, mark: Path) -> None:
    file.write_text(f"#!/bin/sh\ntouch {mark}\n")
    file.chmod(0o755)


def look(command: tuple[str, ...], root: Path, marks: Path) -> Seen:
    """Run a command in the repository, and list what it started."""
    log = marks.parent / "trace"
    remit = (
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); from remit.cli import main; main()",
    )
    traced = ("strace", "-f", "-qq", "-s", "4000", "-e", "trace=execve", "-o", str(log), *remit, *command)
    # The repository's own folders are on the path, as a careless user's would be.
    environ = {"PATH": f"{os.environ['PATH']}:bin:.", "HOME": str(marks.parent), "REMIT_ROOT": str(root)}
    done = subprocess.run(traced, cwd=root, env=environ, capture_output=True, text=True, check=False)
    started = [found for line in log.read_text(errors="replace").splitlines() if (found := _STARTED.search(line))]
    wrong = [f"it left a mark: {mark.name}" for mark in marks.iterdir()] + ["nothing was traced"] * (not started)
    for mark in marks.iterdir():
        mark.unlink()
    known = ("git", *PROBES) if command == ("doctor",) else ("git",)
    for each in started[1:]:
        name = Path(each["program"]).name
        if name not in known or Path(each["program"]).is_relative_to(root):
            wrong.append(f"it started {each['program']}")
        elif name != "git":
            continue
        elif missing := [setting for setting in SAFE if f'"{setting}"' not in each["arguments"]]:
            wrong.append(f"it started git without {', '.join(missing)}")
    if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr:
        wrong.append(f"it ended with {done.returncode}: {done.stderr[-200:]}")
    return Seen(command, tuple(Path(each["program"]).name for each in started[1:]), tuple(wrong))


def is_found_out(root: Path, marks: Path) -> bool:
    """Whether git, as anybody calls it, is made to run something here."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(marks.parent)}
    (root / "message.md").write_text("changed")
    subprocess.run(["git", "status"], cwd=root, env=environ, capture_output=True, check=False)
    subprocess.run(["git", "diff"], cwd=root, env=environ, capture_output=True, check=False)
    return any(marks.iterdir())


def main() -> int:
    """Look with every command, and print what was started."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="COMMAND", help="those that begin so")
    parser.add_argument("--json", action="store_true", help="what was seen as JSON")
    options = parser.parse_args()
    if obstacle := find_obstacle():
        print(f"nothing was seen: {obstacle}")
        return NO_TRACING
    began = time.perf_counter()
    folder = Path(tempfile.mkdtemp(prefix="remit-hostile-"))
    try:
        root, marks = lay(folder)
        chosen = [each for each in COMMANDS if not options.only or " ".join(each).startswith(options.only)]
        seen = [look(each, root, marks) for each in chosen]
        found_out = is_found_out(root, marks)
    finally:
        shutil.rmtree(folder)
    bad = [each for each in seen if each.complaints]
    tell(len(seen), len(bad) + (not found_out))
    if options.json:
        print(json.dumps({"seen": [each._asdict() for each in seen], "found_out": found_out}))
        return 1 if bad or not found_out else 0
    for each in bad:
        print(f"BAD remit {' '.join(each.command)}: {'; '.join(each.complaints)}")
        print(f"  again: python torture/hostile.py --only '{' '.join(each.command)}'")
    traps = len(SETTINGS) + len(PROGRAMS) + len(MODULES) + 7
    gits = sum(each.programs.count("git") for each in seen)
    print(
        f"{len(seen)} commands among {traps} traps: git was started {gits} times, {len(bad)} bad, "
        f"{time.perf_counter() - began:.0f} s{'' if found_out else '; no trap works: nothing is proved'}"
    )
    return 1 if bad or not found_out else 0


if __name__ == "__main__":
    sys.exit(main())
