"""The context saved: how many tokens reach the caller of an agent, with Remit and without.

Run as `python -m bench.context`; with `--table` it prints the table of docs/context.md. Without Remit a caller gets the
final message of its agent, as the harness hands it over. With Remit it gets the result: what `remit run --json`
prints, or what the hook puts in the place of the tool's output. The answers are those of examples/answers.py, and all
that was said in examples/demo.py and examples/orchestrator.py. Everything is counted by a tokenizer (cl100k), and of
each return every artifact, next step and error must be in the result or behind its pointer. Ends with 1 when an
result has more tokens than it may, or something was lost.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.rows import Row, finish, make_row, render_number
from remit.returns.token_count import count_tokens

_ROOT: Final = Path(__file__).resolve().parents[1]
_EXAMPLES: Final = _ROOT / "examples"
_ANSWERS: Final = _EXAMPLES / "answers.py"
_MAX_TOKENS: Final = 400
_WITHOUT: Final = "without Remit"
_LEVELS: Final = ("coordinator", "implementer", "checker")
KINDS: Final = {
    "short": "a return and nothing else",
    "research": "a research report, told again",
    "review": "a review with 40 findings",
    "log": "the log of an implementer",
    "many": "32 files, 3 errors, 8 next steps",
    "flood": "a flood of 1 MB",
    "prose": "prose without a return",
    "nested": "three levels, a report each",
}
_BLOCKS: Final = 2
"""How often the referee sends a bad return back, before it lets go of it as failed."""


class Passed(NamedTuple):
    """What one caller was given."""

    session: str
    said: str
    """The agent's final message."""
    given: str
    """What reached the caller instead."""


class Sample(NamedTuple):
    """One run: each agent's message, and what its caller was given."""

    what: str
    door: str
    passed: list[Passed]

    @property
    def said(self) -> int:
        """Tokens of the messages."""
        return sum(count(each.said) for each in self.passed)

    @property
    def given(self) -> int:
        """Tokens of what reached the callers."""
        return sum(count(each.given) for each in self.passed)


class Reach(NamedTuple):
    """Where the artifacts, next steps and errors of the returns are found again."""

    inside: int = 0
    """In the result."""
    behind: int = 0
    """Only in what the result points to."""
    lost: tuple[str, ...] = ()

    def __add__(self, other: Reach) -> Reach:  # type: ignore[override]
        """Both together."""
        return Reach(self.inside + other.inside, self.behind + other.behind, self.lost + other.lost)


def count(text: str) -> int:
    """How many tokens a text has."""
    tokens = count_tokens(text)
    assert tokens is not None, "install the extra [tokens]"
    return tokens


# --- Remit as the supervisor ------------------------------------------------------------------------------------------


