"""The configuration of a run: its title, and the environment of its runner, whose values aren't in the ledger."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from remit.errors import RunnerError
from remit.ledger.events import load_events
from remit.runs.admission.run_config import fill_values, hide_values, name_work
from remit.runs.progress import ProgressReader
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from remit.views.run_details import load_record

if TYPE_CHECKING:
    from pathlib import Path

    from remit.result import Result

PASSWORD = "correct-horse-battery"  # noqa: S105 - not one
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
SALT = "0" * 32

HARNESS = """#!/bin/sh
cat > /dev/null
env | grep OUR_PASSWORD > "$LOG"
echo '{{"type": "assistant", "message": {{"id": "m", "content": [{{"type": "text", "text": "{words}"}}]}}}}'
sleep {seconds}
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a harness of its own, whose consent was given."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("remit.runs.admission.draft.check_trust", lambda *_: None)
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    root = tmp_path / "work"
    (root / ".git").mkdir(parents=True)
    return root


def set_up(root: Path, value: str = PASSWORD, *, words: str = "I begin.", seconds: float = 0) -> None:
    program = root.parent / "claude"
    program.write_text(HARNESS.format(words=words, seconds=seconds))
    program.chmod(0o755)
    (root / "remit.toml").write_text(
        f"[runners.claude]\nprogram = {str(program)!r}\nenv = {{OUR_PASSWORD = {value!r}}}\n"
    )


async def wait(root: Path, session_id: str) -> Result:
    async with Workspace.open(root) as ws:
        return await ws.wait(session_id)


def prepare(root: Path) -> str:
    ws = Workspace.open(root)
    try:
        request = Request(None, "Do it.", runner="claude", finishes=False, reasks=0)
        return ws.prepare(request, owner="1-gone").row.session_id
    finally:
        ws.home.close()


def test_a_value_is_given_to_the_agent_and_stands_nowhere_in_the_ledger(root: Path) -> None:
    set_up(root)
    session_id = prepare(root)
    asyncio.run(wait(root, session_id))
    assert (root.parent / "log").read_text() == f"OUR_PASSWORD={PASSWORD}\n"
    kept = [file for file in (root / ".remit").rglob("*") if file.is_file()]
    assert any(b"OUR_PASSWORD" in file.read_bytes() for file in kept)
    assert not [file for file in kept if PASSWORD.encode() in file.read_bytes()]
    ws = Workspace.open(root)
    assert load_record(ws.home, session_id).config.settings["env"] == {"OUR_PASSWORD": "[redacted]"}
    ws.home.close()


@pytest.mark.parametrize("change", ["another", ""])
def test_an_agent_is_not_started_with_values_that_have_changed_since(root: Path, change: str) -> None:
    set_up(root)
    session_id = prepare(root)
    if change:
        set_up(root, change)
    else:
        (root / "remit.toml").unlink()
    told = asyncio.run(wait(root, session_id))
    assert (told.status, told.stop_reason) == ("failed", "rejected")
    assert "has changed since the request" in told.errors[0].message
    assert not (root.parent / "log").exists()


def test_what_is_hidden_is_filled_in_again() -> None:
    settings = {"program": "x", "env": {"B": "2", "A": "1"}}
    kept = json.loads(json.dumps(hide_values(settings, SALT)))
    assert kept["env_names"] == ["A", "B"]
    assert "env" not in kept
    filled = fill_values(kept, {"A": "1", "B": "2", "C": "more"}, runner="x")
    assert filled["env"] == settings["env"]
    for now in ({"A": "1"}, {"A": "1", "B": "3"}, {}):
        with pytest.raises(RunnerError):
            fill_values(kept, now, runner="x")
    assert hide_values({"program": "x"}, SALT) == fill_values({"program": "x"}, {"A": "1"}, runner="x")
    assert hide_values(settings, SALT)["env_seal"] != hide_values(settings, "1" * 32)["env_seal"]


@pytest.mark.slow
def test_what_an_agent_says_is_kept_and_shown_without_its_secrets(root: Path) -> None:
    set_up(root, words=f"The key is {TOKEN} and more", seconds=1.6)

    async def run() -> list[str]:
        async with Workspace.open(root) as ws:
            request = Request(None, "Do it.", runner="claude", finishes=False, reasks=0)
            prepared = await ws.start(request)
            session_id = prepared.row.session_id
            await ws.wait(session_id)
            said = [str(each.details.get("activity")) for each in load_events(ws.home.ledger, session_id=session_id)]
            return [*said, ProgressReader(ws.home, session_id).read()[0].activity]

    said = asyncio.run(run())
    assert said[-1] == "The key is [redacted github] and more"
    assert not [each for each in said if TOKEN[:8] in each]


KEY = f"ghp_{'a1B2' * 9}"


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("", ""),
        ("  Look at\n\nthe cache. ", "Look at the cache."),
        ("x" * 120, "x" * 120),
        ("x" * 121, "x" * 119 + "…"),
        ("word " * 24, ("word " * 24).strip()),
        ("word " * 25, "word " * 22 + "word…"),
        ("修" * 10 + " " + "复" * 200, "修" * 10 + " " + "复" * 108 + "…"),
        ("Use the key of the service " * 3 + f"which is {KEY} and nothing else",
         "Use the key of the service " * 3 + "which is…"),
    ],
)  # fmt: skip
def test_work_is_named_in_one_line_that_is_cut_after_a_word(prompt: str, line: str) -> None:
    assert name_work(prompt) == line
    assert len(line) <= 120
    assert KEY[:8] not in line
