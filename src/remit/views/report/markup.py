"""Markup: how text gets into HTML.

Owns the one way: `element` escapes whatever is not its own product, and shows what is invisible as `<U+202E>`, the form
that the terminal and the pages use too. Names of elements and attributes are written in the code that calls it.
"""

from __future__ import annotations

from html import escape as escape_html
from typing import TYPE_CHECKING, TypeAlias

from remit.terminal import escape

if TYPE_CHECKING:
    from collections.abc import Iterable

_VOID = frozenset({"meta"})
_EMPTY = _VOID | {"rect", "line"}


class Markup(str):
    """Text that is HTML already; only this module makes it."""

    __slots__ = ()


Content: TypeAlias = "str | int | Iterable[Content] | None"


def element(tag: str, /, *children: Content, **attributes: str | float | None) -> Markup:
    """An element. Text among its children is escaped, None left out; `class_` is `class`, `aria_label` `aria-label`."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if tag in _EMPTY and not children:
        return Markup(f"<{tag}{shown}>" if tag in _VOID else f"<{tag}{shown}/>")
    return Markup(f"<{tag}{shown}>{join(*children)}</{tag}>")


def join(*children: Content) -> Markup:
    """Children in a row."""
    parts: list[str] = []
    for child in children:
        if isinstance(child, Markup):
            parts.append(child)
        elif isinstance(child, str | int):
            parts.append(_escape(str(child)))
        elif child is not None:
            parts += [join(each) for each in child]
    return Markup("".join(parts))


def trust(text: str) -> Markup:
    """Text of our own that is markup: a style, a policy."""
    return Markup(text)


def _escape(text: str) -> str:
    return escape_html(escape(text, keep="\n\t"), quote=True)
