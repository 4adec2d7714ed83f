"""The known name that a misspelt one means: for a hint, and for what is reported or fixed."""

from __future__ import annotations

from time import process_time

import pytest

from remit.spelling import SURE, did_you_mean, find_similar, is_misspelled

HARNESSES = ["claude", "codex", "gemini", "opencode"]


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("clod", HARNESSES, "claude"),
        ("Codx", HARNESSES, "codex"),
        ("p", ["ps", "show"], "ps"),
        ("status_sync_manager", ["status-sync-manager", "git-workflow-manager"], "status-sync-manager"),
        ("agentType", ["agent_type", "agent"], "agent_type"),
        ("zzz", HARNESSES, None),
        ("", HARNESSES, None),
        ("claude", [], None),
    ],
)
def test_a_hint_names_the_closest(word: str, known: list[str], meant: str | None) -> None:
    assert find_similar(word, known) == meant
    assert did_you_mean(word, known) == (f"did you mean '{meant}'?" if meant else f"available: {', '.join(known)}")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("descripton", "description"),
        ("DESCRIPTION", "description"),
        ("max-tokens", "max_tokens"),
        ("maxtoken", "max_tokens"),
        ("describe", None),
        ("to", None),
        ("description " * 5, None),
    ],
)
def test_a_fix_needs_more(word: str, meant: str | None) -> None:
    assert find_similar(word, ["description", "max_tokens", "tool"], least=SURE) == meant


@pytest.mark.parametrize(
    ("word", "is_meant"),
    [
        ("critical_constaints", True),
        ("Critical_Constraints", True),
        ("critical-constraints", True),
        ("critcial_constraints", True),
        ("critical_constraints", False),
        ("constraints", False),
        ("critical_consequence", False),
    ],
)
def test_a_tag_is_misspelt_if_it_is_nearly_a_name(word: str, is_meant: bool) -> None:  # noqa: FBT001 - a table
    assert is_misspelled(word, "critical_constraints") == is_meant


def test_long_words_do_not_take_long() -> None:
    start = process_time()
    find_similar("a" * 80, [f"{'a' * 60}{number}" for number in range(200)])
    assert process_time() - start < 5
