"""What a reader has to know of the machine that figures come from; nothing that tells whose it is."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any, Final

_PROGRAMS: Final = {"Node": ("node", "--version"), "git": ("git", "--version"), "jq": ("jq", "--version"),
                    "bubblewrap": ("bwrap", "--version"),
                    "Chromium": ("chromium", "--version")}  # fmt: skip
_PACKAGES: Final = {
    ".venv-bench": (
        "agnix", "rumdl", "json_repair", "pyjson5", "baml-py", "instructor", "guardrails-ai", "langchain-core",
        "pydantic-ai-slim", "orjson", "dbos", "langgraph", "langgraph-checkpoint-sqlite", "huey", "prefect",
    ),
    ".venv": ("mcp", "starlette", "uvicorn", "psycopg"),
}  # fmt: skip


def read_machine(root: Path) -> dict[str, Any]:
    """Processor, memory, system, and the versions of everything that was measured or measured with."""
    return {
        "cores": os.cpu_count(),
        "processor": _find(r"model name\s*: (.+)", "/proc/cpuinfo") or platform.machine(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": _find(r'PRETTY_NAME="(.+)"', "/etc/os-release") or platform.system(),
        "kernel": _find(r"([\d.]+)", "/proc/sys/kernel/osrelease") or platform.system(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "programs": {name: found for name, words in _PROGRAMS.items() if (found := _ask(words))},
        "packages": {name: found for folder, names in _PACKAGES.items() for name, found in _list(root / folder, names)},
    }


def _find(pattern: str, file: str) -> str:
    try:
        found = re.search(pattern, Path(file).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return found[1].strip() if found else ""


def _ask(words: tuple[str, ...]) -> str:
    """A program's version; nothing where there is no such program."""
    program = shutil.which(words[0])
    if program is None:
        return ""
    said = subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False).stdout  # noqa: S603 - fixed words
    found = re.search(r"\d+(?:\.\d+)+", said)
    return found[0] if found else ""


def _list(environment: Path, names: tuple[str, ...]) -> list[tuple[str, str]]:
    folders = [str(folder) for folder in environment.glob("lib/python*/site-packages")]
    found = {_fold(each.name): each.version for each in importlib.metadata.distributions(path=folders)}
    return [(name, found[_fold(name)]) for name in names if _fold(name) in found]


def _fold(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def find_load() -> float:
    """How many processes want a core, over the last minute."""
    return round(os.getloadavg()[0], 1)
