"""Returns with the issued id that contradict each other, and objects that say two things about how the work ended."""

from __future__ import annotations

import json
from typing import Any

import pytest

import remit
from tests.support.return_samples import fenced

ID = "sess_1763200000_k3x9qz"


def make(*paths: str, **changes: object) -> dict[str, Any]:
    return {
        "status": "completed", "summary": "Planned the index. The file has the steps.",
        "artifacts": [{"type": "plan", "path": path, "summary": "The plan."} for path in paths or ("docs/plan.md",)],
        "metadata": {"session_id": ID, "duration_seconds": 8, "agent_type": "indexer", "delegation_depth": 1,
                     "delegation_path": ["orchestrator", "indexer"]},
        "errors": [], **changes,
    }  # fmt: skip


def judge(*parts: dict[str, Any] | str) -> str:
    message = "\n\n".join(part if isinstance(part, str) else fenced(part) for part in parts)
    return remit.check(message, format="standard", session_id=ID, agent="indexer").name


@pytest.mark.parametrize("word", ["error", "Failure", "failed"])
def test_another_status_contradicts_known_or_not(word: str) -> None:
    for parts in ((make(), make(status=word)), (make(status=word), make())):
        assert judge(*parts) == "ambiguous"
    assert judge(make(), make()) == "accepted"


def test_a_short_object_with_the_id_and_a_status_is_a_return() -> None:
    for short in ({"session_id": ID, "status": "failed"}, {"status": "failed", "session_id": ID, "error": "no key"}):
        assert judge(make(), json.dumps(short)) == "ambiguous"
        assert judge(json.dumps(short), make()) == "ambiguous"
    other = {"session_id": "sess_1763200000_aaaaaa", "status": "failed"}
    assert judge(json.dumps(other), make()) == "accepted"
    assert judge(make(), json.dumps({"session_id": ID, "status": "completed"})) == "accepted"


def test_other_files_contradict_also_if_one_return_is_refused() -> None:
    assert judge(make("../a.md"), make("b.md")) == "ambiguous"
    assert judge(make("./docs/plan.md"), make("docs/plan.md")) == "accepted"


def test_a_later_return_that_denies_itself_contradicts() -> None:
    assert judge(make(), make(success=False)) == "ambiguous"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("blocked", {"reason": "key"}), ("blocked", "waiting for the key"), ("blocked", ["needs key"]),
        ("blocked", "yes"), ("partial", "half is missing"), ("partial", 1), ("partial", True), ("success", 0),
        ("success", "no"), ("success", "failed"), ("success", False), ("success", None), ("success", "null"),
        ("ok", None), ("errored", True), ("error", "boom"),
    ],
)  # fmt: skip
def test_one_object_that_says_two_things_is_refused(key: str, value: object) -> None:
    assert judge(make(**{key: value})) not in ("accepted", "repaired")


@pytest.mark.parametrize(
    ("key", "value"),
    [("blocked", []), ("blocked", False), ("blocked", "no"), ("partial", None), ("success", True), ("success", "yes"),
     ("error", None), ("errored", False), ("failed", 0), ("failed", None)],
)  # fmt: skip
def test_one_object_that_says_the_same_twice_is_accepted(key: str, value: object) -> None:
    assert judge(make(**{key: value})) == "accepted"


@pytest.mark.parametrize(
    "code",
    [
        "```js\nres.status(500).json({ status: err.status, message });\n```",
        "```rust\nlet r = Return { status: Status::Completed, summary };\n```",
        'print(f"{status: <10} {summary}")',
    ],
)
def test_code_after_the_return_changes_nothing(code: str) -> None:
    assert judge(make(), code) == "accepted"
    broken = f'{{"metadata": {{"session_id": "{ID}"}}, "status": failed and more'
    assert judge(make(), broken) == "ambiguous"
