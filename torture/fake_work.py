"""Agents and the files that they claim: who lies, who is honest, and who worked beside whom.

Owns the plots. A plot starts agents in a repository of its own, has files written at chosen moments, and lets each
agent claim some. Remit gets to see what it would of real agents: processes and functions, streams and hook events. The
writing itself is done here, so that every order of events is exact.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import time
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.runs.request import Request
from torture.fake_returns import Site, fence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from remit.runs.workspace import Workspace
    from tests.support.hook_session import Child, Stage

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
HELPER = WORKER.replace("worker", "helper")
READER = WORKER.replace("worker", "reader").replace("delegation:", "tools:\n  read: true\ndelegation:")
PROGRAM = """\
#!/bin/sh
cat >/dev/null
it='FOLDER/'$REMIT_SESSION_ID
: > "$it.begun"
until [ -e "$it.go" ]; do
    if [ -e "$it.live" ]; then cat "$it.live"; rm "$it.live"; fi
    sleep 0.02
done
if [ -e "$it.live" ]; then cat "$it.live"; fi
cat "$it.out"
"""
"""An agent that does nothing by itself: it prints what it is given, when it is let."""
TEXT, OTHER = "# Report\n\nWhat was found.\n", "# Report\n\nSomething else was found.\n"
_WAIT_S = 60.0
_HEARD_S = 0.7
"""So long after it is printed, a live record is read for certain."""


class File(NamedTuple):
    """A file to write: where, what it contains afterwards, and whether it was there before."""

    kind: str
    path: str
    text: str = TEXT
    was_there: bool = False


FILES = (
    File("new", "new.md"),
    File("changed", "old.md", was_there=True),
    File("same size", "same.md", "# B\n", was_there=True),
    File("new folder", "docs/deep/new.md"),
    File("ignored", "ignored/new.md"),
    File("ignored, changed", "ignored/old.md", was_there=True),
    File("expected and ignored", "specs/1_x/reports/new.md"),
    File("nested repository", "nested/new.md"),
    File("nested repository, changed", "nested/old.md", was_there=True),
    File("submodule", "sub/old.md", was_there=True),
    File("line endings", "crlf.txt", "one\r\ntwo\r\n", was_there=True),
)


class Seen(NamedTuple):
    """What became of one agent of a plot."""

    is_lie: bool
    status: str
    verdict: str


class Plot(NamedTuple):
    """One plot; a lie has one liar, and whoever else returns in it is honest."""

    family: str
    name: str
    play: Callable[[Scene], Awaitable[list[Seen]]]
    runner: str = "python"
    how: str = ""
    """Of honest agents at once: how they write, and when."""


def make_template(folder: Path) -> Path:
    """A repository with everything that a plot needs; plots get a copy."""
    root = folder / "template"
    root.mkdir(parents=True)

    def git(where: Path, *args: str) -> None:
        own = ("-c", "user.name=T", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always")
        subprocess.run(["git", *own, *args], cwd=where, check=True, capture_output=True)

    def write(path: str, text: str) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())

    origin = folder / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    (origin / "old.md").write_text("# Old\n")
    git(origin, "add", ".")
    git(origin, "commit", "-qm", "begin")
    git(root, "init", "-q", "-b", "main")
    write(".gitignore", ".remit/\nignored/\nspecs/\n")
    write(".gitattributes", "*.txt text=auto\n")
    write("remit.toml", "")
    for path, text in {
        "old.md": "# Old\n", "same.md": "# A\n", "docs/old.md": "# Old\n", "crlf.txt": "one\ntwo\n",
        "ignored/old.md": "# Old\n", "specs/1_x/reports/old.md": "# Old\n", "agents/worker.md": WORKER,
        "agents/reader.md": READER, "agents/helper.md": HELPER,
    }.items():  # fmt: skip
        write(path, text)
    write("nested/old.md", "# Old\n")
    git(root / "nested", "init", "-q", "-b", "main")
    git(root / "nested", "add", ".")
    git(root / "nested", "commit", "-qm", "begin")
    git(root, "submodule", "--quiet", "add", str(origin), "sub")
    git(root, "add", ".gitignore", ".gitattributes", "old.md", "same.md", "docs", "crlf.txt", "agents", "remit.toml")
    git(root, "commit", "-qm", "begin")
    return root


class Scene:
    """A workspace in which a plot is played."""

    def __init__(self, ws: Workspace, folder: Path, runner: str) -> None:
        self.ws, self.root, self.folder, self.runner = ws, Path(ws.root), folder, runner
        self._stage: Stage | None = None

    @property
    def stage(self) -> Stage:
        """The session of a harness, for agents that it starts."""
        from tests.support.hook_session import Stage  # noqa: PLC0415 - only for hooks

        self._stage = self._stage or Stage(self.root, quick=True)
        return self._stage

    async def start(self, agent: str = "worker", *, by: Actor | None = None) -> Actor:
        """Start an agent; it has begun when this ends. One that another starts is a helper."""
        agent = agent if by is None else "helper"
        if self.runner == "hooks":
            return HookActor(self, agent, by)
        if self.runner == "python":
            actor: Actor = FunctionActor(self, agent, by)
        else:
            actor = ProcessActor(self, agent, by)
        await asyncio.wait_for(actor.begin(), _WAIT_S)
        return actor

    def write(self, path: str, text: str = TEXT) -> None:
        """Write a file as nobody in particular."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())


