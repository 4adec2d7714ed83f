"""An old agent file becomes a standard one: nothing of it is lost, twice is once, and the rest is named."""

import re
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.agents.document import AgentDocument, parse_document
from remit.agents.migrate import DEFAULT_KIND, AgentMigration, migrate, only_adds_text
from remit.agents.outline import SECTIONS
from remit.agents.profiles import KINDS
from remit.agents.rules.register import AgentFileContext, run_agent_rules
from remit.agents.scaffold import scaffold
from remit.errors import InputError, UsageError
from remit.model import Diagnostic, Fix, TextEdit
from tests.support.agent_samples import (
    CLAUDE,
    CLAUDE_PATH,
    CODEX,
    CODEX_PATH,
    OPENCODE,
    OPENCODE_PATH,
    STANDARD,
    change,
)
from tests.support.sample_sizes import choose

PATH = "agents/api-researcher.md"
PROSE = dedent("""\
    ---
    name: api-researcher
    description: "Finds out how an API is used. Use it before an API changes."  # shown in the menu
    tools: Read, Grep, WebFetch, Bash(git log:*)
    model: sonnet
    ---

    # API Researcher

    ## Role

    You know every caller of an API and every promise that it makes.

    ## Workflow

    Work through these one by one.

    ### Step 1: Find the callers

    1. Search for the name.
    2. Read each caller.

    ```bash
    # Step 9: no heading
    grep -rn NAME src
    ```

    ### Step 2: Weigh the change

    - What breaks?

    <!-- keep this -->

    ## Success Criteria

    - Every caller is known.

    ## Notes

    Some callers are generated.
    """)
TAGGED = dedent("""\
    ---
    description: "Builds things"
    mode: primary
    temperature: 0.1
    ---

    # Builder

    <role>
      A builder of small things.
    </role>

    <workflow_execution>
      <stage id="1" name="Read">
        <action>Read the task</action>
        <process>
          1. Read what is asked for, and by whom it is needed.
        </process>
        <checkpoint>The task is known</checkpoint>
      </stage>
    </workflow_execution>

    <output_specification>
      Say what was built.
    </output_specification>
    """)


def run(text: str, path: str = PATH, *, kind: str | None = None) -> AgentMigration:
    return migrate(parse_document(path, text), kind=kind)


def read(text: str, path: str = PATH, *, kind: str | None = None) -> AgentDocument:
    return parse_document(path, run(text, path, kind=kind).text)


def find(document: AgentDocument) -> list[Diagnostic]:
    """Every finding, judged by the standard."""
    document.profile = "standard"
    return run_agent_rules(AgentFileContext(document))


def list_words(text: str) -> list[str]:
    """The visible words of a body: what stands in tags is theirs."""
    return re.sub(r"</?[A-Za-z][^<>\n]*>", " ", text).split()


def check_law(text: str, path: str = PATH) -> None:
    """Standard afterwards, every word of the body still there in its order, and the second time changes nothing."""
    old = parse_document(path, text)
    done = migrate(old)
    new = parse_document(path, done.text)
    assert new.profile == "standard"
    words = iter(list_words(new.text[new.body_start :]))
    lost = [word for word in list_words(old.text[old.body_start :]) if word not in words]
    assert not lost
    assert migrate(new).text == done.text


@pytest.mark.parametrize(
    ("text", "path"),
    [(PROSE, PATH), (TAGGED, ".opencode/agent/builder.md"), (CLAUDE, CLAUDE_PATH), (OPENCODE, OPENCODE_PATH)],
)
def test_an_old_file_follows_the_standard(text: str, path: str) -> None:
    """R1.31."""
    check_law(text, path)
    document = read(text, path)
    missing = set(SECTIONS) - set(document.outline.sections)
    assert missing <= {"delegation_patterns"}
    before = [finding for finding in find(parse_document(path, text)) if finding.severity == "error"]
    after = [finding for finding in find(document) if finding.severity == "error"]
    assert before
    assert not after


@pytest.mark.parametrize("kind", KINDS)
def test_the_template_of_every_kind_completes_a_file(kind: str) -> None:
    """R1.31, R1.32."""
    document = read(PROSE, kind=kind)
    targets = document.get("delegation", "can_delegate_to")
    assert set(SECTIONS) - set(document.outline.sections) == (set() if targets else {"delegation_patterns"})
    assert not [finding for finding in find(document) if finding.severity == "error"]
    roles = [step.role for step in document.outline.steps]
    assert roles == ["preflight", None, "postflight", "return"]


def test_every_line_of_the_body_is_still_there() -> None:
    text = read(PROSE).text
    for line in PROSE.split("---\n", 2)[2].split("\n"):
        assert line in text.split("\n")


def test_the_frontmatter_is_completed() -> None:
    """R1.1-R1.6: existing keys and comments stay; the missing keys come from the template of the kind."""
    document = read(PROSE, kind="research")
    assert document.get("name") == "api-researcher"
    assert document.get("version") == "1.0.0"
    assert document.get("agent_type") == "research"
    assert document.get("timeout") == 3600
    assert document.get("model") == "sonnet"
    assert document.get("context_loading", "strategy") == "minimal"
    assert document.get("lifecycle", "command") == "/research"
    assert "# shown in the menu" in document.text


