"""A report with something in every place, and texts that would be markup if they were taken for it."""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

_LEAVES = ("", '">', "'-->", "</pre></td></tr></table>", "</title></style></svg>", "`\n\n")
_BEGINS = (
    "<script>x6=1</script>", "<img src=x onerror=x6=1>", "<svg/onload=x6=1>", "<iframe srcdoc='<b>x'>",
    "<a href=javascript:x6=1>x</a>", "<base href=//192.0.2.1/>", "<meta http-equiv=refresh content=0>",
    "<link rel=stylesheet href=//192.0.2.1/x>", "<style>*{background:url(//192.0.2.1/x)}</style>",
    "<form action=//192.0.2.1/><button>x", "<object data=x>", "<math><mtext><b>", "&lt;img src=x&gt;", "<!--",
    "<plaintext>", "' onmouseover=x6=1 '",
)  # fmt: skip
_OTHERS = (
    '" autofocus onfocus=x6=1 x="', "javascript:x6=1", "\u202e<b>\u2069", "<\u200bimg src=x>", "\x00<b>", "\ud800<b>",
    "\x1b]0;x6\x07", "\u2028<script>", "<![CDATA[<b>]]>", "<?xml version='1.0'?>", "{{x6}}", "%3Cscript%3E",
)  # fmt: skip
PAYLOADS = (*map("".join, product(_LEAVES, _BEGINS)), *_OTHERS)

MARKDOWN = (
    "# heading", "- item", "+ item", "* item", "1. item", "1) item", "> quote", "```", "~~~", "``` js", "    code",
    "---", "===", "***", "___", "[a](javascript:x6)", "![a](//192.0.2.1/x.png)", "[a]: //192.0.2.1/x", "[a][b]",
    "<b>bold</b>", "<!-- hidden -->", "<https://192.0.2.1/>", "https://192.0.2.1/x", "www.example.com", "a@example.com",
    "**bold**", "__bold__", "_it_", "`code", "``code`", "~~gone~~", "| a | b |\n|---|---|\n| 1 | 2 |",
    "&copy; &#60;b&#62;", "line\n\n# heading", "line\n===", "line\n---",
    "```\n</pre><script>x6</script>\n```\n# out", "````\n# out",
    "~~~~\n# out", "\\# heading", "\\", "\\\\[a](b)", "$x$", "[^1]: note", ": term", "- [ ] done",
    "@everyone", "\t# code", "1.", "#",
    "\\`<b>`", "`` ` ``", "a\r# b", "<details open>", "]( <x>", "![][a]", "\u2028# b",
)  # fmt: skip
"""What means something in Markdown, at the beginning of a line, inside one or after it."""

