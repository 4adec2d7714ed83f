"""Ordinary work: commands that developers type all day, and builds of three projects, all without a network.

Owns the list and the project that it works in. `torture/confinement.py` runs it bare and confined and compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


class Work(NamedTuple):
    """A command, and what it needs."""

    name: str
    script: str
    needs: tuple[str, ...] = ()
    fails: str = ""
    """Why it fails for a confined agent, as the guide has it; empty if it has to work as it does bare."""
    varies: bool = False
    """Whether what it writes or says differs from one time to the next."""


COMMANDS: Final = (
    Work("edit", "echo '# more' >> src/app.py && sed -i 's/hello/good day/' src/app.py && cat src/app.py"),
    Work("sed -i.bak", "sed -i.bak s/one/two/ notes.txt && diff notes.txt.bak notes.txt; rm notes.txt.bak"),
    Work("grep and find", "grep -rn def src | sort; find src py -name '*.py' | sort"),
    Work("find -delete", "touch a.o b.o && find . -name '*.o' -delete && ls src"),
    Work("awk", "awk '{ n += NF } END { print n > \"words.txt\" }' notes.txt && cat words.txt"),
    Work("sort -u -o", "sort -u -o notes.txt notes.txt && wc -l notes.txt"),
    Work("heredoc", "cat > src/new.py <<'X'\nVALUE = 1\nX\ncat src/new.py"),
    Work("tar", "tar czf src.tgz src && mkdir -p unpacked && tar xzf src.tgz -C unpacked && ls unpacked/src && rm src.tgz"),
    Work("zip", "zip -qr s.zip src && unzip -qo s.zip -d zipped && ls zipped/src && rm s.zip", ("zip", "unzip")),
    Work("patch", "cp notes.txt n2 && echo end >> n2; diff -u notes.txt n2 > p.diff; patch -s notes.txt p.diff && rm n2 p.diff", ("patch",)),
    Work("cp and rm -rf", "cp -a src copy && mv copy moved && ls moved && rm -rf moved"),
    Work("chmod and run", "printf '#!/bin/sh\\necho ran\\n' > run.sh && chmod +x run.sh && ./run.sh"),
    Work("ln -s", "ln -sfn src/app.py current && readlink current && cat current"),
    Work("mktemp", "f=$(mktemp) && echo x > $f && cat $f && rm $f; d=$(mktemp -d) && rmdir $d"),
    Work("mkfifo", "mkfifo pipe && (echo through > pipe &) && cat pipe && rm pipe"),
    Work("background", "sleep 0.1 & wait; nohup true > /dev/null 2>&1; (sleep 5 & kill $!; wait) ; echo over"),
    Work("signals", "sleep 30 & p=$!; kill -STOP $p; kill -CONT $p; kill -TERM $p; wait $p; echo $?"),
    Work("timeout", "timeout 0.2 sleep 5; echo $?"),
    Work("trap", "trap 'echo cleaned' EXIT; exit 3"),
    Work("xargs -P", "seq 8 | xargs -P 4 -I{} sh -c 'echo {} > n{}.txt' && cat n*.txt && rm n*.txt"),
    Work("script", "script -qec 'tty > /dev/null && echo a terminal' /dev/null", ("script",)),
    Work("interactive bash", "echo 'echo inside' | bash -i 2> /dev/null"),
    Work("ps and id", "ps -o comm= -p $$; id -u; whoami; hostname > /dev/null; uname -s"),
    Work("df, du, free", "df . > /dev/null && du -s src > /dev/null && cat /proc/meminfo > /dev/null; nproc > /dev/null; ls /dev/null"),
    Work("/dev/shm", "echo x > /dev/shm/remit-work-$$ && cat /dev/shm/remit-work-$$ && rm /dev/shm/remit-work-$$"),
    Work("make", "make -s all && ./prog && make -s clean", ("make", "cc")),
    Work("make -j", "make -s -j4 parts && cat part*.txt && make -s clean", ("make",)),
    Work("cc", "printf 'int main(void){return 7;}' | cc -x c - -o seven && ./seven; echo $?; rm seven", ("cc",)),
    Work("gdb", "gdb -q -batch -ex run -ex 'print 1+1' /bin/true 2>&1 | tail -1", ("gdb",)),
    Work("strace", "strace -f -o trace.txt true && test -s trace.txt && rm trace.txt", ("strace",)),
    Work("python -m unittest", "python3 -m unittest -q test_app 2>&1 | tail -1"),
    Work("python -m venv", "python3 -m venv .venv && .venv/bin/python -c 'print(1)'; rm -rf .venv", varies=True),
    Work("pip from a wheel", "python3 -m venv .venv && .venv/bin/pip install -q --disable-pip-version-check --no-index "
         "wheels/*.whl && .venv/bin/python -c 'import tiny; print(tiny.VALUE)'; rm -rf .venv"),
    Work("sqlite", "python3 -c \"import sqlite3; d = sqlite3.connect('x.db'); d.execute('pragma journal_mode=wal'); "
         "d.execute('create table t(x)'); d.commit(); d.close()\" && ls x.db; rm -f x.db*"),
    Work("multiprocessing", "python3 -c \"import multiprocessing as m\nwith m.Pool(2) as p: print(p.map(abs, [-1, -2]))\""),
    Work("asyncio server", "python3 -c \"import asyncio\nasync def go():\n s = await asyncio.start_server(lambda r, w: w.close(), "
         "'127.0.0.1', 0); p = s.sockets[0].getsockname()[1]; r, w = await asyncio.open_connection('127.0.0.1', p); "
         "print(await r.read())\nasyncio.run(go())\""),
    Work("Unix socket", "python3 -c \"import socket, os\na = socket.socket(socket.AF_UNIX); a.bind('s.sock'); a.listen(); b = "
         "socket.socket(socket.AF_UNIX); b.connect('s.sock'); print('connected'); os.unlink('s.sock')\""),
    Work("file locks", "python3 -c \"import fcntl\nf = open('l', 'w'); fcntl.flock(f, fcntl.LOCK_EX); print('locked')\"; rm l"),
    Work("npm from a folder", "npm install --silent --no-audit --no-fund --offline ./local && node -e \"console.log(require('local'))\" "
         "&& rm -rf node_modules package.json package-lock.json", ("npm",)),
    Work("npm pack", "cd local && npm pack --silent --offline && rm *.tgz", ("npm",)),
    Work("npm test", "cd local && npm test --silent", ("npm",)),
    Work("node", "node -e \"require('fs').writeFileSync('n.json', '{}')\" && cat n.json && rm n.json", ("node",)),
    Work("perl -pi", "perl -pi -e 's/two/three/' notes.txt && cat notes.txt", ("perl",)),
    Work("jq", "jq -c . data.json && jq '.a = 2' data.json > d2 && mv d2 data.json", ("jq",)),
    Work("ssh -V", "ssh -V 2> /dev/null; ssh-keygen -q -t ed25519 -N '' -f key && rm key key.pub", ("ssh",)),
    Work("git status and diff", "git status --short > /dev/null; git diff --stat; git log --oneline | wc -l"),
    Work("git commit", "git add -A && git commit -qm work && git status --short"),
    Work("git commit --amend", "echo x >> notes.txt && git commit -qa --amend --no-edit && git log --oneline | wc -l"),
    Work("git branch", "git checkout -qb side && echo side > side.txt && git add side.txt && git commit -qm side && "
         "git checkout -q main && git merge -q --no-edit side && git branch -d side > /dev/null; ls side.txt"),
    Work("git rebase", "git checkout -qb topic HEAD~1 && echo t > t.txt && git add t.txt && git commit -qm t && "
         "git rebase -q main && git checkout -q main && git merge -q topic && git branch -D topic > /dev/null; ls t.txt"),
    Work("git stash", "echo y >> notes.txt && git stash -q && git stash pop -q && git checkout -q notes.txt"),
    Work("git worktree", "git worktree add -q --detach wt && ls wt | wc -l && git worktree remove wt"),
    Work("git cherry-pick", "git checkout -qb pick HEAD~1 && echo p > p.txt && git add p.txt && git commit -qm p && "
         "git checkout -q main && git cherry-pick pick > /dev/null && git branch -qD pick; ls p.txt"),
    Work("git reset and clean", "touch junk && git add junk && git reset -q && git clean -fdq && test ! -e junk"),
    Work("git tag, gc and fsck", "git tag -f v1 && git gc -q && git fsck --no-dangling 2> /dev/null && git reflog | wc -l > /dev/null"),
    Work("git clone", "git clone -q . cloned && git -C cloned log --oneline | wc -l > /dev/null; rm -rf cloned"),
    Work("git apply", "echo z >> notes.txt && git diff > z.diff && git checkout -q notes.txt && git apply z.diff && rm z.diff && "
         "git checkout -q notes.txt"),
    Work("git submodule status", "git submodule status; git describe --always > /dev/null; git bisect start -q HEAD HEAD~1; git bisect reset -q"),
    Work("git config", "git config user.nickname n", fails="git's settings are read-only"),
    Work("git remote add", "git remote add other ../other", fails="git's settings are read-only"),
    Work("git switch to other protected files", "git add -A; git commit -qm all; git switch -q settings; git switch -qf main", fails="the branch has another remit.toml"),
)  # fmt: skip

BUILDS: Final = (
    Work("a C project with make",
         "cd c && make -s -j2 && make -s check && make -s install DESTDIR=$PWD/out && ls out/lib out/bin && make -s clean",
         ("make", "cc", "ar")),
    Work("a Python package with pip and pytest",
         "cd py && python3 -m venv .v && .v/bin/pip install -q --disable-pip-version-check --no-index --find-links $WHEELS "
         "hatchling pytest && .v/bin/pip wheel -q --disable-pip-version-check --no-index --no-build-isolation --no-deps -w dist . && "
         ".v/bin/pip install -q --disable-pip-version-check --no-index dist/*.whl && .v/bin/python -m pytest -q 2>&1 | "
         "tail -1 | cut -d' ' -f1-2 && ls dist; rm -rf .v dist .pytest_cache"),
    Work("a Node project with npm",
         "cd node && npm install --silent --no-audit --no-fund --offline && npm run --silent build && npm test --silent > /dev/null && "
         "npm pack --silent --offline && rm -rf node_modules *.tgz", ("npm",)),
)  # fmt: skip

AGENT: Final = """\
---
name: builder
description: Builds what it is asked for.
permissions:
  allow:
    - write: ["**"]
  deny:
    - write: ["secrets/**", ".env"]
    - read: ["secrets/**"]