def test_claude_codes_tools_become_a_table() -> None:
    """R1.2: what the standard has no words for is kept as a comment, and told."""
    migration = run(PROSE)
    document = parse_document(PATH, migration.text)
    assert document.get("tools") == {
        "read": True, "write": False, "edit": False, "bash": True, "grep": True, "glob": False,
    }  # fmt: skip
    assert "# also, in the harness: WebFetch, Bash(git log:*)" in migration.text
    assert any("WebFetch" in left.message for left in migration.left)
    allowed = [tool for row in document.get("permissions", "allow") for tool in row]
    assert "write" not in allowed


def test_allowed_tools_are_tools() -> None:
    text = change("tools: Read, Grep", "allowed-tools:\n  - Read\n  - Grep", base=CLAUDE)
    document = read(text, "agents/code-reviewer.md")
    assert document.get("tools", "read") is True
    assert "allowed-tools" not in document.values


def test_where_claude_code_reads_the_tools_stay_as_it_reads_them() -> None:
    """From a table it reads no tools at all."""
    document = read(CLAUDE, CLAUDE_PATH)
    assert document.profile == "standard"
    assert document.get("tools") == "Read, Grep, Glob, Bash"


def test_opencodes_denials_hold() -> None:
    document = read(OPENCODE, OPENCODE_PATH)
    allowed = [tool for row in document.get("permissions", "allow") for tool in row]
    assert not {"write", "edit"} & set(allowed)
    assert document.get("permission", "edit") == "deny"


def test_who_could_be_called_still_can() -> None:
    document = read(change("Read, Grep", "Task(code-counter), Read, Grep", base=CLAUDE), CLAUDE_PATH)
    assert "code-counter" in document.get("delegation", "can_delegate_to")


def test_work_in_prose_is_referred_to() -> None:
    """R1.29: the flow says where the work is described, and a person is asked to split it."""
    migration = run(CLAUDE, CLAUDE_PATH)
    assert "Do the work" in migration.text
    assert any("refers to the rest" in left.message for left in migration.left)


@pytest.mark.parametrize(("kind", "told"), [("research", True), ("utility", False)])
def test_a_new_postflight_is_told(kind: str, told: bool) -> None:  # noqa: FBT001 - a parameter
    """R1.25: who settles has to be one."""
    assert any("postflight" in left.message for left in run(PROSE, kind=kind).left) is told


def test_other_names_are_renamed() -> None:
    """C12."""
    document = read(TAGGED, ".opencode/agent/builder.md")
    assert "output_specification" not in document.text
    assert "workflow_execution" not in document.text
    assert "<stage" not in document.text
    assert document.get("mode") == "subagent"


@pytest.mark.parametrize("kind", KINDS)
def test_a_complete_agent_stays_as_it_is(kind: str) -> None:
    new = scaffold(kind, "helper", place="agents")[0]
    migration = run(new.text, new.path)
    assert migration.text == new.text
    assert not migration.done
    assert not migration.left


def test_a_standard_agent_keeps_its_own_words() -> None:
    text = change("agent_type: planning\n", "agent_type: planning\nowner: agent\n")
    migration = run(text, "agents/planner.md")
    assert migration.text == text


def test_a_half_finished_agent_gets_what_it_lacks() -> None:
    start, end = STANDARD.index("<return_format>"), STANDARD.index("<quality_standards>")
    migration = run(STANDARD[:start] + STANDARD[end:], "agents/planner.md")
    assert "added <return_format>" in migration.done
    new = parse_document("agents/planner.md", migration.text)
    assert [tag.name for tag in new.body.root.children] == list(SECTIONS)


def test_what_is_left_is_named_with_its_place() -> None:
    migration = run(PROSE)
    lines = migration.text.split("\n")
    assert migration.left
    for left in migration.left:
        assert left.place is not None
        assert 1 <= left.place.line <= len(lines)
        assert left.hint.endswith(".")
    assumed = next(left for left in migration.left if "agent_type" in left.message)
    assert assumed.place is not None
    assert lines[assumed.place.line - 1] == f"agent_type: {DEFAULT_KIND}"
    assert len({left.code for left in migration.left if left.code}) == sum(bool(left.code) for left in migration.left)


def test_a_kind_that_is_given_is_no_guess() -> None:
    migration = run(PROSE, kind="review")
    assert parse_document(PATH, migration.text).get("agent_type") == "review"
    assert not any("agent_type" in left.message for left in migration.left)


@pytest.mark.parametrize(
    "head",
    [
        "description: Use it when: something fails\n",
        "",
        "tools:\n  - Read # why\n  - Grep\ndescription: Reads.\n",
        "tools: []\npermissions: none\ndelegation: [a, b]\nlifecycle: 3\n",
        "description: [1, 2]\nagent_type: {a: b}\nversion: 2.0\n",
    ],
)
def test_any_readable_frontmatter_is_completed(head: str) -> None:
    check_law(f"---\n{head}---\n\n# X\n\nYou are an X.\n", "agents/x.md")


