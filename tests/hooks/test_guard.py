"""The tools that an agent may use, by the permissions of its file and of the files of its ancestors."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.hook_session import Child, Stage, add_agent

NO_RM = "permissions:\n  deny:\n    - bash: [rm]\n"
ONLY_DOCS = "permissions:\n  allow:\n    - write: ['docs/**']\n"


def say(answer: dict[str, Any]) -> str:
    word: str = answer.get("hookSpecificOutput", {}).get("permissionDecision", "")
    return word


def begin(stage: Stage, agent: str, by: Child | None = None) -> Child:
    child = stage.call(agent, by=by)
    child.start()
    return child


@pytest.fixture
def agents(root: Path) -> None:
    add_agent(root, "careful", "free", more=NO_RM)
    add_agent(root, "free", "writer")
    add_agent(root, "scribe", more=ONLY_DOCS)


@pytest.mark.usefixtures("agents")
def test_what_its_file_denies_is_denied(stage: Stage) -> None:
    child = begin(stage, "careful")
    answer = child.use("Bash", command="echo x; /bin/rm -r x")
    assert say(answer) == "deny"
    assert "rm" in answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert child.use("Bash", command="ls -l") == {}  # and what is not is nobody's business: no leave is given


@pytest.mark.usefixtures("agents")
def test_a_child_never_gets_more_than_its_parent(stage: Stage) -> None:
    free = begin(stage, "free")
    assert free.use("Bash", command="rm x") == {}
    careful = begin(stage, "careful")
    below = begin(stage, "free", by=careful)
    assert say(below.use("Bash", command="rm x")) == "deny"


@pytest.mark.usefixtures("agents")
def test_nor_does_one_that_is_only_looked_on(stage: Stage, root: Path) -> None:
    add_agent(root, "careful", "Explore", more=NO_RM)
    below = begin(stage, "Explore", by=begin(stage, "careful"))
    assert say(below.use("Bash", command="rm x")) == "deny"


@pytest.mark.usefixtures("agents")
def test_what_holds_is_what_was_there_when_it_was_let_in(stage: Stage, root: Path) -> None:
    child = begin(stage, "careful")
    add_agent(root, "careful")
    assert say(child.use("Bash", command="rm x")) == "deny"


@pytest.mark.usefixtures("agents")
def test_files_are_judged_where_they_really_are(stage: Stage, root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "way").symlink_to(root.parent)
    child = begin(stage, "scribe")
    child.write("docs/a.md")
    for name in ("a.md", "docs/../a.md", "docs/way/a.md"):
        assert say(child.use("Write", file_path=f"{root}/{name}", content="x")) == "deny", name
    assert not (root / "a.md").exists()


@pytest.mark.parametrize(
    "name", ["remit.toml", ".remit/ledger.db", ".claude/settings.json", ".opencode/agent/subagents/planner.md"]
)
def test_what_holds_it_is_out_of_its_reach(stage: Stage, root: Path, name: str) -> None:
    child = begin(stage, "planner")
    assert say(child.use("Write", file_path=f"{root}/{name}", content="x")) == "deny"


def test_a_stranger_is_kept_from_it_too(stage: Stage, root: Path) -> None:
    stranger = Child(stage, "planner", "toolu_before", "a-before", "Go.", None, {})
    assert say(stranger.use("Write", file_path=f"{root}/remit.toml", content="x")) == "deny"


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize("harness", ["claude", "codex", "opencode"])
def test_a_call_that_remit_cannot_judge_is_the_users_if_the_harness_can_ask(
    root: Path, harness: str, *, quick: bool
) -> None:
    """Codex lets a call happen that it should ask about."""
    child = begin(Stage(root, harness, quick=quick), "careful")
    tool = {"opencode": "bash"}.get(harness, "Bash")
    assert say(child.use(tool, command="$x -r y")) == ("ask" if harness == "claude" else "deny")


@pytest.mark.usefixtures("agents")
def test_a_call_that_remit_cannot_judge_is_denied_if_the_settings_say_so(stage: Stage, root: Path) -> None:
    (root / "remit.toml").write_text('[hooks]\nask = "deny"\n')
    assert say(begin(stage, "careful").use("Bash", command="$x -r y")) == "deny"


def test_a_tool_that_is_switched_off_is_denied(stage: Stage, root: Path) -> None:
    file = root / ".claude" / "agents" / "reader.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: reader\ndescription: Reads\ntools: Read, Grep\n---\nRead.\n")
    child = begin(stage, "reader")
    assert child.use("Read", file_path=str(root / "old.md")) == {}
    assert say(child.use("Bash", command="ls")) == "deny"
    assert say(child.use("Write", file_path=str(root / "x"), content="x")) == "deny"


def test_what_remit_has_started_is_held_to_its_own(stage: Stage, root: Path) -> None:
    """The main session of a harness that a supervisor has started is the agent of the ticket."""
    from remit.runs.admission.tickets import mint  # noqa: PLC0415 - only here

    add_agent(root, "careful", more=NO_RM)
    ticket = mint(bytes(range(32)))
    stage.call("careful")
    stage.change("UPDATE runs SET ticket = ?, owner = 'supervisor'", ticket.hash)
    stage.change("DELETE FROM hook_runs")
    event = stage.event("PreToolUse", tool_name="Bash", tool_input={"command": "rm x"}, tool_use_id="t")
    assert say(stage.send(event, {"REMIT_TICKET": ticket.token})) == "deny"
    assert stage.send(event) == {}  # a person


def test_an_agent_writes_to_the_file_for_its_return_and_nothing_else_beside_it(stage: Stage, root: Path) -> None:
    file = root / ".remit" / "sessions" / "sess_1" / "1" / "return" / "return.json"
    for path, word in ((file, ""), (file.with_name("other"), "deny"), (root / ".remit" / "ledger.db", "deny")):
        given = {"file_path": str(path), "content": "x"}
        event = stage.event("PreToolUse", tool_name="Write", tool_input=given, tool_use_id="t")
        environ = {"REMIT_TICKET": "remit1_" + "x" * 43, "REMIT_RETURN_FILE": str(file)}
        assert say(stage.send(event, environ)) == word, path


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Monitor", {"command": "rm -r x", "description": "watch"}), ("shell", {"command": ["rm", "-r", "x"]}),
        ("exec_command", {"cmd": "rm -r x"}), ("SomethingNew", {"command": "rm -r x"}),
        ("REPL", {"code": "require('child_process').execSync('r' + 'm x')"}),
        ("Bash", {"command": "true", "script": "rm x"}),
    ],
)  # fmt: skip
def test_whatever_runs_a_command_is_held_to_what_is_said_of_commands(
    stage: Stage, tool: str, given: dict[str, Any]
) -> None:
    child = begin(stage, "careful")
    assert say(child.use(tool, **given)) in ("deny", "ask")


KEEPS_SECRETS = "permissions:\n  deny:\n    - bash: ['rm *']\n    - write: ['secrets/**']\n    - read: ['keys/**']\n"


@pytest.mark.parametrize(
    ("tool", "given", "rule"),
    [
        ("mcp__filesystem__write_file", {"path": "{root}/remit.toml", "content": "x"}, "remit.toml"),
        ("mcp__filesystem__write_file", {"path": ".claude/settings.local.json", "content": "{}"}, "settings"),
        ("mcp__filesystem__edit_file", {"path": "{root}/.git/hooks/pre-commit"}, ".git/hooks"),
        ("mcp__filesystem__move_file", {"moves": [{"from": "a", "to": "secrets/x"}]}, "secrets"),
        ("mcp__filesystem__read_file", {"uri": "file://{root}/keys/x"}, "keys"),
        ("write_file", {"file": "remit.toml", "content": "x"}, "remit.toml"),
        ("str_replace_based_edit_tool", {"command": "create", "path": "agents/x.md"}, "agents"),
        ("mcp__python__run", {"code": "print(1)"}, "code"),
    ],
)
def test_a_tool_that_remit_does_not_know_is_asked_about_by_the_files_that_it_names(
    stage: Stage, root: Path, tool: str, given: dict[str, Any], rule: str
) -> None:
    add_agent(root, "keeper", more=KEEPS_SECRETS)
    given = json.loads(json.dumps(given).replace("{root}", str(root)))
    answer = begin(stage, "keeper").use(tool, **given)
    asked, denied = ("ask", "deny") if stage.harness == "claude" else ("deny", "deny")
    assert say(answer) in (asked, denied)
    told = answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert tool in told
    assert rule in told
    # A user reads a question, a model what to do instead.
    assert ("Allow it?" in told) == (say(answer) == "ask")
    assert ("return `partial`" in told) == (say(answer) == "deny")


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__shell__run", {"command": "rm -rf x"}),
        ("mcp__desktop-commander__start_process", {"options": {"cmd": ["rm", "-rf", "x"]}}),
        ("mcp__many__values", {"values": ["x"] * 3000}),
    ],
)
def test_a_command_for_a_tool_that_remit_does_not_know_is_judged_as_one_for_a_shell(
    stage: Stage, root: Path, tool: str, given: dict[str, Any]
) -> None:
    add_agent(root, "keeper", more=KEEPS_SECRETS)
    assert say(begin(stage, "keeper").use(tool, **given)) == "deny"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__filesystem__write_file", {"path": "{root}/src/a.py", "content": "import remit.toml"}),
        ("mcp__shell__run", {"command": "ls"}),
        ("mcp__github__create_issue", {"title": "Read remit.toml", "body": "see secrets/x\nand keys/y"}),
        ("TodoWrite", {"todos": [{"content": "write the tests", "status": "pending"}]}),
    ],
)
def test_a_tool_that_remit_does_not_know_passes_if_no_rule_is_about_what_it_is_given(
    stage: Stage, root: Path, tool: str, given: dict[str, Any]
) -> None:
    add_agent(root, "keeper", more=KEEPS_SECRETS)
    given = json.loads(json.dumps(given).replace("{root}", str(root)))
    assert begin(stage, "keeper").use(tool, **given) == {}


def test_the_tools_of_remit_itself_are_not_judged_by_what_they_are_given(stage: Stage, root: Path) -> None:
    add_agent(root, "keeper", more=KEEPS_SECRETS)
    child = begin(stage, "keeper")
    given: dict[str, Any] = {"title": "A", "file": "agents/x.md", "caller": child.session_id}
    assert child.use("mcp__remit__add_finding", **given) == {}
    assert say(child.use("mcp__remit2__add_finding", **given)) in ("ask", "deny")


@pytest.mark.parametrize("name", ["docs/agents/overview.md", "src/agents/README.md", "tests/data/remit.toml"])
def test_files_that_no_harness_reads_may_be_written(stage: Stage, root: Path, name: str) -> None:
    (root / name).parent.mkdir(parents=True)
    assert begin(stage, "planner").use("Write", file_path=f"{root}/{name}", content="x") == {}


@pytest.mark.parametrize(
    "name",
    [
        "agents/x.md", ".git/modules/lib/hooks/post-checkout", ".git/modules/a/modules/b/config",
        "lib/.git/hooks/pre-push", "lib/.git/config", ".git/worktrees/w/config.worktree", ".git/commondir",
        ".git/info/exclude", ".gemini/settings.json", "sub/.claude/agents/x.md",
    ],
)  # fmt: skip
def test_what_git_and_harnesses_read_is_protected(stage: Stage, root: Path, name: str) -> None:
    child = begin(stage, "planner")
    answer = child.use("Write", file_path=f"{root}/{name}", content="x")
    assert say(answer) == "deny"
    assert "decides what agents may do" in answer["hookSpecificOutput"]["permissionDecisionReason"]


def test_the_file_that_makes_a_folder_a_worktree_is_protected(stage: Stage, root: Path) -> None:
    child = begin(stage, "planner")
    (root / ".git").rename(root / "moved")
    (root / ".git").write_text(f"gitdir: {root}/moved\n")
    assert say(child.use("Write", file_path=f"{root}/.git", content="gitdir: evil")) == "deny"


def test_an_agent_may_ask_whether_tasks_agree(stage: Stage) -> None:
    child = begin(stage, "planner")
    assert child.use("Bash", command="remit task sync --check") == {}
    assert say(child.use("Bash", command="remit task sync")) == "deny"


def test_a_file_in_a_patch_is_judged_whatever_stands_beside_it(stage: Stage, root: Path) -> None:
    child = begin(stage, "planner")
    patch = "*** Begin Patch\n*** Update File: remit.toml\n+x\n*** End Patch"
    assert say(child.use("apply_patch", input=patch)) == "deny"
    assert say(child.use("apply_patch", path=str(root / "a.md"), patch=patch)) == "deny"
    assert say(child.use("apply_patch", input="", patchText=patch)) == "deny"


@pytest.mark.parametrize("tool", ["Write", "Edit", "apply_patch"])
def test_a_write_that_names_no_file_is_refused(stage: Stage, tool: str) -> None:
    child = begin(stage, "planner")
    event = child.event("PreToolUse", tool_name=tool, tool_input={"file": "remit.toml"}, tool_use_id="t")
    assert say(stage.send(event)) == "deny"


@pytest.mark.usefixtures("agents")
def test_every_tool_that_was_used_is_written_down_once(stage: Stage) -> None:
    child = begin(stage, "careful")
    child.use("Bash", command="rm x")  # denied: it did not happen
    child.use("Bash", command="false", failed=True)
    child.write("a.md")
    child.use("mcp__lab__add", a=1)
    uses = stage.ask("SELECT tool, path, failed FROM tool_uses WHERE session_id = ? ORDER BY number", child.session_id)
    assert uses == [("Bash", None, 1), ("Write", "a.md", 0), ("mcp__lab__add", None, 0)]
    assert stage.ask("SELECT path FROM activity") == [("a.md",)]
    assert json.loads(stage.ask("SELECT layers FROM hook_runs")[0][0]) != []


def test_below_a_broker_every_file_of_the_agent_above_holds(stage: Stage, root: Path) -> None:
    """What the harness's own file switches off is off for a child that Remit has started, too."""
    from remit.runs.admission.tickets import mint  # noqa: PLC0415 - only here

    file = root / ".claude" / "agents" / "planner.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: planner\ndescription: Plans the work.\ntools: Read\n---\nPlan.\n")
    child = stage.call("planner")
    ticket = mint(bytes(range(32)))
    stage.change("UPDATE runs SET ticket = ?, owner = 'supervisor-1'", ticket.hash)
    stage.change("DELETE FROM hook_runs WHERE session_id = ?", child.session_id)
    call = stage.event("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="toolu_x")
    assert say(stage.send(call, {"REMIT_TICKET": ticket.token})) == "deny"