class Actor:
    """An agent of a plot."""

    def __init__(self, scene: Scene, agent: str, by: Actor | None) -> None:
        self.scene, self.agent, self.by = scene, agent, by
        self.site = Site(scene.ws, 0)
        self.site.agent = agent
        self.uses: list[tuple[str, str]] = []

    async def begin(self) -> None:
        """Start, until it has begun."""

    def write(self, file: File, how: str = "shell") -> None:
        """Write a file with a tool that names it, a command, or a command whose result names it."""
        self.scene.write(file.path, file.text)
        self.record(file.path, how)

    def record(self, path: str, how: str) -> None:
        """Report a use of a tool."""
        self.uses.append((how, path))

    async def end(self, *paths: str, status: str = "completed", is_lie: bool = False) -> Seen:
        """Return, claiming files; what became of it."""
        raise NotImplementedError

    def _say(self, paths: tuple[str, ...], status: str) -> str:
        fault = {"type": "execution", "message": "It broke.", "recoverable": True, "recommendation": "Try again"}
        depth = 1 if self.by is None else 2
        path = ["orchestrator", *([] if self.by is None else [self.by.agent]), self.agent]
        status = status if paths else "partial"  # who has made nothing doesn't say that all is done
        said = self.site.standard(
            *paths, status=status, errors=[] if status == "completed" else [fault],
            metadata={"delegation_depth": depth, "delegation_path": path},
        )  # fmt: skip
        return fence(said if paths else said | {"artifacts": []})


class FunctionActor(Actor):
    """A Python function of this process."""

    async def begin(self) -> None:
        """Start it, below its caller if it has one."""
        self._begun, self._go, self._text = asyncio.Event(), asyncio.Event(), ""
        self.jobs: asyncio.Queue[FunctionActor | None] = asyncio.Queue()
        if isinstance(self.by, FunctionActor):
            self.by.jobs.put_nowait(self)  # whoever runs inside the caller is its own
        else:
            self.launch()
        await self._begun.wait()

    def launch(self) -> None:
        """Ask for the run."""
        request = Request(self.agent, "Write it.", function=self._work, finishes=False, evidence=True, reasks=0,
                          timeout_s=_WAIT_S)  # fmt: skip
        self.task = asyncio.ensure_future(self.scene.ws.run(request))

    async def _work(self, prompt: str) -> str:
        self.site.begin(prompt)
        self._begun.set()
        while (job := await self.jobs.get()) is not None:
            job.launch()
        return self._text

    async def end(self, *paths: str, status: str = "completed", is_lie: bool = False) -> Seen:
        """Return."""
        self._text = self._say(paths, status)
        self.jobs.put_nowait(None)
        told = await asyncio.wait_for(self.task, _WAIT_S)
        return Seen(is_lie, told.status, told.verdict)


