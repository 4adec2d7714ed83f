"""`remit completion`: the completion scripts of shells, and the words that complete arguments.

Agents and repositories wrote some of these words: only plain words are offered, and their descriptions are escaped.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.output import print_verbatim
from remit.errors import UsageError
from remit.spelling import did_you_mean
from remit.views.render import ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

SHELLS = ("bash", "zsh", "fish")
_MAX_HELP_CHARS = 60
_ZSH_BEGINS = "#compdef remit\n"
_ZSH_LOADS = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
"""A zsh without completion set up has no `compdef`."""


@click.command(cls=options.Command)
@click.argument("shell", metavar="[SHELL]", required=False, shell_complete=options.offer(*SHELLS))
def completion(shell: str | None) -> int:
    """Print the completion script of SHELL: bash, zsh or fish. Default: the shell in use.

    It completes commands, options and their values, and this workspace's agents, runs, tasks and codes. Exit code
    0: printed, 2: could not run.

    bash: echo 'eval "$(remit completion bash)"' >> ~/.bashrc

    zsh: echo 'eval "$(remit completion zsh)"' >> ~/.zshrc

    fish: echo 'remit completion fish | source' >> ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from remit.cli.group import root

    name = shell or os.environ.get("SHELL", "").rpartition("/")[2]
    if not name:
        raise UsageError("can't detect the shell: SHELL is not set", hint="name it: remit completion bash")
    made = get_completion_class(name) if name in SHELLS else None
    if made is None:
        raise UsageError(f"there is no completion for '{name}'", hint=did_you_mean(name, SHELLS))
    # click's own method starts bash to check its version. A bash before 4.4 reports the problem itself.
    writer = made(root, {}, "remit", "_REMIT_COMPLETE")
    script = (writer.source_template % writer.source_vars()).strip()
    print_verbatim(script.replace(_ZSH_BEGINS, _ZSH_BEGINS + _ZSH_LOADS, 1))
    return ACCEPTED


def complete_agents(ctx: click.Context, param: click.Parameter, start: str) -> list[CompletionItem]:
    """Offer the agents of this workspace."""
    from remit.maintenance.next_steps import offer_agents

    del ctx, param
    return make_items(start, [(name, "") for name in offer_agents()])


def complete_agent_first(ctx: click.Context, param: click.Parameter, start: str) -> list[CompletionItem]:
    """Offer the agents of this workspace for the first argument; the second is the prompt."""
    return [] if ctx.params.get(param.name or "") else complete_agents(ctx, param, start)


def complete_sessions(ctx: click.Context, param: click.Parameter, start: str) -> list[CompletionItem]:
    """Offer the runs of this workspace, newest first."""
    from remit.maintenance.next_steps import offer_sessions

    del ctx, param
    return make_items(start, offer_sessions())


def complete_tasks(ctx: click.Context, param: click.Parameter, start: str) -> list[CompletionItem]:
    """Offer the open tasks."""
    from remit.maintenance.next_steps import offer_tasks

    del ctx, param
    return make_items(start, offer_tasks())


def complete_codes(ctx: click.Context, param: click.Parameter, start: str) -> list[CompletionItem]:
    """Offer every diagnostic code."""
    from remit.views.explanations import explain_all

    del ctx, param
    return make_items(start.upper(), [(each.code, each.name) for each in explain_all()])


def make_items(start: str, found: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    """Return the plain words with the given beginning, each with its description."""
    from click.shell_completion import CompletionItem

    from remit.terminal import escape

    def describe(text: str) -> dict[str, Any]:
        return {"help": escape(text[:_MAX_HELP_CHARS])} if text else {}

    return [
        CompletionItem(word, **describe(text))
        for word, text in found
        if word.startswith(start) and word.isprintable() and not set(word) & set(" \t,'\"$`\\;&|<>()")
    ]