def run(folder: Path, *words: str) -> str:
    """What a command prints; a delegation that failed prints its result, too."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    environ |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(_ROOT / "src")}
    done = subprocess.run(words, cwd=folder, env=environ, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
    assert done.returncode in (0, 1), done
    return done.stdout


def remit(root: Path, *words: str) -> str:
    """What a command of Remit prints."""
    return run(root, sys.executable, "-m", "remit", *words)


def make_root(folder: Path, project: str) -> Path:
    """A copy of an example in git. A program tells nobody what it costs, so no budget is set."""
    root = Path(shutil.copytree(_EXAMPLES / project, folder / project, ignore=shutil.ignore_patterns(".remit")))
    settings = root / "remit.toml"
    text = re.sub(r"\[budget\][^\[]*", "", settings.read_text("utf-8"))
    settings.write_text(text, "utf-8")
    who = (("config", "user.name", "Bench"), ("config", "user.email", "bench@localhost"))
    for words in (("init", "-q"), *who, ("add", "--all"), ("commit", "-q", "-m", "begin")):
        run(root, "git", *words)
    return root


def load_said(root: Path, session: str) -> str:
    """The last message of an agent, as it is kept."""
    texts: dict[str, Any] = json.loads(remit(root, "show", session, "--full", "--json"))["texts"]
    answers = sorted((name for name in texts if name.startswith("answer-")), key=lambda name: int(name[7:]))
    return str(texts[answers[-1]]) if answers else ""


def list_sessions(root: Path) -> list[str]:
    """The delegations of a workspace, from the first."""
    rows = json.loads(remit(root, "ps", "--all", "--json"))["items"]
    return [name for _, name in sorted((each["created_ms"], each["session_id"]) for each in rows)]


def gather(root: Path, *, since: int = 0) -> list[Passed]:
    """What was said and given in a workspace; who was ended before it said anything is left out."""
    sessions = list_sessions(root)[since:]
    found = [Passed(name, load_said(root, name), remit(root, "wait", name, "--json")) for name in sessions]
    return [each for each in found if each.said]


def supervisor(root: Path, kind: str) -> Sample:
    """Have an agent of a kind do its work; what its caller, and each caller below it, was given."""
    words = ("coordinator", "Look into it.", "--input", "task_number=1") if kind == "nested" else ("Look into it.",)
    before = len(list_sessions(root))
    printed = remit(root, "run", *words, "--command", f"{sys.executable} {_ANSWERS} {kind}", "--json")
    passed = gather(root, since=before)
    assert len(passed) == (len(_LEVELS) if kind == "nested" else 1), passed
    passed[0] = passed[0]._replace(given=printed)  # of the others it is what `remit wait` prints: the same result
    return Sample(KINDS[kind], "supervisor", passed)


def play(folder: Path, program: str) -> list[Passed]:
    """Let an example run as it is; all that was handed on in it."""
    if program == "demo.py":
        run(folder, sys.executable, str(_EXAMPLES / program), str(folder / "demo"))
        return gather(folder / "demo" / "project")
    run(folder, sys.executable, str(_EXAMPLES / program), "--folder", str(folder / "orchestrated"))
    return gather(folder / "orchestrated" / "wattlog")


# --- Remit as the referee --------------------------------------------------------------------------------------------


def load_answers() -> Any:  # noqa: ANN401 - a module
    """The program of the answers, as a module."""
    spec = importlib.util.spec_from_file_location("answers", _ANSWERS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["answers"] = module
    spec.loader.exec_module(module)
    return module


class Session(NamedTuple):
    """A session of Claude Code, as its hooks hear of it."""

    root: Path
    answers: Any

    def ask(self, event: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - a payload
        """Give the hook an event; its answer."""
        payload = {"session_id": "bench", "cwd": str(self.root), "hook_event_name": event, **more}
        payload |= {"transcript_path": f"{self.root}/.remit/none.jsonl", "permission_mode": "bypassPermissions"}
        words = [sys.executable, "-m", "remit", "hook", "claude"]
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.root), "PYTHONPATH": str(_ROOT / "src")}
        environ["CLAUDE_PROJECT_DIR"] = str(self.root)
        done = subprocess.run(  # noqa: S603 - Remit's own hook
            words, input=json.dumps(payload), cwd=self.root, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def call(self, kind: str, agent: str, caller: dict[str, str]) -> list[Passed]:
        """One subagent, from its call to what its caller is given; of nested ones each."""
        own = {"agent_id": f"a{kind}{agent}", "agent_type": agent}
        call = {**caller, "tool_use_id": f"toolu_{kind}_{agent}", "tool_name": "Agent"}
        prompt = "Look into it."
        call_input = {"description": "Look", "prompt": prompt, "subagent_type": agent}
        told = self.ask("PreToolUse", **call, tool_input=call_input)["hookSpecificOutput"]
        facts = self.answers.read_facts(told["updatedInput"]["prompt"])
        self.ask("SubagentStart", **own)
        files, said = self.answers.name_after(f"{kind}-{agent}", self.answers.KINDS[kind](facts))
        for path, text in files.items():
            self.write(own, path, text)
        place = _LEVELS.index(agent) + 1
        below = self.call(kind, _LEVELS[place], own) if kind == "nested" and place < len(_LEVELS) else []
        for _ in range(_BLOCKS if kind == "prose" else 0):
            blocked = self.ask("SubagentStop", **own, last_assistant_message=said)
            assert blocked["decision"] == "block", blocked
            said += "\nAs I said, everything is done.\n"  # the same words again would be the same event
        stopped = self.ask("SubagentStop", **own, last_assistant_message=said)
        assert not stopped, stopped
        response = {"status": "completed", "agentId": own["agent_id"], "content": [{"type": "text", "text": said}]}
        after = self.ask("PostToolUse", **call, tool_input=call_input, tool_response=response)["hookSpecificOutput"]
        given = "\n".join(part["text"] for part in after["updatedToolOutput"]["content"])
        return [Passed(facts["session_id"], said, given), *below]

    def write(self, own: dict[str, str], path: str, text: str) -> None:
        """A file that a subagent writes, and its harness tells of."""
        file = self.root / path
        file.write_text(text, "utf-8")
        tool = {"tool_name": "Write", "tool_input": {"file_path": str(file), "content": text}}
        self.ask("PostToolUse", **own, **tool, tool_response={"type": "create"})


def referee(root: Path, kind: str) -> Sample:
    """Have a subagent of Claude Code answer; what its caller was given in the place of the answer."""
    return Sample(KINDS[kind], "referee", Session(root, load_answers()).call(kind, _LEVELS[0], {}))


# --- what is lost ----------------------------------------------------------------------------------------------------


def reach(root: Path, each: Passed) -> Reach:
    """Look for everything that the return names: in the result, and in what it points to."""
    found = re.search(r"```json\n(.*?)\n```", each.said, re.DOTALL)
    returned = json.loads(found[1]) if found else {}
    wanted = [part["path"] for part in returned.get("artifacts", [])]
    wanted += [part["message"] for part in returned.get("errors", [])]
    steps = returned.get("next_steps", [])
    wanted += [steps] if isinstance(steps, str) else steps
    shown = json.loads(each.given)["remit"]["show"]
    assert shown == f"remit show {each.session} --full", shown
    kept = json.loads(remit(root, *shown.split()[1:], "--json"))
    texts = "\n".join(text for text in kept["texts"].values() if isinstance(text, str))
    # What an agent said is kept word for word, so that nothing in it can be lost.
    lost = () if each.said.strip() in texts else ("the message",)
    inside = [text for text in wanted if json.dumps(text)[1:-1] in each.given or text in each.given]
    behind = [text for text in wanted if text not in inside and text in texts]
    lost += tuple(text for text in wanted if text not in inside and text not in behind)
    return Reach(len(inside), len(behind), lost)


# --- what came out ---------------------------------------------------------------------------------------------------


def measure(folder: Path, *, with_runs: bool = True) -> tuple[list[Sample], Reach, int]:
    """Every sample; where what the agents named is found again, and how many tokens the largest result has."""
    brokered, refereed = make_root(folder, "workspace"), make_root(folder, "claude-code")
    samples = [part for kind in KINDS for part in (supervisor(brokered, kind), referee(refereed, kind))]
    found = Reach()
    for sample in samples:
        root = brokered if sample.door == "supervisor" else refereed
        for each in sample.passed:
            found += reach(root, each)
    if with_runs:
        for program, what in (("demo.py", "the demo"), ("orchestrator.py", "the orchestrator")):
            passed = play(folder, program)
            samples.append(Sample(f"{what}, {len(passed)} delegations", "supervisor", passed))
    largest = max(count(each.given) for sample in samples for each in sample.passed)
    return samples, found, largest


def make_rows(samples: list[Sample], found: Reach, largest: int) -> list[Row]:
    """What was measured, as rows."""
    rows = [
        make_row("context", f"{sample.what} ({sample.door})", "tokens", [sample.given], peers={_WITHOUT: [sample.said]})
        for sample in samples
    ]
    rows.append(make_row("context", "the largest result", "tokens", [largest], goal=_MAX_TOKENS))
    note = f"{found.inside} are in a result, {found.behind} behind its pointer"
    what = "artifacts, next steps, errors and messages that are lost"
    rows.append(make_row("context", what, "", [len(found.lost)], goal=0, note=note))
    return rows


def render_table(samples: list[Sample]) -> str:
    """The table of docs/context.md: a line for each answer, both doors beside each other."""
    lines = ["| answer | without Remit | `remit run --json` | referee | saved |", "|---|---:|---:|---:|---:|"]
    for what in dict.fromkeys(sample.what for sample in samples):
        doors = {sample.door: sample for sample in samples if sample.what == what}
        said, given = doors["supervisor"].said, doors["supervisor"].given
        other = f"{doors['referee'].given:,}" if "referee" in doors else "—"
        share = (said - given) / said
        saved = f"{100 * share:.0f} %" if share < 0.995 else f"{100 * share:.2f} %"
        lines.append(f"| {what} | {said:,} | {given:,} | {other} | {saved.replace('-', '−')} |")  # noqa: RUF001 - a minus
    return "\n".join(lines)


def main() -> int:
    """Measure it in a folder that is removed afterwards; 1 when a goal is missed."""
    with tempfile.TemporaryDirectory(prefix="remit-context-") as folder:
        samples, found, largest = measure(Path(folder))
    if "--table" in sys.argv[1:]:
        print(render_table(samples))
        print(f"\nlargest {render_number(largest)}, in a result {found.inside}, behind {found.behind}, {found.lost}")
    return finish(make_rows(samples, found, largest))


if __name__ == "__main__":
    sys.exit(main())