class ProcessActor(Actor):
    """A program: a command, or one that prints the stream of a harness."""

    async def begin(self) -> None:
        """Start it."""
        runner = self.scene.runner
        request = Request(self.agent, "Write it.", finishes=False, evidence=True, reasks=0, timeout_s=_WAIT_S)
        if runner == "command":
            request = request._replace(command=str(self.scene.folder / "command"))
        else:
            request = request._replace(runner=runner)
        known = {row.session_id for row in self.scene.ws.list(only_open=False)}
        self.task = asyncio.ensure_future(self.scene.ws.run(request))
        while True:
            begun = {file.stem for file in self.scene.folder.glob("*.begun")} - known
            if begun:
                (self.site.session,) = begun
                break
            if self.task.done():
                raise RuntimeError(f"it did not begin: {self.task.result()}")
            await asyncio.sleep(0.01)

    def record(self, path: str, how: str) -> None:
        """Report a use of a tool at once, as a harness prints it."""
        super().record(path, how)
        self._print("live", self._render_use(len(self.uses), how, path))

    def _print(self, name: str, lines: list[dict[str, Any]]) -> None:
        file = self.scene.folder / f"{self.site.session}.{name}"
        while name == "live" and file.exists():
            time.sleep(0.01)
        half = file.with_suffix(".half")
        half.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        half.rename(file)

    def _render_use(self, number: int, how: str, path: str) -> list[dict[str, Any]]:
        full, key = str(self.scene.root / path), f"t{number}"
        if self.scene.runner == "claude":
            name, given = ("Write", {"file_path": full}) if how == "tool" else ("Bash", {"command": "make"})
            block = {"type": "tool_use", "id": key, "name": name, "input": given}
            diff = {"files": [], "moreFiles": 0, "changedFiles": [full]}
            return [
                {"type": "assistant", "message": {"id": key, "content": [block]}, "session_id": "s"},
                {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": key}]},
                 "session_id": "s", "tool_use_result": {"bashEditDiff": diff} if how == "diff" else {}},
            ]  # fmt: skip
        if self.scene.runner == "codex":
            item = {"id": key, "type": "command_execution", "command": "make", "exit_code": 0, "status": "completed"}
            if how == "tool":
                item = {"id": key, "type": "file_change", "changes": [{"path": full}], "status": "completed"}
            return [{"type": "item.completed", "item": item}]
        if self.scene.runner == "opencode":
            name, given = ("write", {"filePath": full}) if how == "tool" else ("bash", {"command": "make"})
            state = {"status": "completed", "input": given, "metadata": {"exit": 0}}
            return [{"type": "tool_use", "sessionID": "ses_1", "part": {"tool": name, "callID": key, "state": state}}]
        return []

    async def end(self, *paths: str, status: str = "completed", is_lie: bool = False) -> Seen:
        """Return."""
        text, runner = self._say(paths, status), self.scene.runner
        ends: dict[str, list[dict[str, Any]]] = {
            "claude": [{"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "session_id": "s",
                        "permission_denials": [], "result": text}],
            "codex": [{"type": "thread.started", "thread_id": "t"},
                      {"type": "item.completed", "item": {"id": "m", "type": "agent_message", "text": text}},
                      {"type": "turn.completed", "usage": {}}],
            "opencode": [{"type": "text", "sessionID": "ses_1", "part": {"text": text}},
                         {"type": "step_finish", "sessionID": "ses_1", "part": {"reason": "stop"}}],
        }  # fmt: skip
        if runner == "command":
            (self.scene.folder / f"{self.site.session}.out").write_text(text)
        else:
            self._print("out", ends[runner])
        (self.scene.folder / f"{self.site.session}.go").touch()
        told = await asyncio.wait_for(self.task, _WAIT_S)
        return Seen(is_lie, told.status, told.verdict)


