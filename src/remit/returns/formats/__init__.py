"""The formats of returns: `standard`, `hyper` and `manifest`.

A format is data and two functions: the shape of its object, its status words, the position of its paths, `read` (JSON
object → canonical Return) and `write` (the reverse). Reading and writing the same format is lossless. The keys of a
format are used only in this package.
"""

from __future__ import annotations

from typing import Any

from remit.errors import UsageError
from remit.returns.formats import hyper, manifest, standard
from remit.returns.formats.base import Format
from remit.spelling import did_you_mean

__all__ = ["FORMATS", "HYPER", "MANIFEST", "STANDARD", "Format", "get_format", "render_schema"]

STANDARD, HYPER, MANIFEST = standard.FORMAT, hyper.FORMAT, manifest.FORMAT
FORMATS: dict[str, Format] = {return_format.name: return_format for return_format in (STANDARD, HYPER, MANIFEST)}


def get_format(name: str) -> Format:
    """Return a format by its name."""
    if name not in FORMATS:
        raise UsageError(f"there is no format '{name}'", hint=did_you_mean(name, list(FORMATS)))
    return FORMATS[name]


SCHEMA_VERSION = 1


def render_schema(return_format: Format) -> dict[str, Any]:
    """Render the JSON Schema (2020-12) of a format's object from the shape that validates it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:remit:schema:{return_format.name}:{SCHEMA_VERSION}",
        "title": return_format.title,
        **return_format.shape.to_json_schema(),
        **return_format.schema_extras,
    }
