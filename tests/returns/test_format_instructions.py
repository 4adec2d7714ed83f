"""The instructions: short, filled with what is known, obeyed into an accepted return, and useless when echoed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit import check, instructions
from remit.model import Verdict
from remit.returns.formats import FORMATS
from remit.returns.formats.manifest import SENTENCES
from remit.returns.token_count import count_tokens
from tests.support.return_samples import ISSUED, OTHER, Payload

TOKEN_LIMIT = 300
AGENT, DEPTH, ROUTE = "cache-planner", 2, ("orchestrator", "plan", "cache-planner")
TOPIC, DAY = "cache-choice", "2026-01-05"

FULL: dict[str, dict[str, object]] = {
    "standard": {"session_id": ISSUED, "agent": AGENT, "depth": DEPTH, "path": ROUTE},
    "hyper": {"agent": AGENT},
    "manifest": {"topic": TOPIC, "date": DAY, "task_id": "T7"},
}
STATUSES = [(name, word) for name, return_format in FORMATS.items() for word in return_format.statuses]


def write(name: str, **known: object) -> str:
    return instructions(name, **known)  # type: ignore[arg-type]


class ObedientAgent:
    """Reads the instructions and does what they say: no more, no less, and nothing that they do not mention."""

    def __init__(self, text: str, root: Path) -> None:
        self.text = text
        self.root = root

    def answer(self, word: str) -> str:
        """The final message, after the files that it speaks of were written."""
        if "MANIFEST.jsonl" in self.text:
            return self._research(word)
        shown = re.search(r"```json\n(.*?)\n```", self.text, re.DOTALL)
        assert shown is not None
        payload = json.loads(shown[1])
        self._fill(payload, word)
        if "meta" not in payload and word != "completed":
            payload["errors"] = [self._read_error()]
        if word == "error":
            payload["error"] = {"code": "BUILD_FAILED", "message": "The build does not start"}
        block = f"```json\n{json.dumps(payload, indent=2)}\n```"
        marker = re.search(r"^(<!-- \w+ -->)\n```.*?^```\n(<!-- \w+ -->)", self.text, re.DOTALL | re.MULTILINE)
        return f"The work is done.\n\n{marker[1]}\n{block}\n{marker[2]}\n" if marker else f"All set.\n\n{block}"

    def _research(self, word: str) -> str:
        file = re.search(r"findings to (\S+) with the sections: (.*)\.", self.text)
        entry = re.search(r"^\{.*\}$", self.text, re.MULTILINE)
        assert file is not None
        assert entry is not None
        payload = json.loads(_name_topic(entry[0]))
        self._fill(payload, word)
        payload["key_findings"] = ["Keep the cache small.", "Measure before changing it.", "Drop the second layer."]
        if word != "complete":
            payload["needs_followup"] = ["BLOCKED:no access to staging"]
        self._write(_name_topic(file[1]), "\n\n".join(file[2].replace("# title", "# Caches").split(", ")))
        with (self.root / Path(_name_topic(file[1])).parent / "MANIFEST.jsonl").open("a") as manifest:
            manifest.write(json.dumps(payload, separators=(",", ":")) + "\n")
        sentences = re.findall(r'"(Research \w+\. [^"]+)"', self.text)
        return next(str(each) for each in sentences if each.startswith(f"Research {word}"))

    def _fill(self, value: object, word: str) -> None:
        """Replace every blank, each by what it asks for."""
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in list(items):
            if isinstance(inner, str) and re.fullmatch(r"<.+>", inner):
                value[key] = self._choose(str(key), inner, word)  # type: ignore[index]
            self._fill(inner, word)

    def _choose(self, key: str, blank: str, word: str) -> object:
        if f" or {word}" in blank or f"<{word} or" in blank:
            return word
        if " or " in blank and key == "type":
            return {"report": "plan", "document": "document"}[blank[1:].partition(" or ")[0]]
        if "number" in blank or "seconds" in blank:
            return 41
        if key == "path":
            return self._write("docs/caches.md", "# Caches\n")
        return {"session_id": ISSUED, "agent_type": AGENT, "agent_name": AGENT, "1": AGENT}.get(
            key, "Compared two caches. Kept the first."
        )

    def _read_error(self) -> Payload:
        """The form of an error is described in words; its type is one of a list."""
        shown = re.search(r'\{"type": "([^"]*)", "message".*?\}', self.text)
        assert shown is not None
        error = json.loads(shown[0].replace("true or false", "true"))
        filled = {key: "The cache server is down" if value == "<…>" else value for key, value in error.items()}
        return {**filled, "type": shown[1].strip("<>").partition(",")[0]}

    def _write(self, name: str, text: str) -> str:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return name


def _name_topic(text: str) -> str:
    return text.replace("<topic-slug>", TOPIC).replace("<YYYY-MM-DD>", DAY)


def judge(name: str, text: str, root: Path) -> Verdict:
    bound = ISSUED if name == "standard" else None
    return check(text, format=name, session_id=bound, agent=AGENT if name != "manifest" else None, root=root)


@pytest.mark.parametrize("known", ["all", "nothing"])
@pytest.mark.parametrize(("name", "word"), STATUSES)
def test_an_agent_that_obeys_is_accepted(tmp_path: Path, name: str, word: str, known: str) -> None:
    """R2.15: for every format and every status, with the files on disk."""
    text = write(name, **(FULL[name] if known == "all" else {}))
    answer = ObedientAgent(text, tmp_path).answer(word)
    verdict = judge(name, answer, tmp_path)
    assert verdict.name == "accepted", verdict.diagnostics
    assert verdict.returned is not None
    assert verdict.returned.status == FORMATS[name].statuses[word]
    # Every blank is short here, so what is wanted (three key points, say) may be missing; nothing else may.
    assert {finding.code for finding in verdict.diagnostics} <= {"RET071", "RET056"}


@pytest.mark.parametrize("known", ["all", "nothing"])
@pytest.mark.parametrize("name", FORMATS)
def test_an_echo_is_never_accepted(tmp_path: Path, name: str, known: str) -> None:
    """R0.2: neither the whole text nor the block in it is a return."""
    text = write(name, **(FULL[name] if known == "all" else {}))
    blocks = re.findall(r"```json\n.*?\n```|^\{.*\}$", text, re.DOTALL | re.MULTILINE)
    assert blocks
    for echo in [text, *blocks]:
        for return_format in (None, name):
            assert not check(echo, format=return_format).accepted
            assert not check(echo, format=return_format, session_id=ISSUED, root=tmp_path).accepted


@pytest.mark.parametrize("word", SENTENCES)
def test_an_echoed_manifest_line_is_refused_as_a_template(tmp_path: Path, word: str) -> None:
    """R0.2: a line in which only the status was filled in."""
    entry = re.search(r"^\{.*\}$", write("manifest", topic=TOPIC, date=DAY), re.MULTILINE)
    assert entry is not None
    manifest = tmp_path / "MANIFEST.jsonl"
    payload = {**json.loads(entry[0]), "status": word, "needs_followup": ["BLOCKED:no access"]}
    manifest.write_text(json.dumps(payload) + "\n")
    (tmp_path / payload["file"]).write_text("# Title\n")
    verdict = check(SENTENCES[word], manifest=manifest)
    assert verdict.name == "degenerate"


BLANK = re.compile(r"<[^<>!][^<>]*>")


def list_blanks(value: object, *keys: str | int) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text of a template that has a blank in it, and the keys that lead to it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if isinstance(inner, str) and BLANK.search(inner):
            yield (*keys, key), inner
        yield from list_blanks(inner, *keys, key)


def list_shown(name: str, known: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every blank that the instructions print: in the object, and in the error that is shown below it."""
    text = write(name, **(FULL[name] if known == "all" else {}))
    shown = re.search(r"```json\n(.*?)\n```|^(\{.*\})$", text, re.DOTALL | re.MULTILINE)
    assert shown is not None
    found = [*list_blanks(json.loads(shown[1] or shown[2]))]
    error = re.search(r'\{"(?:type|code)": "<[^{}]*\}', text.replace(shown[0], ""))
    if error is not None:
        holder = ("errors", 0) if name == "standard" else ("error",)
        found += list_blanks(json.loads(error[0].replace("true or false", "true")), *holder)
    blanks = BLANK.findall(re.sub(r"every <blank> replaced", "", text))
    assert {blank for _, each in found for blank in BLANK.findall(each)} == set(blanks), "the test sees every blank"
    yield from found


