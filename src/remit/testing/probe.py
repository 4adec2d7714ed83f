"""Probe: a scripted model as a program of its own, for a harness that is started to see whether it calls its hooks.

    python -m remit.testing.probe HARNESS HOME

Owns what the model does: a command that works, one that fails, a subagent, and an end; or, by another prompt, an error.
Claude Code's settings in the home that is thrown away change meanwhile, and it has the time to see that.
It says in one line where everything is, and plays until its standard input ends.
"""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, cast

from remit.testing.model import ScriptedModel
from remit.testing.script import call, fail, say

if TYPE_CHECKING:
    from remit.testing.clis import CliName
    from remit.testing.script import Turn

AGENTS: dict[CliName, str] = {"claude": "general-purpose", "codex": "worker", "opencode": "general"}
"""An agent that each harness has of itself."""
_CHILD = "[[play child]] Run the command `true`, then say that you are done."


def make_scripts(cli: CliName, home: str) -> dict[str, list[Turn]]:
    """What the model plays for a harness."""
    change = shlex.join(["sh", "-c", 'echo "{}" > "$1"', "sh", f"{home}/.claude/settings.json"])
    waiting = call("wait_agent", targets=["${id}"], timeout_ms=20_000).grab(id=r'"agent_id\\*":\s*\\*"([^"\\]+)')
    return {
        "probe": [
            call("bash", command=change if cli == "claude" else "true"),
            call("bash", command="sleep 3; exit 3" if cli == "claude" else "exit 3"),
            call("task", agent=AGENTS[cli], prompt=_CHILD),
            *([waiting] if cli == "codex" else []),
            say("Done."),
        ],
        "child": [call("bash", command="true"), say("Done.")],
        "broken": [fail(400, "scripted error", kind="invalid_request_error")],
    }


def main() -> None:
    """Play until nobody listens."""
    name, home = sys.argv[1:]
    cli = cast("CliName", name)
    with ScriptedModel(make_scripts(cli, home)) as model:
        prompts = {script: f"{model.mark(script)} Do it." for script in ("probe", "broken")}
        told = {"environ": model.environ(cli, home), "prompts": prompts}
        sys.stdout.write(f"{json.dumps(told)}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
