"""JSON without the standard library's module for it, which takes longer to import than a hook has.

Owns the two directions for programs that start on every tool call. It is the same C code that `json` uses; only the
regular expressions around it are left out. Where an interpreter does not have it, `json` does the work.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SPACE = " \t\n\r"


def parse_json(text: str) -> Any:  # noqa: ANN401 - whatever the text holds
    """The value in a text. ValueError where it is none, or more than one."""
    try:
        from _json import make_scanner  # noqa: PLC0415 - only CPython has it
    except ImportError:
        import json  # noqa: PLC0415

        return json.loads(text)
    text = text.strip(_SPACE)
    try:
        value, end = make_scanner(_ScannerContext)(text, 0)  # type: ignore[arg-type] # it asks for attributes only
    except (StopIteration, SystemError):  # the second where the module is not loaded whose exception it would raise
        raise ValueError("there is no JSON value") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if end != len(text):
        raise ValueError("there is more than one JSON value")
    return value


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


class _ScannerContext:
    """What the scanner asks for."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_refuse)
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's own


def render_json(value: Any) -> str:  # noqa: ANN401 - plain values
    """A plain value as ASCII text. ValueError where JSON has no word for it, or it is nested too deeply."""
    try:
        from _json import encode_basestring_ascii, make_encoder  # noqa: PLC0415
    except ImportError:
        import json  # noqa: PLC0415

        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    encode = make_encoder(None, _reject, encode_basestring_ascii, None, ":", ",", False, False, False)  # noqa: FBT003
    try:
        return "".join(encode(value, 0))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _reject(value: object) -> None:
    raise ValueError(f"{type(value).__name__} is no word of JSON")
