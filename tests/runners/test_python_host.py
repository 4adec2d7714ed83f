"""The result of a function: final messages, and failures that only quote one."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from remit.runners.command import CommandListener
from remit.runners.python_host import render_answer
from remit.runs.workspace import Workspace
from tests.support.return_samples import line, standard

if TYPE_CHECKING:
    from remit import Result

Make: TypeAlias = Callable[[str], object]

TEXT = line(standard())


class Printed:
    """Something that prints as a return."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


FAILURES: dict[str, tuple[Make, str]] = {
    "process": (
        lambda text: subprocess.CompletedProcess(["x"], 1, stdout=text, stderr="boom"),
        "CompletedProcess with the exit code 1",
    ),
    "error": (RuntimeError, "RuntimeError"),
    "error inside": (lambda text: {"result": RuntimeError(text)}, "RuntimeError"),
    "process inside": (lambda text: {"result": subprocess.CompletedProcess([], 2, text)}, "CompletedProcess"),
    "tuple": (lambda text: (text, 1), "tuple"),
    "texts": (lambda text: ["It crashed", text], "list"),
    "object": (Printed, "Printed"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_that_is_given_back_is_no_final_message(name: str) -> None:
    make, told = FAILURES[name]
    with pytest.raises(TypeError, match=f"the function returned {told}.*, which isn't a final message") as raised:
        render_answer(make(f"{TEXT}\n{TEXT}"))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (TEXT, TEXT),
        (TEXT.encode(), TEXT),
        (standard(), TEXT),
        ([{"type": "text", "text": "x"}], '[{"type": "text", "text": "x"}]'),
        ({"on": date(2026, 1, 5), "at": Path("a/b")}, '{"on": "2026-01-05", "at": "a/b"}'),
        (None, "null"),
        (3, "3"),
        (subprocess.CompletedProcess(["x"], 0, stdout=TEXT), TEXT),
        (subprocess.CompletedProcess(["x"], 0, stdout=TEXT.encode()), TEXT),
    ],
)
def test_texts_and_mappings_are_final_messages(answer: object, message: str) -> None:
    said = render_answer(answer)
    assert said == message or json.loads(said) == json.loads(message)


@pytest.mark.parametrize("name", ["process", "error", "tuple"])
def test_a_function_that_gives_a_failure_back_has_crashed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R0.1: it was completed by what the failure quoted."""
    for variable in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / ".git").mkdir()

    def work(prompt: str) -> object:
        session = re.search(r"sess_\d+_\w+", prompt)
        assert session is not None
        return FAILURES[name][0](line(standard({"/artifacts": [], "/metadata/session_id": session[0]})))

    async def ask() -> Result:
        async with Workspace.open(tmp_path) as ws:
            return await ws.delegate(None, "Do it.", function=work, reasks=0)

    result = asyncio.run(ask())
    assert (result.status, result.stop_reason) == ("failed", "crashed")
    assert f"the function returned {FAILURES[name][1]}" in result.errors[0].message


def test_an_entry_point_that_gives_a_failure_back_has_crashed(tmp_path: Path) -> None:
    (tmp_path / "given.py").write_text(f"def go(prompt):\n    return RuntimeError({TEXT!r})\n")
    words = [sys.executable, "-m", "remit.runners.python_host", "given:go"]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ended = subprocess.run(words, cwd=tmp_path, env=environ, input=b"x", capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, b"")
    heard = CommandListener().finish(errors=ended.stderr, exit_code=ended.returncode)
    assert heard.cause == "crash"
    assert "the function returned RuntimeError, which isn't a final message" in heard.trouble
