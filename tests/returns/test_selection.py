"""Selection: which return counts, by structure and by the issued id, and when none is taken."""

import json
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from remit import check
from remit.model import Expectation, Verdict
from remit.returns import check as check_values
from remit.returns import read_message
from remit.returns.rules.register import run_return_rules
from tests.support.return_samples import (
    DROP,
    ISSUED,
    OTHER,
    entry,
    fenced,
    hyper,
    line,
    marked,
    pretty,
    sentence,
    standard,
    stopped,
)

FAILED = stopped("failed")


def codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.diagnostics if finding.severity == "error"]


DOUBTS: dict[str, tuple[str, str | None, str, str]] = {
    "unfilled template": (
        fenced(standard({"/status": "completed|partial|failed|blocked", "/summary": "..."})),
        None,
        "degenerate",
        "RET011",
    ),
    "ellipsis": (pretty(standard()).replace('"errors": []', "..."), None, "degenerate", "RET011"),
    "conflicting duplicate keys": (
        pretty(standard()).replace('"status":', '"status": "failed",\n  "status":'),
        None,
        "ambiguous",
        "RET007",
    ),
    "not a number": (pretty(standard()).replace("312", "NaN"), None, "malformed", "RET006"),
    "cut-off required field": (pretty(standard()).partition("phases. Phase")[0], None, "malformed", "RET005"),
    "escaping path": (fenced(standard({"/artifacts/0/path": "../../etc/passwd"})), None, "invalid", "RET050"),
    "wrong session id": (fenced(standard()), OTHER, "missing", "RET040"),
    "two contradicting returns": (fenced(FAILED) + fenced(standard()), None, "ambiguous", "RET008"),
    "prose only": ("All done! The tests look good to me.", None, "missing", "RET001"),
    "only in thinking": (f"<think>\n{pretty(standard())}\n</think>\nLet me check.", None, "missing", "RET009"),
    "only a quotation": (f"> {line(standard())}", None, "missing", "RET010"),
}


@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_doubtful_completed_is_refused_and_the_doubt_is_named(doubt: str) -> None:
    """R0.1 R0.2 R0.6 R0.11 C16: never a false completed, and every doubt is told from the others."""
    text, session_id, name, code = DOUBTS[doubt]
    verdict = check(text, session_id=session_id)
    assert not verdict.accepted
    assert verdict.returned is None
    assert verdict.name == name
    assert code in codes(verdict)


def test_every_doubt_has_an_outcome_and_code_of_its_own() -> None:
    told = [(verdict, code) for _, _, verdict, code in DOUBTS.values()]
    assert len(set(told)) == len(told) - 1  # a template and an ellipsis are both blanks


# Several returns


def test_the_same_return_twice_is_one() -> None:
    assert check(fenced(standard()) + fenced(standard())).payload == standard()


def test_a_later_return_with_the_same_claims_is_taken() -> None:
    later = standard({"/summary": "Wrote the plan in 3 phases. All of them are small."})
    assert check(fenced(standard()) + fenced(later)).payload == later


@pytest.mark.parametrize("order", [1, -1])
def test_other_status_or_other_files_contradict(order: int) -> None:
    """R0.1: neither the first nor the last is taken by its place alone."""
    files = standard({"/artifacts/0/path": "specs/8_other/plans/implementation-001.md"})
    for other in (FAILED, files):
        verdict = check("\n".join([fenced(standard()), fenced(other)][::order]))
        assert (verdict.name, codes(verdict)) == ("ambiguous", ["RET008"])


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("session_id", [None, ISSUED])
def test_a_return_whose_key_is_written_by_numbers_contradicts(order: int, session_id: str | None) -> None:
    """R0.1: to a parser, a key with a letter written by its number is that key."""
    for payload, other in ((standard(), FAILED), (hyper(), HYPER_ERROR)):
        hidden = fenced(other).replace('"status"', '"st\\u0061tus"').replace('"meta"', '"\\u006Deta"')
        verdict = check("\n".join([fenced(payload), hidden][::order]), session_id=session_id)
        assert (verdict.name, codes(verdict)) == ("ambiguous", ["RET008"])


def test_the_issued_session_id_decides() -> None:
    """R0.11: a return that belongs to somebody else does not contradict."""
    other = stopped("failed", {"/metadata/session_id": OTHER})
    for text in (fenced(standard()) + fenced(other), fenced(other) + fenced(standard())):
        assert check(text, session_id=ISSUED).payload == standard()
        assert not check(text).accepted


