"""D7: the agent file standard's own fragments, each in a complete file: right ones are clean, wrong ones are named."""

import re

import pytest

from tests.support.agent_samples import STANDARD, STANDARD_PATH, lint
from tests.support.standard_examples import Example, get_example, list_examples

PATH = STANDARD_PATH


def cut(text: str, tag: str) -> str:
    """The element of that name, with its tags."""
    found = re.search(rf"<{tag}>.*?</{tag}>", text, re.DOTALL)
    assert found is not None, f"no <{tag}>"
    return found[0]


def place(example: Example) -> str:
    """The complete agent file with the fragment in the place of its own; of a process flow, only step 1 is taken."""
    tag = "step_1" if "<step_1>" in example.text else example.text.split(">")[0].lstrip("<")
    return STANDARD.replace(cut(STANDARD, tag), cut(example.text, tag))


@pytest.mark.parametrize("example", list_examples("agent good"), ids=lambda each: each.name)
def test_what_001_calls_right_is_clean(example: Example) -> None:
    """D7: no warning, in a file that has none otherwise."""
    assert [finding for finding in lint(STANDARD, PATH) if finding.severity != "note"] == []
    assert place(example) != STANDARD
    assert [finding for finding in lint(place(example), PATH) if finding.severity != "note"] == []


def test_a_minimal_process_flow_is_named() -> None:
    """D7 R1.29: the first anti-pattern of 001."""
    [example] = list_examples("agent bad")
    flow = STANDARD.replace(cut(STANDARD, "process_flow"), cut(example.text, "process_flow"))
    for text in (place(example), flow):
        assert {"AGT142", "AGT156"} <= {finding.code for finding in lint(text, PATH)}


@pytest.mark.parametrize("tag", ["return_format", "error_handling"])
def test_a_section_that_001_calls_missing_is_named(tag: str) -> None:
    """D7 R1.29: no return format, no error handling."""
    findings = lint(STANDARD.replace(cut(STANDARD, tag), ""), PATH)
    assert any(f"<{tag}>" in finding.message for finding in findings if finding.severity == "error"), findings


@pytest.mark.conforms("001-55")
def test_the_blanks_of_the_template_are_named() -> None:
    """D7: a section of 001's template that nobody filled in isn't taken for one that says something."""
    for line in (94, 115, 294, 367, 388):
        example = get_example("001", line)
        tag = re.search(r"<(context|role|artifact_creation|quality_standards|error_handling)>", example.text)
        assert tag is not None
        text = STANDARD.replace(cut(STANDARD, tag[1]), cut(example.text, tag[1]))
        assert "AGT105" in {finding.code for finding in lint(text, PATH)}, line
