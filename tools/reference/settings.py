"""The page of the settings: every key of remit.toml, and every variable of the environment that Remit reads.

Owns which class of `config/` is which table, and an example for each. What a key means is the comment below its field;
defaults are the field's.
"""

from __future__ import annotations

import ast
import re
from inspect import getsource
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from remit import config
from remit.config import checks, runs
from remit.model import NOTHING
from tools.reference.markdown import code, fence, join, name_anchor, table
from tools.reference.variables import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Iterator


class Table(NamedTuple):
    """A table of remit.toml."""

    title: str
    fields: type[Any]
    example: str
    about: str = ""


TABLES = (
    Table("returns", config.ReturnSettings, """\
[returns]
format = "hyper"
status_words = {planned = "completed", "needs input" = "blocked"}
"""),
    Table("lint", config.LintSettings, """\
[lint]
select = ["AGT", "GRF"]
ignore = ["AGT137"]
extend_select = ["IGN001"]
per_file_ignores = {"prompts/old/**" = ["AGT1"]}
severity = {AGT126 = "note"}
exclude = ["vendor/**"]
baseline = ".remit-baseline.json"
fail_on = "error"
"""),
    Table("delegate", runs.DelegateSettings, """\
[delegate]
runner = "claude"
timeout = 1800
reasks = 2
result_tokens = 400
commit = false
"""),
    Table("limits", runs.LimitSettings, """\
[limits]
running = 8
per_agent = 4
per_tree = 6
"""),
    Table("budget", runs.BudgetSettings, """\
[budget]
max_seconds = 7200
max_turns = 200
max_tokens = 2000000
max_usd = 5
max_delegations = 20
""", "What of it a runner tells, and when, is said in [BUD001](rules/BUD001.md)."),
    Table("runners.NAME", runs.RunnerSettings, """\
[runners.claude]
program = "/opt/claude/bin/claude"
args = ["--verbose"]
env = {LANG = "C.UTF-8"}
model = "sonnet"

[runners.mine]
command = "my-agent --quiet"
prompt = "stdin"
retry = "safe"

[runners.inside]
entry = "agents.writer:write"
""", "NAME is a harness (`claude`, `opencode`, `codex`, `gemini`) or a name of your own. What runs a program counts "
     "only once somebody has agreed to it: [`remit config trust`](commands/config-trust.md)."),
    Table("agents.NAME", runs.AgentSettings, """\
[agents.planner]
runner = "opencode"
timeout = 900
format = "standard"
owner = "remit"
retry = "safe"
checks = ["tests"]
schema = "schemas/review.json"
"""),
    Table("task.NAME", runs.TaskCommandSettings, """\
[task.audit]
like = "review"
kind = "review"
working = "IN PROGRESS"
artifact = "reports/audit-{version:03d}.md"
help = "Have a task audited."
timeout = 1800
checks = ["tests", "api"]
""", "Makes a command `remit NAME`, or changes one that there is."),
    Table("hooks", runs.HookSettings, """\
[hooks]
enforce = "contract"
also_enforce = ["general-purpose"]
observe = ["Explore"]
blocks = 2
ask = "deny"
result = true
main = "checks"
"""),
    Table("tasks", config.TaskSettings, """\
[tasks]
folder = "specs"
show = "cleo show {id}"
focus = "cleo focus set {id}"
complete = "cleo complete {id}"
link = "cleo research link {id}"
"""),
    Table("manifest", config.ManifestSettings, """\
[manifest]
path = "docs/findings/MANIFEST.jsonl"
output_dir = "docs/findings"
"""),
    Table("retention", config.RetentionSettings, """\
[retention]
days = 30
megabytes = 512
"""),
    Table("confine", config.ConfineSettings, """\
[confine]
mode = "auto"
write = ["~/.cache", "~/.npm"]
network = "model"
judge = true
"""),
    Table("checks.NAME", checks.CheckSettings, """\
[checks.tests]
run = "pytest -q --junitxml=report.xml"
timeout = 900
when = ["src/**", "tests/**"]
junit = "report.xml"
weakened = "partial"

[checks.api]
run = "make check"
cwd = "api"
protect = ["Makefile", "api/pytest.ini"]
baseline = true
""", "The commands come with the repository, so they run once you trusted them with `remit config trust`."),
    Table("cluster", config.ClusterSettings, """\
[cluster]
remote = "git@example.org:team/project.git"
lease = 15
poll = 0.2
save_every = 30
parcel_megabytes = 32
""", "How machines work together is told in [deployment](../deployment.md)."),
)  # fmt: skip
TYPES = {
    "str": "text", "str | None": "text", "bool": "true or false", "bool | None": "true or false",
    "int": "whole number", "int | None": "whole number", "float": "number", "float | None": "number",
    "tuple[str, ...]": "list of texts", "tuple[str, ...] | None": "list of texts",
    "Mapping[str, str]": "table of texts",
    "Mapping[str, tuple[str, ...]]": "table of lists", "Severity": "`note`, `warning` or `error`",
    "Mapping[str, Severity]": "table of severities", "Mapping[str, Status]": "table of statuses",
}  # fmt: skip
"""The types of fields, in a reader's words."""
BACKEND = """\
backend = "postgresql://remit:${REMIT_DB_PASSWORD}@db.internal/remit"
"""
ROUTE = """\
[route]
plan = "planner"

[route.research]
default = "researcher"
lean = "lean-researcher"
"""