@pytest.mark.parametrize("render", [pretty, line])
def test_a_return_cut_off_inside_its_id_is_malformed_and_contradicts(render: Callable[[object], str]) -> None:
    """R0.1: the beginning of the issued id isn't another id."""
    text = render(FAILED)
    for end in range(text.index(ISSUED), text.index(ISSUED) + len(ISSUED)):
        alone = check(text[:end], session_id=ISSUED)
        assert (alone.name, "RET040" in codes(alone)) == ("malformed", False)
        after = check(f"{fenced(standard())}\n{text[:end]}", session_id=ISSUED)
        assert (after.name, codes(after)) == ("ambiguous", ["RET008"])
    other = check(render(standard({"/metadata/session_id": OTHER}))[:-2], session_id=ISSUED)
    assert "RET040" in codes(other)


def test_a_cut_off_return_after_the_good_one_contradicts_it() -> None:
    """R0.1: it may have lost its id."""
    cut = pretty(FAILED)[:150]
    assert check(f"{fenced(standard())}\n```json\n{cut}", session_id=ISSUED).name == "ambiguous"


def test_a_failed_report_before_the_markers_denies_the_marked_one() -> None:
    assert check(fenced(HYPER_ERROR) + marked(hyper())).name == "ambiguous"
    assert check(f"<!-- {line(FAILED)} -->\n{fenced(standard())}", session_id=ISSUED).name == "ambiguous"


TOLERATED = {
    "status in another case": (standard({"/status": "Completed"}), standard(), "status_case"),
    "blanks around the id": (standard({"/metadata/session_id": f" {ISSUED}\n"}), standard(), "id_blanks"),
    "a number in quotes": (
        standard({"/metadata/duration_seconds": "88"}),
        standard({"/metadata/duration_seconds": 88}),
        "quoted_number",
    ),
    "a fraction in quotes": (
        standard({"/metadata/duration_seconds": "8.5"}),
        standard({"/metadata/duration_seconds": 8.5}),
        "quoted_number",
    ),
    "absolute path inside the root": (
        standard({"/artifacts/0/path": f"/home/me/project/{standard()['artifacts'][0]['path']}"}),
        standard(),
        "absolute_path",
    ),
}


@pytest.mark.parametrize("name", TOLERATED)
def test_a_spelling_that_means_the_same_is_repaired(name: str) -> None:
    payload, expected, repair = TOLERATED[name]
    known = Expectation(ISSUED, roots=("/mnt/project", "/home/me/project"))
    verdict = check_values(fenced(payload), return_format="standard", expectation=known)
    assert (verdict.name, [each.kind for each in verdict.repairs]) == ("repaired", [repair])
    assert verdict.payload == expected


@pytest.mark.parametrize("given", ["<seconds>", "88 s", "-1", "088", "1e9", "NaN", "", " ", "\u0668", "9" * 5000])
def test_a_text_that_is_not_a_plain_number_is_refused(given: str) -> None:
    assert not check(fenced(standard({"/metadata/duration_seconds": given})), session_id=ISSUED).accepted


def test_a_number_in_quotes_is_read_in_every_format_that_prints_its_blank_so() -> None:
    verdict = check(fenced(hyper({"/meta/execution_time_ms": "1200"})), format="hyper")
    assert verdict.payload == hyper({"/meta/execution_time_ms": 1200})
    assert not check(fenced(standard({"/metadata/delegation_depth": "1"})), session_id=ISSUED).accepted


def test_a_text_of_digits_stays_a_text() -> None:
    payload = check(fenced(standard({"/artifacts/0/summary": "88"})), session_id=ISSUED).payload
    assert payload is not None
    assert payload["artifacts"][0]["summary"] == "88"


def test_an_absolute_path_elsewhere_is_refused() -> None:
    payload = standard({"/artifacts/0/path": "/home/me/project-2/plan.md"})
    known = Expectation(ISSUED, roots=("/mnt/project", "/home/me/project"))
    assert "RET050" in codes(check_values(fenced(payload), return_format="standard", expectation=known))


def color(text: str) -> str:
    """What a highlighter of a terminal makes of it: each text in a color, each line ended with a reset and an erase."""
    return text.replace(': "', ': \x1b[32m"').replace('",\n', '"\x1b[39;49m,\n').replace("\n", "\x1b[0m\x1b[K\n")


def test_the_color_codes_of_a_terminal_are_left_out() -> None:
    verdict = check(color(fenced(standard())), session_id=ISSUED)
    assert (verdict.name, verdict.payload) == ("repaired", standard())
    assert [(repair.kind, repair.place) for repair in verdict.repairs] == [("colors", None)]


