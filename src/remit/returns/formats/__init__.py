"""Formats: how each family of agents spells a return.

A format is data and two functions: the shape of its object, its status words, where its paths stand, `read` (wire
object → canonical Return) and `write` (the way back). Reading and writing the same format loses nothing. Wire
names do not leave this room.
"""

from __future__ import annotations

from typing import Any

from remit.errors import UsageError
from remit.returns.formats import hyper, manifest, standard
from remit.returns.formats.base import Dialect
from remit.spelling import did_you_mean

__all__ = ["DIALECTS", "HYPER", "MANIFEST", "STANDARD", "Dialect", "get_dialect", "render_schema"]

STANDARD, HYPER, MANIFEST = standard.DIALECT, hyper.DIALECT, manifest.DIALECT
DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (STANDARD, HYPER, MANIFEST)}


def get_dialect(name: str) -> Dialect:
    """Look a format up by its name."""
    if name not in DIALECTS:
        raise UsageError(f"there is no format '{name}'", hint=did_you_mean(name, list(DIALECTS)))
    return DIALECTS[name]


SCHEMA_VERSION = 1


def render_schema(dialect: Dialect) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a format's object, made from the shape that validates it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:remit:schema:{dialect.name}:{SCHEMA_VERSION}",
        "title": dialect.title,
        **dialect.shape.to_json_schema(),
        **dialect.schema_extras,
    }
