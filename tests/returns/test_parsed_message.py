"""Readings and verdicts: what is told later about a message that was judged at once."""

import json
import sys
import time

import pytest

from remit import check
from remit.model import ArtifactFacts, Expectation, Verdict
from remit.returns import check as check_values
from remit.returns import read_message
from remit.returns.parsed_message import ParsedMessage
from remit.returns.tolerant_json import MAX_DEPTH, MAX_DIGITS, MAX_VALUES
from tests.support.return_samples import ISSUED, cut_out, entry, fenced, hyper, line, marked, pretty, sentence, standard

PATIENCE_SECONDS = 2.0 if sys.gettrace() is None else 30.0  # measuring coverage takes its time
"""Of the processor: far more than any of these should take, on any machine."""


@pytest.mark.parametrize(
    ("text", "transport"),
    [(pretty(standard()), "message"), (fenced(standard()), "block"), (marked(hyper()), "block"), ("Done.", None)],
)
def test_the_transport_is_told(text: str, transport: str | None) -> None:
    """C10: one envelope, four transports; the file is the fourth and takes a disk."""
    assert check(text).transport == transport


def test_the_manifest_is_a_transport_of_its_own() -> None:
    """C10: a sentence plus a manifest line."""
    verdict = check_values(sentence(), manifest_tail=line(entry()))
    assert (verdict.transport, verdict.format, verdict.name) == ("manifest", "manifest", "accepted")


def test_the_last_line_of_the_manifest_is_the_entry() -> None:
    """R4.2: earlier lines are other people's, blank ones nobody's."""
    tail = f"{line(entry({'/status': 'blocked'}))}\n{line(entry())}\n\n  \n"
    assert check_values(sentence(), manifest_tail=tail).payload == entry()


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_a_line_break_ends_a_line_of_the_manifest(char: str) -> None:
    """R4.7: JSON allows other separators inside a text, as they are or escaped."""
    title = f"One{char}two"
    raw = json.dumps(entry({"/title": title}), ensure_ascii=ord(char) < 0x20, separators=(",", ":"))
    assert check_values(sentence(), manifest_tail=raw).payload == entry({"/title": title})


def test_a_repair_is_told_once_where_it_was_first_needed() -> None:
    text = pretty(standard()).replace("\n  }", ",\n  }").replace("\n}", ",\n}")
    verdict = check(text)
    assert verdict.name == "repaired"
    [repair] = verdict.repairs
    assert repair.kind == "trailing_comma"
    assert repair.message
    assert repair.place is not None
    assert repair.place.line == next(n for n, row in enumerate(text.split("\n"), 1) if row.strip() == "},")


def test_a_refused_message_has_its_repairs_told_too() -> None:
    verdict = check(pretty(standard({"/status": "success"})).replace("[]\n}", "[],\n}"))
    assert verdict.name == "invalid"
    assert [repair.kind for repair in verdict.repairs] == ["trailing_comma"]


def test_an_accepted_return_has_its_findings_placed() -> None:
    text = fenced(standard({"/summary": "Done."}))
    [finding] = check(text).diagnostics
    assert finding.place is not None
    assert cut_out(text, finding.place) == '"Done."'


def test_a_verdict_speaks_for_itself() -> None:
    assert repr(check(fenced(standard()))) == "<Verdict accepted format=standard status=completed>"
    assert repr(check("Done.")) == "<Verdict missing format=None status=None>"


def test_a_refused_reading_builds_nothing() -> None:
    reading = read_message("Done.", return_format=None, expectation=Expectation())
    assert reading.paths == []
    with pytest.raises(ValueError, match="accepted"):
        reading.build()


def test_paths_that_lead_outside_are_not_worth_a_look() -> None:
    """R0.6: nobody stats /etc/passwd because an agent named it."""
    artifacts = [{"type": "plan", "path": path, "summary": "x"} for path in ("a.md", "/etc/passwd", "../b")]
    reading = read_message(fenced(standard({"/artifacts": artifacts})), return_format=None, expectation=Expectation())
    assert isinstance(reading, ParsedMessage)
    assert reading.paths == ["a.md"]


