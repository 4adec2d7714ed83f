"""Returns that are not so, by family.

Owns the table. A fake does something in a workspace and then says that its work is completed: it claims files that are
not there, were there before or lie elsewhere, shows somebody else's return, says two things at once, or leaves before
whoever it handed work to is back. Controls say the truth.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.returns.formats.hyper import END_MARKER, START_MARKER
from remit.returns.formats.manifest import SENTENCES
from remit.runs.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.runs.workspace import Workspace

TRUE = "true"
"""The family of the controls."""
_OTHER = "sess_1700000000_abc123"
_TOLD = re.compile(r"You are (\S+)\. Session (\S+), depth (\d+) of")


class Site:
    """Where a fake is played, and what it knows."""

    def __init__(self, ws: Workspace, number: int) -> None:
        self.ws, self.root, self.number = ws, Path(ws.root), number
        self.path = f"out/{number}.md"
        self.topic = f"topic{number}"
        self.session = self.prompt = ""
        self.agent = "worker"

    def begin(self, prompt: str) -> None:
        """Learn what the agent is told."""
        self.prompt = prompt
        self.agent, self.session, _ = _TOLD.findall(prompt)[-1]

    def write(self, path: str | None = None, text: str = "# Report\n\nWhat was found.\n") -> Path:
        """Write a file below the root."""
        file = self.root / (path or self.path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    # --- what a return looks like -------------------------------------------------------------------------------------

    def standard(self, *paths: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any value of JSON
        """A return of the standard dialect that claims files."""
        metadata = {"session_id": self.session, "duration_seconds": 1, "agent_type": self.agent, "delegation_depth": 1,
                    "delegation_path": ["orchestrator", self.agent]}  # fmt: skip
        return {
            "status": "completed",
            "summary": "The report is written. It says what was found.",
            "artifacts": [{"type": "report", "path": path, "summary": "The report"} for path in paths or (self.path,)],
            "metadata": metadata | changes.pop("metadata", {}),
            "errors": [],
        } | changes

    def hyper(self, *paths: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any value of JSON
        """A return of the hyper dialect."""
        points = ["One thing was found.", "Another was not.", "A third is open."]
        return {
            "meta": {"agent_name": self.agent, "status": "complete", "execution_time_ms": 900}
            | changes.pop("meta", {}),
            "artifacts": [{"type": "document", "path": path, "summary": "The report.", "key_points": points}
                          for path in paths or (self.path,)],
            "next_steps": ["Read the report."],
        } | changes  # fmt: skip

    def entry(self, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any value of JSON
        """An entry of the manifest."""
        date = time.strftime("%Y-%m-%d")
        return {
            "id": f"{self.topic}-{date}", "file": f"{date}_{self.topic}.md", "title": "Topic", "date": date,
            "status": "complete", "topics": ["topic"], "actionable": True, "needs_followup": [], "linked_tasks": [],
            "key_findings": ["One thing was found.", "Another was not.", "A third is open."],
        } | changes  # fmt: skip

    def append(self, entry: dict[str, Any] | str, findings: str | None = None) -> None:
        """Append to the manifest, and write the findings."""
        folder = self.root / "claudedocs" / "agent-outputs"
        folder.mkdir(parents=True, exist_ok=True)
        if findings is not None:
            name = entry["file"] if isinstance(entry, dict) else "findings.md"
            (folder / name).write_text(findings, "utf-8")
        with (folder / "MANIFEST.jsonl").open("a") as file:
            file.write(f"{json.dumps(entry) if isinstance(entry, dict) else entry}\n")


FINDINGS = "# Topic\n" + "".join(
    f"\n## {name}\n- One thing was found.\n"
    for name in ("Summary", "Findings", "Recommendations", "Sources", "Linked Tasks")
)


class Fake(NamedTuple):
    """A return that is not so."""

    family: str
    name: str
    say: Callable[[Site], Any]
    """Its final message."""
    work: Callable[[Site], object] | None = None
    """What it does first."""
    before: Callable[[Site], object] | None = None
    """What is there when it begins."""
    dialect: str = "standard"
    uses: tuple[Use, ...] | None = None
    """The tools that a harness tells of; None: it is played by a function, of which nobody can tell."""
    works: bool = True
    """Whether the harness writes the file."""


def fence(payload: object, before: str = "Done.\n\n") -> str:
    """In a code fence at the end."""
    text = payload if isinstance(payload, str) else json.dumps(payload, indent=1)
    return f"{before}```json\n{text}\n```\n"


def mark(payload: object, before: str = "Done.\n\n") -> str:
    """Between the marks of the hyper dialect."""
    return f"{before}{START_MARKER}\n{fence(payload, '')}{END_MARKER}\n"


# --- the truth --------------------------------------------------------------------------------------------------------


def _claim(site: Site) -> str:
    return fence(site.standard())


def _claim_hyper(site: Site) -> str:
    return mark(site.hyper())


def list_controls() -> Iterator[Fake]:
    """Those that are to be believed."""
    yield Fake(TRUE, "standard", _claim, Site.write)
    yield Fake(TRUE, "standard, changed", _claim, lambda site: site.write(text="# Other\n\nNew.\n"), Site.write)
    yield Fake(TRUE, "hyper", _claim_hyper, Site.write, dialect="hyper")
    yield Fake(TRUE, "manifest", _say_complete, lambda site: site.append(site.entry(), FINDINGS), dialect="manifest")


# --- claims -----------------------------------------------------------------------------------------------------------


def _say(*paths: str) -> Callable[[Site], str]:
    return lambda site: fence(site.standard(*(path.replace("PATH", site.path) for path in paths)))


def _leave(make: Callable[[Path], object]) -> Callable[[Site], None]:
    """Do something where the report is to be."""

    def work(site: Site) -> None:
        file = site.root / site.path
        file.parent.mkdir(parents=True, exist_ok=True)
        make(file)

    return work


def _touch(file: Path) -> None:
    later = time.time() + 5
    os.utime(file, (later, later))


def _make_and_remove(file: Path) -> None:
    file.write_text("# Report\n")
    file.unlink()


def _link_outside(file: Path) -> None:
    outside = file.parents[2] / "outside.md"
    outside.write_text("# Outside\n")
    file.symlink_to(outside)


def _link_folder(file: Path) -> None:
    outside = file.parents[2] / f"outside-{file.stem}"
    outside.mkdir()
    (outside / "report.md").write_text("# Outside\n")
    file.symlink_to(outside)


def list_claims() -> Iterator[Fake]:
    """Files that are not there, not new, not files, or not here."""
    wrong = {
        "not there": ("PATH",),
        "one of two": ("PATH", "out/never.md"),
        "a folder": ("out",),
        "the root": (".",),
        "above": ("../outside.md",),
        "above and back": ("../x/../PATH",),
        "absolute": ("/etc/hostname",),
        "a home": ("~/.bashrc",),
        "a device": ("/dev/null",),
        "this process": ("/proc/self/root/etc/hostname",),
        "an address": ("file:///etc/hostname",),
        "a link on the web": ("https://example.org/report.md",),
        "a star": ("out/*.md",),
        "nothing": ("",),
        "a blank": ("<path to the report>",),
        "spaces": ("   ",),
        "with NUL": ("out/\0.md",),
        "with a line break": ("out/a\nb.md",),
        "too long": ("a" * 5000 + ".md",),
        "too deep": ("a/" * 2000 + "b.md",),
        "backslashes": ("..\\outside.md",),
        "a slash behind": ("PATH/",),
        "a part of it": ("PATH/more.md",),
        "the list": ("PATH, out/other.md",),
        "a drive": ("C:\\report.md",),
        "with a variable": ("$HOME/report.md",),
        "other case": ("OUT/REPORT.MD",),
        "up in the middle": ("out/../../x.md",),
        "many": tuple(f"out/never-{n}.md" for n in range(50)),
        "the ledger": (".remit/ledger.db",),
        "of git": (".git/HEAD",),
    }
    for name, paths in wrong.items():
        yield Fake("claims", name, _say(*paths))
    there: dict[str, Callable[[Path], object]] = {
        "was there": lambda _: None,
        "only touched": _touch,
        "written again as it was": lambda file: file.write_text(file.read_text()),
        "its mode": lambda file: file.chmod(0o600),
        "moved away and back": lambda file: file.rename(file.with_suffix(".x")).rename(file),
        "emptied": lambda file: file.write_text(""),
        "removed": lambda file: file.unlink(),
    }
    for name, make in there.items():
        yield Fake("stale", name, _claim, _leave(make), Site.write)
    made: dict[str, Callable[[Path], object]] = {
        "empty": lambda file: file.write_text(""),
        "made and removed": _make_and_remove,
        "a FIFO": os.mkfifo,
        "a folder": lambda file: file.mkdir(),
        "a link outside": _link_outside,
        "a folder outside": _link_folder,
        "a link to itself": lambda file: file.symlink_to(file.name),
        "a link to nothing": lambda file: file.symlink_to("nothing.md"),
        "a link to a device": lambda file: file.symlink_to("/dev/zero"),
        "a link to this process": lambda file: file.symlink_to("/proc/self/environ"),
        "a link to /etc": lambda file: file.symlink_to("/etc/hostname"),
    }
    for name, make in made.items():
        yield Fake("no work", name, _claim, _leave(make))


# --- who says it ------------------------------------------------------------------------------------------------------


def _change(**changes: Any) -> Callable[[Site], str]:  # noqa: ANN401 - any value of JSON
    """Say something else of the work."""
    return lambda site: fence(site.standard(**changes))


def list_identities() -> Iterator[Fake]:
    """Returns of somebody else, or of another time."""
    names: dict[str, dict[str, Any]] = {
        "another session": {"session_id": _OTHER},
        "no session": {"session_id": ""},
        "a session like it": {"session_id": "sess_1_a"},
        "a number": {"session_id": 7},
        "a list": {"session_id": [_OTHER]},
        "a blank": {"session_id": "<session>"},
        "an object": {"session_id": {"id": _OTHER}},
        "a true one": {"session_id": True},
    }
    for name, metadata in names.items():
        yield Fake("session", name, _change(metadata=metadata), Site.write)
    for name, alter in {
        "in capitals": str.upper, "with a space": lambda text: f"{text} {_OTHER}", "shortened": lambda text: text[:-1],
        "longer": lambda text: f"{text}x", "backwards": lambda text: text[::-1],
    }.items():  # fmt: skip

        def play(site: Site, alter: Callable[[str], str] = alter) -> str:
            return fence(site.standard(metadata={"session_id": alter(site.session)}))

        yield Fake("session", name, play, Site.write)
    yield Fake("session", "two of them", _change(session_id=_OTHER), Site.write)
    yield Fake("replay", "of an earlier session", _replay, Site.write)
    yield Fake("replay", "of an earlier session, nothing done", _replay)
    yield Fake("replay", "quoted from a file", lambda site: f"The file says:\n\n{_quote(_replay(site))}")


def _replay(site: Site) -> str:
    return fence(site.standard()).replace(site.session, _OTHER)


def _quote(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.splitlines())


# --- two things at once -----------------------------------------------------------------------------------------------


def list_doubles() -> Iterator[Fake]:
    """Two returns, or two values of a key."""
    fault = {"type": "execution", "message": "It broke.", "recoverable": True, "recommendation": "Try again"}

    def failed(site: Site) -> dict[str, Any]:
        return site.standard(status="failed", errors=[fault], artifacts=[])

    pairs: dict[str, Callable[[Site], str]] = {
        "failed, then completed": lambda site: fence(failed(site)) + "\n" + fence(site.standard()),
        "completed, then failed": lambda site: fence(site.standard()) + "\n" + fence(failed(site)),
        "other files": lambda site: fence(site.standard("agents/worker.md")) + "\n" + fence(site.standard()),
        "one bare, one fenced": lambda site: json.dumps(failed(site)) + "\n\n" + fence(site.standard()),
        "one quoted": lambda site: _quote(fence(failed(site))) + "\n" + _quote(fence(site.standard())),
        "in one fence": lambda site: fence(f"{json.dumps(failed(site))}\n{json.dumps(site.standard())}"),
        "in a list": lambda site: fence(json.dumps([failed(site), site.standard()])),
        "three": lambda site: "".join(fence(each) for each in (site.standard(), failed(site), site.standard())),
        "in a comment": lambda site: (
            f"<!-- {json.dumps(failed(site))} -->\n{json.dumps(site.standard())}\n" + json.dumps(failed(site))
        ),
        "of another agent": lambda site: (
            fence(site.standard(metadata={"agent_type": "other"})) + fence(site.standard())
        ),
        "failed inside": lambda site: fence(site.standard(result=failed(site))) + fence(failed(site)),
    }
    for name, said in pairs.items():
        yield Fake("two returns", name, said, Site.write)
    twice = {
        "status": '"status": "failed", ',
        "status behind": None,
        "errors": f'"errors": [{json.dumps(fault)}], ',
        "artifacts": '"artifacts": [], ',
        "summary": '"summary": "It could not be done at all.", ',
        "metadata": f'"metadata": {{"session_id": "{_OTHER}"}}, ',
        "status, escaped": '"stat\\u0075s": "failed", ',
    }
    for name, part in twice.items():

        def play(site: Site, part: str | None = part) -> str:
            text = json.dumps(site.standard())
            return fence(f'{text[:-1]}, "status": "failed"}}' if part is None else f"{{{part}{text[1:]}")

        yield Fake("two values", name, play, Site.write)
    inner = ('"session_id": "' + _OTHER + '", ', '"agent_type": "other", ', '"delegation_depth": 2, ')
    for part in inner:

        def inside(site: Site, part: str = part) -> str:
            return fence(json.dumps(site.standard()).replace('"metadata": {', '"metadata": {' + part))

        yield Fake("two values", f"{part.split(chr(34))[1]} in the metadata", inside, Site.write)


# --- not what was agreed ----------------------------------------------------------------------------------------------


def list_shapes() -> Iterator[Fake]:
    """Completed and not; blanks; other forms; nothing."""
    fault = {"type": "execution", "message": "It broke.", "recoverable": True, "recommendation": "Try again"}
    changed: dict[str, dict[str, Any]] = {
        "completed with an error": {"errors": [fault]},
        "completed with errors": {"errors": [fault, fault]},
        "errors that are a text": {"errors": "it broke"},
        "errors that are an object": {"errors": fault},
        "an empty error": {"errors": [{}]},
        "an error that is null": {"errors": [None]},
        "a status that is a list": {"status": ["completed"]},
        "a status that is true": {"status": True},
        "a status that is null": {"status": None},
        "a status that is a number": {"status": 1},
        "two statuses": {"status": "completed|failed"},
        "a blank status": {"status": "<completed or failed>"},
        "not a status": {"status": "incomplete"},
        "not completed": {"status": "not completed"},
        "nearly": {"status": "almost completed"},
        "a question": {"status": "completed?"},
        "no summary": {"summary": ""},
        "a summary that is null": {"summary": None},
        "a summary that is a list": {"summary": ["x"]},
        "a blank summary": {"summary": "<what came out: 2 to 5 sentences>"},
        "dots": {"summary": "..."},
        "artifacts that are null": {"artifacts": None},
        "artifacts that are a text": {"artifacts": "out/report.md"},
        "artifacts that are numbers": {"artifacts": [1]},
        "an artifact without a path": {"artifacts": [{"type": "report", "summary": "x"}]},
        "an artifact of no kind": {"artifacts": [{"type": "nonsense", "path": "out/x.md"}]},
        "a path that is a list": {"artifacts": [{"type": "report", "path": ["out/x.md"]}]},
        "a path that is null": {"artifacts": [{"type": "report", "path": None}]},
        "metadata that are a list": {"metadata": {}, "status": "completed", "errors": [None]},
    }
    for name, changes in changed.items():
        yield Fake("shape", name, _change(**changes), Site.write)
    for key in ("status", "summary", "artifacts", "metadata"):

        def without(site: Site, key: str = key) -> str:
            payload = site.standard()
            del payload[key]
            return fence(payload)

        yield Fake("shape", f"without {key}", without, Site.write)
    for share in range(10, 75, 5):

        def cut(site: Site, share: int = share) -> str:
            text = fence(site.standard())
            return text[: len(text) * share // 100]

        yield Fake("cut", f"at {share} %", cut, Site.write)
    words: dict[str, Callable[[Site], str]] = {
        "nothing": lambda _: "",
        "spaces": lambda _: " \n\n ",
        "prose": lambda _: "All is done and every test passes.",
        "a word": lambda _: "completed",
        "a status in prose": lambda _: "status: completed",
        "a fence": lambda _: "```json\n```",
        "an empty object": lambda _: fence("{}"),
        "an empty list": lambda _: fence("[]"),
        "null": lambda _: fence("null"),
        "the prompt again": lambda site: site.prompt,
        "Python": lambda site: str(fence(repr(site.standard(errors=None)))).replace("completed", ""),
        "a hundred braces": lambda _: "{" * 100_000,
        "a promise": lambda site: f"I will write {site.path} and return completed.",
        "YAML": lambda site: f"```yaml\nstatus: completed\nsummary: done\nartifacts: [{site.path}]\n```\n",
        "XML": lambda site: f"<return><status>completed</status><path>{site.path}</path></return>",
        "in a JSON string": lambda site: json.dumps({"result": "status completed", "session": site.session}),
        "base64": lambda _: "eyJzdGF0dXMiOiJjb21wbGV0ZWQifQ==",
        "bytes": lambda _: "\x00\x01\x02\ud800",
        "a return that somebody else is to fill": lambda site: fence(
            site.standard(summary="{{summary}}", status="{{status}}")
        ),
        "with NaN for a status": lambda site: fence(json.dumps(site.standard()).replace('"completed"', "NaN")),
        "with an infinite depth": lambda site: fence(
            json.dumps(site.standard()).replace('"delegation_depth": 1', '"delegation_depth": Infinity')
        ),
    }
    for name, said in words.items():
        yield Fake("words", name, said, Site.write)


# --- other formats ----------------------------------------------------------------------------------------------------


def list_hyper() -> Iterator[Fake]:
    """The hyper dialect."""
    error = {"code": "EXECUTION_FAILED", "message": "It broke."}
    undone: dict[str, Callable[[Site], str]] = {
        "not there": lambda site: mark(site.hyper()),
        "outside": lambda site: mark(site.hyper("../x.md")),
        "absolute": lambda site: mark(site.hyper("/etc/hostname")),
        "one of two": lambda site: mark(site.hyper(site.path, "out/never.md")),
    }
    for name, said in undone.items():
        yield Fake("hyper", name, said, dialect="hyper")
    yield Fake("hyper", "was there", _claim_hyper, None, Site.write, "hyper")
    yield Fake("hyper", "empty", _claim_hyper, lambda site: site.write(text=""), dialect="hyper")
    done: dict[str, Callable[[Site], str]] = {
        "complete with an error": lambda site: mark(site.hyper(error=error)),
        "error, then complete": lambda site: (
            mark(site.hyper(meta={"status": "error"}, error=error)) + mark(site.hyper())
        ),
        "complete, then error": lambda site: (
            mark(site.hyper()) + mark(site.hyper(meta={"status": "error"}, error=error))
        ),
        "marks the wrong way round": lambda site: (
            f"{END_MARKER}\n{fence(site.hyper(meta={'status': 'error'}), '')}{START_MARKER}"
        ),
        "no end mark and cut": lambda site: mark(site.hyper())[:200],
        "another agent": lambda site: mark(site.hyper(meta={"agent_name": "other"})),
        "a blank status": lambda site: mark(site.hyper(meta={"status": "<complete or error>"})),
        "without steps": lambda site: mark({key: value for key, value in site.hyper().items() if key != "next_steps"}),
        "without files": lambda site: mark({key: value for key, value in site.hyper().items() if key != "artifacts"}),
        "two statuses": lambda site: mark(
            json.dumps(site.hyper()).replace('"status": "complete"', '"status": "error", "status": "complete"')
        ),
    }
    for name, said in done.items():
        yield Fake("hyper", name, said, Site.write, dialect="hyper")


def _say_complete(_: Site) -> str:
    return SENTENCES["complete"]


def list_manifest() -> Iterator[Fake]:
    """The manifest's dialect: the sentence alone proves nothing."""

    def add(findings: str | None = FINDINGS, **changes: Any) -> Callable[[Site], None]:  # noqa: ANN401 - any JSON
        return lambda site: site.append(site.entry(**changes), findings)

    works: dict[str, Callable[[Site], None]] = {
        "no line": lambda _: None,
        "a line without its file": add(None),
        "an empty file": add(""),
        "partial in the line": add(status="partial", needs_followup=["BLOCKED: no access"]),
        "blocked in the line": add(status="blocked", needs_followup=["BLOCKED: no access"]),
        "no status": add(status=""),
        "no date": add(date=""),
        "a file above": add(None, file="../../../x.md"),
        "an absolute file": add(None, file="/etc/hostname"),
        "a blank": add(title="<title>", key_findings=["<finding>"]),
        "a torn line": lambda site: site.append(json.dumps(site.entry())[:80]),
        "no JSON": lambda site: site.append("complete"),
        "a list": lambda site: site.append("[1]"),
        "two statuses": lambda site: site.append('{"status":"blocked",' + json.dumps(site.entry())[1:]),
    }
    for name, work in works.items():
        yield Fake("manifest", name, _say_complete, work, dialect="manifest")
    yield Fake(
        "manifest", "the line instead of the sentence", lambda site: json.dumps(site.entry()), dialect="manifest"
    )
    yield Fake("manifest", "prose instead of the sentence", lambda _: "All done!", add(), dialect="manifest")
    yield Fake("manifest", "somebody else's line", _say_complete, None, add(), "manifest")
    yield Fake("manifest", "a file that was there", _say_complete, add(None), add(status="partial"), "manifest")


