"""Scripts that change protected places if nothing stops them: under a profile none does.

`tests/data/confine_writes.jsonl` has the scripts. All of them run in one confined process, each in a workspace of its
own: a thousand protected paths in one profile.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from remit.confine.profile import Profile
from remit.light_json import parse_json
from remit.storage.protected_copies import find_altered, keep_files, load_bytes, put_back
from remit.storage.quarantine import ProtectedChange, find_changes, move_away, record_names
from tests.support.amounts import IS_WHOLE, choose
from tests.support.confined_users import PATH
from tests.support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.confined_users import Caller

ROWS = [json.loads(line) for line in (DATA / "confine_writes.jsonl").read_text("utf-8").splitlines()]
PROTECTED = "remit.toml", ".mcp.json", ".claude", ".codex", ".git/hooks", ".git/config", "conf/deep/er/locked.txt"
SETUP = r"""
set -e
git init -q . && git config user.email a@b.invalid && git config user.name n && git config commit.gpgsign false
mkdir -p .git/hooks .claude/agents .codex/empty conf/deep/er src q/.claude sub
echo '#!/bin/sh' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
echo 'x = 1' | tee remit.toml conf/deep/er/locked.txt > /dev/null
echo '{"x":1}' | tee .mcp.json .claude/settings.json b.json > /dev/null
echo 'x = 1' > .codex/config.toml; echo A > .claude/agents/w.md; echo 'a=1 foo' > a; echo 'int main(){return 0;}' > a.c
echo 'x = 2' > q/remit.toml; echo '{"evil":1}' > q/.claude/settings.json
echo 'echo evil > remit.toml' > old.sh; printf '#!/bin/sh\necho evil > remit.toml\n' > tool; chmod +x tool
echo 'open("remit.toml","w").write("e")' > old.py; echo 'open F,">remit.toml"; print F 1' > old.pl
printf 'def go():\n    open("remit.toml", "w")\n\n\ngo()\n' > case_x.py
echo '{ print > "remit.toml" }' > x.awk
printf 'bad:\n\techo evil > remit.toml\n' > Makefile; printf 'all:\n\techo evil > ../remit.toml\n' > sub/Makefile
printf 'all:\n\t$(MAKE) bad\n' > sub.mk
(cd q; tar cf ../q.tar ./remit.toml ./.claude; python3 -m zipfile -c ../q.zip remit.toml .claude)
printf -- '--- remit.toml\n+++ remit.toml\n@@ -1 +1 @@\n-x = 1\n+x = 3\n' > p.diff
sed 's,remit.toml,a/remit.toml,; s,+++ a/,+++ b/,' p.diff > g.diff
git add -A && git commit -qm 1 && git checkout -qb evil
echo 'x = 9' > remit.toml; echo '{"evil":1}' > .claude/settings.json; git commit -qam evil
git format-patch -q -1 --stdout > ../m.patch; git checkout -q -; mv ../m.patch m.patch; git add -A; git commit -qm 2
git gc -q; rm -rf .git/logs .git/info .git/branches .git/description  # less to copy
"""
RUN_ALL = """
cd "$1"
for name in *; do
    (cd "$name" && exec timeout 20 bash ../../scripts/"$name" < /dev/null > /dev/null 2>&1)