---

Build it.
"""
"""An agent with permissions as they are written for one that builds."""

_FILES: Final = {
    ".gitignore": ".out/\n.remit/\n__pycache__/\nsecrets/\n.env\n",
    "agents/builder.md": AGENT,
    "remit.toml": "",
    ".env": "KEY=1\n",
    "secrets/key": "secret\n",
    "src/app.py": 'def greet():\n    return "hello"\n',
    "test_app.py": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self): self.assertEqual(1, 1)\n",
    "notes.txt": "one\ntwo words\n",
    "data.json": '{"a": 1}\n',
    "main.c": '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n',
    "Makefile": "all: prog\nprog: main.c\n\tcc -o prog main.c\nparts: part1.txt part2.txt part3.txt\npart%.txt:\n\techo $* > $@\n"
    "clean:\n\trm -f prog part*.txt\n",
    "local/package.json": '{"name": "local", "version": "1.0.0", "main": "i.js", "scripts": {"test": "node -e 1"}}\n',
    "local/i.js": "module.exports = 'from a folder';\n",
    "c/Makefile": "CFLAGS = -O1 -Wall\nall: libadd.a main\nadd.o: add.c add.h\nlibadd.a: add.o\n\tar rcs $@ $^\n"
    'main: main.o libadd.a\n\tcc -o $@ main.o -L. -ladd\ncheck: main\n\ttest "$$(./main)" = 5\n'
    "install: all\n\tinstall -D -m 755 main $(DESTDIR)/bin/main\n\tinstall -D libadd.a $(DESTDIR)/lib/libadd.a\n"
    "clean:\n\trm -rf *.o *.a main out\n",
    "c/add.h": "int add(int, int);\n",
    "c/add.c": '#include "add.h"\nint add(int a, int b) { return a + b; }\n',
    "c/main.c": '#include <stdio.h>\n#include "add.h"\nint main(void) { printf("%d\\n", add(2, 3)); return 0; }\n',
    "py/pyproject.toml": '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n[project]\nname = "small"\n'
    'version = "1.0"\n[tool.hatch.build.targets.wheel]\npackages = ["small"]\n',
    "py/small/__init__.py": "def double(n):\n    return 2 * n\n",
    "py/tests/test_small.py": "from small import double\n\n\ndef test_double(tmp_path):\n    (tmp_path / 'x').write_text('x')\n"
    "    assert double(2) == 4\n",
    "node/package.json": '{"name": "app", "version": "1.0.0", "dependencies": {"local": "file:../local"}, "scripts": '
    '{"build": "node build.js", "test": "node --test test.js"}}\n',
    "node/build.js": "const fs = require('fs'); fs.mkdirSync('dist', {recursive: true});\n"
    "fs.writeFileSync('dist/out.js', `module.exports = ${JSON.stringify(require('local'))};\\n`);\n",
    "node/test.js": "const test = require('node:test'); const assert = require('assert');\n"
    "test('built', () => assert.equal(require('./dist/out.js'), 'from a folder'));\n",
}
_WHEEL: Final = """
import zipfile
with zipfile.ZipFile("wheels/tiny-1.0-py3-none-any.whl", "w") as f:
    for name, text in {
        "tiny.py": "VALUE = 42\\n",
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n",
        "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "tiny-1.0.dist-info/RECORD": "tiny.py,,\\n",
    }.items():
        f.writestr(zipfile.ZipInfo(name), text)  # with a fixed time
"""
SETUP: Final = f"""
set -e
mkdir wheels && python3 - <<'X'
{_WHEEL}X
git init -q -b main . && git config user.email a@b.invalid && git config user.name n && git config commit.gpgsign false
git config gc.auto 0
git add -A && git commit -qm one && git checkout -qb settings && echo '# another' > remit.toml && git commit -qam settings
git checkout -q main && echo three >> notes.txt && git commit -qam two
"""


def write_project(folder: Path) -> None:
    """Write the files of the project; `SETUP` makes the rest of them."""
    for name, text in _FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
