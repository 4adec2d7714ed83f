"""The pages of the codes: one for each, and one that lists them all.

Owns what a family of codes is about and how a finding is excused. What a code means is its rule's page.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from remit.agents.rules.register import load_all_rules
from remit.views.explanations import explain_all
from tools.reference.markdown import join, name_anchor, table

if TYPE_CHECKING:
    from remit.views.explanations import Explanation


class Family(NamedTuple):
    """Codes that begin alike."""

    title: str
    about: str
    told_by: tuple[str, ...]
    """The commands that tell such findings."""
    excuse: str


_BY_LINT = """\
`remit lint` leaves it out

- on one line: `<!-- remit: ignore[{code}] -->` at its end or on the line above, or `# remit: ignore[{code}]` in the
  frontmatter;
- in one file: `<!-- remit: ignore-file[{code}] -->`, or `# remit: ignore-file[{code}]` in the frontmatter;
- in some files, or in all: `per_file_ignores` and `ignore` of [`[lint]`](../settings.md#lint);
- once: `remit lint --ignore {code}`;
- where it was before you began: `remit lint --baseline FILE`.

With `severity = {{{code} = "note"}}` it is told and nothing fails. A comment that excuses nothing is a finding itself
([IGN001](IGN001.md))."""
_NEVER = "It cannot be excused: {reason}."
_RETURN = _NEVER.format(reason="a return that is not what it should be is sent back to who wrote it")
_TELLS = _NEVER.format(reason="it says what became of something, and stops nothing that should go on")
_FILES = _NEVER.format(reason="what is kept would be read wrongly; the finding goes with its cause")

FAMILIES = {
    "RET": Family("Returns", "What an agent sends back at the end.", ("check", "run", "hooks", "mcp"), _RETURN),
    "CNV": Family("Conversions", "A return that is rewritten in another format.", ("return convert",), _TELLS),
    "EVD": Family("Evidence", "What is claimed against what is on disk.", ("run", "show", "hooks"), _RETURN),
    "AGT": Family("Agent files", "One file that defines an agent or a command, by itself.", ("lint",), _BY_LINT),
    "GRF": Family("The graph of agents", "All agent files together: who may call whom.", ("lint", "agent graph"),
                  _BY_LINT),
    "IGN": Family("Ignores", "Comments that excuse findings.", ("lint",),
                  "It cannot be silenced by another comment; `ignore` of [`[lint]`](../settings.md#lint) and "
                  "`remit lint --ignore {code}` leave it out."),
    "CMP": Family("Compiling", "An agent of the standard that is written as a harness's own file.", ("agent build",),
                  _TELLS),
    "INP": Family("Inputs", "What an agent is given before it begins.",
                  ("run", "task research", "task plan", "task implement"),
                  _NEVER.format(reason="change what is given, or what the agent's file asks for")),
    "ASK": Family("Asking", "What was asked for.", ("run",), _TELLS),
    "BUD": Family("Budgets", "Limits that a runner cannot hold as they were meant.", ("run", "show"), _TELLS),
    "CHK": Family("Checks", "Acceptance checks of a run.", ("run", "show", "checks"), _TELLS),
    "SET": Family("Settling", "What is done once a return was accepted.", ("run", "show", "task implement"), _TELLS),
    "SYN": Family("Tasks", "state.json and TODO.md, and what they say of each other.", ("task sync", "doctor"), _FILES),
    "MAN": Family("Manifest", "The lines of a manifest and the files that they point to.",
                  ("findings validate", "findings add", "doctor"), _FILES),
    "ERR": Family("Error log", "errors.json.", ("errors list", "doctor"), _FILES),
    "ACT": Family("Activity", "The record of activity in the frontmatter of a task's files.", ("run", "show"), _TELLS),
    "GIT": Family("Git", "Commits that Remit makes, or cannot make.", ("run", "show", "doctor"), _TELLS),
    "TRU": Family("Trust", "Programs that a workspace's settings name.", ("config trust", "doctor"),
                  _NEVER.format(reason="read what would run, and agree to it with `remit config trust`")),
}  # fmt: skip
"""In the order in which they are listed."""

_FIXES = {
    "safe": "`remit lint --fix --select {code}`; the file means the same afterwards",
    "unsafe": "`remit lint --fix --unsafe-fixes --select {code}`; look at it with `--diff` first, it may change what "
    "the file means",
}


_ABOUT = """
What is wrong with a text is told as findings, each with a code that keeps its meaning. There are {}: {error} errors,
{warning} warnings and {note} notes; a rule may tell a mild case more mildly than the table says. `remit explain CODE`
prints the same as these pages.
"""


def render_rules() -> dict[str, str]:
    """All pages, by their path."""
    told = explain_all()
    pages = {f"rules/{each.code}.md": _render_rule(each) for each in told}
    return {"rules/README.md": _render_index(told), **pages}


def _render_index(told: list[Explanation]) -> str:
    count = Counter[str](each.severity for each in told)
    parts = [
        "# Codes of findings",
        _ABOUT.format(len(told), **count),
    ]
    for start, family in FAMILIES.items():
        rows = [_make_row(each) for each in told if each.code.startswith(start)]
        parts += [f"## {_head(start, family)}", f"{family.about} Told by {_link_commands(family)}.",
                  table(("code", "name", "severity", "fix", "in a sentence"), rows)]  # fmt: skip
    return join(*parts)


def _make_row(each: Explanation) -> tuple[str, ...]:
    sentence = each.documentation.partition("\n\n")[0]
    return f"[{each.code}]({each.code}.md)", each.name, each.severity, each.fix or "", sentence


def _link_commands(family: Family) -> str:
    return ", ".join(f"[`remit {name}`](../commands/{name.replace(' ', '-')}.md)" for name in family.told_by)


def _render_rule(each: Explanation) -> str:
    family = FAMILIES[each.code[:3]]
    facts = [("severity", each.severity), ("family", f"[{family.title}](README.md#{_anchor(each.code[:3], family)})")]
    if rule := load_all_rules().get(each.code):
        facts.append(("files", ", ".join(rule.profiles)))
    if each.verdict:
        facts.append(("verdict", _tell_outcome(each)))
    facts += [("fix", f"{each.fix}: {_FIXES[each.fix].format(code=each.code)}" if each.fix else "none"),
              ("told by", _link_commands(family))]  # fmt: skip
    first, *rest = each.documentation.split("\n\n")
    return join(f"# {each.code} {each.name}", first, *map(_render_part, rest), table(("", ""), facts),
                "## To excuse it", family.excuse.format(code=each.code))  # fmt: skip


def _tell_outcome(each: Explanation) -> str:
    if each.severity == "error":
        return f"[{each.verdict}](../codes.md#outcomes), unless another finding weighs more"
    return f"a warning refuses nothing; where it is told as an error, [{each.verdict}](../codes.md#outcomes)"


def _anchor(start: str, family: Family) -> str:
    return name_anchor(_head(start, family))


def _head(start: str, family: Family) -> str:
    return f"{start}: {family.title[0].lower()}{family.title[1:]}"


def _render_part(part: str) -> str:
    """`Why: …` with its first word in bold, as a paragraph."""
    word, colon, text = part.partition(":")
    return f"**{word}{colon}**{text}" if colon and word.partition(" (")[0].isalpha() else part
