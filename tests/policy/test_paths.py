"""Files that tools touch: patterns on paths as they are named and as they lead somewhere."""

import os
from pathlib import Path

import pytest

from remit.globs import matches_name
from remit.policy import PROTECTED, Decision, PathContext, Permissions, ToolCall, judge
from tests.support.policy_questions import make_ground


def ask(
    tool: str, path: str, ground: PathContext, *, allow: tuple[str, ...] | None = None, deny: tuple[str, ...] = ()
) -> Decision:
    """What is said of one path, with patterns for the tool itself."""
    rules = Permissions(None, {} if allow is None else {tool: allow}, {tool: deny})
    return judge(ToolCall(tool, (path,)), [rules], ground)


@pytest.mark.parametrize(
    ("pattern", "path", "answer"),
    [
        ("src/**", "src/a/b.py", "deny"),
        ("src/**", "src", "deny"),
        ("src/**", "srcs/a.py", "allow"),
        ("src/*", "src/a.py", "deny"),
        ("src/*", "src/a/b.py", "allow"),
        ("*.md", "a.md", "deny"),
        ("*.md", "docs/a.md", "allow"),
        ("**/*.key", "a.key", "deny"),
        ("**/*.key", "x/y/a.key", "deny"),
        ("**/secrets/**", "x/secrets/y/z", "deny"),
        ("*.{js,ts}", "a.ts", "deny"),
        ("file[0-9].txt", "file7.txt", "deny"),
        ("file[!0-9].txt", "file7.txt", "allow"),
        ("./a.txt", "a.txt", "deny"),
        ("build", "build/x/y", "deny"),
        ("build/", "build/x/y", "deny"),
        ("src/**", "lib/../src/a.py", "deny"),
        ("src/**", "src//a.py", "deny"),
        ("src/**", "./src/./a.py", "deny"),
        ("~/x", "~/x", "deny"),
        ("/etc/**", "/etc/passwd", "deny"),
        ("/etc/**", "/proc/self/root/etc/passwd", "deny"),
        ("/etc/**", "/proc/1/root/proc/2/root/etc/passwd", "deny"),
        ("/etc/**", "/proc/self/task/1/root/etc/passwd", "deny"),
        ("src/**", "/proc/self/cwd/src/a.py", "deny"),
        ("SRC/**", "src/a.py", "ask"),
        ("*", "/anything", "deny"),
        ("!src/**", "src/a.py", "allow"),
    ],
)
def test_a_pattern_denies_what_it_covers(tmp_path: Path, pattern: str, path: str, answer: str) -> None:
    """R1.3: a star stays in its folder, two cross them, whatever a path is called."""
    assert ask("write", path, make_ground(tmp_path, protected=()), deny=(pattern,)).answer == answer


def test_a_link_is_denied_by_its_own_name_and_by_where_it_leads(tmp_path: Path) -> None:
    """R1.3: patterns are held against resolved paths."""
    ground = make_ground(tmp_path, protected=())
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert ask("write", "link/a", ground, deny=("real/**",)).answer == "deny"
    assert ask("write", "link/a", ground, deny=("link/**",)).answer == "deny"
    assert ask("write", "link/../x", ground, deny=("x",)).answer == "deny"


def test_to_be_allowed_a_link_and_its_end_must_both_be(tmp_path: Path) -> None:
    ground = make_ground(tmp_path, protected=())
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "out").symlink_to("/etc")
    assert ask("write", "src/a", ground, allow=("src/**",)).answer == "allow"
    assert ask("write", "src/out/passwd", ground, allow=("src/**",)).answer == "deny"
    assert ask("write", "src/out/passwd", ground, allow=("src/**", "/etc/**")).answer == "allow"


def test_a_root_that_is_a_link_is_the_same_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for root in ("real", "link"):
        ground = PathContext(str(tmp_path / root), str(tmp_path / "real"), str(tmp_path), os.path.realpath, ())
        assert ask("write", "src/a", ground, deny=("src/**",)).answer == "deny"
        assert ask("write", str(tmp_path / "link" / "src" / "a"), ground, deny=("src/**",)).answer == "deny"


