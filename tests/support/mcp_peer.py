"""What the tests of the MCP door have in common: a server as a process, and somebody who speaks to it line by line."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

from remit.mcp.catalog import BY_NAME
from remit.runs.workspace_trust import TrustRequest, get_executing, grant_trust
from remit.storage.settings import load_settings
from tests.support.commands import STEERING
from tests.support.paths import SOURCE

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PATIENCE_S = 60.0
SERVE = (sys.executable, "-m", "remit", "mcp")
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def make_environ(**more: str) -> dict[str, str]:
    """The environment of a server that nobody steers."""
    own = ("REMIT_TICKET", "REMIT_SESSION_ID")
    clean = {name: value for name, value in os.environ.items() if name not in (*STEERING, *own)}
    return {**clean, "PYTHONPATH": str(SOURCE), **more}


def make_workspace(root: Path, patch: pytest.MonkeyPatch, **commands: str) -> Path:
    """A workspace in which each name is a runner that starts a program."""
    patch.setenv("XDG_CONFIG_HOME", str(root.parent / "config"))  # where consent is kept
    root.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    tables = (f"[runners.{name}]\ncommand = {json.dumps(command)}\n" for name, command in commands.items())
    (root / "remit.toml").write_text("".join(tables))
    grant_trust(TrustRequest(str(root), get_executing(load_settings(str(root)), root=str(root))))
    return root


class Peer:
    """A harness that speaks to a server of its own, as raw lines."""

    def __init__(self, root: Path, *, opens: bool = True, **environ: str) -> None:
        self.process = subprocess.Popen(
            SERVE, cwd=root, env=make_environ(**environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self.said: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.progress: list[dict[str, Any]] = []
        self.strays: list[bytes] = []
        """Lines on standard output that are no messages: there must be none."""
        self.errors = b""
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()
        self._answers: dict[str | int | None, dict[str, Any]] = {}
        self._number = 0
        if opens:
            self.opening = self.ask("initialize", **OPENING)
            self.notify("notifications/initialized")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(PATIENCE_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                message = json.loads(line)
                assert message["jsonrpc"] == "2.0"
            except (ValueError, KeyError, AssertionError):
                self.strays.append(line)
                continue
            if message.get("method") == "notifications/progress":
                self.progress.append(message["params"])
            self.said.put(message)
        self.said.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors += line

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a request; its id."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method}
        self.send_raw(json.dumps(message | ({} if params is None else {"params": params})).encode() + b"\n")
        return self._number

    def notify(self, method: str, **params: Any) -> None:  # noqa: ANN401 - any JSON value
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})
        self.send_raw(json.dumps(message).encode() + b"\n")

    def receive(self, request_id: str | int | None, *, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        """The answer to a request, whatever else comes before it."""
        while request_id not in self._answers:
            message = self.said.get(timeout=patience_s)
            assert message is not None, f"the server has ended: {self.errors.decode(errors='replace')}"
            if "method" not in message:
                self._answers[message["id"]] = message
        return self._answers.pop(request_id)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """Send a request and wait for its answer."""
        return self.receive(self.send(method, params))

    def begin(self, tool: str, *, progress: str | None = None, **arguments: Any) -> int:  # noqa: ANN401 - any JSON value
        """Call a tool, and go on."""
        meta = {} if progress is None else {"_meta": {"progressToken": progress}}
        return self.send("tools/call", {"name": tool, "arguments": arguments, **meta})

    def end_call(self, tool: str, request_id: int) -> dict[str, Any]:
        """What a tool gives that was called; it is as the tool's schema says."""
        result: dict[str, Any] = self.receive(request_id)["result"]
        check_result(tool, result)
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """Call a tool; what it gives."""
        result = self.end_call(tool, self.begin(tool, **arguments))
        assert not result["isError"], result
        told: dict[str, Any] = result["structuredContent"]
        return told

    def fail(self, tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """Call a tool that fails; its error."""
        result = self.end_call(tool, self.begin(tool, **arguments))
        assert result["isError"], result
        error: dict[str, Any] = result["structuredContent"]["error"]
        assert result["content"][0]["text"].startswith(f"{error['code']}: {error['message'][:40]}")
        return error

    def hang_up(self) -> int:
        """Close the server's input, and wait for its end; its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


def check_result(tool: str, result: dict[str, Any]) -> None:
    """What every answer of a tool has: text, and the same as data that its schema allows."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - takes long, and many only collect the tests

    Draft202012Validator(BY_NAME[tool].describe()["outputSchema"]).validate(result["structuredContent"])
    (content,) = result["content"]
    assert content["type"] == "text"
    if not result["isError"]:
        assert json.loads(content["text"]) == result["structuredContent"]
