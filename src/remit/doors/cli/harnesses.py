"""What `remit init --harness` and `remit uninstall` say and ask: files that change, notes, and events that fire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.doors.cli.output import complain, get_paint, say, say_json
from remit.doors.render import ACCEPTED, NOT_ACCEPTED, count
from remit.doors.terminal import escape, quote
from remit.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.app.harness_probes import Probed
    from remit.app.harnesses import Installation
    from remit.workspace.harness_settings import Edit

_MARKS = {"fires": ("good", "✓"), "does not": ("error", "✗"), "not proved": ("warning", "?")}
_ACTIONS = {(True, False): "create", (False, False): "change", (False, True): "remove"}


def parse_harness(name: str) -> str:
    """The name of a harness that Remit can be called by."""
    from remit.app.harnesses import HARNESSES

    if name not in HARNESSES:
        raise UsageError(f"there is no harness '{name}' to be called by", hint=did_you_mean(name, HARNESSES))
    return name


def install(names: Sequence[str], *, shared: bool, mcp: bool, dry_run: bool, as_json: bool) -> int:
    """Have harnesses call Remit."""
    from remit.app.harnesses import plan_installation

    plan = plan_installation(names, shared=shared, with_server=mcp)
    check = f"remit init {' '.join(f'--harness {name}' for name in names)} --check"
    return _carry_out(plan, dry_run=dry_run, as_json=as_json,
                      done=f"written; whether the hooks are called, says: {check}",
                      idle=f"nothing to do: everything is there; whether it is called, says: {check}")  # fmt: skip


def remove(names: Sequence[str], *, dry_run: bool, as_json: bool) -> int:
    """Have harnesses call Remit no more."""
    from remit.app.harnesses import plan_uninstallation

    plan = plan_uninstallation(names)
    return _carry_out(plan, dry_run=dry_run, as_json=as_json,
                      done="taken out; everything else is as it was", idle="nothing of Remit's is there")  # fmt: skip


def _carry_out(plan: Installation, *, dry_run: bool, as_json: bool, done: str, idle: str) -> int:
    """Change what was asked for in so many words, then tell it file by file; or only show it."""
    paint = get_paint()
    if not dry_run:
        _write(plan, as_json=as_json)
    if not as_json:
        _show(plan, at_length=dry_run)
    if as_json:
        say_json(_shape(plan, written=not dry_run and bool(plan.changes)))
    elif not plan.changes:
        if not plan.undone:  # what could not be looked into may have something of Remit's
            say(f"{paint('good', '✓')} {escape(idle)}")
    elif dry_run:
        say("\nNothing was written.")
    else:
        say(f"\n{paint('good', '✓')} {escape(done)}")
    for error in plan.undone:
        complain(error, as_json=as_json)
    return ACCEPTED if not plan.undone else NOT_ACCEPTED


def _write(plan: Installation, *, as_json: bool) -> None:
    """Write; where that fails, tell what is written by then and what is not."""
    from remit.app.harnesses import list_written, write_installation
    from remit.errors import RemitError

    try:
        write_installation(plan)
    except RemitError as error:
        done = list_written(plan)
        left = [edit for edit in plan.changes if edit not in done]
        error.data.update(written=[edit.path for edit in done], not_written=[edit.path for edit in left])
        for title, edits in (("Written", done), ("Not written", left)) if not as_json else ():
            if edits:
                _show_files(title, edits)
        raise


def _shape(plan: Installation, *, written: bool) -> dict[str, Any]:
    harnesses = [
        {
            "name": each.name,
            "files": [{"path": edit.path, "action": _name_action(edit)} for edit in each.edits if edit.is_change],
            "events": list(each.events),
            "notes": list(each.notes),
            "undone": [str(error) for error in each.undone],
        }
        for each in plan.harnesses
    ]
    return {"root": plan.root, "harnesses": harnesses, "written": written}


def _name_action(edit: Edit) -> str:
    return _ACTIONS[edit.before is None, edit.after is None]


def _show(plan: Installation, *, at_length: bool) -> None:
    paint = get_paint()
    say(f"{paint('strong', 'Workspace')} {escape(plan.root)}")
    for each in plan.harnesses:
        for note in each.notes:
            say(f"  {paint('note', 'note')}  {each.name}: {quote(note)}")
    if plan.changes:
        _show_files("To be written" if at_length else "Written", plan.changes, at_length=at_length)


def _show_files(title: str, edits: Sequence[Edit], *, at_length: bool = False) -> None:
    paint = get_paint()
    say(f"\n{paint('strong', title)}")
    for edit in edits:
        say(f"  {_name_action(edit)}  {escape(edit.path)}")
        for sign, line in _list_lines(edit) if at_length else ():
            say(f"    {paint('good' if sign == '+' else 'error', f'{sign} {escape(line)}'.rstrip())}")


def _list_lines(edit: Edit) -> Iterator[tuple[str, str]]:
    """The lines that change. Others could be anybody's secrets; of a file that goes or comes whole, none is shown."""
    from difflib import unified_diff

    if edit.path.endswith(".js") or edit.after is None:
        return
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (edit.before, edit.after))
    for line in list(unified_diff(old, new, n=0, lineterm=""))[2:]:
        if line[0] in "+-":
            yield line[0], line[1:]


# --- whether they are called -----------------------------------------------------------------------------------------


def check_hooks(names: Sequence[str], *, as_json: bool) -> int:
    """Say of each event whether its hook is called. Exit code 1: one is not, or it could not be proved."""
    from remit.app.harness_probes import probe_harness

    probes = []
    for name in dict.fromkeys(names):
        if not as_json:
            long = ", which can take two minutes" if name == "opencode" else ""
            say(f"{get_paint(stderr=True)('note', f'{name} is tried{long} …')}", stderr=True)
        probes.append(probe_harness(name))
    if as_json:
        say_json([_shape_probe(probed) for probed in probes])
    else:
        for probed in probes:
            _show_probe(probed)
    is_proved = all(probed.events and all(event.state == "fires" for event in probed.events) for probed in probes)
    return ACCEPTED if is_proved else NOT_ACCEPTED


def _shape_probe(probed: Probed) -> dict[str, Any]:
    return probed._asdict() | {"events": [event._asdict() for event in probed.events], "notes": list(probed.notes)}


def _show_probe(probed: Probed) -> None:
    paint = get_paint()
    version = f" ({probed.version})" if probed.version else ""
    how = f"run for real{version}" if probed.is_live else "not run: the command lines were tried by themselves"
    say(f"{paint('strong', probed.name)} {escape(how)}")
    width = max((len(event.name) for event in probed.events), default=0)
    for event in probed.events:
        style, mark = _MARKS[event.state]
        why = f"  {quote(event.why)}" if event.why else ""
        say(f"  {paint(style, mark)} {event.name:<{width}}  {event.state}{why}")
    for note in probed.notes:
        say(f"  {paint('note', 'note')}  {quote(note)}")
    states = [event.state for event in probed.events]
    if "does not" in states:
        total = count(states.count("does not"), "event")
        say(f"{paint('error', '✗')} {total} of {len(states)} not heard")
    elif "not proved" in states:
        say(f"{paint('warning', '!')} {states.count('fires')} of {len(states)} events proved")
    elif states:
        say(f"{paint('good', '✓')} all {len(states)} events are heard")
