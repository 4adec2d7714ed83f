"""The frontmatter as a target: any head of an agent file, of each harness; every rule runs over what was read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from fuzz.target import Target, need_nothing, spell
from remit.agents.document import parse_document
from remit.agents.edits import apply_fixes
from remit.agents.frontmatter import find_frontmatter, parse_frontmatter
from remit.agents.lint import check_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument

ROOT: Final = Path(__file__).resolve().parents[1]
PATHS: Final = (
    "agents/a.md", ".claude/agents/a.md", ".opencode/agent/a.md", ".claude/commands/a.md", ".codex/agents/a.toml",
    "docs/a.md",
)  # fmt: skip
WORDS: Final = (
    "---\n", "\n---\n", "...\n", "name: ", "description: ", "tools:\n", "  read: true\n", "permissions:\n",
    "  allow:\n", "  deny:\n", '    - bash: ["rm -rf", "sudo"]\n', "    - write: [\n", "delegation:\n",
    "  can_delegate_to:\n", "    - ", "max_depth: 3\n", "context_loading:\n", "lifecycle:\n", "timeout: 1800\n",
    "temperature: .inf\n", "version: 1.10\n", "agent_type: planning\n", "mode: subagent\n", "model: ", "hooks:\n",
    "&a ", "*a", "<<: *a\n", "!!python/object:os.system ", "!!binary ", "!x ", "|\n", ">-\n", "|9+\n", "? ", ": ",
    "- ", "# remit: ignore[AGT101]\n", "[", "]", "{", "}", ",", "'", '"', "\\x41", "\\", "\t", "\n", "\r\n", "  ",
    "%YAML 1.1\n", "\ufeff", "\x85", "\u2028", "\udcff", "yes", "~", "0o17", "0x1F", "1_000", "190:20:30", "2026-01-19",
    "9" * 401, "[" * 60, "- " * 60, "a" * 300, "[a]\n", "[[a.b]]\n", 'developer_instructions = """\n', '"""\n',
    "sandbox_mode = ", "name = ", "Agent(", "Bash(git *)", "a, b", "**/*", "${X}", "é", "😀",
)  # fmt: skip


def check_laws(path: str, text: str) -> None:
    """Spans lie where they should; every rule can look at it; a finding has its place; a fix can be made."""
    found = find_frontmatter(text)
    if found is not None and not path.endswith(".toml"):
        start, end, body_start = found
        assert 0 < start <= end <= body_start <= len(text)
        head = parse_frontmatter(text, start, end)
        for first, last in (*head.spans.values(), *head.keys.values()):
            assert start <= first <= last <= end
        for problem in head.problems:
            assert start <= problem.start <= problem.end <= max(end, start + 1)
    check_file(parse_document(path, text))


def check_file(document: AgentDocument) -> None:
    """Every rule can look at a document; a finding has its place; its fixes can be made, and read again."""
    checked = check_document(document)
    lines = document.text.count("\n") + 1
    for finding in checked.diagnostics:
        assert finding.message
        assert finding.hint
        place = finding.place
        assert place is None or (1 <= place.line <= place.end_line <= lines and place.column >= 1), finding
    fixed = apply_fixes(checked.diagnostics, document.text, unsafe=True)
    if fixed.applied:
        check_document(parse_document(document.path, fixed.text))


def check_case(data: bytes) -> None:
    """Take the bytes apart, and try the laws."""
    if not data:
        return
    way, rest = data[0], data[1:]
    text = spell(rest, WORDS, expanded=bool(way & 8))
    path = PATHS[(way & 7) % len(PATHS)]
    check_laws(path, text if way & 16 or path.endswith(".toml") else f"---\n{text}\n---\n# A\n")


def list_agents() -> Iterator[str]:
    """The agent files of the examples and of the tests."""
    for folder in ("examples", "tests"):
        for file in sorted(ROOT.joinpath(folder).rglob("agents/*.md")):
            yield file.read_text("utf-8", "replace")
    from tests.support.agent_samples import CLAUDE, CODEX, STANDARD  # noqa: PLC0415 - only who needs seeds has the tests

    yield from (STANDARD, CLAUDE, CODEX)


def list_seeds() -> Iterator[bytes]:
    """Heads of agent files, and each word by itself."""
    for text in list_agents():
        head = text.removeprefix("---\n").partition("\n---")[0][:6_000]
        for way in (0, 1, 2, 4):
            yield bytes([way]) + head.encode("utf-8", "surrogateescape")
    for number in range(0x80, 0x100):
        yield bytes([8, number, number ^ 0x55, number])


TARGET = Target("frontmatter", ("remit.agents",), WORDS, list_seeds, need_nothing(check_case), max_bytes=8192)
