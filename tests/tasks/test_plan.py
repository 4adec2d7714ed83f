"""Plans: phases, where work goes on, edits of markers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import UsageError
from remit.tasks.plan import find_resume_point, parse_plan, set_phase, set_plan_status
from remit.tasks.task import MARKERS

PLAN = """\
# Implementation Plan: Task 12

- **Task**: 12 - Export button
- **Status**: [IMPLEMENTING]

## Overview

A button. **Status** is a word of it.

## Implementation Phases

```markdown
### Phase 1: An example [NOT STARTED]
```

### Phase 1: [Basics] [COMPLETED]

- **Goal**: the button

#### Notes

---

### Phase 2: Truth (PARTIAL) [IN PROGRESS] *

### Phase 2.5 [not_started]
### Phase 3A - More
**Status**: [Not Started]

## Phase 4: Of another level [optional]

## Testing

### Phase 9: No phase of it [NOT STARTED]
"""


def test_a_plan_is_read() -> None:
    """S4."""
    plan = parse_plan(PLAN)
    assert plan.marker == "IMPLEMENTING"
    assert plan.metadata[:2] == (("Task", "12 - Export button"), ("Status", "[IMPLEMENTING]"))
    assert [(phase.number, phase.name, phase.marker) for phase in plan.phases] == [
        ("1", "[Basics]", "COMPLETED"),
        ("2", "Truth (PARTIAL)", "IN PROGRESS"),
        ("2.5", "", "NOT STARTED"),
        ("3A", "More", "NOT STARTED"),
        ("4", "Of another level [optional]", None),
    ]


@pytest.mark.parametrize(
    ("markers", "resumed"),
    [
        ("COMPLETED|NOT STARTED|NOT STARTED", 2),
        ("COMPLETED|PARTIAL|NOT STARTED", 2),
        ("COMPLETE|DONE|IN PROGRESS", 3),
        ("BLOCKED|ABANDONED|NOT STARTED", 3),
        ("ON HOLD|COMPLETED|COMPLETED", None),
        ("COMPLETED|what|COMPLETED", 2),
    ],
)
def test_work_goes_on_at_the_first_phase_that_is_not_over(markers: str, resumed: int | None) -> None:
    """S4."""
    text = "".join(f"## Phase {n}: Name [{marker}]\nText.\n" for n, marker in enumerate(markers.split("|"), 1))
    phase = find_resume_point(parse_plan(text))
    assert (None if phase is None else int(phase.number)) == resumed
    assert find_resume_point(parse_plan("# Plan\n")) is None


@pytest.mark.parametrize(
    ("number", "old", "new"),
    [
        (1, "[Basics] [COMPLETED]", "[Basics] [BLOCKED]"),
        ("2", "[IN PROGRESS] *", "[BLOCKED] *"),
        ("2.5", "[not_started]", "[blocked]"),
        ("3a", "[Not Started]", "[Blocked]"),
        (4, "[optional]", "[optional] [BLOCKED]"),
    ],
)
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_phase_gets_a_marker_and_nothing_else_changes(number: int | str, old: str, new: str, line_break: str) -> None:
    text = PLAN.replace("\n", line_break)
    changed = set_phase(text, number, "blocked")
    assert changed == text.replace(old, new)
    assert set_phase(changed, number, "[BLOCKED]") == changed


def test_the_status_of_a_plan_follows() -> None:
    """S5."""
    assert set_plan_status(PLAN, "COMPLETED") == PLAN.replace("[IMPLEMENTING]", "[COMPLETED]")
    assert set_plan_status(PLAN, "implementing") == PLAN
    assert set_plan_status("# Plan\n## Phase 1: A [NOT STARTED]\n**Status**: [PLANNED]\n", "COMPLETED").endswith(
        "**Status**: [PLANNED]\n"
    )


def test_what_cannot_be_set_is_told() -> None:
    with pytest.raises(UsageError, match="no phase 7"):
        set_phase(PLAN, 7, "COMPLETED")
    with pytest.raises(UsageError, match="2 phases 1"):
        set_phase("## Phase 1: A\n## Phase 1: B\n", 1, "COMPLETED")
    with pytest.raises(UsageError, match=r"'FINISHED\] x' isn't a marker"):
        set_phase(PLAN, 1, "FINISHED] x")
    with pytest.raises(UsageError, match="isn't a marker"):
        set_plan_status(PLAN, "")


PIECES = st.sampled_from(
    [
        "## Implementation Phases",
        "### Phase 1: A [PLANNED]",
        "## Phase 2",
        "#### Phase 3: [x]",
        "**Status**: [PLANNED]",
        "```",
        "text",
        "",
    ]
)


@pytest.mark.slow
@given(st.lists(PIECES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.sampled_from(MARKERS))
def test_an_edit_changes_one_phase(lines: list[str], line_break: str, marker: str) -> None:
    text = line_break.join(lines)
    before = [(phase.number, phase.name, phase.marker) for phase in parse_plan(text).phases]
    for index, (number, name, _) in enumerate(before):
        if sum(each[0] == number for each in before) > 1:
            continue
        changed = set_phase(text, number, marker)
        after = [(phase.number, phase.name, phase.marker) for phase in parse_plan(changed).phases]
        assert after == [*before[:index], (number, name, marker), *before[index + 1 :]]
        assert set_phase(changed, number, marker) == changed
        assert changed.count("\n") == text.count("\n")


@pytest.mark.slow
def test_a_plan_of_many_headings_is_read_in_no_time() -> None:
    plan = parse_plan("## Phase 1\n" + "#### Phase 2: B\n### x\n" * 20_000)
    assert len(plan.phases) == 20_001