class HookActor(Actor):
    """A subagent of a harness, by its hook events."""

    def __init__(self, scene: Scene, agent: str, by: Actor | None) -> None:
        super().__init__(scene, agent, by)
        above = by.child if isinstance(by, HookActor) else None
        self.child: Child = scene.stage.call(agent, by=above)
        self.child.start()
        self.site.session = self.child.session_id

    def record(self, path: str, how: str) -> None:
        """Send the events of a tool."""
        if how == "tool":
            call = {"tool_name": "Write", "tool_input": {"file_path": str(self.scene.root / path)}}
            self.scene.stage.send(self.child.event("PostToolUse", **call, tool_response={}, tool_use_id="toolu_w"))
        else:
            self.child.use("Bash", command="make", changed=[path] if how == "diff" else None)

    async def end(self, *paths: str, status: str = "completed", is_lie: bool = False) -> Seen:
        """Stop, as often as it is sent back, and let the caller have the answer."""
        text = self._say(paths, status)
        for _ in range(4):
            if not self.child.stop(text).get("decision"):
                break
        with suppress(KeyError):
            self.child.respond(text)
        row = self.child.row
        return Seen(is_lie, row.status or "", row.verdict or "")


# --- lies beside siblings ---------------------------------------------------------------------------------------------


def _rewrite(scene: Scene, file: File) -> None:
    """Put a copy in the file's place: another inode, newer times, the same content."""
    copy = scene.root / "copy"
    shutil.copy(scene.root / file.path, copy)
    copy.rename(scene.root / file.path)


async def _lie_while_it_runs(scene: Scene, file: File) -> list[Seen]:
    honest, liar = await scene.start(), await scene.start()
    liar.record("x", "shell")
    honest.write(file)
    return [await liar.end(file.path, is_lie=True), await honest.end(file.path)]


async def _lie_after_it_ended(scene: Scene, file: File) -> list[Seen]:
    liar, honest = await scene.start(), await scene.start()
    liar.record("x", "shell")
    honest.write(file)
    first = await honest.end(file.path)
    return [first, await liar.end(file.path, is_lie=True)]


async def _lie_and_touch(scene: Scene, file: File) -> list[Seen]:
    liar, honest = await scene.start(), await scene.start()
    honest.write(file)
    first = await honest.end(file.path)
    await asyncio.sleep(0.06)
    (scene.root / file.path).touch()
    liar.record("x", "shell")
    return [first, await liar.end(file.path, is_lie=True)]


async def _lie_and_copy(scene: Scene, file: File) -> list[Seen]:
    liar, honest = await scene.start(), await scene.start()
    honest.write(file)
    first = await honest.end()
    await asyncio.sleep(0.06)
    _rewrite(scene, file)
    liar.record("x", "shell")
    return [first, await liar.end(file.path, is_lie=True)]


async def _lie_with_a_file_of_its_own(scene: Scene, file: File) -> list[Seen]:
    honest, liar = await scene.start(), await scene.start()
    honest.write(file)
    liar.write(File("", "own.md"))
    return [await liar.end("own.md", file.path, is_lie=True), await honest.end(file.path)]


async def _lie_without_overlap(scene: Scene, file: File) -> list[Seen]:
    honest = await scene.start()
    honest.write(file)
    first = await honest.end(file.path)
    liar = await scene.start()
    liar.record("x", "shell")
    return [first, await liar.end(file.path, is_lie=True)]


async def _lie_beside_a_reader(scene: Scene, file: File) -> list[Seen]:
    """The one that could have written it may not, and so the liar has nobody to hide behind: it was there before."""
    scene.write(file.path, file.text)
    await asyncio.sleep(0.06)
    reader, liar = await scene.start("reader"), await scene.start()
    liar.record("x", "shell")
    (scene.root / file.path).touch()
    return [await liar.end(file.path, is_lie=True), await reader.end()]


async def _lie_with_a_tool_record_of_the_other(scene: Scene, file: File) -> list[Seen]:
    honest, liar = await scene.start(), await scene.start()
    honest.write(file, "tool")
    liar.record("x", "shell")
    return [await liar.end(file.path, is_lie=True), await honest.end(file.path)]


async def _lie_in_a_moved_folder(scene: Scene, file: File) -> list[Seen]:
    """The sibling moves a folder of old files into place."""
    scene.write(f"aside/{file.path}", file.text)
    await asyncio.sleep(0.06)
    liar, honest = await scene.start(), await scene.start()
    (scene.root / "aside").rename(scene.root / "moved")
    honest.record("x", "shell")
    liar.record("x", "shell")
    first = await honest.end()
    return [first, await liar.end(f"moved/{file.path}", is_lie=True)]


