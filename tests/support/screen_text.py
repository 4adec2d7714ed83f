"""Screens: what a command prints, without what differs from run to run, so that a test can compare all of it."""

from __future__ import annotations

import re

_VOLATILE = (
    (r"/\S*?/pytest-of-[^/\s]+/pytest-\d+/(?:popen-gw\d+/)?[^/\s'\";:,)]+", "<folder>"),
    (r"sess_\d{9,}_[a-z0-9]{6}", "<session>"),
    (r"\b20\d\d-\d\d-\d\d\b", "<date>"),
    (r"\b\d\d:\d\d:\d\d(?:\.\d+)?Z?\b", "<time>"),
    (r"\b\d+(?:\.\d+)? (?:ms|s)\b", "<duration>"),
    (r"\bprocess \d+\b", "process <number>"),
)


def smooth(text: str) -> str:
    """Replace the test's own folder, session ids, dates, times, durations and process ids by their names."""
    for pattern, name in _VOLATILE:
        text = re.sub(pattern, name, text)
    return text
