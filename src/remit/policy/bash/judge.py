"""The decision on a shell command under all layers of permissions.

If an agent's file has rules for bash, every program that the script names has to pass. Remit asks the user about
parts that the text doesn't determine, unless the exec judge checks them. Files, signals and the network aren't
derived from a command: the kernel enforces those limits (`remit.confine`). If the kernel can't, Remit also asks about
inline code, dynamic programs and unknown interpreters of agents with rules on files.
"""

from __future__ import annotations

from remit.globs import matches_name
from remit.policy.bash import command_patterns, program_facts
from remit.policy.bash.simple_commands import ScriptReader
from remit.policy.bash.words import HOLE, Invocation, PossibleCommand, ShellAssignment
from remit.policy.decision import ALLOWED, USE_LISTED, Decision, ask_user, deny, pick_stricter, shorten

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.words import Act
    from remit.policy.decision import PathContext, Permissions

PLAINLY = (
    "write the command out in full, without anything that only a running shell knows, or return `partial` and say what "
    "is missing"
)


_FILE_TOOLS = frozenset({"write", "edit"})


def judge_command(command: str, layers: Sequence[Permissions], ground: PathContext) -> Decision:
    """Return the strictest decision on everything that a shell command would start."""
    is_open = not ground.is_limited and any({*layer.allow, *layer.deny} & _FILE_TOOLS for layer in layers)
    layers = [layer for layer in layers if _restricts(layer)]
    if not layers and not is_open:
        return ALLOWED
    reader = ScriptReader(ground)
    reader.read(command)
    reader.check_files()
    decision = ALLOWED
    for act in dict.fromkeys(reader.acts):
        decision = pick_stricter(decision, _judge_act(act, layers, is_judged=ground.is_judged))
        if decision.answer == "deny":
            return decision
    return pick_stricter(decision, _judge_composed(reader, layers))


def _restricts(layer: Permissions) -> bool:
    allowed = layer.allow.get("bash")
    listed = allowed is not None and not any(command_patterns.parse_pattern(each).is_everything for each in allowed)
    return listed or bool(layer.deny.get("bash"))


def _judge_act(act: Act, layers: Sequence[Permissions], *, is_judged: bool) -> Decision:
    if isinstance(act, Invocation):
        return _judge_run(act, layers, is_judged=is_judged)
    if isinstance(act, ShellAssignment):
        return _judge_assignment(act, layers, is_judged=is_judged)
    if isinstance(act, PossibleCommand):
        return ALLOWED if is_judged and not act.leaves else _judge_hint(act, layers)
    if is_judged and act.is_code:
        return ALLOWED
    return ask_user(
        f"Remit can't determine what this command would run: {act.why}",
        "bash",
        instead=PLAINLY,
        question=f"Remit can't determine what this command would run: {act.why}. The agent may not run every command.",
    )


def _judge_run(run: Invocation, layers: Sequence[Permissions], *, is_judged: bool) -> Decision:
    decision = ALLOWED
    shown = shorten(" ".join(word.text.replace(HOLE, "…") for word in run.words))
    # The exec judge sees the final arguments, after the shell has expanded them.
    waits = is_judged and any(not word.is_sure for word in run.words)
    for layer in layers:
        for pattern in layer.deny.get("bash", ()):
            found = command_patterns.fits(pattern, run)
            rule = f'deny bash "{pattern}"'
            if found == command_patterns.YES:
                return deny(f"'{shown}' is denied to this agent by its rule {rule}", rule)
            if found == command_patterns.MAYBE and not waits:
                asked = ask_user(
                    f"'{shown}' may be what the rule {rule} denies: some of its words are known only when it runs",
                    rule,
                    instead=PLAINLY,
                    question=f"The agent wants to run '{shown}'. Some of its words are known only when it runs, so the "
                    f"agent's rule {rule} may deny it.",
                )
                decision = pick_stricter(decision, asked)
        allowed = layer.allow.get("bash")
        if allowed is None or run.passes_on or any(command_patterns.is_allowed(each, run) for each in allowed):
            continue
        listed = ", ".join(f'"{shorten(each, 40)}"' for each in list(allowed)[:8]) or "nothing"
        return deny(f"'{shown}' is not on this agent's list allow bash ({listed})", "allow bash", instead=USE_LISTED)
    return decision


def _judge_assignment(act: ShellAssignment, layers: Sequence[Permissions], *, is_judged: bool) -> Decision:
    """Judge a variable that decides which program a name means, or whose value programs run as a command."""
    is_listed = any(layer.allow.get("bash") is not None for layer in layers)
    is_loading = act.name in program_facts.LOADING or act.name.startswith(("LD_", "BASH_FUNC_", "GIT_CONFIG_"))
    if (is_listed and (is_loading or act.name in program_facts.SEARCHED)) or (is_loading and not is_judged):
        return ask_user(
            f"'{act.name}' changes which program a name means, or what a program runs",
            "bash",
            instead=PLAINLY,
            question=f"The command sets '{act.name}', which changes what its programs run, so Remit can't compare them "
            "with the agent's rules.",
        )
    if is_judged or act.name == "PATH":
        return ALLOWED
    return _judge_hint(PossibleCommand(act.value.replace(HOLE, " ")), layers)


def _judge_hint(hint: PossibleCommand, layers: Sequence[Permissions]) -> Decision:
    unfinished = command_patterns.is_unfinished(hint)
    for layer in layers:
        for pattern in layer.deny.get("bash", ()):
            rule = f'deny bash "{pattern}"'
            if command_patterns.hints_at(pattern, hint):
                return ask_user(
                    f"'{shorten(hint.text)}' may start what the rule {rule} denies",
                    rule,
                    question=f"The command contains '{shorten(hint.text)}', which may start what the agent's rule "
                    f"{rule} denies.",
                )
            if unfinished:
                return ask_user(
                    f"'{shorten(hint.text)}' may be given to a shell, and the rule {rule} may deny it",
                    rule,
                    instead=PLAINLY,
                    question=f"The command may give '{shorten(hint.text)}' to a shell, and the agent's rule {rule} may "
                    "deny what the shell then runs.",
                )
    return ALLOWED


def _judge_composed(reader: ScriptReader, layers: Sequence[Permissions]) -> Decision:
    """Deny a script that has all parts of a pattern with several commands (`curl * | sh`) or a file (`echo * > x`)."""
    runs = [act for act in reader.acts if isinstance(act, Invocation)]
    for layer in layers:
        for pattern in layer.deny.get("bash", ()):
            if not any(sign in pattern for sign in "|;&>"):
                continue
            parts, target = command_patterns.split_command(pattern)
            there = all(any(command_patterns.fits(part, run) for run in runs) for part in parts)
            if there and (not target or any(matches_name(target, path) for path in reader.targets)):
                rule = f'deny bash "{pattern}"'
                return deny(f"this command is denied to this agent by its rule {rule}", rule)
    return ALLOWED
