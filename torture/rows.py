"""The rows: every promise that is tortured, how often at least, by which command, and how one case is had again.

Owns the table that `torture/everything.py` runs, `docs/reliability.md` shows and a test compares with both.
"""

from __future__ import annotations

from typing import Final, NamedTuple

FUZZED: Final = {
    "extractor": "the extractor of returns",
    "formats": "the formats, and conversion between them",
    "frontmatter": "the frontmatter of agent files, under every rule",
    "tags": "the scanner of tags, under every rule",
    "manifest": "the reader of manifests",
    "bash_policy": "the policy on bash commands",
    "hook": "what a hook is given",
    "http_api": "bodies, queries, paths and headers of the HTTP API",
}


class Row(NamedTuple):
    """One row of the table."""

    name: str
    what: str
    least: int
    """So many at least, or the row is bad."""
    unit: str
    command: tuple[str, ...]
    """What follows `python`."""
    again: str
    """How a case that was bad is had again."""
    takes_jobs: bool = False
    more: tuple[tuple[str, int], ...] = ()
    """What else is counted, and how much of it there has to be at least."""


ROWS: Final = (
    Row("kills", "SIGKILL at every syscall of every command that changes something, and of its recovery", 1_500,
        "kills", ("torture/kill_points.py",), "torture/kill_points.py --only 'COMMAND:SYSCALL:N'", takes_jobs=True,
        more=(("recoveries", 300),)),
    Row("supervisors", "a supervisor killed while its agents run", 20, "supervisors", ("torture/supervisors.py",),
        "torture/supervisors.py --seed N", more=(("agents", 100),)),
    Row("io-errors", "a disk that is full, broken or read-only, at each call", 1_500, "errors",
        ("torture/io_errors.py",), "torture/io_errors.py --only 'COMMAND:SYSCALL:N:ERROR'", takes_jobs=True),
    Row("writers", "32 writers with 500 each: manifest, tasks, ledger", 48_000, "writes", ("torture/writers.py",),
        "torture/writers.py --matter MATTER"),
    Row("histories", "random histories of delegations against a model", 10_000, "histories",
        ("torture/histories.py",), "torture/histories.py --first SEED --histories 1", takes_jobs=True),
    Row("survivors", "what agents leave running after a timeout, a cancel or a kill", 200, "trees",
        ("torture/survivors.py",), "torture/survivors.py --trees 1 --first NUMBER"),
    Row("graphs", "depth and circles: every graph of up to 5 agents, and random walks", 1_152_741, "graphs and walks",
        ("torture/graphs.py",), "torture/graphs.py --seed N"),
    *(Row(f"fuzz {name}", f"fuzz: {what}", 1_000_000, "cases", ("fuzz/count.py", name),
          f"fuzz/count.py {name} --replay FILE", takes_jobs=True) for name, what in FUZZED.items()),
    Row("bombs", "files and texts that are made to hang, crash or fill a reader: 2 s and 200 MB each", 60, "bombs",
        ("torture/bombs.py",), "torture/bombs.py --only 'SUBJECT: NAME'"),
    Row("fakes", "returns that are not so", 150, "fakes", ("torture/fakes.py",), "torture/fakes.py --only NAME"),
    Row("escapes", "paths that lead out, and swaps between check and use", 10_120, "spellings and races",
        ("torture/escapes.py",), "torture/escapes.py --only WORK:SWAP:N:M",
        more=(("spellings", 120), ("races", 10_000))),
    Row("confined writes", "scripts that really change a protected place, by two users: confined, none does", 300,
        "scripts", ("torture/confinement.py", "writes"), "torture/confinement.py writes --only TEXT"),
    Row("confined escapes", "ways around the mounts and out of the process, as root and not, in nested namespaces", 300,
        "attempts", ("torture/confinement.py", "escapes"), "torture/confinement.py escapes --only TEXT"),
    Row("confined work", "ordinary commands and builds by an agent that is confined: as bare, or listed", 60,
        "commands", ("torture/confinement.py", "work"), "torture/confinement.py work --only TEXT"),
    Row("own session", "the same work by the user's own session of Claude Code, through hooks and Remit's shell", 60,
        "commands", ("torture/confinement.py", "session"), "torture/confinement.py session --only TEXT"),
    Row("denied programs", "spellings of denied programs: judged, none starts one but those listed; ordinary work runs",
        1_000, "spellings", ("torture/denied_programs.py",), "torture/denied_programs.py --only NAME", takes_jobs=True,
        more=(("ordinary", 500),)),
    Row("plain-words", "spellings of denied programs and hidden writes, judged by their words alone", 2_000,
        "spellings", ("torture/plain_words.py",), "torture/plain_words.py",
        more=(("ordinary", 1_000), ("writes", 350))),
    Row("hook", "a hook that hangs, is given garbage, or finds its machine broken", 150, "cases",
        ("torture/suites.py", "hook"), "-m pytest NAME, with REMIT_TEST_ALL=1", takes_jobs=True),
    Row("dashboard", "every route without a good token; hosts, origins, forms and texts of others", 250, "cases",
        ("torture/suites.py", "dashboard"), "-m pytest NAME, with REMIT_TEST_ALL=1", takes_jobs=True),
    Row("secrets", "tests of what takes secrets out: errors, telemetry, reports, answers", 300, "cases",
        ("torture/suites.py", "secrets"), "-m pytest NAME, with REMIT_TEST_ALL=1", takes_jobs=True),
    Row("leaks", "forms of secrets that agents say, looked for in all that is written down or shown", 40, "forms",
        ("torture/leaks.py",), "torture/leaks.py --only FORM"),
    Row("hostile", "looking at a hostile repository", 15, "commands", ("torture/hostile.py",),
        "torture/hostile.py --only COMMAND"),
    Row("cluster", "machines that die and freeze, databases and networks that go away", 50, "scenes",
        ("torture/cluster.py",), "torture/cluster.py --only SCENE:SEED"),
)  # fmt: skip
