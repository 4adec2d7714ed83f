"""Scripts that write to protected places."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

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