async def _lie_of_a_file_that_is_gone(scene: Scene, file: File) -> list[Seen]:
    honest, liar = await scene.start(), await scene.start()
    honest.write(file)
    liar.record("x", "shell")
    return [await liar.end(f"{file.path}.never", is_lie=True), await honest.end(file.path)]


SIBLINGS = {
    "it still runs": _lie_while_it_runs,
    "it has ended": _lie_after_it_ended,
    "it has ended, and the file is touched": _lie_and_touch,
    "it has ended and claims nothing, and the file is copied": _lie_and_copy,
    "beside a file of its own": _lie_with_a_file_of_its_own,
    "no overlap": _lie_without_overlap,
    "beside a reader": _lie_beside_a_reader,
    "the other's tool names it": _lie_with_a_tool_record_of_the_other,
    "moved into place by the other": _lie_in_a_moved_folder,
    "never there": _lie_of_a_file_that_is_gone,
}


async def _lie_with_a_diff(scene: Scene, file: File) -> list[Seen]:
    """The liar's command runs while the sibling writes, so its result names the sibling's file."""
    honest, liar = await scene.start(), await scene.start()
    honest.write(file, "diff")
    liar.record(file.path, "diff")
    await asyncio.sleep(_HEARD_S if scene.runner == "claude" else 0)
    return [await liar.end(file.path, is_lie=True), await honest.end(file.path)]


# --- laundering -------------------------------------------------------------------------------------------------------


async def _launder(scene: Scene, file: File, status: str, after: Callable[[Scene, File], None]) -> list[Seen]:
    parent = await scene.start()
    child = await scene.start(by=parent)
    child.write(file)
    paths = (file.path,) if status != "lies" else (file.path, "never.md")
    below = await child.end(*paths, status="completed" if status == "lies" else status)
    assert (below.status, below.verdict) != ("completed", "accepted")
    await asyncio.sleep(0.06)
    after(scene, file)
    parent.record("x", "shell")
    return [await parent.end(file.path, is_lie=True)]


async def _launder_a_draft(scene: Scene, file: File) -> list[Seen]:
    parent = await scene.start()
    parent.write(File(file.kind, file.path, OTHER))
    child = await scene.start(by=parent)
    child.write(file)
    await child.end(file.path, status="failed")
    return [await parent.end(file.path, is_lie=True)]


AFTER: dict[str, Callable[[Scene, File], None]] = {
    "as it is": lambda *_: None,
    "touched": lambda scene, file: (scene.root / file.path).touch(),
    "copied": _rewrite,
}


# --- lies of one agent ------------------------------------------------------------------------------------------------


def _revert(file: Path) -> None:
    text = file.read_bytes()
    file.write_bytes(b"changed\n")
    file.write_bytes(text)


def _exchange_mode(file: Path) -> None:
    file.chmod(0o755)


def _hard_link(file: Path) -> None:
    other = file.with_name("other-name")
    os.link(file, other)
    file.unlink()
    other.rename(file)


def _link_away(file: Path) -> None:
    moved = file.with_name("moved-away")
    file.rename(moved)
    file.symlink_to(moved.name)


def _commit(file: Path) -> None:
    own = ("-c", "user.name=T", "-c", "user.email=t@localhost")
    for args in (("add", "-A"), ("commit", "-qm", "x", "--allow-empty")):
        subprocess.run(["git", *own, *args], cwd=file.parent, check=False, capture_output=True)


def _unignore(file: Path) -> None:
    root = next(each for each in file.parents if (each / "agents").is_dir())
    (root / ".gitignore").write_text(".remit/\n")


def _assume(file: Path) -> None:
    args = ["git", "update-index", "--assume-unchanged", file.name]
    subprocess.run(args, cwd=file.parent, check=False, capture_output=True)