@pytest.mark.parametrize("name", ["[a]", "*", "a?", "{a,b}", "[!a]"])
def test_the_name_of_the_root_is_no_pattern(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    (root / "src").mkdir(parents=True)
    (tmp_path / "x" / "src").mkdir(parents=True)
    ground = PathContext(str(root), str(root), str(root), os.path.realpath, ("remit.toml",))
    for path in ("src/a", str(root / "src" / "a"), "SRC/a"):
        assert ask("write", path, ground, deny=("src/**",)).answer == ("ask" if path == "SRC/a" else "deny")
    assert ask("write", "remit.toml", ground).answer == "deny"
    assert ask("write", "~/src/a", ground, deny=("~/src/**",)).answer == "deny"
    assert ask("write", "src/a", ground, allow=("src/*",)).answer == "allow"
    assert ask("write", str(tmp_path / "x" / "src" / "a"), ground, allow=("src/*",)).answer == "deny"


def test_what_no_pattern_of_a_list_allows_is_denied_and_the_list_is_named(tmp_path: Path) -> None:
    decision = ask("write", "src/a", make_ground(tmp_path), allow=("docs/**",))
    assert decision.answer == "deny"
    assert decision.rule == "allow write"
    assert '"docs/**"' in decision.reason


@pytest.mark.parametrize("path", ["remit.toml", ".remit/ledger.db", ".claude/agents/a.md", ".claude/settings.json"])
@pytest.mark.parametrize("tool", ["write", "edit"])
def test_what_decides_about_agents_is_not_written_by_them(tmp_path: Path, path: str, tool: str) -> None:
    """Whatever an agent's own file allows."""
    decision = ask(tool, path, make_ground(tmp_path), allow=("**",))
    assert (decision.answer, decision.rule.split()[0]) == ("deny", "protected")
    assert ask("read", path, make_ground(tmp_path)).answer == "allow"


@pytest.mark.parametrize(
    "path",
    [
        ".claude/settings.local.json", ".claude/hooks/x.sh", ".claude/skills/a/SKILL.md", ".mcp.json",
        ".codex/config.toml", ".opencode/opencode.jsonc", ".opencode/agent/a.md", ".opencode/plugin/p.ts",
        ".git/hooks/pre-commit", ".git/config",
        "~/.claude/settings.json", "~/.codex/hooks.json", "~/.config/opencode/opencode.json", "opencode.json",
    ],
)  # fmt: skip
def test_settings_of_every_harness_are_protected(tmp_path: Path, path: str) -> None:
    assert ask("write", path, make_ground(tmp_path)).answer == "deny"


@pytest.mark.parametrize(
    "path",
    [
        ".opencode/specs/1_x/plans/p.md",
        ".claude/specs/TODO.md",
        "AGENTS.md",
        "CLAUDE.md",
        "src/remit.toml.py",
        ".gitignore",
    ],
)
def test_where_agents_do_their_work_is_not_protected(tmp_path: Path, path: str) -> None:
    """R1.20: the spec root may lie in a harness's folder."""
    assert ask("write", path, make_ground(tmp_path)).answer == "allow"


def test_a_write_rule_holds_for_edits_and_an_edit_rule_for_writes(tmp_path: Path) -> None:
    ground = make_ground(tmp_path)
    for one, other in (("write", "edit"), ("edit", "write")):
        denied = Permissions(None, {}, {one: ("src/**",)})
        assert judge(ToolCall(other, ("src/a",)), [denied], ground).answer == "deny"
        listed = Permissions(None, {one: ("src/**",)}, {})
        assert judge(ToolCall(other, ("docs/a",)), [listed], ground).answer == "deny"
        assert judge(ToolCall(other, ("src/a",)), [listed], ground).answer == "allow"


@pytest.mark.parametrize("tool", ["grep", "glob"])
def test_searching_is_reading(tmp_path: Path, tool: str) -> None:
    ground = make_ground(tmp_path)
    rules = Permissions(None, {}, {"read": ("secrets/**",)})
    assert judge(ToolCall(tool, ("secrets",)), [rules], ground).answer == "deny"
    assert judge(ToolCall(tool), [rules], ground._replace(cwd=str(tmp_path / "secrets"))).answer == "deny"
    assert judge(ToolCall(tool, ("src",)), [rules], ground).answer == "allow"


def test_a_tool_that_is_not_switched_on_is_denied(tmp_path: Path) -> None:
    """R1.2: only what a file switches on."""
    rules = Permissions(("read", "grep"), {}, {})
    ground = make_ground(tmp_path)
    for call in (ToolCall("write", ("a",)), ToolCall("bash", command="ls"), ToolCall("glob", ("src",))):
        decision = judge(call, [rules], ground)
        assert (decision.answer, decision.rule) == ("deny", "tools")
    assert judge(ToolCall("read", ("a",)), [rules], ground).answer == "allow"


def test_the_strictest_of_all_layers_wins(tmp_path: Path) -> None:
    """A child never gets more than its parent."""
    own, above = Permissions(), Permissions(None, {}, {"write": ("src/**",)})
    for layers in ([own, above], [above, own]):
        assert judge(ToolCall("write", ("src/a",)), layers, make_ground(tmp_path)).answer == "deny"
    narrow = Permissions(("read",), {}, {})
    assert judge(ToolCall("write", ("x",)), [own, narrow], make_ground(tmp_path)).answer == "deny"


@pytest.mark.parametrize(
    ("rules", "answer"),
    [
        (Permissions(None, {}, {"mcp": ("mcp__github__*",)}), "deny"),
        (Permissions(None, {}, {"mcp": ("mcp__other__*",)}), "allow"),
        (Permissions(None, {}, {"mcp__github__create_issue": ("*",)}), "deny"),
        (Permissions(None, {}, {"mcp__github__*": ("*",)}), "deny"),
        (Permissions(None, {"mcp": ("mcp__github__get_*",)}, {}), "deny"),
        (Permissions(None, {"mcp": ("mcp__github__*",)}, {}), "allow"),
        (Permissions(("read",), {}, {}), "allow"),
    ],
)
def test_tools_of_servers_are_judged_by_their_names(tmp_path: Path, rules: Permissions, answer: str) -> None:
    assert judge(ToolCall("mcp__github__create_issue"), [rules], make_ground(tmp_path)).answer == answer


def test_other_tools_have_patterns_of_their_own(tmp_path: Path) -> None:
    rules = Permissions(None, {}, {"webfetch": ("*",), "task": ("admin-*",)})
    ground = make_ground(tmp_path)
    assert judge(ToolCall("webfetch", command="https://example.org"), [rules], ground).answer == "deny"
    assert judge(ToolCall("task", command="admin-agent"), [rules], ground).answer == "deny"
    assert judge(ToolCall("task", command="planner"), [rules], ground).answer == "allow"


@pytest.mark.parametrize("path", ["a\x00b", "x" * 5000, "a\nb", "\udcff"])
def test_odd_paths_are_never_allowed_past_a_rule(tmp_path: Path, path: str) -> None:
    decision = ask("write", path, make_ground(tmp_path), allow=("src/**",))
    assert decision.answer in ("ask", "deny")


def test_matching_takes_no_longer_than_the_product_of_both_lengths() -> None:
    assert not matches_name("*a" * 100 + "b", "a" * 4000)
    assert matches_name("*a" * 100, "a" * 4000)


def test_every_protected_pattern_covers_something(tmp_path: Path) -> None:
    ground = make_ground(tmp_path)
    for pattern in PROTECTED:
        path = pattern.replace("**/", "x/").replace("/**", "/x").replace("*", "y")
        assert ask("write", path, ground).answer == "deny", pattern


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (ToolCall("read", (".remit/server.json",)), "deny"),
        (ToolCall("read", ("{root}/x/../.remit/server.json",)), "deny"),
        (ToolCall("grep", (".remit/server.json",)), "deny"),
        (ToolCall("read", ("web/server.json",)), "allow"),
        (ToolCall("read", (".remit/logs/a.txt",)), "allow"),
    ],
)
def test_the_token_of_the_server_is_read_by_no_agent(tmp_path: Path, call: ToolCall, answer: str) -> None:
    (tmp_path / ".remit").mkdir()
    (tmp_path / ".remit" / "server.json").write_text("{}")
    made = call._replace(paths=tuple(path.replace("{root}", str(tmp_path)) for path in call.paths))
    decision = judge(made, [], make_ground(tmp_path))
    assert decision.answer == answer, decision
    if answer == "deny":
        assert "no agent may read it" in decision.reason
