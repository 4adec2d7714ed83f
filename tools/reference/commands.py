"""The pages of the commands: one for each, and one that lists them all.

Owns the layout and which commands belong together. What a command does and takes is its own help; what it prints is
what its examples printed when they were played.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import click

from remit import commands
from remit.cli.group import root
from tools.reference.markdown import code, fence, join, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tools.reference.stage import Played

FORMATS = {
    "full": "for people",
    "concise": "for editors and logs: a line for each finding",
    "json": "for programs; `--json` is short for it",
    "github": "annotations, for GitHub Actions",
    "sarif": "SARIF 2.1, for code scanning",
    "tree": "for people: a tree",
    "mermaid": "a Mermaid flowchart",
    "dot": "a Graphviz graph",
}
TOGETHER = (
    ("check", "return", "explain"),
    ("lint", "agent", "explain"),
    ("task", "task sync", "findings", "run"),
    ("findings", "return convert", "task link"),
    ("errors", "show", "doctor"),
    ("run", "wait", "cancel", "resume", "retry", "ps", "show"),
    ("ps", "show", "logs", "status"),
    ("worker", "ps", "serve"),
    ("serve", "mcp"),
    ("doctor", "gc", "task sync", "config"),
    ("init", "hooks", "mcp", "config", "agent can"),
    ("return", "check", "explain"),
    ("agent", "lint"),
    ("hooks", "init", "mcp"),
    ("config", "doctor", "init"),
)
"""Commands that a reader of one of them looks for; of several rows with a command the first counts."""
USUAL_EXITS = {"0": "done", "1": "looked at, and the answer is no", "2": "could not run"}


class Page(NamedTuple):
    """A command, by what follows `remit` on the command line."""

    name: str
    command: click.Command

    @property
    def path(self) -> str:
        """Where its page is, below docs/reference/."""
        return f"commands/{name_file(self.name)}"


def name_file(name: str) -> str:
    """The file of a command's page."""
    return f"{name.replace(' ', '-')}.md"


def list_pages() -> list[Page]:
    """Every command that people call, those of groups below them."""
    ctx = click.Context(root, info_name="remit")
    return [page for name in commands.list_names() for page in _walk(root, ctx, name, name)]


def _walk(group: click.Group, ctx: click.Context, name: str, whole: str) -> Iterator[Page]:
    command = group.get_command(ctx, name)
    if command is None:
        raise LookupError(f"there is no command {whole}")
    yield Page(whole, command)
    if isinstance(command, click.Group):
        inner = click.Context(command, parent=ctx, info_name=name)
        for each in command.list_commands(inner):
            yield from _walk(command, inner, each, f"{whole} {each}")


def share_out(examples: Sequence[Played], pages: Sequence[Page]) -> dict[str, list[Played]]:
    """The examples of each command: that with the longest name which the line begins with."""
    names = sorted((page.name for page in pages), key=len, reverse=True)
    shared: dict[str, list[Played]] = {page.name: [] for page in pages}
    for each in examples:
        line = each.line.removeprefix("remit ")
        shared[next(name for name in names if f"{line} ".startswith(f"{name} "))].append(each)
    return shared


def render_commands(examples: Sequence[Played]) -> dict[str, str]:
    """All pages, by their path."""
    pages = list_pages()
    shared = share_out(examples, pages)
    made = {page.path: _render_page(page, shared[page.name]) for page in pages}
    return {"commands/README.md": _render_index(pages), **made}


def _render_index(pages: Sequence[Page]) -> str:
    known = {page.name: page for page in pages}
    parts = ["# Commands", _ABOUT]
    titles = dict.fromkeys(entry.section for entry in commands.list_commands())
    for title in titles:
        rows = [_make_row(known[entry.name]) for entry in commands.list_commands() if entry.section == title]
        parts += [f"## {title}", table(("command", "what it does"), rows)]
    for group in commands.GROUPS:
        rows = [_make_row(known[entry.name]) for entry in commands.list_commands(group.name)]
        parts += [f"## [`remit {group.name}`]({name_file(group.name)})", table(("command", "what it does"), rows)]
    hidden = " and ".join(code(f"remit {entry.name}") for entry in commands.COMMANDS if entry.is_hidden)
    formats = [(code(name), text) for name, text in FORMATS.items()]
    parts += [
        "## Of your own",
        _OWN,
        "## For all of them",
        "`--help` or `-h` shows what a command does; `remit --version` shows the version.",
        f"{hidden} are started by harnesses and by Remit itself, and have no page.",
        table(("exit", "usual meaning"), ((code(number), text) for number, text in USUAL_EXITS.items())),
        "What stops a command is [one of the errors](../codes.md#errors), told in a sentence on standard error.",
        table(("format", "what it is"), formats),
    ]
    return join(*parts)


_ABOUT = """
What can be said to Remit on a command line, in the sections of `remit --help`. Every example on these pages is run by a
test, and shows what it printed; sessions, times and the like are replaced, and a small program stands in for the model.
"""
_OWN = """
A workspace can have its own commands that work on a task: [`[task.NAME]`](../settings.md#taskname) makes
`remit task NAME`.
"""