ALONE: dict[str, Callable[[Path], object]] = {
    "stale": lambda _: None,
    "touched": lambda file: file.touch(),
    "touched into the future": lambda file: os.utime(file, (time.time() + 99,) * 2),
    "written again as it was": lambda file: file.write_bytes(file.read_bytes()),
    "reverted": _revert,
    "mode": _exchange_mode,
    "renamed and back": lambda file: file.rename(file.with_name("away")).rename(file),
    "hard link in its place": _hard_link,
    "link in its place": _link_away,
    "copied over itself": lambda file: shutil.copy(file, file.with_name("c")) and file.with_name("c").rename(file),
    "removed": lambda file: file.unlink(),
    "emptied": lambda file: file.write_bytes(b""),
    "committed": _commit,
    "rules of ignoring changed": _unignore,
    "assumed unchanged": _assume,
}
OLD = ("old.md", "same.md", "docs/old.md", "crlf.txt", "ignored/old.md", "nested/old.md", "sub/old.md",
       "specs/1_x/reports/old.md")  # fmt: skip


async def _lie_alone(scene: Scene, path: str, act: Callable[[Path], object]) -> list[Seen]:
    liar = await scene.start()
    act(scene.root / path)
    liar.record("x", "shell")
    return [await liar.end(path, is_lie=True)]


NAMED: dict[str, Callable[[str], str]] = {
    "other case": lambda path: path.upper(),
    "other case of the folder": lambda path: f"{path.rpartition('/')[0].upper()}/{path.rpartition('/')[2]}",
    "by a link": lambda path: f"link-to-{path.replace('/', '-')}",
    "by a hard link": lambda path: f"hard-{path.replace('/', '-')}",
}


async def _lie_by_name(scene: Scene, path: str, name: str) -> list[Seen]:
    named = NAMED[name](path)
    liar = await scene.start()
    if name == "by a link":
        (scene.root / named).symlink_to(path)
    elif name == "by a hard link":
        os.link(scene.root / path, scene.root / named)
    liar.record("x", "shell")
    return [await liar.end(named, is_lie=True)]


# --- the truth --------------------------------------------------------------------------------------------------------


async def _work_alone(scene: Scene, file: File, how: str) -> list[Seen]:
    agent = await scene.start()
    agent.write(file, how)
    return [await agent.end(file.path)]


async def _work_in_a_row(scene: Scene, file: File) -> list[Seen]:
    first = await scene.start()
    first.write(file)
    told = await first.end(file.path)
    second = await scene.start()
    second.write(File(file.kind, file.path, OTHER))
    return [told, await second.end(file.path)]


async def _work_in_phases(scene: Scene, file: File) -> list[Seen]:
    first = await scene.start()
    first.write(file)
    told = await first.end(file.path)
    second = await scene.start()
    second.write(File("", "second.md"))
    return [told, await second.end(file.path, "second.md")]


async def _work_undone(scene: Scene, file: File, *, reverts: bool) -> list[Seen]:
    before = (scene.root / file.path).read_bytes() if file.was_there else b""
    honest, other = await scene.start(), await scene.start()
    honest.write(file)
    if file.was_there and reverts:
        (scene.root / file.path).write_bytes(before)
    else:
        (scene.root / file.path).unlink()
    other.record("x", "shell")
    return [await honest.end(file.path), await other.end()]


async def _work_by_a_child(scene: Scene, file: File) -> list[Seen]:
    parent = await scene.start()
    child = await scene.start(by=parent)
    child.write(file)
    below = await child.end(file.path)
    parent.record("x", "shell")
    return [below, await parent.end(file.path)]


async def _repair_a_child_s_work(scene: Scene, file: File) -> list[Seen]:
    parent = await scene.start()
    child = await scene.start(by=parent)
    child.write(file)
    await child.end(file.path, status="failed")
    parent.write(File(file.kind, file.path, OTHER))
    return [await parent.end(file.path)]


async def _work_beside_a_user(scene: Scene, file: File) -> list[Seen]:
    agent = await scene.start()
    scene.write("mine.md", "# By hand\n")
    agent.write(file)
    return [await agent.end(file.path)]


MOMENTS = ("both at once", "the other has ended", "the other starts later", "the other only reads")


