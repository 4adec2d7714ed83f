"""Second names: whoever links to a place that no agent writes to gets no other way to write there."""

from pathlib import Path

import pytest

from remit.policy import Call, Decision, Permissions, judge
from tests.policy.ground import make_ground

FREE = Permissions()
LOCKED = Permissions(None, {}, {"write": ("locked/**",), "read": ("secret/**",)})


def ask(command: str, root: Path, rules: Permissions = FREE) -> Decision:
    """What is said of a command under rules for files."""
    return judge(Call("bash", command=command), [rules], make_ground(root))


@pytest.mark.parametrize(
    "command",
    [
        "ln remit.toml x", "ln -s remit.toml x", "ln -sf $PWD/remit.toml x", "link remit.toml x",
        "ln -t out remit.toml", "ln -sr .claude/settings.json sub/x", "cp -l remit.toml x",
        "cp --link .claude/settings.json x", "cp -al .claude x", "cp -rs .codex x",
        "ln -s .claude x", "cd .claude && ln settings.json ../x", "ln -s ../.claude sub/x", "ln -s .remit x",
        "ln -s . x; echo a > x/.mcp.json", 'ln -s "$PWD" /tmp/y && echo a > /tmp/y/.mcp.json',
        "ln -s . x; ln -s x y; echo a > y/.mcp.json",
        'python3 -c \'import os; os.link("remit.toml", "x")\'', 'python3 -c \'import os; os.symlink(".codex", "x")\'',
        'python3 -c \'import os; os.replace("x", "remit.toml")\'',
        'python3 -c \'from pathlib import Path; Path("x").hardlink_to("remit.toml")\'',
        'python3 -c \'from pathlib import Path; Path("x").symlink_to("."); open("x/.mcp.json", "w")\'',
    ],
)  # fmt: skip
def test_no_link_leads_to_what_no_agent_writes(tmp_path: Path, command: str) -> None:
    assert ask(command, tmp_path).answer == "deny"


@pytest.mark.parametrize(
    "command",
    ['ln -s "$S" cur && echo a > cur/file', 'ln "$S" x; echo a > x', "find . -type f -exec ln {} x \\; ; echo a > x"],
)
def test_a_link_that_leads_nobody_knows_where_is_asked_about_once_it_is_written_through(
    tmp_path: Path, command: str
) -> None:
    assert ask(command, tmp_path).answer == "ask"


@pytest.mark.parametrize(
    "command",
    ["ln locked/a x", "ln -s locked x; echo a > x/a", "ln secret/a x", "ln -s ../locked/a sub/x", "cp -l locked/a x"],
)
def test_nor_to_what_a_rule_denies(tmp_path: Path, command: str) -> None:
    assert ask(command, tmp_path, LOCKED).answer == "deny"


def test_what_is_not_on_a_list_is_not_reached_through_a_link_either(tmp_path: Path) -> None:
    rules = Permissions(None, {"write": ("src/**",)}, {})
    assert ask("ln -s ../lib src/x && echo a > src/x/a", tmp_path, rules).answer == "deny"
    assert ask("ln -sr lib src/x && echo a > src/x/a", tmp_path, rules).answer == "deny"
    assert ask("ln -s ../src/b src/x && echo a > src/a", tmp_path, rules).answer == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "ln -sfn releases/3 current", "ln -s AGENTS.md CLAUDE.md", "ln -sf ../lib/a.py src/a.py && pytest",
        'ln -s "$PWD" ~/go/src/foo', 'ln -s "$S" cur', "ln a b", "cp -r src dst", "cp -al node_modules x",
        "ln -s ../../node_modules node_modules; npm test",
    ],
)  # fmt: skip
def test_ordinary_links_are_let_alone(tmp_path: Path, command: str) -> None:
    assert ask(command, tmp_path, LOCKED).answer == "allow"


def test_a_file_is_judged_by_all_of_its_names(tmp_path: Path) -> None:
    """The caller tells them: only a disk knows."""
    other = {f"{tmp_path}/x": [f"{tmp_path}/remit.toml"]}
    ground = make_ground(tmp_path)._replace(twins=lambda path: other.get(path, []))
    assert judge(Call("edit", ("x",)), [FREE], ground).answer == "deny"
    assert judge(Call("bash", command="echo a > x"), [FREE], ground).answer == "deny"
    assert judge(Call("bash", command="ln -s x y; echo a > y"), [FREE], ground).answer == "deny"
    assert judge(Call("read", ("x",)), [FREE], ground).answer == "allow"
    assert judge(Call("edit", ("y",)), [FREE], ground).answer == "allow"
