"""The TCP ports on which a harness reaches its model.

443 for every hosted model, and the port of each URL in the variables and the user's own settings of the harness. The
settings of a repository don't count: they could name any port.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.harnesses import claude, codex, gemini, opencode

if TYPE_CHECKING:
    from collections.abc import Mapping

HTTPS = 443
_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy")
_MODULES = {"claude": claude, "codex": codex, "gemini": gemini, "opencode": opencode}
_URL_PORT = re.compile(
    r"\b(https?|wss?|socks5h?)://(?:[^\s/\"'@]*@)?(?:\[[^\]\s]*\]|[^\s/:\"'\[]+)(?::(\d{1,5}))?(?![\d:])"
)
_MAX_BYTES = 1 << 20


def find_model_ports(harness: str, environ: Mapping[str, str]) -> tuple[int, ...]:
    """Return the ports that a confined harness needs for its model."""
    module = _MODULES.get(harness)
    names = (*_VARIABLES, *(module.MODEL_VARIABLES if module else ()))
    texts = [environ.get(name, "") for name in names]
    for place in module.MODEL_SETTINGS if module else ():
        folder, slash, name = place.partition("/")
        base = environ.get("HOME", "") if folder == "~" else environ.get(folder.removeprefix("$"), "")
        if base:
            texts.append(_read(f"{base}{slash}{name}"))
    found = {HTTPS}
    for text in texts:
        for match in _URL_PORT.finditer(text):
            found.add(int(match[2]) if match[2] else HTTPS if match[1] in ("https", "wss") else 80)
    return tuple(sorted(port for port in found if 0 < port < 1 << 16))


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
