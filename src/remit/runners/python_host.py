"""The process of an entry point: `python -m remit.runners.python_host package.module:function`.

It reads the prompt from standard input, calls the function with it, and prints the result. The output of the function
itself goes to standard error, so that only its result is the final message.
"""

from __future__ import annotations

import sys
from typing import Any

_SHOWN = 120


def main(entry: str) -> int:
    """Call the function, print its result, and return the exit code."""
    from importlib import import_module  # noqa: PLC0415 - this is a program

    module, _, name = entry.partition(":")
    sys.path.insert(0, "")
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        function: Any = import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
    except (ImportError, AttributeError) as error:
        sys.stderr.write(f"the entry point {entry} can't be loaded: {error}\n")
        return 2
    answer = function(sys.stdin.read())
    if hasattr(answer, "__await__"):
        import asyncio  # noqa: PLC0415 - only for async functions

        answer = asyncio.run(_wait_for(answer))
    answers.write(render_answer(answer))
    answers.flush()
    return 0


async def _wait_for(answer: Any) -> Any:  # noqa: ANN401 - any awaitable
    return await answer


def render_answer(answer: object) -> str:
    """Return the final message of a function's result: a text as it is, a mapping or message parts as JSON.

    Other values are refused, because their text may mislead: an error that quotes a return prints that return.
    """
    if isinstance(answer, str):
        return answer
    if isinstance(answer, bytes | bytearray):
        return answer.decode("utf-8", "replace")
    if getattr(answer, "returncode", None) == 0 and isinstance(out := getattr(answer, "stdout", None), str | bytes):
        return render_answer(out)
    import json  # noqa: PLC0415 - most answers are texts

    is_parts = isinstance(answer, list) and all(isinstance(part, dict) for part in answer)
    if is_parts or answer is None or isinstance(answer, dict | bool | int | float):
        return json.dumps(answer, ensure_ascii=False, default=_render_inner)
    raise TypeError(_explain(answer))


def _render_inner(value: object) -> str:
    """Return the text of a value that JSON lacks, such as a date or a path. Raise TypeError for a failure."""
    if isinstance(value, BaseException) or getattr(value, "returncode", None):
        raise TypeError(_explain(value))
    return str(value)


def _explain(value: object) -> str:
    code = getattr(value, "returncode", None)
    what = f"{type(value).__name__} with the exit code {code}" if code else type(value).__name__
    text = " ".join(str(value).split())[:_SHOWN]
    return f"the function returned {what}, which isn't a final message (return a text or a dict): {text}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
