"""Rules: what Remit has to say about agent files.

A module per subject; each registers its rules when it is loaded, and `all` loads every one. A file is judged by those
of its profile, so only the modules that have some are loaded for it; a run in which no file changed loads nothing but
the rules on the graph (`graph`).
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from remit.agents.profiles import Profile

_MARKDOWN = ("parsing", "yaml_values", "tokens")
_CLAUDE = ("claude.fields", "claude.keys", "claude.hooks", "claude.tools")
_OPENCODE = ("opencode.fields", "opencode.values", "opencode.permissions", "opencode.tools")
MODULES: dict[Profile, tuple[str, ...]] = {
    "standard": (
        *_MARKDOWN, "body", "confinement", "context", "delegation", "error_handling", "fields", "limits",
        "opencode.tools", "outputs", "permissions", "permission_scope", "sections", "steps",
    ),
    "claude": (*_MARKDOWN, *_CLAUDE, "confinement", "permissions"),
    "opencode": (*_MARKDOWN, *_OPENCODE, "confinement", "permissions"),
    "codex": ("parsing", "codex"),
    "command": (*_MARKDOWN, "command"),
}  # fmt: skip
"""The modules that have rules for each profile."""


_loaded: set[Profile] = set()


def load_rules(profile: Profile) -> None:
    """Load the rules for files of a profile."""
    if profile in _loaded:
        return
    from importlib import import_module  # noqa: PLC0415 - only once a file has to be judged

    for name in MODULES[profile]:
        import_module(f"{__name__}.{name}")
    _loaded.add(profile)
