"""Blanks that nobody filled in, and texts that only look like them."""

import pytest

from remit.returns.formats import HYPER, MANIFEST, STANDARD
from remit.returns.placeholders import find_placeholders, is_placeholder
from tests.support.return_samples import entry, hyper, standard


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("...", "summary"),
        ("TODO", "summary"),
        ("n/a", "path"),
        ("…", "message"),
        ("[...]", "recommendation"),
        ("<3 to 5 points>", "key_points"),
        ("<YYYY-MM-DD>_cache.md", "file"),
        ("<one sentence>", "summary"),
        (" <path> ", "path"),
        ("{{TASK_ID}}", "title"),
        ("{session_id}", "session_id"),
        ("completed|partial|failed|blocked", "status"),
        ("plan | report", "type"),
        ("specs/{{SLUG}}/plan.md", "path"),
        ("specs/<your slug>/plan.md", "path"),
        ("specs/.../plan.md", "path"),
        ("sess_...", "session_id"),
        ("TBD", "summary"),
        ("path/to/artifact.md", "path"),
        ("Brief 2-5 sentence summary (<100 tokens)", "summary"),
        ("[Insert the summary here]", "summary"),
        ("[Insert summary here]. [Second sentence].", "summary"),
        ("\u3010\u5728\u6b64\u586b\u5199\u6458\u8981\u3011", "summary"),
    ],
)
def test_a_blank_is_known_by_its_spelling(text: str, key: str) -> None:
    """R0.2: an echo of the format has every key and means nothing."""
    assert is_placeholder(text, key)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Wrote <b> and ... and {x}.", "summary"),
        ("Chose a|b over c|d in the grammar. Both work.", "summary"),
        ("string", "message"),
        ("<!-- a --> is kept", "summary"),
        ("src/[id]/page.tsx", "path"),
        ("[see file]", "caption"),
        ("[Fixed the bug in the parser]", "caption"),
        ("[parser] Fixed the bug. See [1].", "summary"),
        ("[Fixed] the bug in [the parser]", "summary"),
        ("docs/a...b.md", "path"),
        ("TBD items are listed in the report. There are 3.", "summary"),
    ],
)
def test_a_real_text_may_hold_the_same_signs(text: str, key: str) -> None:
    assert not is_placeholder(text, key)


def test_every_blank_is_found_with_its_pointer() -> None:
    payload = standard({
        "/summary": "...",
        "/artifacts/0/path": "<path>",
        "/metadata/delegation_path": ["orchestrator", "{agent}"],
        "/next_steps": "<free text>",
        "/unknown": "...",
    })  # fmt: skip
    assert list(find_placeholders(payload, STANDARD.shape)) == [
        ("/summary", "..."),
        ("/artifacts/0/path", "<path>"),
        ("/metadata/delegation_path/1", "{agent}"),
        ("/next_steps", "<free text>"),
    ]
    assert [pointer for pointer, _ in find_placeholders(hyper({"/next_steps/0": "<a step>"}), HYPER.shape)] == [
        "/next_steps/0"
    ]
    assert [pointer for pointer, _ in find_placeholders(entry({"/title": "<title>"}), MANIFEST.shape)] == ["/title"]


def test_a_wrong_shape_is_no_obstacle() -> None:
    payload = {"status": ["..."], "summary": {"a": "..."}, "artifacts": "...", "metadata": [1]}
    assert list(find_placeholders(payload, STANDARD.shape)) == [("/artifacts", "...")]


def test_a_blank_behind_thousands_of_values_is_found() -> None:
    """No count of honest values hides a blank: what is too much to look through is refused before (R0.11)."""
    artifacts = [{"type": "plan", "path": f"specs/{number}.md", "summary": "A plan"} for number in range(12_000)]
    artifacts.append({"type": "plan", "path": "<path>", "summary": "A plan"})
    payload = standard({"/artifacts": artifacts})
    assert list(find_placeholders(payload, STANDARD.shape)) == [("/artifacts/12000/path", "<path>")]
