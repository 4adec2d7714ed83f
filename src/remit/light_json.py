"""JSON parsing and rendering for hooks, without the slow import of `json`.

It uses the same C code as `json`, without the regular expressions around it. If an interpreter doesn't have this code,
it uses `json`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SPACE = " \t\n\r"


def parse_json(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Parse a JSON text. Raises ValueError if it isn't exactly one JSON value."""
    try:
        from _json import make_scanner  # noqa: PLC0415 - only CPython has it
    except ImportError:
        import json  # noqa: PLC0415

        return json.loads(text)
    text = text.strip(_SPACE)
    try:
        value, end = make_scanner(_ScannerContext)(text, 0)  # type: ignore[arg-type] # it asks for attributes only
    except (StopIteration, SystemError):  # SystemError if json.decoder isn't loaded, which has the exception
        raise ValueError("there is no JSON value") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if end != len(text):
        raise ValueError("there is more than one JSON value")
    return value


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


class _ScannerContext:
    """The attributes that the scanner needs."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_refuse)
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's own


def render_json(value: Any) -> str:  # noqa: ANN401 - plain values
    """Render a plain value as ASCII text. Raises ValueError if JSON can't represent it or it is nested too deeply."""
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
    raise ValueError(f"{type(value).__name__} can't be represented in JSON")
