"""Harnesses for tests: where the real programs are, and an environment in which they reach nothing but one model.

Owns both. `make agents` puts the programs into a folder of their own; tests that need one ask `find_cli` and skip
without it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from remit.workspace import files

if TYPE_CHECKING:
    from collections.abc import Callable

CliName = Literal["claude", "opencode", "codex", "gemini"]

SCRIPTED = "scripted"
"""The model's name, unless another one is wanted."""
FOLDER = ".agents"
"""Where `make agents` puts the programs, in the project; the variable REMIT_AGENTS names another place."""

_SYSTEM = f"{sys.platform}-{({'x86_64': 'x64', 'aarch64': 'arm64'}).get(os.uname().machine, os.uname().machine)}"
_PROGRAMS: dict[CliName, str] = {
    "claude": f"@anthropic-ai/claude-code-{_SYSTEM}/claude",
    "opencode": f"opencode-{_SYSTEM}/bin/opencode",
    "codex": f"@openai/codex-{_SYSTEM}/vendor/*/bin/codex",
    "gemini": ".bin/gemini",
}
_NOWHERE = "http://127.0.0.1:9"  # the discard port, closed everywhere: what a proxy there is asked for fails at once
_CODEX_CONFIG = """\
model = "{model}"
model_provider = "scripted"
model_context_window = 400000
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
web_search = "disabled"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 60000

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"
metrics_exporter = "none"
"""


def find_cli(name: CliName, folder: str | None = None) -> str | None:
    """The program of a harness as `make agents` installs it; None where it is not installed.

    Without a folder, `$REMIT_AGENTS` is looked into, or else the first `.agents` from the working folder upwards.
    """
    base = folder or os.environ.get("REMIT_AGENTS") or _find_upwards(Path.cwd())
    if base is None:
        return None
    found = sorted(Path(base, name, "node_modules").resolve().glob(_PROGRAMS[name]))
    return next((str(path) for path in found if os.access(path, os.X_OK)), None)


def _find_upwards(folder: Path) -> Path | None:
    return next((place / FOLDER for place in (folder, *folder.parents) if (place / FOLDER).is_dir()), None)


def make_environ(cli: CliName, home: str | os.PathLike[str], url: str, model: str = SCRIPTED) -> dict[str, str]:
    """A whole environment for a harness, with a home of its own and one model; see `ScriptedModel.environ`."""
    home = Path(home).absolute()
    # Codex refuses a home below the folder for temporary files, and that is where tests have theirs.
    files.make_private_folder(str(home / "tmp"))
    special = _SET_UP[cli](home, url, model)
    proxies = {
        name: _NOWHERE for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY") for name in (proxy, proxy.lower())
    }
    own = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "DO_NOT_TRACK": "1",
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        **proxies,
        **own,
        **special,
    }


def _set_up_claude(home: Path, url: str, _: str) -> dict[str, str]:
    switches = (
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_BUG_COMMAND",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_MAX_RETRIES",
    )
    return dict.fromkeys(switches, "1") | {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
    }


def _set_up_opencode(home: Path, url: str, _: str) -> dict[str, str]:
    models = str(home / "models.json")
    files.write_text(models, "{}", make_folders=True)
    model = {
        "name": "scripted",
        "tool_call": True,
        "limit": {"context": 400_000, "output": 8000},
        "cost": {"input": 3, "output": 15},
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "scripted"},
        "models": {"scripted": model},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"],
        "provider": {"scripted": provider},
    }
    switches = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "CLAUDE_CODE", "SHARE")
    return {f"OPENCODE_DISABLE_{switch}": "1" for switch in switches} | {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "OPENCODE_MODELS_PATH": models,
    }


def _set_up_codex(home: Path, url: str, model: str) -> dict[str, str]:
    folder = home / ".codex"
    files.write_text(str(folder / "config.toml"), _CODEX_CONFIG.format(url=url, model=model), make_folders=True)
    return {"CODEX_HOME": str(folder), "SCRIPTED_API_KEY": "scripted"}


def _set_up_gemini(home: Path, url: str, _: str) -> dict[str, str]:
    settings = {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    }
    files.write_text(str(home / ".gemini" / "settings.json"), json.dumps(settings), make_folders=True)
    return {
        "GEMINI_API_KEY": "scripted",
        "GEMINI_MODEL": "gemini-2.5-flash",  # without one it asks a model which model to ask
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_TELEMETRY_ENABLED": "false",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


_SET_UP: dict[CliName, Callable[[Path, str, str], dict[str, str]]] = {
    "claude": _set_up_claude,
    "opencode": _set_up_opencode,
    "codex": _set_up_codex,
    "gemini": _set_up_gemini,
}