async def _work_in_parallel(scene: Scene, file: File, how: str, moment: str) -> list[Seen]:
    """Two honest agents at once; the first writes while the other runs, has ended, or has not started."""
    if moment == "the other starts later":
        first = await scene.start()
        first.write(file, how)
        await asyncio.sleep(0.06)
        second = await scene.start()
    else:
        first, second = await scene.start(), await scene.start("reader" if "reads" in moment else "worker")
    if moment == "the other only reads":
        first.write(file, how)
        return [await first.end(file.path), await second.end()]
    second.write(File("", "second.md"), how)
    if moment == "the other has ended":
        told = await second.end("second.md")
        await asyncio.sleep(0.06)
        first.write(file, how)
        return [told, await first.end(file.path)]
    if moment == "both at once":
        first.write(file, how)
    await asyncio.sleep(_HEARD_S if how == "diff" and scene.runner == "claude" else 0)
    return [await first.end(file.path), await second.end("second.md")]


WAYS = (
    ("python", "shell"), ("command", "shell"), ("claude", "tool"), ("claude", "diff"), ("claude", "shell"),
    ("codex", "tool"), ("codex", "shell"), ("opencode", "tool"), ("opencode", "shell"),
    ("hooks", "tool"), ("hooks", "diff"), ("hooks", "shell"),
)  # fmt: skip
"""The runners, and how their agents write: as the harness reports it."""


def _bind(play: Callable[..., Awaitable[list[Seen]]], *args: Any, **more: Any) -> Callable[[Scene], Any]:  # noqa: ANN401
    return lambda scene: play(scene, *args, **more)


def list_lies() -> Iterator[Plot]:
    """Plots with a liar."""
    for runner, (name, play), file in product(("python", "hooks"), SIBLINGS.items(), FILES):
        yield Plot("siblings", f"{name}: {file.kind}", _bind(play, file), runner)
    for (name, play), file in product(SIBLINGS.items(), FILES[:2]):
        yield Plot("siblings", f"{name}: {file.kind}", _bind(play, file), "command")
    for runner, file in product(("hooks", "claude"), FILES[:4]):
        yield Plot("siblings", f"the liar's command saw it: {file.kind}", _bind(_lie_with_a_diff, file), runner)
    for runner, status, (name, after), file in product(
        ("python", "hooks"), ("failed", "lies"), AFTER.items(), (*FILES[:5], FILES[7])
    ):
        yield Plot("laundering", f"{status}, {name}: {file.kind}", _bind(_launder, file, status, after), runner)
    for runner, file in product(("python", "hooks"), FILES[:4]):
        yield Plot("laundering", f"over a draft: {file.kind}", _bind(_launder_a_draft, file), runner)
    for (name, act), path in product(ALONE.items(), OLD):
        if name == "copied over itself" and path.startswith("ignored/"):
            continue  # known not to be found out: no tree has the file, and it was created during the run
        yield Plot("alone", f"{name}: {path}", _bind(_lie_alone, path, act))
    for name, path in product(NAMED, OLD):
        if "/" in path or "folder" not in name:
            yield Plot("names", f"{name}: {path}", _bind(_lie_by_name, path, name))


def list_honest() -> Iterator[Plot]:
    """Plots in which everyone says the truth."""
    for file in FILES:
        for runner, how in (("python", "shell"), ("hooks", "tool"), ("hooks", "shell")):
            yield Plot("alone", f"{file.kind}, {how}", _bind(_work_alone, file, how), runner)
        yield Plot("in a row", file.kind, _bind(_work_in_a_row, file))
        yield Plot("beside a user", file.kind, _bind(_work_beside_a_user, file))
        yield Plot("phases", file.kind, _bind(_work_in_phases, file))
        for runner, reverts in product(("python", "hooks"), (True, False)):
            name = f"{'reverted' if reverts else 'removed'}: {file.kind}"
            yield Plot("undone", name, _bind(_work_undone, file, reverts=reverts), runner)
    for runner, file in product(("python", "hooks"), FILES[:5]):
        yield Plot("nested", f"accepted: {file.kind}", _bind(_work_by_a_child, file), runner)
        yield Plot("nested", f"repaired: {file.kind}", _bind(_repair_a_child_s_work, file), runner)
    for (runner, how), moment, file in product(WAYS, MOMENTS, FILES[:2]):
        play = _bind(_work_in_parallel, file, how, moment)
        yield Plot("parallel", f"{moment}, {how}: {file.kind}", play, runner, how)
