"""Final messages in the styles of many models, each with the answer that is right; `tests/data/final_messages.jsonl`.

Every line names the message, the issued id (null: none), the format, and what is wanted: the return that counts, or why
no return may be accepted (`refused`: whatever the reason).
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from remit import returns
from remit.model import Expectation
from tests.support.paths import DATA

if TYPE_CHECKING:
    from remit.model import Verdict

MESSAGES = DATA / "final_messages.jsonl"
ROWS = [json.loads(line) for line in MESSAGES.read_text().splitlines()]
AGENT = "auditor"


def check(row: dict[str, Any]) -> Verdict:
    known = Expectation(row["id"], AGENT, None, 1, ("orchestrator", AGENT), roots=("/repo/app",))
    return_format = row["return_format"] or ("standard" if row["id"] else None)
    return returns.check(
        row["message"], return_format=return_format, expectation=known, manifest_tail=row.get("manifest")
    )


def is_right(row: dict[str, Any], verdict: Verdict) -> bool:
    want = row["want"]
    if isinstance(want, str):
        return not verdict.accepted and want in ("refused", verdict.name)
    returned = verdict.returned
    if returned is None:
        return False
    notes = [finding for finding in verdict.diagnostics if finding.code == "RET013"]
    return (
        returned.status == want["status"]
        and returned.summary == want.get("summary", returned.summary)
        and [each.path for each in returned.artifacts] == want.get("paths", [each.path for each in returned.artifacts])
        and (bool(notes) or not want.get("note"))
    )


def test_every_message_is_read_right() -> None:
    wrong = [row["name"] for row in ROWS if not is_right(row, check(row))]
    assert wrong == []


def test_the_messages_are_many_and_of_both_kinds() -> None:
    refused = [row for row in ROWS if isinstance(row["want"], str)]
    assert len({row["name"] for row in ROWS}) == len(ROWS) >= 400
    assert len(refused) >= 80


@pytest.mark.parametrize(
    "text",
    ['{"status": "x", "summary": "' + '" ' * 1_000_000, '{"status": "x"' + "," * 2_000_000, "<think " * 600_000,
     '{"status": "x", ' + "/* */ " * 600_000, '{"status": "x", "summary": "a" b", "' + '\\"' * 2_000_000,
     '{"status": "ok", "summary": "x"}\n' * 150_000, '{"status": "x", "' + "k" * 5_000_000 + '": 1}',
     "<" * 5_000_000, "<a " * 1_700_000, "</think>\n" * 550_000, '{"status": "x", "summary": "' + "\\u00" * 1_200_000,
     '{"status": "x", "summary": "' + "\\ud83d" * 800_000 + '"}', "> " + '{"a": 1} ' * 550_000,
     "\x1b[0m" * 1_300_000, "\x1b[" + "0;" * 2_500_000, '{"status":[' + "ab," * 1_600_000,
     '{"status":ab,' + "k:ab," * 1_000_000, '{"status":[' + "`a," * 1_600_000],
    ids=["quotes", "commas", "tags", "comments", "escapes", "objects", "key", "angles", "open tags", "closing tags",
         "half escapes", "half characters", "quoted", "colors", "one color", "bare words", "bare members",
         "backticks"],
)  # fmt: skip
def test_a_hostile_message_takes_little_time(text: str) -> None:
    began = time.process_time()
    assert not returns.check(text, return_format="standard", session_id="sess_1763450000_p4w7tz").accepted
    assert time.process_time() - began < 1  # less than half of that on an idle machine, linear in any case