def test_evidence_can_refuse_a_clean_return() -> None:
    """R0.12: what is on disk decides last."""
    path = standard()["artifacts"][0]["path"]
    for state, name in (("file", "accepted"), ("missing", "invalid")):
        facts = {path: ArtifactFacts(path, state, 1)}  # type: ignore[arg-type]
        verdict = check_values(fenced(standard()), evidence=facts)
        assert (verdict.name, verdict.evidence) == (name, facts)


def test_a_file_with_backslashes_that_is_not_there_is_answered_with_the_separator() -> None:
    path = r"docs\plan.md"
    message = fenced(standard({"/artifacts/0/path": path}))
    missing = check_values(message, evidence={path: ArtifactFacts(path, "missing", 1)})
    errors = [each for each in missing.diagnostics if each.severity == "error"]
    assert [(each.code, each.hint.startswith("Use / between folders")) for each in errors] == [("RET051", True)]
    assert check_values(message, evidence={path: ArtifactFacts(path, "file", 1)}).accepted


def test_a_return_of_a_word_that_the_workspace_maps() -> None:
    """C3: a word outside the format's list is refused unless the workspace maps it."""
    text = fenced(standard({"/status": "planned"}))
    assert check_values(text).name == "invalid"
    verdict = check_values(text, words={"planned": "completed"})
    assert verdict.accepted
    assert verdict.returned is not None
    assert (verdict.returned.status, verdict.returned.word) == ("completed", "planned")


# What it costs


def _explain(text: str) -> Verdict:
    """Judge a message and ask for all there is to know about it, within the time that is anybody's patience."""
    start = time.process_time()
    verdict = check(text, session_id=ISSUED)
    assert len(verdict.diagnostics) < 100_000
    assert verdict.repairs is not None
    assert time.process_time() - start < PATIENCE_SECONDS
    return verdict


@pytest.mark.parametrize("words", ["", "a line of words\n" * 20_000], ids=["alone", "after prose"])
def test_thousands_of_findings_take_no_longer_than_reading(words: str) -> None:
    """R0.1: a hostile return cannot buy time by being wrong in many places."""
    verdict = _explain(fenced(standard({"/artifacts": [1] * 10_000}), words))
    assert verdict.name == "invalid"
    assert len(verdict.diagnostics) >= 1


def test_thousands_of_warnings_on_a_good_return_take_no_longer() -> None:
    artifacts = [{"type": "plan", "path": f"docs/{number}.md"} for number in range(2_000)]
    assert _explain(fenced(standard({"/artifacts": artifacts}))).name == "accepted"


def test_a_place_below_millions_of_lines_is_found_in_time() -> None:
    text = "\n" * 2_000_000 + fenced(standard({"/status": "success"}), "")
    [finding] = _explain(text).diagnostics
    assert finding.place is not None
    assert finding.place.line == 2_000_003


def test_a_file_that_is_claimed_again_and_again_takes_no_longer() -> None:
    artifacts = standard()["artifacts"] * 1_000
    assert _explain(fenced(standard({"/artifacts": artifacts}))).name == "accepted"


def test_thousands_of_repairs_take_no_longer() -> None:
    rows = ",".join(f"'{number}'" for number in range(15_000))
    text = pretty(standard({"/rows": 0})).replace('"rows": 0', f'"rows": [{rows}]')
    assert _explain(text).name == "repaired"


@pytest.mark.parametrize(
    "extra",
    [
        {"/deep": json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)},
        {"/rows": [1] * (MAX_VALUES + 100)},
        {"/metadata/duration_seconds": 10**400},
        {"/number": int("7" * MAX_DIGITS)},
    ],
    ids=["deep", "many values", "huge number", "many digits"],
)
def test_whatever_was_judged_can_be_explained(extra: dict[str, object]) -> None:
    """R0.1: an accepted verdict that fails when it is asked for its reasons is worth nothing."""
    verdict = check(fenced(standard({"/summary": "Done.", **extra})))
    assert verdict.diagnostics
    assert verdict.accepted is (verdict.returned is not None)