def test_colors_hide_no_contradiction() -> None:
    message = color(f"{fenced(standard())}\n{fenced(stopped())}")
    assert check(message, session_id=ISSUED).name == "ambiguous"
    ruin = f'{{"status": "failed", "summary": "It broke, "metadata": {{"session_id": "{ISSUED}"'
    assert not check(color(f"{fenced(standard())}\n{ruin}"), session_id=ISSUED).accepted


@pytest.mark.parametrize("member", [("success", False), ("partial", True), ("blocked", True), ("error", "It broke.")])
def test_one_object_that_says_two_things_at_its_top_is_refused(member: tuple[str, object]) -> None:
    verdict = check(fenced({**standard(), member[0]: member[1]}), session_id=ISSUED)
    assert not verdict.accepted
    assert check(fenced(hyper()), format="hyper").accepted
    assert not check(fenced({**hyper(), member[0]: member[1]}), format="hyper").accepted
    assert check_values(sentence(), return_format="manifest", manifest_tail=line(entry())).accepted
    denied = line({**entry(), member[0]: member[1]})
    assert not check_values(sentence(), return_format="manifest", manifest_tail=denied).accepted
    counts = standard({f"/metadata/{member[0]}": 3, "/metadata/errors": "0 errors", "/metadata/failed": 3})
    assert check(fenced(counts), session_id=ISSUED).accepted


@pytest.mark.parametrize(
    ("payload", "missing"),
    [
        ({key: value for key, value in standard().items() if key != "status"}, "status"),
        ({"status": "completed", "session_id": ISSUED}, "summary"),
        ({"done": True, "metadata": {"session_id": ISSUED}}, "status"),
        ({key: value for key, value in hyper().items() if key != "meta"}, "meta"),
    ],
)
def test_an_object_with_the_id_or_most_of_the_fields_is_a_return_that_lacks_some(
    payload: dict[str, object], missing: str
) -> None:
    verdict = check(f"All is done:\n{fenced(payload)}", session_id=None if missing == "meta" else ISSUED)
    assert verdict.name == "invalid"
    assert f"{missing} is missing" in [finding.message for finding in verdict.diagnostics if finding.code == "RET020"]


def test_any_other_object_is_no_return() -> None:
    other = {"done": True, "metadata": {"session_id": "sess_1767600000_zzzzzz"}}
    assert check(fenced(other), session_id=ISSUED).name == "missing"


@pytest.mark.parametrize("key", ["STATUS", "Status", "st\u0430tus"])
def test_a_key_in_another_spelling_that_says_otherwise_is_named(key: str) -> None:
    verdict = check(fenced({**standard(), key: "failed"}), session_id=ISSUED)
    assert verdict.name == "ambiguous"
    assert any(key in finding.message for finding in verdict.diagnostics if finding.code == "RET007")
    assert check(fenced({**standard(), key: "completed"}), session_id=ISSUED).accepted


def test_the_markers_decide() -> None:
    """R3.7: what stands between the markers is the report; what was shown before it is not."""
    files, part = hyper({"/artifacts/0/path": "research/other.md"}), hyper({"/meta/status": "partial"})
    assert check(fenced(files) + marked(hyper()) + fenced(files)).payload == hyper()
    assert check(fenced(part) + marked(hyper())).payload == hyper()
    foreign = stopped("failed", {"/metadata/session_id": OTHER})
    assert check(marked(standard()) + fenced(foreign), session_id=ISSUED).payload == standard()


@pytest.mark.parametrize("status", ["failed", "partial", "blocked"])
@pytest.mark.parametrize("session_id", [None, ISSUED])
def test_the_markers_do_not_silence_a_return_that_denies_the_marked_one(status: str, session_id: str | None) -> None:
    """R0.1: completed between the markers and failed beside them, of one session: nobody knows which is meant."""
    other = fenced(stopped(status))
    for text in (marked(standard()) + other, other + marked(standard())):
        verdict = check(text, session_id=session_id)
        assert (verdict.name, codes(verdict)) == ("ambiguous", ["RET008"])


def test_a_later_return_denies_the_marked_one_also_where_no_session_is_named() -> None:
    assert check(marked(hyper()) + fenced(HYPER_ERROR)).name == "ambiguous"
    assert check(marked(hyper()) + fenced(hyper({"/meta/status": "partial"}))).name == "ambiguous"


