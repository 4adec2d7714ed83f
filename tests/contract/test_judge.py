"""Judging: a reading is weighed once, however often somebody asks."""

import pytest

from remit.contract import check
from remit.contract.reading import Reading
from remit.model import ArtifactFacts, Finding
from tests.contract.samples import fenced, standard


@pytest.fixture
def weighed(monkeypatch: pytest.MonkeyPatch) -> list[Reading]:
    """The readings that rules were run over, in order."""
    readings: list[Reading] = []
    explain = Reading.explain

    def count(reading: Reading) -> tuple[Finding, ...]:
        readings.append(reading)
        return explain(reading)

    monkeypatch.setattr(Reading, "explain", count)
    return readings


def test_what_was_found_while_judging_is_not_looked_for_again(weighed: list[Reading]) -> None:
    """C16: the findings are those that the outcome was taken from."""
    for text in ("All done!", fenced(standard({"/status": "done"})), fenced(standard()).replace("[]", "[],")):
        weighed.clear()
        verdict = check(text)
        assert verdict.findings == verdict.findings
        assert len(weighed) == 1


def test_a_clean_message_is_weighed_only_when_somebody_asks(weighed: list[Reading]) -> None:
    path = standard()["artifacts"][0]["path"]
    for facts in ({}, {path: ArtifactFacts(path, "file", 3)}):
        weighed.clear()
        verdict = check(fenced(standard()), evidence=facts)
        assert verdict.accepted
        assert not weighed
        assert verdict.findings == verdict.findings == ()
        assert len(weighed) == 1
