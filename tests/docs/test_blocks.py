"""The runner of the pages' blocks: what it would let through, it would let rot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.docs.blocks import Block, list_scenes, parse_blocks
from tests.support.docs.compare import is_shown, smooth, split_session
from tests.support.docs.play_scene import Scene, parse

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """\
# A page

<!-- in: examples/faulty -->
<!-- with: postgres; before: mkdir a && cd a -->

```console
$ remit lint
```

- in a list

  <!-- goes on -->
  ```toml
  [lint]
  ```

<!-- prints -->
```text
Nothing.
```

```json
{}
```
"""


def test_blocks_are_read_with_what_is_said_above_them() -> None:
    first, second, third, last = parse_blocks("a.md", PAGE)
    assert first == Block("a.md", 6, "console", "$ remit lint\n", {
        "with": "postgres", "before": "mkdir a && cd a", "in": "examples/faulty",
    })  # fmt: skip
    assert (second.language, second.text, second.wishes) == ("toml", "[lint]\n", {"goes on": ""})
    assert list_scenes([first, second, third, last]) == [[first, second, third], [last]]


def test_a_wish_that_nobody_knows_is_told() -> None:
    with pytest.raises(ValueError, match="there is no wish 'inn'"):
        parse_blocks("a.md", "<!-- inn: x -->\n```text\n```\n")


def test_a_session_is_commands_and_what_they_show() -> None:
    assert split_session("$ a   # why\none\ntwo\n$ b \\\n  c\nthree\n$ d\n") == [
        ("a", "one\ntwo\n"), ("b \\\n  c", "three\n"), ("d", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\n", "a", True),
        ("a", "b", False),
        ("a", "a\nb", False),
        ("a\nb", "a", False),
        ("see sess_1_abcdef, 0.2 s", "see sess_1794807232_8s6pys, 11 s", True),
        ("see sess_1_abcdef, 0.2 s", "see sess_1794807232_8s6pys, 11 errors", False),
        ("a … c", "a b c", True),
        ("a … c", "a b\nc", False),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…\nd", "a\nb\nc", False),
        ("a.c", "abc", False),
        ("2 passed in 0.5s", "2 passed in 87.81s (0:01:27)", True),
        ("on 2026-11-16", "on 2027-01-01", True),
    ],
)
def test_what_is_shown_is_compared(shown: str, printed: str, *, same: bool) -> None:
    assert is_shown(smooth(shown), smooth(printed)) is same


def play(tmp_path: Path, page: str) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    Scene(folder, tmp_path / "home", {}).play(parse_blocks("a.md", page))


def test_a_scene_goes_on_in_one_folder_and_one_shell(tmp_path: Path) -> None:
    play(tmp_path, """\
```console
$ export WORD=there && mkdir b && cd b
```
<!-- goes on; file: b/said.txt -->
```text
hello
```
<!-- goes on -->
```console
$ echo $WORD; cat said.txt
there
hello
```
<!-- goes on -->
```console
$ (sleep 0.1 && echo later && sleep 60) &
later
```
<!-- goes on -->
```python
print("done")
```
<!-- prints -->
```text
done
```
""")  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ false\n```\n",
        "<!-- exits: 1 -->\n```console\n$ false\n$ true\n```\n",
        "```console\n$ echo one\n$ echo two\ntwo\n```\n",
        "```console\n$ remit nonsense\n```\n",
        "```python\nraise SystemExit(1)\n```\n",
        "```python\nprint(1)\n```\n<!-- prints -->\n```text\n2\n```\n",
        "<!-- before: false -->\n```console\n$ true\n```\n",
    ],
)
def test_what_does_not_happen_fails(tmp_path: Path, page: str) -> None:
    with pytest.raises(AssertionError):
        play(tmp_path, page)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("toml", "[lint]\nignored = 1\n"),
        ("toml", "[lint\n"),
        ("json", "{"),
        ("json", '{"status": "completed", "summary": "x", "artifacts": [], "metadata": {}}'),
        ("yaml", "a: [\n"),
        ("yaml", "repos:\n  - hooks:\n      - id: lint-agent\n"),
        ("yaml", "repos:\n  - hooks:\n      - id: lint-agents\n        args: [--base-line, known.json]\n"),
        ("yaml", "steps:\n  - uses: OWNER/remit@v1\n    with:\n      fail-at: error\n"),
        ("cobol", "MOVE"),
    ],
)
def test_what_is_not_what_it_says_fails(language: str, text: str) -> None:
    with pytest.raises(Exception, match=r"."):
        parse(Block("a.md", 1, language, text, {}))
