"""A confined run from the request to the result: the work counts, and no planted file is left."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remit.attempts.model_ports import find_model_ports
from remit.confine import find_level
from remit.errors import ConfigError, UsageError
from remit.ledger.home import Home
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from remit.runs.workspace_trust import get_executing
from remit.storage.settings import load_settings
from remit.storage.trust import trust
from remit.testing.agent import ScriptedAgent
from tests.support.git_command import git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.result import Result

pytestmark = pytest.mark.skipif(not find_level().has_files, reason="the kernel confines nothing here")
PLANT = (
    "echo evil > remit.toml; echo evil > .mcp.json; mkdir -p .claude agents .codex; echo evil > .claude/settings.json; "
    "echo evil > agents/x.md; echo evil > .codex/config.toml; echo evil > .git/hooks/post-commit; "
    "git config core.fsmonitor evil; mv .git away; "
)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder outside of /tmp, where the changes of a confined agent end with it."""
    folder = Path(tempfile.mkdtemp(prefix="remit-confined-", dir="/var/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def root(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    (place / "root").mkdir()
    git(place / "root", "init", "-q", "-b", "main")
    return place / "root"


def run(root: Path, command: str, *, worktree: bool = False) -> Result:
    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.run(Request(None, "Write it.", command=command, confine=True, worktree=worktree, reasks=0))

    return asyncio.run(delegate())


def test_the_work_counts_and_nothing_is_planted(root: Path) -> None:
    command = ScriptedAgent(root / "player").obeys({"report.md": "# Report"}).command
    before = {path.relative_to(root).as_posix() for path in root.rglob("*")}
    config = (root / ".git" / "config").read_text()
    told = run(root, f"sh -c {shlex.quote(PLANT + command)}")
    assert (told.status, told.verdict) == ("completed", "accepted"), told
    assert (root / "report.md").read_text() == "# Report"
    after = {path.relative_to(root).as_posix() for path in root.rglob("*")}
    assert {name for name in after - before if not name.startswith((".remit", "player/"))} == {"report.md"}
    assert (root / ".git" / "config").read_text() == config


def test_protected_files_stay_as_they_are_and_git_works_beside_them(root: Path) -> None:
    (root / ".claude").mkdir()
    protected = [root / "remit.toml", root / ".claude" / "settings.json", root / ".git" / "hooks" / "pre-commit"]
    for path in protected:
        path.write_text("")
    (root / ".gitignore").write_text("player/\n")
    git(root, "add", ".")
    git(root, "-c", "user.name=n", "-c", "user.email=e@x.invalid", "commit", "-q", "-m", "1")
    ledger = Home(str(root)).ledger_file
    evil = "".join(f"echo evil >> {path}; " for path in (*protected, ledger))
    stash = "echo x > n; git -c user.name=n -c user.email=e@x.invalid stash -u -q && test ! -e n && "
    command = ScriptedAgent(root / "player").obeys({"report.md": "# Report"}).command
    told = run(root, f"sh -c {shlex.quote(evil + stash + command)}")
    assert (told.status, told.verdict) == ("completed", "accepted"), told
    assert [path.read_text() for path in protected] == [""] * 3
    assert git(root, "stash", "list")


RULES = """---
name: writer
description: Writes the guide.
permissions:
  allow:
    - write: ["docs/**", "notes/**"]
    - read: ["**/*"]
  deny:
    - write: ["docs/frozen/**", "**/*.lock"]
    - read: ["secret/**", ".remit/**"]
---

Write it.
"""
TRIED = (
    "docs/new.md", "docs/frozen/a.md", "docs/x.lock", "notes/a.md", "src.py", "agents/writer.md", "secret/key",
    ".git/hooks/pre-commit", ".git/index.lock",
)  # fmt: skip


def test_a_confined_agent_has_its_permissions_and_the_result_says_what_differs(root: Path) -> None:
    for name in ("docs/frozen/a.md", "docs/x.lock", "src.py", "secret/key"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("old\n")
    (root / "agents").mkdir()
    (root / "agents" / "writer.md").write_text(RULES)
    tries = "; ".join(f"(echo x > {name}) 2>/dev/null && echo {name} >> docs/written" for name in TRIED)
    (root / "agent.py").write_text(HANDS_IN.replace("prompt.txt", "docs/prompt.txt").replace('"command"', '"writer"'))
    script = f"{tries}; cat secret/key > docs/read; python3 agent.py"

    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            command = f"sh -c {shlex.quote(script)}"
            return await ws.run(Request("writer", "Write it.", command=command, confine=True, reasks=0))

    result = asyncio.run(delegate())
    assert (result.status, result.verdict) == ("completed", "accepted"), [result.summary, result.diagnostics]
    assert (root / "docs" / "written").read_text().split() == ["docs/new.md", "notes/a.md", ".git/index.lock"]
    assert (root / "docs" / "read").read_text() == ""
    assert [note for note in result.notes if note.startswith("confine: ")] == [
        'confine: deny write "**/*.lock": 1 that match stay read-only; a command can create others',
        "confine: deny read: the agent needs its files in '.remit', so what contains them isn't hidden",
    ], result


DENIES = """---
name: writer
description: Writes.
permissions:
  deny:
    bash: ["id *", "python3 other.py", "cut * | sort"]
  allow:
    bash: ["python3 *"]
---
Write it.
"""


@pytest.mark.skipif(not find_level().has_judge, reason="programs aren't judged here")
@pytest.mark.parametrize("judges", [True, False])
def test_a_confined_agent_starts_no_denied_program(root: Path, place: Path, *, judges: bool) -> None:
    (root / "agents").mkdir()
    (root / "agents" / "writer.md").write_text(DENIES)
    (root / "other.py").write_text("print('other')")
    (root / "agent.py").write_text(HANDS_IN.replace('"command"', '"writer"'))
    script = (
        "(ln -s $(command -v id) x; ./x -a; env id; cut -c1 agent.py | sort | head -1) > ran 2> said; python3 agent.py"
    )
    if not judges:
        (root / "remit.toml").write_text("[confine]\njudge = false\n")

    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            command = f"sh -c {shlex.quote(script)}"
            return await ws.run(Request("writer", "Write it.", command=command, confine=True, reasks=0))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", f"{place}/config")
        if not judges:
            trust(str(root), get_executing(load_settings(str(root)), root=str(root)).digest)
        result = asyncio.run(delegate())
    assert (result.status, result.verdict) == ("completed", "accepted"), [result.summary, result.diagnostics]
    assert (root / "ran").read_text().count("uid=") == (0 if judges else 2)
    assert (root / "said").read_text().count('by its rule deny bash "id *"') == (2 if judges else 0)
    only = "only the words of a script are checked"
    assert [note for note in result.notes if note.startswith("confine: ")] == (
        [
            f'confine: deny bash "cut * | sort": it names several commands, and {only}',
            f'confine: deny bash "python3 other.py": the harness needs such programs, and {only}',
            f"confine: allow bash: the harness starts programs of its own, and {only}",
        ]
        if judges
        else [
            f'confine: deny bash "cut * | sort": it names several commands, and {only}',
            f"confine: deny and allow bash: programs aren't judged when they start, and {only}",
        ]
    )


def test_a_function_is_not_confined(root: Path) -> None:
    async def delegate() -> None:
        async with Workspace.open(root) as ws:
            await ws.delegate("x", "Write it.", function=lambda _: "", confine=True)

    with pytest.raises(UsageError, match="a function can't be confined"):
        asyncio.run(delegate())


HANDS_IN = """
import json, os, sys
from pathlib import Path

Path("prompt.txt").write_text(sys.stdin.read())
metadata = {"session_id": os.environ["REMIT_SESSION_ID"], "agent_type": "command", "delegation_depth": 1,
            "delegation_path": ["orchestrator", "command"], "duration_seconds": 1}
value = {"status": "completed", "summary": "The notes are written.", "artifacts": [], "metadata": metadata,
         "errors": []}
Path(os.environ["REMIT_RETURN_FILE"]).write_text(json.dumps(value))
print("Done.")
"""


def test_a_confined_agent_is_offered_the_file_for_its_return_and_writes_it(root: Path) -> None:
    (root / "agent.py").write_text(HANDS_IN)
    result = run(root, "python3 agent.py")
    assert (result.status, result.verdict) == ("completed", "accepted"), result.diagnostics
    prompt = (root / "prompt.txt").read_text()
    assert "REMIT_RETURN_FILE" in prompt
    assert "remit return submit" not in prompt


TRIES = """
import socket, sys
from pathlib import Path

def try_it(name, action):
    try:
        action()
        print(name, file=open("docs/done", "a"))
    except OSError:
        pass

try_it("docs", lambda: Path("docs/new.md").write_text("x"))
try_it("src", lambda: Path("src.py").write_text("x"))
try_it("cache", lambda: Path(sys.argv[1]).write_text("x"))
try_it("model", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2])), 5))
try_it("other", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[3])), 5))
"""


def try_places(root: Path, place: Path, settings: str, *, agent: str = "writer", trusts: bool = False) -> str:
    """Run an agent that tries what confinement may refuse; the names of what worked, and the verdict."""
    (root / "docs").mkdir()
    (root / "agents").mkdir()
    (root / "agents" / "writer.md").write_text(RULES)
    (root / "agents" / "free.md").write_text("---\nname: free\ndescription: Has no rules.\n---\nWrite it.\n")
    (root / "remit.toml").write_text(settings)
    (place / "cache").mkdir()
    (root / "tries.py").write_text(TRIES)
    (root / "agent.py").write_text(HANDS_IN.replace("prompt.txt", "docs/prompt.txt").replace('"command"', f'"{agent}"'))
    with socket.create_server(("127.0.0.1", 0)) as model, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [each.getsockname()[1] for each in (model, other)]
        script = f"python3 tries.py {place}/cache/x {ports[0]} {ports[1]}; python3 agent.py"
        environ = {**os.environ, "HTTPS_PROXY": f"http://127.0.0.1:{ports[0]}", "XDG_CONFIG_HOME": f"{place}/config"}

        async def delegate() -> Result:
            async with Workspace.open(root, environ=environ) as ws:
                command = f"sh -c {shlex.quote(script)}"
                return await ws.run(Request(agent, "Write it.", command=command, reasks=0))

        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CONFIG_HOME", f"{place}/config")
            if trusts:
                trust(str(root), get_executing(load_settings(str(root)), root=str(root)).digest)
            result = asyncio.run(delegate())
    assert (result.status, result.verdict) == ("completed", "accepted"), [result.summary, result.diagnostics]
    return " ".join((root / "docs" / "done").read_text().split())


@pytest.mark.parametrize(
    ("settings", "agent", "worked"),
    [
        ("", "writer", "docs model other"),
        ("", "free", "docs src cache model other"),
        ('[confine]\nmode = "require"\n', "free", "docs src model other"),
        ('[confine]\nnetwork = "model"\n', "writer", "docs model"),
        ('[confine]\nnetwork = "none"\n', "writer", "docs"),
    ],
)
def test_settings_say_which_agents_are_confined_and_what_they_reach(
    root: Path, place: Path, settings: str, agent: str, worked: str
) -> None:
    assert try_places(root, place, settings, agent=agent) == worked


@pytest.mark.parametrize(
    ("settings", "worked"),
    [
        ('[confine]\nmode = "off"\n', "docs src cache model other"),
        ('[confine]\nwrite = ["PLACE/cache"]\n', "docs cache model other"),
    ],
)
def test_settings_that_loosen_confinement_need_trust(root: Path, place: Path, settings: str, worked: str) -> None:
    settings = settings.replace("PLACE", str(place))
    with pytest.raises(ConfigError, match="loosen confinement, and you have not trusted them"):
        try_places(root, place, settings)
    shutil.rmtree(root / "docs")
    shutil.rmtree(root / "agents")
    shutil.rmtree(place / "cache")
    assert try_places(root, place, settings, trusts=True) == worked


def test_a_cache_can_be_written_and_the_changes_end_with_the_agent(root: Path, place: Path) -> None:
    for name in ("home/.npm", "cache"):
        (place / name).mkdir(parents=True)
        (place / name / "kept").write_text("old")
    (root / "agent.py").write_text(HANDS_IN)
    script = f"for d in {place}/home/.npm {place}/cache; do echo new > $d/kept && cat $d/kept >> seen; done"
    environ = {**os.environ, "HOME": f"{place}/home", "XDG_CACHE_HOME": f"{place}/cache"}

    async def delegate() -> Result:
        async with Workspace.open(root, environ=environ) as ws:
            command = f"sh -c {shlex.quote(f'{script}; python3 agent.py')}"
            return await ws.run(Request(None, "Write it.", command=command, confine=True, reasks=0))

    result = asyncio.run(delegate())
    assert (result.status, result.verdict) == ("completed", "accepted"), [result.summary, result.diagnostics]
    assert (root / "seen").read_text() == "new\nnew\n"
    assert [(place / name / "kept").read_text() for name in ("home/.npm", "cache")] == ["old", "old"]


def test_a_function_does_not_run_if_confinement_is_required(root: Path) -> None:
    (root / "remit.toml").write_text('[confine]\nmode = "require"\n')

    async def delegate() -> None:
        async with Workspace.open(root) as ws:
            await ws.delegate("x", "Write it.", function=lambda _: "")

    with pytest.raises(UsageError, match=r"a function can't be confined, and \[confine\] requires it"):
        asyncio.run(delegate())


def test_a_write_that_isnt_allowed_fails_in_a_workspace_below_tmp() -> None:
    """The agent's /tmp is its own: the write seemed to succeed, and a claim to the file was called false."""
    with tempfile.TemporaryDirectory(dir="/tmp") as given:
        folder = Path(given).resolve()
        (folder / "root").mkdir()
        git(folder / "root", "init", "-q", "-b", "main")
        assert try_places(folder / "root", folder, "") == "docs cache model other"


def test_a_machine_that_cannot_confine_runs_the_agent_and_says_so(
    root: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `require`, it doesn't run it."""
    none = find_level()._replace(has_files=False, reasons=("no namespaces here",))
    monkeypatch.setattr("remit.confine.find_level", lambda: none)
    assert try_places(root, place, "") == "docs src cache model other"
    with Home(str(root)).ledger.reading() as db:
        [told] = db.execute("SELECT json_extract(details, '$.unconfined') FROM runs").fetchall()
    assert told[0] == "no namespaces here"


def test_a_port_of_the_model_is_named_by_the_user_not_by_the_repository(place: Path) -> None:
    codex = place / ".codex"
    codex.mkdir()
    (codex / "config.toml").write_text('[model_providers.own]\nbase_url = "http://127.0.0.1:8123/v1"\n')
    environ = {
        "HOME": str(place),
        "ANTHROPIC_BASE_URL": "http://[::1]:9000",
        "https_proxy": "http://u:p@proxy.test:3128",
    }
    assert find_model_ports("codex", environ) == (443, 3128, 8123)
    assert find_model_ports("claude", environ) == (443, 3128, 9000)
    assert find_model_ports("command", {"HOME": str(place)}) == (443,)
    assert find_model_ports("codex", {"HOME": str(place), "OPENAI_BASE_URL": "http://model.test/v1"}) == (80, 443, 8123)


def test_a_protected_name_in_a_folder_of_the_agents_own_is_reported(root: Path) -> None:
    (root / "agent.py").write_text(HANDS_IN)
    made = "mkdir -p sub/.claude/agents sub/agents && echo x > sub/.claude/agents/x.md && echo x > sub/agents/x.md"
    result = run(root, f"sh -c {shlex.quote(f'{made}; python3 agent.py')}")
    assert (result.status, result.verdict) == ("completed", "accepted"), result.diagnostics
    [found] = [each.message for each in result.diagnostics if each.code == "EVD013"]
    assert found == "the protected name 'sub/.claude/agents/x.md' is new; it appeared while 'command' ran: check it"
