"""Options before the command: -C, --color, -q and -V."""

import pytest

from remit import __version__
from tests.support.commands import Remit


def test_another_folder_is_worked_in(remit: Remit) -> None:
    (remit.folder / "below/.git").mkdir(parents=True)
    assert remit("-C", "below", "task", "new", "A task").code == 0
    assert (remit.folder / "below/specs/state.json").exists()
    assert remit("-C", ".", "-C", "below", "task", "list").text.endswith("A task\n1 task\n")


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("-C", "gone", "ps"), "can't change to 'gone': no such file or directory; name a folder that exists"),
        (("-C",), "-C needs a value; see 'remit --help'"),
        (("--color", "blue", "ps"), "there is no color choice 'blue'; available: auto, always, never"),
        (("--colour", "always"), "there is no option --colour; did you mean --color?"),
    ],
)
def test_what_does_not_fit_is_said(args: tuple[str, ...], complaint: str, remit: Remit) -> None:
    ended = remit(*args)
    assert (ended.code, ended.complaint) == (2, complaint)


def test_color_is_chosen(remit: Remit) -> None:
    assert b"\x1b[" in remit("--color", "always", "chek").err
    assert b"\x1b[" in remit("--color=always", "chek", env={"NO_COLOR": "1"}).err
    assert b"\x1b[" not in remit("--color", "never", "chek", env={"FORCE_COLOR": "1"}).err
    assert b"\x1b[" in remit("chek", env={"FORCE_COLOR": "1"}).err


def test_quiet_leaves_results_and_errors(remit: Remit) -> None:
    loud, quiet = (remit(*option, "run", "Do it", "--command", "true") for option in ((), ("-q",)))
    assert b"follow it with" in loud.err
    assert quiet.err == b""
    assert quiet.code == loud.code == 1
    assert quiet.text
    assert remit("-q", "chek").complaint == "there is no command 'chek'; did you mean 'remit check'?"


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_is_printed(option: str, remit: Remit) -> None:
    assert remit(option).text == f"remit {__version__}\n"
