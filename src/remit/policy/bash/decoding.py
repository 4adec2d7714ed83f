"""Decoding: what programs print that only write a text in another way.

Owns the few of them that names are hidden with. What comes out is looked at like any other text that a script says.
"""

from __future__ import annotations

DECODERS = frozenset({"rev", "base64", "xxd"})


def decode(name: str, options: list[str], text: str) -> list[str]:
    """The text that comes out, where it is known; what it is made of is the last word that goes in."""
    from binascii import Error, a2b_base64, unhexlify  # noqa: PLC0415 - only where something is decoded

    words = text.split()[-1:]
    if not words:
        return []
    if name == "rev":
        return [words[0][::-1]]
    try:
        if name == "xxd":
            found = unhexlify(words[0])
        elif name == "base64" and any(option.startswith(("-d", "-D", "--d")) for option in options):
            found = a2b_base64(words[0])
        else:
            return []
    except (Error, ValueError):  # it would fail there, too
        return []
    return [found.decode("utf-8", "replace")]
