r"""The conformance suite of runners (`remit.runners`).

    class TestMyRunner(RunnerSuite):
        samples = (Sample(b'{"text": "Done."}\n', text="Done."),)

        def make_runner(self):
            return Mine()

pytest collects the methods of a subclass whose name starts with Test; this module doesn't import pytest. No harness is
run: samples contain its output.
"""

from __future__ import annotations

import os
import random
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import RunnerError
from remit.runners import AttemptOrder, Launch, RunOutput, Usage
from remit.storage import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.runners import Runner

_MAX_ARGUMENT_BYTES = 131_071
"""The limit of the kernel."""
_PROMPTS = ("Do it.", "-h", "--help", "/quit", "@file", "!ls", "$(id)", "{prompt}", "a\nb", "ünï ☃", "x" * 200_000)
_SESSION = "sess_1763200000_k3x9qz"
_SEED = 5
_COUNTED = {"turns", "tokens", "usd"}


class Sample(NamedTuple):
    """The output of a harness in one run, and the expected values."""

    out: bytes
    errors: bytes = b""
    exit_code: int | None = 0
    text: str | None = None
    """The final message; None if there is none."""
    tools: tuple[str, ...] | None = None
    """The names of the used tools; None if the harness doesn't report them."""
    usage: Usage = Usage()
    """The usage, as far as the harness reports it."""


class RunnerSuite:
    """Tests of a runner. Implement `make_runner`, and set `samples` to outputs of its harness."""

    samples: tuple[Sample, ...] = ()
    program: str | None = None
    """The name of the program that the runner searches on the path, if it does."""

    def make_runner(self) -> Runner:
        """The runner that is tested."""
        raise NotImplementedError

    def make_order(self, folder: Path) -> AttemptOrder:
        """An order that the runner can carry out."""
        return AttemptOrder(_SESSION, "", "Do it.", str(folder), str(folder / "1"), environ={"PATH": str(folder)})

    def _prepare(self, folder: Path) -> AttemptOrder:
        if self.program is not None:
            file = folder / self.program
            files.write_text(str(file), "#!/bin/sh\n", make_folders=True)
            file.chmod(0o700)
        return self.make_order(folder)

    # --- starting -----------------------------------------------------------------------------------------------------

    def test_it_declares_its_name_and_features(self) -> None:
        """It has a name for settings, and declares its features."""
        runner = self.make_runner()
        _check(bool(runner.name) and runner.name.isprintable() and " " not in runner.name, runner.name)
        facts: tuple[object, ...] = (runner.can_resume, runner.reports_tools)
        _check(all(isinstance(fact, bool) for fact in facts), facts)

    def test_it_declares_the_usage_that_it_reports(self) -> None:
        """It declares which limits the harness enforces, and which it can't enforce."""
        runner = self.make_runner()
        text = dict(runner.reports_usage)
        _check(text.keys() <= _COUNTED and set(text.values()) <= {"live", "end"}, text)
        _check({*runner.enforces} <= _COUNTED, runner.enforces)

    def test_a_launch_can_be_executed(self, tmp_path: Path) -> None:
        """The kernel accepts arguments and variables, files stay in the attempt's folder, and calls are repeatable."""
        order = self._prepare(tmp_path)
        before = dict(os.environ)
        launch = self.make_runner().start(order)
        _check_launch(launch)
        _check(self.make_runner().start(order) == launch, "the second launch differs from the first")
        _check(dict(os.environ) == before, "it changed the environment of this process")

    def test_the_prompt_reaches_the_agent_word_for_word(self, tmp_path: Path) -> None:
        """Also if it looks like an option or a command of the harness, is blank, or is very long."""
        order = self._prepare(tmp_path)
        for prompt in _PROMPTS:
            launch = self.make_runner().start(order._replace(prompt=prompt))
            _check_launch(launch)
            _check(prompt in _gather(launch), f"{prompt[:40]!r} doesn't reach the agent")
            _check(prompt not in launch.argv or prompt[0] not in "-@" or "--" in launch.argv, launch.argv)

    def test_instructions_reach_an_agent_that_the_harness_does_not_know(self, tmp_path: Path) -> None:
        """An agent's file counts with every harness."""
        mark = "Speak only of the sea."
        order = self._prepare(tmp_path)._replace(agent="planner", instructions=mark)
        _check(mark in _gather(self.make_runner().start(order)), "the instructions are lost")

    def test_it_is_resumed_or_says_that_it_cannot_be(self, tmp_path: Path) -> None:
        """The session and the message reach the harness."""
        runner, order = self.make_runner(), self._prepare(tmp_path)
        try:
            launch = runner.resume(order, "0f0e0d0c-0000-4000-8000-000000000000", "Once more.")
        except RunnerError as error:
            _check(not runner.can_resume and bool(error.hint), error)
            return
        _check(runner.can_resume, "it resumes, but declares that it can't")
        _check_launch(launch)
        _check("Once more." in _gather(launch) and "0f0e0d0c-0000" in _gather(launch), launch)

    # --- parsing output -----------------------------------------------------------------------------------------------

    def test_samples_are_parsed(self, tmp_path: Path) -> None:
        """The final message word for word, and the tools."""
        _check(bool(self.samples), "give at least one sample of what the harness prints")
        order = self._prepare(tmp_path)
        for sample in self.samples:
            output = self._read_output(order, sample, [sample.out])
            _check(output.text == sample.text, (sample, output))
            text = None if output.tools is None else tuple(use.name for use in output.tools)
            _check(text == sample.tools and (text is None or self.make_runner().reports_tools), (sample, output))
            _check(output.text is not None or bool(output.cause and output.trouble), output)

    def test_usage_is_reported_as_declared(self, tmp_path: Path) -> None:
        """Each declared kind of usage is in some sample; live usage is reported before the last line."""
        order, runner = self._prepare(tmp_path), self.make_runner()
        for sample in self.samples:
            output = self._read_output(order, sample, [sample.out])
            _check(output.usage == sample.usage, (sample, output))
            _check(
                _list_counted(output) <= {*runner.reports_usage},
                f"the runner reports more usage than it declares: {output.usage}",
            )
        for counted, when in runner.reports_usage.items():
            known = any(counted in self._list_live(order, sample) for sample in self.samples)
            late = any(
                counted in _list_counted(self._read_output(order, sample, [sample.out])) for sample in self.samples
            )
            _check(late and (known or when == "end"), f"no sample reports {counted} ({when})")

    def _list_live(self, order: AttemptOrder, sample: Sample) -> set[str]:
        """Return the usage that is reported before the last line."""
        listener = self.make_runner().listen(order)
        listener.feed(b"".join(sample.out.splitlines(keepends=True)[:-1]))
        return _list_counted(listener.report())

    def test_pieces_make_no_difference(self, tmp_path: Path) -> None:
        """Any division of the output gives the same result, and usage can be read between any two pieces."""
        order = self._prepare(tmp_path)
        for sample in self.samples:
            whole = self._read_output(order, sample, [sample.out])
            for size in (1, 7, 4096):
                pieces = [sample.out[at : at + size] for at in range(0, len(sample.out), size)]
                _check(self._read_output(order, sample, pieces) == whole, (size, sample))

    def test_no_output_makes_it_fail(self, tmp_path: Path) -> None:
        """Garbage, truncated lines and floods raise no exception."""
        order = self._prepare(tmp_path)
        for out, code in zip(_list_garbage(self.samples), cycle((0, 1, 137, None)), strict=False):
            output = self._read_output(order, Sample(out, b"\xff\0oops\n" * 50, code), [out])
            _check(output.text is None or isinstance(output.text, str), output)
            _check(all(mark not in output.trouble for mark in "\n\x1b\0"), output.trouble)

    def test_silence_has_a_cause(self, tmp_path: Path) -> None:
        """A program that prints nothing gave no answer."""
        order = self._prepare(tmp_path)
        for code in (0, 1, 137, None):
            output = self._read_output(order, Sample(b"", b"it broke\n", code), [])
            _check(output.text is None and bool(output.cause) and bool(output.trouble), (code, output))

    def _read_output(self, order: AttemptOrder, sample: Sample, pieces: list[bytes]) -> RunOutput:
        listener = self.make_runner().listen(order)
        for piece in pieces:
            listener.feed(piece)
            _check(isinstance(listener.report(), RunOutput), "the listener returns no RunOutput")
        return listener.finish(errors=sample.errors, exit_code=sample.exit_code)