done
sleep 0.5
"""
ENVIRON = {"LANG": "C.UTF-8", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}


class Workspaces(NamedTuple):
    """A copy of the template for each script."""

    folder: Path

    def read(self) -> dict[str, list[object]]:
        """Return the state of the protected places in each workspace."""
        return {place.name: read_state(place) for place in sorted(self.folder.iterdir())}

    def list_protected(self) -> list[str]:
        """Return the full paths of the protected places of all workspaces."""
        return [f"{place}/{name}" for place in sorted(self.folder.iterdir()) for name in PROTECTED]


def read_state(workspace: Path) -> list[object]:
    """Return content, mode and time of change of everything in the protected places."""
    found: list[object] = []
    left = [workspace / name for name in PROTECTED]
    while left:
        path = left.pop()
        try:
            about = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            found.append((path.name, "missing"))
            continue
        content = b""
        if path.is_symlink():
            content = os.fsencode(path.readlink())
        elif path.is_dir():
            left += sorted(path.iterdir())
        elif path.is_file():
            content = path.read_bytes()
        found.append(
            (path.relative_to(workspace).as_posix(), about.st_mode, about.st_mtime_ns, about.st_nlink, content)
        )
    return found


def has_tools(row: dict[str, list[str]]) -> bool:
    return all(shutil.which(tool, path=PATH) for tool in row.get("needs", []))


def prepare(caller: Caller, rows: list[dict[str, str]]) -> tuple[Workspaces, Workspaces]:
    """Make the template, and two workspaces for each script: one to run it bare, one to run it confined."""
    template = caller.make_folder("template")
    ran = caller.run_bare(SETUP, cwd=template)
    assert ran.returncode == 0, ran.stderr
    scripts = caller.make_folder("scripts")
    for number, row in enumerate(rows):
        (scripts / f"{number:03}").write_text(row["script"], "utf-8")
    both = []
    for name in ("bare", "confined"):
        folder = caller.make_folder(name)
        copies = " ".join(f"{folder}/{number:03}" for number in range(len(rows)))
        ran = caller.run_bare(f"for each in {copies}; do cp -a {template} $each; done")
        assert ran.returncode == 0, ran.stderr
        both.append(Workspaces(folder))
    return both[0], both[1]


@pytest.mark.slow
def test_no_script_changes_a_protected_place(caller: Caller) -> None:
    first = 0 if IS_WHOLE or caller.name == "own" else 12
    rows = [row for row in ROWS[first :: choose(24, 1)] if has_tools(row)]
    assert len(rows) >= choose(8, 150)
    bare, confined = prepare(caller, rows)
    environ = {**ENVIRON, "HOME": str(caller.make_folder("home")), "PATH": PATH}
    assignments = " ".join(f"{name}='{value}'" for name, value in environ.items())

    before = bare.read()
    caller.run_bare(f"export {assignments}; set -- {bare.folder}; {RUN_ALL}")
    after = bare.read()
    harmless = [rows[int(name)]["script"] for name in before if before[name] == after[name]]
    assert not harmless, "these scripts prove nothing: bare, they change no protected place"

    profile = Profile(write=(str(confined.folder), environ["HOME"]), protect=tuple(confined.list_protected()))
    before = confined.read()
    ran = caller.run(profile, f"export {assignments}; set -- {confined.folder}; {RUN_ALL}\ntouch $1/000/src/end")
    assert ran.returncode == 0, ran.stderr
    after = confined.read()
    assert not [rows[int(name)]["script"] for name in before if before[name] != after[name]]


@pytest.mark.slow
def test_without_kernel_support_what_a_script_changed_is_restored(caller: Caller) -> None:
    """What hooks do on a machine that confines nothing: the scripts run bare, and the bytes come from a record."""
    if caller.name != "own":
        pytest.skip("a hook runs as the user who runs the command")
    rows = [row for row in ROWS[5 :: choose(24, 1)] if has_tools(row)]
    bare, _ = prepare(caller, rows)
    environ = {**ENVIRON, "HOME": str(caller.make_folder("home")), "PATH": PATH}
    assignments = " ".join(f"{name}='{value}'" for name, value in environ.items())
    records = {}
    for place in bare.folder.iterdir():
        (place / ".remit").mkdir()
        records[place] = record_names(str(place), PROTECTED), parse_json(keep_files(str(place), PROTECTED))
    before = {place: read_files(place) for place in records}

    caller.run_bare(f"export {assignments}; set -- {bare.folder}; {RUN_ALL}")
    changed = [place for place in records if read_files(place) != before[place]]
    assert len(changed) >= 0.8 * len(records), "the others only touched a file or made a link to it"

    lost = [place for place, record in records.items() if not restore(str(place), *record)]
    assert len(lost) <= 0.03 * len(records), [rows[int(place.name)]["script"] for place in lost]
    wrong = [place for place in records if place not in lost and not before[place] <= read_files(place)]
    assert not [rows[int(place.name)]["script"] for place in wrong]


def restore(root: str, names: str, files: dict[str, list[object]]) -> bool:
    """Do what a hook does after a command; whether the kept bytes are still there, which a script can remove, too."""
    for change in find_changes(root, names):
        move_away(root, change)
    for altered in find_altered(root, files):
        try:
            data = load_bytes(root, altered)
        except FileNotFoundError:
            return False
        if altered.place:
            move_away(root, ProtectedChange(altered.place, altered.what, altered.node))
        put_back(root, altered, data)
    return True


def read_files(workspace: Path) -> set[tuple[str, int, bytes]]:
    """Return name, mode and content of every file in the protected places."""
    found = set()
    for name in PROTECTED:
        place = workspace / name
        for path in [place, *(place.rglob("*") if place.is_dir() else ())]:
            if path.is_file() and not path.is_symlink():
                found.add((str(path.relative_to(workspace)), path.stat().st_mode, path.read_bytes()))
    return found


def test_there_are_enough_scripts() -> None:
    assert len({row["script"] for row in ROWS}) == len(ROWS) >= 150
