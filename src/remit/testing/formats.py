"""The conformance suite of return formats (`remit.returns.formats`).

    class TestMyFormat(FormatSuite):
        return_format = MINE
        samples = ({"state": "done", "files": ["a.md"]}, {"state": "gave up", "why": "no access"})

pytest collects the methods of a subclass whose name starts with Test; this module doesn't import pytest. The samples
are valid objects of the format, one for each status word.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from remit.model import STATUSES
from remit.returns.formats import render_schema
from remit.returns.placeholders import find_placeholders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.returns.formats import Format

_ODD: Mapping[str, Any] = {"x-own": {"deep": [1, None, "ünï"]}, "x-none": None, "x-big": 10**18}
_GARBAGE: tuple[Any, ...] = (None, True, 7, 1.5, "", "text", [], [None], {}, {"a": {}}, [[[]]], "\0")


class FormatSuite:
    """Tests of a format: set `return_format` to the format, and `samples` to one return for each status word."""

    return_format: Format
    samples: tuple[dict[str, Any], ...] = ()

    # --- words --------------------------------------------------------------------------------------------------------

    def test_its_words_mean_one_of_the_four_statuses(self) -> None:
        """One word means completed."""
        _check(set(self.return_format.statuses.values()) <= set(STATUSES), self.return_format.statuses)
        _check("completed" in self.return_format.statuses.values(), self.return_format.statuses)

    def test_there_is_a_sample_for_each_word(self) -> None:
        """The suite can't test a word without a sample."""
        words = {self.return_format.word(sample) for sample in self.samples}
        _check(words == set(self.return_format.statuses), (words, set(self.return_format.statuses)))

    # --- there and back -----------------------------------------------------------------------------------------------

    def test_nothing_is_lost_on_the_way_there_and_back(self) -> None:
        """Reading and writing preserves the object, including unknown keys."""
        for sample in (*self.samples, *(each | dict(_ODD) for each in self.samples)):
            before = deepcopy(sample)
            again = self.return_format.write(self.return_format.read(sample))
            _check(again == before, (before, again))
            _check(sample == before, "the object that was read has changed")
            _check(json.loads(json.dumps(again)) == before, again)

    def test_reading_keeps_status_format_and_files(self) -> None:
        """The status, the format and every reported file are read correctly."""
        for sample in self.samples:
            returned = self.return_format.read(sample)
            _check(returned.status == self.return_format.statuses[str(self.return_format.word(sample))], returned)
            _check(
                (returned.format, returned.word) == (self.return_format.name, self.return_format.word(sample)), returned
            )
            claimed = [path for _, path in self.return_format.paths(sample)]
            _check([artifact.path for artifact in returned.artifacts] == claimed, (returned.artifacts, claimed))
            _check(
                returned.status == "completed" or bool(returned.errors),
                "the status isn't completed, but there are no errors",
            )

    def test_pointers_lead_to_the_paths(self) -> None:
        """Diagnostics need them for the position of a path."""
        for sample in self.samples:
            for pointer, path in self.return_format.paths(sample):
                _check(_follow(sample, pointer) == path, (pointer, path))

    # --- what is not one ----------------------------------------------------------------------------------------------

    def test_its_objects_are_distinguished_from_others(self) -> None:
        """A sample looks like a return; an object without its keys doesn't."""
        for sample in self.samples:
            _check(self.return_format.is_like(sample), sample)
            _check(not any(True for _ in find_placeholders(sample, self.return_format.shape)), sample)
        for other in ({}, {"a": 1}, {"name": "x", "value": "completed"}):
            _check(not self.return_format.is_like(other), other)

    def test_no_object_makes_it_fail(self) -> None:
        """Paths and words are read from objects of any shape."""
        for sample in self.samples:
            for broken in _break(sample):
                _check(all(isinstance(path, str) for _, path in self.return_format.paths(broken)), broken)
                self.return_format.word(broken)
                self.return_format.is_like(broken)

    def test_the_status_is_essential(self) -> None:
        """Without the status, a truncated object means nothing."""
        _check(self.return_format.status_at[0] in self.return_format.essential, self.return_format.essential)

    def test_its_schema_is_one(self) -> None:
        """It is plain JSON with every required key and the status words."""
        schema = render_schema(self.return_format)
        _check(json.loads(json.dumps(schema)) == schema, "it is not plain JSON")
        _check(set(schema["required"]) >= set(self.return_format.shape.required), schema["required"])
        place: Any = schema
        for key in self.return_format.status_at:
            place = place["properties"][key]
        _check(set(place["enum"]) == set(self.return_format.statuses), place)


def _follow(payload: Any, pointer: str) -> Any:  # noqa: ANN401 - any value of JSON
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        payload = payload[int(key)] if isinstance(payload, list) else payload[key]
    return payload


def _break(sample: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the object with each value replaced by garbage or removed, also one level down."""
    for key, value in sample.items():
        yield {name: each for name, each in sample.items() if name != key}
        for garbage in _GARBAGE:
            yield sample | {key: garbage}
            if isinstance(value, dict):
                yield from (sample | {key: value | {inner: garbage}} for inner in value)
            elif isinstance(value, list):
                yield sample | {key: [garbage]}
                yield from (sample | {key: [each | {inner: garbage}]} for each in value if isinstance(each, dict)
                            for inner in each)  # fmt: skip


def _check(holds: bool, text: object) -> None:  # noqa: FBT001 - as `assert`, which others may have switched off
    if not holds:
        raise AssertionError(text)