ROW: dict[str, Any] = {
    "session_id": "sess_1_aaaaaa",
    "agent": "planner",
    "state": "finished",
    "status": "failed",
    "verdict": "fabricated",
    "stop_reason": "exited",
    "depth": 1,
    "path": ["orchestrator", "planner"],
    "parent_id": None,
    "task_number": 7,
    "runner": "command",
    "work": "Look at the cache.",
    "created_ms": 1_794_826_470_000,
    "started_ms": 1_794_826_470_500,
    "deadline_ms": 1_794_826_475_000,
    "ended_ms": 1_794_826_471_700,
    "activity": "Reads files",
    "tokens": 1200,
    "cost_usd": 0.5,
    "turns": 3,
    "waits_for": ["sess_2_bbbbbb"],
    "level": 0,
}
OPEN_ROW = ROW | {
    "session_id": "sess_2_bbbbbb", "state": "running", "verdict": None, "stop_reason": None,
    "status": None, "ended_ms": None, "level": 1, "tokens": None, "cost_usd": None,
}  # fmt: skip
FINDING = {"code": "RET051", "severity": "error", "message": "a.md doesn't exist", "hint": "Write it.", "pointer": "/a"}
PLACED = {"code": "RET001", "severity": "warning", "message": "it is long", "location": {"row": 3, "column": 1}}
CLAIM = {"path": "a.md", "state": "missing", "grade": "missing", "reason": "nobody wrote it", "by_session": "sess_9"}
CHECKS: list[dict[str, Any]] = [
    {"kind": "check", "name": "tests", "answer": "failed", "reason": "exit code 1", "command": "pytest -q",
     "duration_ms": 12_300, "before": "unknown", "output": "1 failed, 211 passed"},
    {"kind": "check", "name": "lint", "answer": "passed", "duration_ms": 400, "flaky": True, "tests": 3, "skipped": 1},
    {"kind": "check", "name": "docs", "answer": "not run", "reason": "no file changed", "needed": False},
]  # fmt: skip
ATTEMPT: dict[str, Any] = {
    "number": 1, "started_ms": 1_794_826_470_600, "ended_ms": 1_794_826_471_600, "stop_reason": "exited",
    "verdict": "fabricated", "diagnostics": [FINDING, PLACED], "repairs": [{"kind": "quotes", "message": "put quotes"}],
    "claims": [CLAIM, CLAIM | {"state": "file", "grade": "changed"}], "usage": {"input_tokens": 3},
    "checks": [{"name": "tests", "answer": "failed", "reason": "exit code 1", "duration_ms": 12_300,
                "output": "1 failed, 211 passed", "repeated": True}],
    "answer": {"text": "Done.\n\n```json\n{}\n```\n", "characters": 90_000, "cut": True},
}  # fmt: skip
NODE: dict[str, Any] = {
    "session_id": ROW["session_id"],
    "run": {name: value for name, value in ROW.items() if name != "level"},
    "config": {
        "timeout_s": 1800.0,
        "kind": "planning",
        "format": "standard",
        "budget": {"tokens": 5},
        "may_call": ["tester"],
        "model": "large",
        "tools": ["Read"],
        "artifact_path": "a.md",
        "phase": "1",
        "commit": "abc",
        "runner": "command",
        "resume_of": "sess_0_xxxxxx",
        "retry_of": "sess_0_yyyyyy",
    },
    "asked": {
        "text": "Look at the cache.\n",
        "characters": 19,
        "cut": False,
        "message_characters": 2400,
        "context": [{"name": "a.md", "part": "all", "chars": 12}, {"name": "b.md", "chars": None, "reason": "gone"}],
        "inputs": {"depth": "2"},
    },
    "attempts": [ATTEMPT, ATTEMPT | {"number": 2, "claims": [], "verdict": "accepted", "answer": None}],
    "checks": CHECKS,
    "result": {
        "status": "failed",
        "summary": "The work can't be used.",
        "artifacts": [{"path": "a.md", "type": "report", "summary": "The report."}],
        "metadata": {"session_id": "sess_1794826470_aaaaaa", "agent_type": "scout"},
        "errors": [
            {
                "type": "fabricated",
                "code": "FABRICATED",
                "message": "a.md doesn't exist",
                "recoverable": True,
                "recommendation": "Look first",
            }
        ],
        "next_steps": "Try again",
        "remit": {
            "status": "failed",
            "verdict": "fabricated",
            "stop_reason": "exited",
            "session_id": "sess_1794826470_aaaaaa",
            "grades": [{"path": "a.md", "grade": "changed"}],
            "diagnostics": [FINDING],
            "notes": ["It was late."],
            "usage": {"seconds": 1.2},
            "answer": "ab",
            "show": "remit show sess_1794826470_aaaaaa --full",
        },
    },
    "steps": [{"name": "task", "state": "done", "message": "task 7 is PARTIAL", "at_ms": 1_794_826_471_700}],
    "unclaimed": [{"path": "c.md", "kind": "added"}],
    "left_out": ["1 text was cut"],
}
OPEN_NODE = NODE | {
    "session_id": OPEN_ROW["session_id"],
    "run": {name: value for name, value in OPEN_ROW.items() if name != "level"},
    "attempts": [ATTEMPT | {"ended_ms": None, "verdict": None, "stop_reason": None, "answer": None, "claims": []}],
    "checks": [],
    "result": None,
}
REPORT: dict[str, Any] = {
    "schema": "remit-report",
    "schema_version": 1,
    "made_ms": 1_794_826_480_000,
    "event": 80,
    "project": "demo",
    "root_id": ROW["session_id"],
    "open": True,
    "totals": {
        "runs": 2, "states": {"failed": 1, "running": 1}, "tokens": 1200, "cost_usd": 0.5,
        "started_ms": ROW["started_ms"], "ended_ms": None,
    },
    "tree": [ROW, OPEN_ROW],
    "nodes": [NODE, OPEN_NODE],
    "left_out": ["1 of them is shortened; remit show ID --full shows everything."],
}  # fmt: skip


def make_report() -> dict[str, Any]:
    """The sample, to change."""
    return copy.deepcopy(REPORT)


def fill(value: Any, text: str) -> Any:  # noqa: ANN401 - JSON
    """The same report with a text in place of every text, and of every name that is not ours."""
    if isinstance(value, str):
        return text
    if isinstance(value, list):
        return [fill(each, text) for each in value]
    if isinstance(value, dict):
        foreign = {"depth": text, "tokens": text} if {*value} <= {"depth", "tokens"} else {}
        words = {"failed": f"{text}1", "running": f"{text}2"} if {*value} == {"failed", "running"} else {}
        return {(foreign | words).get(name, name): fill(each, text) for name, each in value.items()}
    return value
