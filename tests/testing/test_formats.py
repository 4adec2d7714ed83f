"""Remit's own formats keep to what a format is."""

from __future__ import annotations

from typing import Any

import pytest

from remit.returns.formats import FORMATS, HYPER, MANIFEST, STANDARD
from remit.testing.formats import FormatSuite
from tests.support.return_samples import entry, hyper, standard, stopped


class TestStandard(FormatSuite):
    """The standard format."""

    return_format = STANDARD
    samples = (standard(), stopped("partial"), stopped("failed"), stopped("blocked"))


class TestHyper(FormatSuite):
    """The hyper format."""

    return_format = HYPER
    samples = (
        hyper(),
        hyper({"/meta/status": "partial"}),
        hyper({"/meta/status": "error", "/error": {"code": "NO_ACCESS", "message": "The disk is read-only."}}),
    )


class TestManifest(FormatSuite):
    """The manifest's format."""

    return_format = MANIFEST
    samples = (
        entry(),
        entry({"/status": "partial", "/needs_followup": ["BLOCKED:no access"]}),
        entry({"/status": "blocked", "/needs_followup": ["BLOCKED:no access"]}),
    )


def test_no_dialect_is_left_out() -> None:
    tested = {suite.return_format.name for suite in FormatSuite.__subclasses__() if suite.__module__ == __name__}
    assert tested == set(FORMATS)


def test_a_dialect_that_loses_something_is_found_out() -> None:
    class Forgetful(FormatSuite):
        return_format = STANDARD._replace(write=lambda returned: {"status": returned.status})
        samples = TestStandard.samples

    with pytest.raises(AssertionError):
        Forgetful().test_nothing_is_lost_on_the_way_there_and_back()


def test_a_dialect_that_trusts_the_shape_is_found_out() -> None:
    def trust(payload: dict[str, Any]) -> list[tuple[str, str]]:
        return [(f"/artifacts/{place}/path", each["path"]) for place, each in enumerate(payload["artifacts"])]

    class Trusting(FormatSuite):
        return_format = STANDARD._replace(paths=trust)
        samples = TestStandard.samples

    with pytest.raises((KeyError, TypeError, AssertionError)):
        Trusting().test_no_object_makes_it_fail()
