"""An agent that uses Remit's own server: started by Remit, it does with the tools what its prompt says.

Run by path, with the file that it writes down in what came of it. The prompt has a line `DO: {...}` of JSON: `tool` and
`arguments`; `environ`, what is changed in the environment of its server; `leave`, whether it goes without waiting.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}


def play(order: dict[str, Any]) -> dict[str, Any]:
    """Call a tool, and tell what came of it."""
    environ = {**os.environ, **order.get("environ", {})}
    environ = {name: value for name, value in environ.items() if value}
    server = subprocess.Popen([sys.executable, "-m", "remit", "mcp"], env=environ, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None
    text = json.dumps(order["arguments"]).replace("SESSION", os.environ["REMIT_SESSION_ID"])
    params = {"name": order["tool"], "arguments": json.loads(text)}
    for message in (
        {"id": 1, "method": "initialize", "params": OPENING},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": params},
    ):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()
    told: dict[str, Any] = {}
    if order.get("leave"):
        wait_for(order["leave"])
    else:
        while told.get("id") != 2:
            told = json.loads(server.stdout.readline())
    server.stdin.close()
    code = server.wait(60)
    server.stdout.close()
    return {
        "session": os.environ["REMIT_SESSION_ID"],
        "tool": order["tool"],
        "result": told.get("result"),
        "code": code,
    }


def wait_for(path: str) -> None:
    """Wait until a file is there."""
    while not Path(path).exists():
        time.sleep(0.05)


def main() -> None:
    """Do what the prompt says, and return."""
    prompt = sys.stdin.read()
    line = next(line for line in prompt.splitlines() if line.startswith("DO: "))
    done = play(json.loads(line.removeprefix("DO: ")))
    with Path(sys.argv[1]).open("a") as log:
        log.write(json.dumps(done) + "\n")
    sys.stdout.write("It is done.\n")


if __name__ == "__main__":
    main()
