"""Tokens: declared, filled from values and defaults, and never filled twice."""

import pytest

from remit.manifest.tokens import DIAGNOSTICS, MAX_VALUE_CHARS, OPTIONAL, REQUIRED, find_tokens, resolve_tokens

GIVEN = {"TASK_ID": "T12", "DATE": "2026-01-19", "TOPIC_SLUG": "auth"}


def test_every_declared_token_is_filled() -> None:
    """R4.11, C15."""
    template = " ".join(f"{{{{{name}}}}}" for name in (*REQUIRED, *OPTIONAL))
    resolved = resolve_tokens(template, GIVEN)
    assert resolved.diagnostics == {}
    assert "{{" not in resolved.text
    assert resolved.text.startswith(
        "T12 2026-01-19 auth   claudedocs/agent-outputs claudedocs/agent-outputs/MANIFEST.jsonl"
    )


def test_defaults_are_filled_in_turn() -> None:
    """C15."""
    resolved = resolve_tokens("{{MANIFEST_PATH}} {{ RESEARCH_ID }}", {**GIVEN, "OUTPUT_DIR": "out"})
    assert resolved.text == "out/MANIFEST.jsonl auth-2026-01-19"


def test_another_task_system_has_its_own_commands() -> None:
    """C24."""
    text = "{{TASK_LINK_CMD}} {{TASK_ID}}"
    assert resolve_tokens(text, GIVEN).text == "remit task link T12"
    theirs = {**GIVEN, "TASK_LINK_CMD": "cleo research link"}
    assert resolve_tokens(text, theirs).text == "cleo research link T12"


def test_a_value_is_put_in_as_it_is() -> None:
    hostile = {**GIVEN, "TITLE": "{{TASK_ID}} \\1 {{TITLE}}", "TASK_ID": "{{TITLE}}"}
    assert resolve_tokens("{{TITLE}}|{{TASK_ID}}", hostile).text == "{{TASK_ID}} \\1 {{TITLE}}|{{TITLE}}"


def test_what_cannot_be_filled_stays_and_is_told_once() -> None:
    resolved = resolve_tokens("{{TASK_ID}} {{TOPIC_SLUGG}} {{TASK_ID}} {{RESEARCH_ID}}", {"DATE": "d"})
    assert resolved.text == "{{TASK_ID}} {{TOPIC_SLUGG}} {{TASK_ID}} {{TOPIC_SLUG}}-d"
    assert {name: (each.code, each.message) for name, each in resolved.diagnostics.items()} == {
        "TASK_ID": ("MAN021", "no value for the required token TASK_ID"),
        "TOPIC_SLUGG": ("MAN020", "unknown token TOPIC_SLUGG"),
        "TOPIC_SLUG": ("MAN021", "no value for the required token TOPIC_SLUG"),
    }
    assert resolved.diagnostics["TOPIC_SLUGG"].hint == "Did you mean TOPIC_SLUG?"


def test_other_braces_are_no_tokens() -> None:
    text = "{TASK_ID} {{task}} ${HOME} {{2-3 sentences}} {{ X}"
    assert resolve_tokens(text, {}) == (text, {})


@pytest.mark.parametrize(
    "defaults",
    [
        {"A": "{{A}}"},
        {"A": "{{B}}", "B": "{{C}}", "C": "x{{A}}"},
        {f"A{n or ''}": f"{{{{A{n + 1}}}}}" for n in range(50)} | {"A50": "x"},
        {f"A{n or ''}": f"{{{{A{n + 1}}}}}" * 10 for n in range(10)} | {"A10": "x"},
    ],
    ids=["itself", "a circle", "too deep", "too large"],
)
def test_defaults_that_lead_nowhere_are_told(defaults: dict[str, str]) -> None:
    resolved = resolve_tokens("{{A}}", {}, defaults=defaults)
    assert "MAN022" in [finding.code for finding in resolved.diagnostics.values()]
    assert len(resolved.text) <= 11 * MAX_VALUE_CHARS


def test_tokens_of_a_text_are_listed_once() -> None:
    assert find_tokens("{{A}} {{ B }} {{A}} {c}") == ["A", "B"]


def test_every_finding_is_documented() -> None:
    for tell, _ in DIAGNOSTICS.values():
        assert all(f"{word}: " in (tell.__doc__ or "") for word in ("Why", "Bad", "Good"))