def _list_counted(output: RunOutput) -> set[str]:
    usage = output.usage
    text = {"turns": usage.turns, "tokens": usage.tokens, "usd": usage.cost_usd}
    return {counted for counted, count in text.items() if count is not None}


def _list_garbage(samples: tuple[Sample, ...]) -> Iterator[bytes]:
    chance = random.Random(_SEED)  # noqa: S311 - garbage, no secret
    yield from (
        b"\0" * 1000,
        b"\xff\xfe" * 100,
        b"{" * 100_000,
        b'{"type":' * 1000,
        b"null\n[]\n1\n" * 10,
        b"\n" * 1000,
    )
    yield from (b'{"type": "result"}\n', b'{"type": NaN}\n', b'{"a": 1, "a": 2}\n', b"x" * 3_000_000, b"\x1b[31mred\n")
    yield from (chance.randbytes(500) for _ in range(20))
    for sample in samples:
        out = sample.out
        yield from (out[:at] for at in sorted(chance.sample(range(len(out) + 1), min(20, len(out)))))
        yield from (bytes(byte ^ (chance.random() < 0.02) for byte in out) for _ in range(20))


def _check_launch(launch: Launch) -> None:
    _check(bool(launch.argv) and bool(launch.argv[0]), launch.argv)
    words = [*launch.argv, *(f"{name}={value}" for name, value in launch.environ.items())]
    _check(all("\0" not in word for word in words), "an argument with NUL")
    _check(
        all(len(os.fsencode(word)) <= _MAX_ARGUMENT_BYTES for word in words),
        "an argument that is too long for the kernel",
    )
    _check(all("/" not in name and name not in {"", ".", ".."} for name in launch.files), list(launch.files))
    _check(isinstance(launch.stdin, bytes), launch.stdin)


def _gather(launch: Launch) -> str:
    """Return everything that a program can see."""
    data = (launch.stdin, *launch.files.values())
    texts = [each.decode("utf-8", "replace") for each in data]
    return "\n".join((*launch.argv, *launch.environ.values(), *texts))


def _check(holds: bool, text: object) -> None:  # noqa: FBT001 - as `assert`, which others may have switched off
    if not holds:
        raise AssertionError(text)
