"""How soon the MCP server answers, against a bare Python and against the library by itself.

Run as `python bench/mcp.py`, in an environment that has the extra `mcp`. A harness starts the server, sends what opens
a connection, and goes on without it where it is slow; so what counts is the time from the start of the process to each
answer. Each round starts a bare Python, the server, and a server of the library's own with one tool; the ratio of a
round counts, since a busy machine slows all of them. Ends with 1 when a goal is missed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

_SOURCE: Final = Path(__file__).resolve().parents[1] / "src"
sys.path[:0] = [str(_SOURCE.parent), str(_SOURCE)]

from bench.delegate_parts import Row, make_repository, print_rows  # noqa: E402 - found by the line above

ROUNDS: Final = 15
GOAL_MS, GOAL_RATIO = 300.0, 15.0
_BARE: Final = (sys.executable, "-I", "-c", "pass")
_OURS: Final = (sys.executable, "-m", "remit", "mcp")
_PROGRAM: Final = """
from mcp.server import MCPServer
server = MCPServer("bare")
@server.tool()
def add(a: int, b: int) -> int:
    return a + b
server.run()
"""
_LIBRARY: Final = (sys.executable, "-c", _PROGRAM)
_OPENING: Final[tuple[dict[str, Any], ...]] = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
    {"id": 3, "method": "resources/list"},
)
_CALL: Final[dict[str, Any]] = {"id": 4, "method": "tools/call", "params": {"name": "status", "arguments": {}}}


def start(words: tuple[str, ...], root: Path, messages: tuple[dict[str, Any], ...]) -> list[float]:
    """Start a server and send it messages, each when the one before is answered; when each answer came."""
    # Where nothing compiled may be kept, each start would compile what has changed since `make setup`.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ["PYTHONPATH"] = str(_SOURCE)
    began = time.perf_counter()
    times = []
    with subprocess.Popen(  # noqa: S603 - ours, and the library's
        words, cwd=root, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            if "id" in message:
                told = json.loads(process.stdout.readline())
                assert told["id"] == message["id"], told
                times.append(time.perf_counter() - began)
        process.stdin.close()
        process.wait()
    return times


def start_bare() -> float:
    """How long a Python takes that does nothing."""
    began = time.perf_counter()
    subprocess.run(_BARE, check=True)  # noqa: S603 - itself
    return time.perf_counter() - began


def measure(root: Path) -> list[Row]:
    """Round after round; the first one is not counted, since it compiles."""
    bare: list[float] = []
    ours: list[list[float]] = []
    library: list[float] = []
    for _ in range(ROUNDS + 1):
        bare.append(start_bare())
        ours.append(start(_OURS, root, (*_OPENING, _CALL)))
        library.append(start(_LIBRARY, root, _OPENING[:1])[0])
    bare, ours, library = bare[1:], ours[1:], library[1:]
    floor = statistics.median(bare) * 1e3
    rows = [Row("python -I -c pass", floor, "ms")]
    names = ("initialize", "tools/list", "resources/list", "the first tool (the library has to be there)")
    for at, name in enumerate(names):
        is_opening = at < len(names) - 1
        times = [each[at] * 1e3 for each in ours]
        ratio = statistics.median(one[at] / each for one, each in zip(ours, bare, strict=True))
        worst = f"worst {max(times):.0f} ms"
        rows += [
            Row(
                f"{name} is answered after",
                statistics.median(times),
                "ms",
                GOAL_MS if is_opening else None,
                remark=worst,
            ),
            Row("  as a multiple of the bare process", ratio, "x", GOAL_RATIO if is_opening else None),
        ]
    return [*rows, Row("initialize by the library alone, with one tool", statistics.median(library) * 1e3, "ms")]


def main() -> int:
    """Print what was measured; 1 when a goal is missed."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        root = Path(folder)
        make_repository(root)
        return print_rows(measure(root))


if __name__ == "__main__":
    sys.exit(main())