@pytest.mark.parametrize(
    "head", ["name: x\n  bad: [\ndescription: 'y\n", "{name: x, description: y}\n", "just words\n"]
)
def test_a_frontmatter_that_cannot_be_completed_is_reported(head: str) -> None:
    """R1.31: the rest is listed, and nothing of the file is lost."""
    text = f"---\n{head}---\n\n# X\n\nYou are an X.\n"
    migration = run(text, "agents/x.md")
    assert migration.text == text
    assert next(left.message for left in migration.left) == "nothing can be added to this frontmatter"


@pytest.mark.parametrize("kind", ["execution", "maintenance"])
def test_a_kind_that_is_unknown_is_replaced_and_named(kind: str) -> None:
    text = change("agent_type: planning", f"agent_type: {kind}")
    assert read(text, "agents/planner.md").get("agent_type") == DEFAULT_KIND
    messages = [left.message for left in run(text, "agents/planner.md").left]
    assert f"agent_type: {DEFAULT_KIND} is assumed in place of {kind}" in messages


def test_a_file_without_frontmatter_is_asked_about() -> None:
    migration = run("# Notes\n\nSome notes.\n", "agents/notes.md")
    assert any("no frontmatter" in left.message for left in migration.left)
    check_law("# Notes\n\nSome notes.\n", "agents/notes.md")


def test_lines_end_as_they_did() -> None:
    text = read(PROSE.replace("\n", "\r\n")).text
    assert text.count("\n") == text.count("\r\n")
    check_law(PROSE.replace("\n", "\r\n"))


def test_an_open_fence_is_closed() -> None:
    check_law("---\nname: x\ndescription: Reads.\n---\n\nYou are an X.\n\n```bash\nls\n", "agents/x.md")
    text = read("---\nname: x\ndescription: Reads.\n---\n\nYou are an X.\n\n```bash\nls\n", "agents/x.md").text
    assert "```bash\nls\n```\n" in text


def test_an_agent_outside_of_every_folder_is_no_command() -> None:
    check_law(TAGGED, "old/builder.md")


def test_what_is_no_markdown_agent_is_refused() -> None:
    with pytest.raises(UsageError, match="Codex"):
        run(CODEX, CODEX_PATH)
    with pytest.raises(UsageError, match="a command"):
        run("---\ndescription: x\n---\n", ".claude/commands/x.md")
    with pytest.raises(InputError, match="NUL"):
        migrate(parse_document(PATH, b"a\0b"))
    with pytest.raises(UsageError, match="did you mean 'review'"):
        run(PROSE, kind="reviw")


@pytest.mark.parametrize(
    ("edits", "gentle"),
    [
        ([TextEdit(30, 30, "more")], True),
        ([TextEdit(19, 24, "words")], False),
        ([TextEdit(19, 24, "very plain words")], True),
        ([TextEdit(19, 24, ""), TextEdit(17, 17, "plain ")], False),
        ([TextEdit(26, 30, "b"), TextEdit(33, 37, "b")], True),
    ],
)
def test_a_fix_that_takes_words_away_is_not_used(edits: list[TextEdit], gentle: bool) -> None:  # noqa: FBT001 - a parameter
    document = parse_document(PATH, "---\nname: x\n---\n\n# plain <rolx></rolx>\n")
    assert document.text[19:24] == "plain"
    fix = Fix("unsafe", "", tuple(edits))
    assert only_adds_text(Diagnostic("X", "error", "", "", fix=fix), document) is gentle


PIECES = st.sampled_from([
    "# Title", "## Role", "## Workflow", "## Process", "### Step 1: Look", "### Step 2: Act", "## Error Handling",
    "## Output Format", "## Success Criteria", "## Purpose", "1. one", "2. two", "   - inner", "You are a reader.",
    "Some words that say something.", "```", "```bash", "~~~", "<role>", "</role>", "<task>do it</task>", "<process>",
    "</process>", "<process_flow>", "</process_flow>", '<step name="a">', "</step>", "<stage_1_preflight>",
    "</stage_1_preflight>", "<action>x</action>", "<!-- note -->", "<!-- open", "---", "", "", "| a | b |", "<context>",
    "</context>", "<return_format>", "</return_format>", "<output_specification>", "</output_specification>",
    "<agent>", "</agent>", "text <b>bold</b> text", "<error_handling>", "</error_handling>", "<inputs_required/>",
])  # fmt: skip


@pytest.mark.slow
@settings(deadline=None, max_examples=choose(20, 60))  # a migration looks at its file many times
@given(st.lists(PIECES, max_size=25), st.sampled_from(["\n", "\r\n"]))
@pytest.mark.thorough
def test_nothing_is_lost_whatever_the_body(pieces: list[str], newline: str) -> None:
    text = newline.join(["---", "name: x", "description: Reads.", "---", *pieces, ""])
    old = parse_document("agents/x.md", text)
    new = parse_document("agents/x.md", migrate(old).text)
    words = iter(list_words(new.text[new.body_start :]))
    assert [word for word in list_words(old.text[old.body_start :]) if word not in words] == []
    assert migrate(new).text == new.text
