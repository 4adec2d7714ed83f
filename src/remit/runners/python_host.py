"""The process of an entry point: `python -m remit.runners.python_host package.module:function`.

Reads the prompt from standard input, calls the function with it, and prints what it gives back. Whatever the function
itself prints goes to standard error, so that only its answer is the final message.
"""

from __future__ import annotations

import sys
from typing import Any


def main(entry: str) -> int:
    """Call the function and print its answer; the exit code."""
    from importlib import import_module  # noqa: PLC0415 - this is a program

    module, _, name = entry.partition(":")
    sys.path.insert(0, "")
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        function: Any = import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
    except (ImportError, AttributeError) as error:
        sys.stderr.write(f"the entry point {entry} cannot be loaded: {error}\n")
        return 2
    answer = function(sys.stdin.read())
    if hasattr(answer, "__await__"):
        import asyncio  # noqa: PLC0415 - only for a function that wants it

        answer = asyncio.run(_wait_for(answer))
    answers.write(render_answer(answer))
    answers.flush()
    return 0


async def _wait_for(answer: Any) -> Any:  # noqa: ANN401 - whatever the function gives
    return await answer


def render_answer(answer: object) -> str:
    """A text as it is, anything else as JSON."""
    if isinstance(answer, str):
        return answer
    import json  # noqa: PLC0415 - most answers are texts

    return json.dumps(answer, ensure_ascii=False, default=str)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
