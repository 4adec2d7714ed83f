"""How soon the MCP server answers, against a bare Python and against the library by itself.

Run as `python bench/all.py mcp`. A harness starts the server, sends what opens a connection, and goes on without it
where it is slow; so what counts is the time from the start of the process to each answer. Each round starts a bare
Python, the server, and a server of the library's own with one tool; the ratio of a round counts, since a busy machine
slows all of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.clock import BARE, clock_python, compile_source, make_environ
from bench.delegate_parts import make_repository
from bench.rows import choose, finish, make_row

if TYPE_CHECKING:
    from bench.rows import Row

ROUNDS: Final = choose(5, 20)
GOAL_MS, GOAL_RATIO = 300.0, 15.0
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
_NAMES: Final = ("initialize", "tools/list", "resources/list", "the first tool")


def make_call(name: str, **arguments: int) -> dict[str, Any]:
    """A message that calls a tool."""
    return {"id": 4, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def start(words: tuple[str, ...], root: Path, messages: tuple[dict[str, Any], ...]) -> list[float]:
    """Start a server and send it messages, each when the one before is answered; when each answer came."""
    began = time.perf_counter()
    times = []
    with subprocess.Popen(  # noqa: S603 - ours, and the library's
        words, cwd=root, env=make_environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            if "id" in message:
                told = json.loads(process.stdout.readline())
                assert told["id"] == message["id"], told
                times.append((time.perf_counter() - began) * 1e3)
        process.stdin.close()
        process.wait()
    return times


def measure(root: Path) -> list[Row]:
    """Round after round; the first one is not counted, since it compiles."""
    bare: list[float] = []
    ours: list[list[float]] = []
    library: list[list[float]] = []
    for _ in range(ROUNDS + 1):
        bare.append(clock_python())
        ours.append(start(_OURS, root, (*_OPENING, make_call("status"))))
        library.append(start(_LIBRARY, root, (*_OPENING, make_call("add", a=1, b=2))))
    rows = []
    for at, name in enumerate(_NAMES):
        taken, theirs = ([each[at] for each in rounds[1:]] for rounds in (ours, library))
        is_opening = at < len(_NAMES) - 1
        rows.append(make_row(
            "mcp", f"from the start to the answer: {name}", "ms", taken,
            peers={"the library by itself, with one tool": theirs}, floors={BARE: bare[1:]},
            goal=GOAL_MS if is_opening else None, goals={BARE: GOAL_RATIO} if is_opening else {},
            note="" if is_opening else "Here Remit loads the library, too.",
        ))  # fmt: skip
    return rows


def main() -> int:
    """Print what was measured; 1 when a goal is missed."""
    compile_source()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        root = Path(folder)
        make_repository(root)
        return finish(measure(root))


if __name__ == "__main__":
    sys.exit(main())