def _make_row(page: Page) -> tuple[str, str]:
    return f"[`remit {page.name}`]({name_file(page.name)})", page.command.get_short_help_str(200)


def _render_page(page: Page, examples: Sequence[Played]) -> str:
    about, exits = split_exits(page.command)
    parts = [f"# remit {page.name}", *about, fence(_render_usage(page), "text")]
    if isinstance(page.command, click.Group):
        below = [each for each in list_pages() if each.name.rpartition(" ")[0] == page.name]
        parts += ["## Commands", table(("command", "what it does"), map(_make_row, below))]
    arguments = [each for each in page.command.params if isinstance(each, click.Argument)]
    parts += ["## Arguments", table(("argument", "how often"), map(_make_argument, arguments))] if arguments else []
    options = list_options(page.command)
    parts += ["## Options", table(("option", "meaning", "default"), map(_make_option, options))] if options else []
    parts += [] if isinstance(page.command, click.Group) else ["## Exit codes", _render_exits(exits)]
    formats = list_formats(page.command)
    if formats:
        parts += [
            "## Output formats",
            table(("format", "what it is"), ((code(name), FORMATS[name]) for name in formats)),
        ]
    parts += ["## Examples", *(part for each in examples for part in _render_example(each))] if examples else []
    return join(*parts, "## See also", _render_related(page))


def _render_usage(page: Page) -> str:
    ctx = click.Context(page.command, info_name=f"remit {page.name}")
    return " ".join([ctx.command_path, *page.command.collect_usage_pieces(ctx)])


def split_exits(command: click.Command) -> tuple[list[str], dict[str, str]]:
    """What a command's help says, by paragraphs without the exit codes; and those."""
    exits: dict[str, str] = {}
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", (command.help or "").replace("\\b\n", "\b\n")):
        if paragraph.startswith("\b"):  # what stands as it is
            paragraphs.append(fence(paragraph.removeprefix("\b\n"), "text"))
            continue
        text = " ".join(paragraph.split())
        for sentence in re.findall(r"Exit code (\d: .*?)\.(?= |$)", text):
            parts = re.split(r"(?:^|[,;] )(\d): ", sentence)
            for number, meaning in zip(parts[1::2], parts[2::2], strict=True):
                exits[number] = f"{exits[number]}; {meaning}" if number in exits else meaning
        if "Exit code as of remit run." in text:
            exits |= {"": "as of [`remit run`](run.md#exit-codes)"}
        text = re.sub(r"Exit code (?:\d: .*?|as of remit run)\.(?= |$)", "", text).strip()
        paragraphs += [_escape(text)] if text else []
    return paragraphs, exits


def _escape(text: str) -> str:
    """What a browser would take for a tag is none, and what is typed is set off."""
    return re.sub(
        r"(?<![\w`-])(--output-format json|--[a-z][a-z-]+|\[[a-z]+\.[A-Za-z]+\])(?![\w`])", r"`\1`", text
    ).replace("<", "\\<")


def _render_exits(exits: Mapping[str, str]) -> str:
    if "" in exits:
        return f"They are {exits['']}."
    told = {**(exits or USUAL_EXITS), "2": exits.get("2", USUAL_EXITS["2"])}
    return table(("exit", "meaning"), ((code(number), text) for number, text in told.items()))


def list_options(command: click.Command) -> list[click.Option]:
    """The options of a command, but for --help."""
    return [each for each in command.params if isinstance(each, click.Option) and not each.hidden]


def _make_argument(argument: click.Argument) -> tuple[str, str]:
    name = (argument.metavar or argument.name or "").upper().strip("[]…. ").partition("…")[0].removesuffix("|-")
    many, needed = argument.nargs != 1, argument.required
    return code(
        name
    ), "one or more" if many and needed else "any number" if many else "one" if needed else "one or none"


def _make_option(option: click.Option) -> tuple[str, str, str]:
    names = ", ".join(option.opts) + "".join(f" / {each}" for each in option.secondary_opts)
    whole = names if option.is_flag else f"{names} {option.metavar or (option.name or '').upper()}"
    default = option.default
    shown = code(default) if isinstance(default, str | int | float) and not isinstance(default, bool) else ""
    needed = " It must be given." if option.required else ""
    return code(whole), f"{_escape(option.help or '')}{needed}", shown


def list_formats(command: click.Command) -> list[str]:
    """The output formats of a command."""
    for option in list_options(command):
        if "--output-format" in option.opts:
            return re.split(r", | or ", (option.help or "").partition(".")[0])
    return []


def _render_example(each: Played) -> tuple[str, ...]:
    line = fence(f"$ {each.line}\n{each.shown}", "console")
    return (each.about, line, f"Exit code {each.code}.") if each.code else (each.about, line)


def _render_related(page: Page) -> str:
    first = page.name.split(" ")[0]
    row = next((row for row in TOGETHER if page.name in row or first in row), ())
    names = [first] if " " in page.name else []
    names += [name for name in row if name != page.name and name not in names]
    links = ", ".join(f"[`remit {name}`]({name_file(name)})" for name in names)
    return f"{links}; [all commands](README.md)" if links else "[all commands](README.md)"
