"""Terms: the line that work is named by."""

from __future__ import annotations

import pytest

from remit.runs.admission.run_config import name_work

KEY = f"ghp_{'a1B2' * 9}"


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("", ""),
        ("  Look at\n\nthe cache. ", "Look at the cache."),
        ("x" * 120, "x" * 120),
        ("x" * 121, "x" * 119 + "…"),
        ("word " * 24, ("word " * 24).strip()),
        ("word " * 25, "word " * 22 + "word…"),
        ("修" * 10 + " " + "复" * 200, "修" * 10 + " " + "复" * 108 + "…"),
        ("Use the key of the service " * 3 + f"which is {KEY} and nothing else",
         "Use the key of the service " * 3 + "which is…"),
    ],
)  # fmt: skip
def test_work_is_named_in_one_line_that_is_cut_after_a_word(prompt: str, line: str) -> None:
    assert name_work(prompt) == line
    assert len(line) <= 120
    assert KEY[:8] not in line
