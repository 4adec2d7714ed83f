"""Denied programs of a subagent of Claude Code, started by scripts that no hook reads: the real program, scripted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from remit.confine import find_level
from remit.testing import call, say
from tests.support.harness_hooks import ask, compile_agents, converse, hand, list_results, set_up

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.skipif(not find_level().has_judge, reason="programs aren't judged here"),
]
AGENT = """\
---
name: {name}
version: 1.0.0
description: "Does its part"
mode: subagent
agent_type: implementation
temperature: 0.2
tools:
  write: true
  bash: true
permissions:
  allow:
    - bash: ["make *", "sh *", "git *", "cat *"]
  deny:
    - bash: ["git push"]
---

# {name}

Do it.
"""
SCRIPTS = {
    "both": [
        ask("tester", "tester"),
        call("bash", command="sh push.sh"),
        say("No return is owed."),
    ],
    "tester": [
        call("bash", command="make push"),
        call("bash", command="sh push.sh; git status --short | cat; cat made"),
        call("bash", command="git log --oneline && make list"),
        hand("made"),
    ],
}
REFUSED = """remit: 'git push origin main' is denied to this agent by its rule deny bash "git push\""""


def test_a_denied_program_is_refused_wherever_it_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with set_up("claude", SCRIPTS, tmp_path.resolve(), monkeypatch) as stage:
        compile_agents(stage, AGENT, tester="none")
        (stage.root / "push.sh").write_text("echo before > made; git push origin main; echo ended $?\n")
        (stage.root / "Makefile").write_text("push:\n\t@git push origin main\nlist:\n\t@expr 1 + 1\n")
        session = converse(stage, "both")
        assert session.exit_code == 0
        told = [list_results(stage, "tester", step)[0] for step in range(1, 4)]
        assert told[0].startswith("Exit code 2")
        assert REFUSED in told[0]
        assert REFUSED in told[1]
        assert "ended 126" in told[1]
        assert told[1].rstrip().endswith("before")
        assert told[2].endswith("\n2"), "what an allowed program starts isn't on the list"
        (own,) = list_results(stage, "both", 2)
        assert "remit:" not in own, "the user's own session isn't judged"
        assert "ended 128" in own or "ended 1" in own
