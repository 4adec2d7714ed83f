"""What holds for every message: the laws that the fuzzer and the tests try to break, and what they break them with.

Needs nothing but the package: the fuzzer's own library is imported by `fuzz/watch.py` alone.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import remit
from remit.returns.formats import get_format

if TYPE_CHECKING:
    import random

    from remit.model import Verdict

MAX_SMALL_BYTES: Final = 64 * 1024
MAX_SECONDS: Final = 0.25
EXAMPLES: Final = Path(__file__).resolve().parent.parent / "examples" / "messages"

FORMATS: Final = (None, "standard", "hyper", "manifest")
ISSUED: Final = "sess_1763200000_k3x9qz"
SESSIONS: Final = (None, ISSUED, "", "x")

FRAGMENTS: Final = (
    '{"status": "completed"', '"status": "failed"', ', "summary": "Done. It works."', ', "artifacts": []',
    ', "artifacts": [{"type": "plan", "path": "a.md"}]', ', "metadata": {', f'"session_id": "{ISSUED}"',
    ', "agent_type": "planner"', ', "delegation_depth": 1', ', "delegation_path": []', "}", "]", "{", "[", ",", ":",
    "```json\n", "\n```\n", "~~~\n", "````markdown\n", "<think>", "</think>\n", "<example>", "</example>",
    "<!-- AGENT_OUTPUT_START -->\n", "\n<!-- AGENT_OUTPUT_END -->", '{"meta": {"agent_name": "a", "status": "complete"',
    ', "execution_time_ms": 1}', ', "next_steps": []}', "NaN", "Infinity", "1e999", "...", "…", "// c\n", "/* ", " */",
    "'", "“", "”", "‘", "\\", '\\"', "\\u0041", "\\ud83d", "&quot;", "&amp;", "> ", "Draft:\n", "# Example\n", "\x00",
    "\ud83d", "\udc80", "\ufeff", "\u00a0", "\u2028", "true", "tr", "None", "null", "-", "+", "7" * 400, "7" * 5000,
    '"errors": [{"type": "timeout", "message": "m", "recoverable": true, "recommendation": "r"}]', '{"result": "',
    '{"type": "result", "result": ', "return-meta.json", "completed|failed", "<blank>", "{{TOKEN}}", "../a",
    "/etc/passwd", "Research complete. See MANIFEST.jsonl for summary.", "status", "meta", "\n\n", "\t",
    "[" * 70, "{" * 70,
)  # fmt: skip
"""What returns and their surroundings are made of."""


class Trial(NamedTuple):
    """One message and the way it is asked about."""

    message: str | bytes
    return_format: str | None = None
    session_id: str | None = None


def check_laws(trial: Trial, *, max_seconds: float = MAX_SECONDS) -> Verdict:
    """Judge the message and assert all that must hold, whatever it is."""
    start = time.process_time()
    verdict = remit.check(trial.message, format=trial.return_format, session_id=trial.session_id)
    errors = [diagnostic for diagnostic in verdict.diagnostics if diagnostic.severity == "error"]
    repairs = verdict.repairs
    spent = time.process_time() - start
    assert spent < max_seconds or len(trial.message) > MAX_SMALL_BYTES, f"took {spent:.2f} s"
    assert verdict.accepted is not bool(errors), f"{verdict.name} with {errors}"
    assert bool(repairs) or verdict.name != "repaired", "repaired, and nothing says how"
    assert verdict.accepted is (verdict.returned is not None), "accepted and built go together"
    if verdict.accepted:
        _check_accepted(verdict, trial)
    return verdict


def _check_accepted(verdict: Verdict, trial: Trial) -> None:
    payload, returned = verdict.payload, verdict.returned
    assert payload is not None
    assert returned is not None
    assert verdict.format is not None
    return_format = get_format(verdict.format)
    assert trial.return_format in (None, return_format.name), "another dialect than the one that was asked for"
    assert set(return_format.shape.required) <= set(payload), "a required field is missing"
    assert return_format.word(payload) in return_format.statuses, "the status is no word of the dialect"
    assert returned.status == return_format.statuses[str(return_format.word(payload))]
    if return_format.name == "standard" and trial.session_id is not None:
        assert returned.session_id == trial.session_id, "another session"
    text = json.dumps(payload)
    again = remit.check(text, format=return_format.name, session_id=trial.session_id)
    assert again.name == "accepted", f"written down again, it is {again.name}: {again.diagnostics}"
    assert json.dumps(again.payload) == text, "written down again, it reads otherwise"
    assert json.dumps(payload, ensure_ascii=False).encode(), "what was accepted can be sent on"


def load_seeds() -> list[str]:
    """The sample messages."""
    return [file.read_text("utf-8") for file in sorted(EXAMPLES.glob("*.md"))]


def mutate(text: str, rng: random.Random) -> str:
    """A message with a few things left out, put in, doubled or moved."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randint(0, len(text))
        until = min(len(text), at + rng.choice((0, 1, 2, 8, 40, 400)))
        other = rng.randint(0, len(text))
        text = rng.choice((
            text[:at] + rng.choice(FRAGMENTS) + text[until:],
            text[:at] + text[until:],
            text[:at] + text[at:until] * 2 + text[until:],
            text[:at],
            text[:other] + text[at:until] + text[other:],
            text.replace(rng.choice('"{}[],:\n'), rng.choice(FRAGMENTS), 1),
        ))  # fmt: skip
    return text[:MAX_SMALL_BYTES]


def draw_trial(seeds: list[str], rng: random.Random) -> Trial:
    """A mutated sample or a heap of fragments, asked about in one of the ways there are."""
    seed = rng.choice(seeds)
    heap = rng.randint(1, 4) == 1
    text = "".join(rng.choices(FRAGMENTS, k=rng.randint(1, 30))) if heap else mutate(seed, rng)
    message = text.encode("utf-8", "replace") if rng.randint(1, 3) == 1 else text
    own = re.search(r"sess_\w+", seed)
    return Trial(message, rng.choice((None, *FORMATS)), rng.choice((None, own and own[0], *SESSIONS)))