WORDS = [
    "Draft:",
    "Example:",
    "My previous return, unchanged:",
    "This is the JSON you told me to send:",
    "The tests are running in CI now.",
    "Here is the return of the previous agent:",
    "Nothing has been run yet. When the suite is green you will get:",
    "Das Ergebnis:",
    "## Logs",
]


@pytest.mark.parametrize("words", WORDS)
def test_words_around_a_return_change_nothing(words: str) -> None:
    """R0.1: the id and the structure decide, whatever a sentence above or below says."""
    above, below = fenced(standard(), f"{words}\n"), f"{fenced(standard())}\n\n{words}"
    for text in (above, below):
        for verdict in (check(text, session_id=ISSUED), check(text)):
            assert (verdict.name, verdict.payload) == ("accepted", standard())


@pytest.mark.parametrize("tag", ["return_format", "status_report", "handback", "deliverables", "task-notification"])
def test_a_return_in_a_tag_of_any_other_name_counts(tag: str) -> None:
    text = f"<{tag}>\n{json.dumps(standard())}\n</{tag}>"
    assert check(text, session_id=ISSUED).accepted


@pytest.mark.parametrize("damaged", ["", ","])
def test_the_rules_of_a_message_run_once(damaged: str) -> None:
    text = fenced(standard()).replace("\n```", f"{damaged}\n```")
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code is run_return_rules.__code__

    sys.setprofile(count)
    try:
        check(text, session_id=ISSUED)
    finally:
        sys.setprofile(None)
    assert calls == 1


@pytest.mark.parametrize("words", WORDS)
def test_a_label_does_not_hide_a_return_that_contradicts(words: str) -> None:
    text = fenced(FAILED, f"{words}\n") + fenced(standard())
    assert check(text, session_id=ISSUED).name == "ambiguous"


@pytest.mark.parametrize(
    ("after", "noted"),
    [
        ("\n\nActually, none of this is true. Ignore it.", "Actually, none of this is true."),
        ("\n\n❌ FAILED", "❌ FAILED"),
        ("\n\n**Two tests still fail**\nSee below.", "Two tests still fail**"),
        ("\n", ""),
    ],
)
def test_the_first_sentence_after_the_return_is_shown(after: str, noted: str) -> None:
    """R0.1: a retraction doesn't change the verdict, and the caller sees it."""
    verdict = check(f"{fenced(standard())}{after}", session_id=ISSUED)
    notes = [finding.message for finding in verdict.diagnostics if finding.code == "RET013"]
    assert verdict.accepted
    assert notes == ([f"text follows the return: '{noted}'"] if noted else [])


def test_a_thought_does_not_contradict_the_answer() -> None:
    assert check(f"<think>\n{pretty(FAILED)}\n</think>\n{pretty(standard())}").payload == standard()


def test_a_template_does_not_contradict_the_answer() -> None:
    blank = standard({"/status": "<completed or failed>", "/summary": "<what came out>"})
    for text in (fenced(blank) + fenced(standard()), fenced(standard()) + fenced(blank)):
        assert check(text).payload == standard()


def test_an_invalid_return_with_another_status_contradicts() -> None:
    """R0.1: one return says completed, another one that isn't quite right says failed: neither is taken."""
    other = stopped("failed", {"/errors": []})
    for text in (fenced(standard()) + fenced(other), fenced(other) + fenced(standard())):
        assert check(text).name == "ambiguous"
        assert check(text, session_id=ISSUED).name == "ambiguous"


@pytest.mark.parametrize("word", ["complete", "partial"])
def test_an_object_that_speaks_two_dialects_is_read_one_way(word: str) -> None:
    """C3: completed in one and partial in the other contradict each other; a stray comma does not decide."""
    both = {**hyper({"/meta/status": word}), **standard({"/artifacts": []})}
    clean, damaged = check(pretty(both)), check(f"{pretty(both)[:-2]},\n}}")
    assert clean.format == damaged.format
    assert clean.accepted is damaged.accepted
    assert word == "complete" or not clean.accepted


# The report on what is refused


def test_of_several_bad_returns_the_best_is_reported_on() -> None:
    poor = {"status": "completed", "summary": "Hm."}
    near = standard({"/artifacts/0/path": DROP})
    verdict = check(fenced(poor) + fenced(near) + fenced(poor))
    assert verdict.payload == near
    assert codes(verdict) == ["RET020"]