_ABOUT = """
A workspace is set up in `remit.toml` at its root. Without that file, Remit reads `[tool.remit.lint]` of
`pyproject.toml`; other tables there are an error, because agents may edit that file. Everything has a default; a key
that nobody knows is an error that names the one that was probably meant. Keys can be written with hyphens, too.
"""
_ROUTES = """
NAME is a command that works on a task: `research`, `plan`, `revise`, `implement`, `review`, or one of your own. Without
a route it is the agent whose file is for this.
"""
_ENVIRONMENT = """
Those that an agent's own program reads are not here: it is started with the environment of whoever started it, and with
what `[runners.NAME] env` adds.
"""


def render_settings() -> dict[str, str]:
    """The page, by its path."""
    parts = [
        "# Settings",
        _ABOUT,
        "Tables: " + ", ".join(_list_links()) + "; and [variables of the environment](#environment-variables).",
        "## backend",
        *_render_lone("backend", "text", code(config.LOCAL), config.Settings, BACKEND),
        f"`${{NAME}}` stands for a variable of the environment. {_link_page('worker')} has what it takes.",
        "## [route]",
        *_render_lone("NAME", "text, or table of texts", "none", runs.RunSettings, ROUTE, field="route"),
        _ROUTES,
    ]
    for each in TABLES:
        rows = [_make_row(field, each.fields) for field in each.fields._fields]
        about = (each.fields.__doc__ or "").rpartition(": `[")[0]
        parts += [f"## [{each.title}]", f"{about}. {each.about}".strip(), table(("key", "type", "default", "meaning"),
                  rows), fence(each.example, "toml")]  # fmt: skip
    parts += ["## Environment variables", _ENVIRONMENT]
    for title, variables in VARIABLES.items():
        parts += [
            f"### {title}",
            table(("variable", "meaning"), ((code(name), text) for name, text in variables.items())),
        ]
    return {"settings.md": join(*parts)}


def _list_links() -> Iterator[str]:
    for title in ("backend", "[route]", *(f"[{each.title}]" for each in TABLES)):
        yield f"[`{title}`](#{name_anchor(title)})"


def _link_page(command: str) -> str:
    return f"[`remit {command}`](commands/{command.replace(' ', '-')}.md)"


def _render_lone(
    key: str, kind: str, default: str, fields: type[Any], example: str, *, field: str = ""
) -> tuple[str, str]:
    """A table with one row, for a key that has no class of its own."""
    row = (code(key), kind, default, read_comments(fields)[field or key])
    return table(("key", "type", "default", "meaning"), [row]), fence(example, "toml")


def _make_row(field: str, fields: type[Any]) -> tuple[str, ...]:
    default = show_default(fields._field_defaults[field])
    return code(field), TYPES[read_annotations(fields)[field]], default, read_comments(fields)[field]


def _parse(fields: type[Any]) -> ast.ClassDef:
    [parsed] = ast.parse(getsource(fields)).body
    assert isinstance(parsed, ast.ClassDef)  # noqa: S101 - whoever gives something else has made a mistake here
    return parsed


def read_annotations(fields: type[Any]) -> dict[str, str]:
    """The type of each field of a class, as it is written."""
    rows = [each for each in _parse(fields).body if isinstance(each, ast.AnnAssign)]
    return {ast.unparse(each.target): ast.unparse(each.annotation) for each in rows}


def read_comments(fields: type[Any]) -> dict[str, str]:
    """The comment below each field of a class that has one."""
    body = _parse(fields).body
    return {
        ast.unparse(above.target): _plain(str(below.value.value))
        for above, below in pairwise(body)
        if isinstance(above, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }


def _plain(comment: str) -> str:
    """A comment in one line, without the number of the rule that it is for."""
    return re.sub(r" \((?:[RCS][\d.]+ ?)+\)", "", " ".join(comment.split()))


def show_default(value: object) -> str:
    """A default as remit.toml would have it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, tuple):
        return code("[" + ", ".join(f'"{each}"' for each in value) + "]")
    return code("{}" if value == NOTHING else f'"{value}"' if isinstance(value, str) else value)
