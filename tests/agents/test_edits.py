"""Edits: texts as YAML."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from remit.agents.edits import quote, render_scalar

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text("._-/ 0eEfinaxy~:#", max_size=6)


@given(TEXTS)
def test_a_text_is_read_as_the_text_it_was(text: str) -> None:
    assert yaml.safe_load(f"key: {render_scalar(text)}\n") == {"key": text}
    assert yaml.safe_load(f"key: {quote(text)}\n") == {"key": text}
    assert json.loads(quote(text)) == text


@pytest.mark.parametrize("text", [".5", ".inf", ".NaN", "yes", "", "null", "\x85", "\x7f", "\u2028", "\ufeff"])
def test_a_text_that_yaml_would_misread_is_quoted(text: str) -> None:
    assert render_scalar(text).startswith('"')
    assert yaml.safe_load(f"key: {render_scalar(text)}\n") == {"key": text}