def test_a_dialect_that_was_not_asked_for_is_named() -> None:
    verdict = check(marked(hyper()), format="standard")
    assert (verdict.name, codes(verdict)) == ("invalid", ["RET012"])
    assert "hyper" in verdict.diagnostics[0].message


def test_an_optional_value_that_was_cut_off_is_left_out_and_told() -> None:
    """R0.10: next_steps is optional; all that decides was said before it."""
    text = pretty(standard({"/next_steps": "Run it"}))
    cut = text[: text.index("Run it") + 3]
    verdict = check(cut)
    assert verdict.name == "repaired"
    assert verdict.payload == standard()
    assert {repair.kind for repair in verdict.repairs} == {"cut_off", "missing_bracket"}


@pytest.mark.parametrize("key", ["notes/x", "notes~x", "a/b~c"])
def test_half_of_an_unknown_value_is_left_out_whatever_its_key(key: str) -> None:
    text = pretty({**standard(), key: "half of it"})
    verdict = check(text[: text.index("of it")])
    assert verdict.payload == standard()


def test_a_message_beyond_the_cap_is_refused_as_that() -> None:
    verdict = check(f"{' ' * (16 * 1024 * 1024)}{pretty(standard())}")
    assert (verdict.name, codes(verdict)) == ("malformed", ["RET003"])


def test_what_is_not_utf_8_is_replaced_and_the_rest_is_read() -> None:
    text = fenced(standard(), "It is d\u00f6ne.\n\n").encode("latin-1")
    assert check(text).payload == standard()


@pytest.mark.parametrize("text", [pretty(standard({"/note": "x\ud83dy"})), pretty({**standard(), "\udc80": "\udc80"})])
def test_whatever_is_accepted_can_be_written_down_again(text: str) -> None:
    """R0.1: half of a surrogate pair, raw or escaped, cannot be printed or sent."""
    for message in (text, json.dumps(json.loads(text), ensure_ascii=False)):
        verdict = check(message)
        assert verdict.accepted
        assert json.dumps(verdict.payload, ensure_ascii=False).encode()


# The manifest's sentence


@pytest.mark.parametrize("reply", ["{}", "  {}\n", "`{}`", '"{}"', "**{}**"])
def test_the_sentence_alone_is_the_reply(reply: str) -> None:
    """R4.3 R4.5: with quotes or emphasis around it, it is still the sentence."""
    reading = read_message(reply.format(sentence("partial")), return_format=None, expectation=Expectation())
    assert reading.reply_status == "partial"
    assert not reading.issues


def test_the_sentence_without_a_manifest_proves_nothing() -> None:
    """R4.2 R4.14: a missing entry is named."""
    verdict = check(sentence())
    assert (verdict.name, codes(verdict)) == ("missing", ["RET081"])


@pytest.mark.parametrize(
    ("reply", "repair"),
    [
        ("Research partial. See MANIFEST.jsonl for details", "no_period"),
        ("I wrote the file.\nResearch partial. See MANIFEST.jsonl for details.", "more_prose"),
        ("Done. Research partial. See MANIFEST.jsonl for details.", "more_prose"),
    ],
)
def test_a_missing_period_or_a_line_of_prose_is_repaired(reply: str, repair: str) -> None:
    reading = read_message(reply, return_format="manifest", expectation=Expectation())
    assert reading.reply_status == "partial"
    assert [kind for kind, _ in reading.repairs] == [repair]


def test_two_sentences_contradict_and_a_report_is_sent_back() -> None:
    both = f"{sentence('partial')}\n{sentence()}"
    assert check(both, format="manifest").name == "ambiguous"
    report = f"I found three libraries.\nTwo are old.\n{sentence()}"
    assert "RET080" in codes(check(report, format="manifest"))


def test_another_reply_is_none() -> None:
    verdict = check("Research finished.", format="manifest")
    assert (verdict.name, codes(verdict)) == ("missing", ["RET001"])


@pytest.mark.parametrize(
    "text", [json.dumps([1, 2]), json.dumps("text"), "3", '{"id": NaN}', '{"id": "a", "id": "b"}', "{} {}"]
)
def test_a_manifest_line_that_is_not_one_plain_object_is_refused(text: str) -> None:
    """R4.7: one line, valid JSON."""
    verdict = check_values(sentence(), manifest_tail=f"{line(entry())}\n{text}\n")
    assert (verdict.name, codes(verdict)) == ("malformed", ["RET082"])


HYPER_ERROR = hyper({"/meta/status": "error", "/artifacts": [], "/error": {"code": "BUILD", "message": "It broke."}})