BLANKS = [
    (name, known, keys, blank)
    for name in FORMATS
    for known in ("all", "nothing")
    for keys, blank in list_shown(name, known)
]


@pytest.mark.parametrize(("name", "known", "keys", "blank"), BLANKS, ids=lambda value: str(value)[:40])
def test_one_blank_that_is_left_is_refused(
    tmp_path: Path, name: str, known: str, keys: tuple[str | int, ...], blank: str
) -> None:
    """R0.2: each blank of the instructions by itself, in a return that is filled in otherwise."""
    word = {"standard": "partial", "hyper": "error", "manifest": "partial"}[name]
    answer = ObedientAgent(write(name, **(FULL[name] if known == "all" else {})), tmp_path).answer(word)
    assert judge(name, answer, tmp_path).accepted
    manifest = next(tmp_path.rglob("MANIFEST.jsonl"), None)
    filled = (manifest.read_text() if manifest else re.findall(r"```json\n(.*?)\n```", answer, re.DOTALL)[-1]).strip()
    payload = json.loads(filled)
    holder = payload
    for key in keys[:-1]:
        holder = holder[key]
    holder[keys[-1]] = blank
    if manifest:
        manifest.write_text(json.dumps(payload) + "\n")
    verdict = judge(name, answer.replace(filled, json.dumps(payload)), tmp_path)
    pointer = "".join(f"/{key}" for key in keys)
    assert ("RET011", pointer) in {(finding.code, finding.pointer) for finding in verdict.diagnostics}
    assert not verdict.accepted


@pytest.mark.parametrize("name", FORMATS)
def test_instructions_are_short(name: str) -> None:
    """R2.15: they go into every agent's prompt."""
    pytest.importorskip("splintr", reason="the extra [tokens] is not installed")
    for text in (write(name), write(name, **FULL[name])):
        tokens = count_tokens(text)
        assert tokens is not None
        assert 50 < tokens < TOKEN_LIMIT


def test_what_is_known_is_filled_in() -> None:
    """R2.1: the session id is passed on."""
    text = write("standard", **FULL["standard"])
    assert ISSUED in text
    assert json.dumps(list(ROUTE)) in text
    assert f'"delegation_depth": {DEPTH}' in text
    assert AGENT in write("hyper", **FULL["hyper"])
    manifest = write("manifest", **FULL["manifest"], output_dir="notes")
    assert f"notes/{DAY}_{TOPIC}.md" in manifest
    assert '"linked_tasks":["T7"]' in manifest
    assert "<topic-slug>" not in manifest


def test_another_session_does_not_fit(tmp_path: Path) -> None:
    """R0.11: the answer to one delegation is not the answer to another."""
    answer = ObedientAgent(write("standard", **FULL["standard"]), tmp_path).answer("completed")
    assert check(answer, session_id=OTHER, root=tmp_path).name == "missing"