# --- who leaves too early ---------------------------------------------------------------------------------------------


def _hand_on(count: int) -> Callable[[Site], Any]:
    """Hand work to others and return before they do."""

    async def play(site: Site) -> str:
        async def sit(prompt: str) -> str:
            await asyncio.sleep(0.2)
            return prompt

        for number in range(count):
            await site.ws.start(Request(f"helper{number}", "Help.", function=sit, finishes=False, evidence=False))
        site.write()
        return fence(site.standard())

    return play


def list_leavers() -> Iterator[Fake]:
    """Completed, and somebody below is not back."""
    for count in (1, 2, 5):
        yield Fake("not back", f"{count} of them", _hand_on(count))


# --- who used no tool -------------------------------------------------------------------------------------------------


class Use(NamedTuple):
    """A tool that the harness tells of."""

    name: str
    failed: bool = False
    denied: bool = False


def _render_stream(site: Site, uses: tuple[Use, ...]) -> str:
    """What Claude Code would print of such a session."""
    blocks = [{"type": "tool_use", "id": f"t{place}", "name": use.name, "input": {"file_path": site.path}}
              for place, use in enumerate(uses)]  # fmt: skip
    results = [{"type": "tool_result", "tool_use_id": f"t{place}", "is_error": use.failed}
               for place, use in enumerate(uses)]  # fmt: skip
    denials = [{"tool_name": use.name, "tool_use_id": f"t{place}"} for place, use in enumerate(uses) if use.denied]
    lines: list[dict[str, Any]] = [
        {"type": "system", "subtype": "init", "session_id": "s"},
        {"type": "assistant", "message": {"id": "m", "content": blocks}, "session_id": "s"},
        {"type": "user", "message": {"content": results}},
        {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "permission_denials": denials,
         "session_id": "s", "result": fence(site.standard())},
    ]  # fmt: skip
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def write_harness(folder: Path, site: Site, uses: tuple[Use, ...], *, works: bool) -> None:
    """A program that calls itself claude: it prints a stream, and somebody writes the file meanwhile."""
    site.session = "SESSION"
    (folder / "stream").write_text(_render_stream(site, uses))
    (folder / "report.md").write_text(f"# Report\n\n{site.number}\n")
    act = f"mkdir -p '{site.root}/out'; cp '{folder}/report.md' '{site.root}/{site.path}'" if works else ":"
    program = folder / "claude"
    program.write_text(f'#!/bin/sh\ncat >/dev/null\n{act}\nsed "s/SESSION/$REMIT_SESSION_ID/g" "{folder}/stream"\n')
    program.chmod(0o700)


def list_tools() -> Iterator[Fake]:
    """What the harness tells of, and the file that is there all the same."""
    used: dict[str, tuple[Use, ...]] = {
        "none at all": (),
        "only a failed one": (Use("Write", failed=True),),
        "only a denied one": (Use("Write", denied=True),),
        "only failed and denied ones": (Use("Write", failed=True), Use("Bash", denied=True)),
        "only reading": (Use("Read"), Use("Grep")),
        "reading, and writing that failed": (Use("Read"), Use("Edit", failed=True)),
    }
    yield Fake(TRUE, "with a tool", str, uses=(Use("Write"),))
    yield Fake("no tool", "and no file", str, uses=(Use("Write"),), works=False)
    for name, uses in used.items():
        yield Fake("no tool", name, str, uses=uses)


def list_fakes() -> list[Fake]:
    """All of them."""
    lists = (list_controls, list_claims, list_identities, list_doubles, list_shapes, list_hyper, list_manifest,
             list_leavers, list_tools)  # fmt: skip
    return [fake for each in lists for fake in each()]
