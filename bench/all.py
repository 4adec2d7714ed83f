"""Runs the benchmarks, each as a process in the environment it needs, and writes down what they hand over.

Run as `python bench/all.py [--quick] [NAME …]`; `make bench` runs all of them. With a name, all scripts that begin with
it are run. A goal that is missed, a script that fails and one that takes too long stop nothing: what is known is
written. The whole form leaves its figures in `docs/benchmarks.json`, those of other scripts stay as they are, and
renders `docs/benchmarks.md` from that. The quick form only prints, unless `--write` is given.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

# Run by path, the folder that holds `bench` is not on the import path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.machine import find_load, read_machine
from bench.page import render_page
from tools.source_name import find_source

TESTS, PEERS = ".venv", ".venv-bench"
_ROOT: Final = Path(__file__).resolve().parents[1]
FIGURES: Final = _ROOT / "docs" / "benchmarks.json"
PAGE: Final = _ROOT / "docs" / "benchmarks.md"
_SCRATCH: Final = _ROOT / "build" / "bench"
"""On the disk of the checkout: a folder in memory syncs nothing."""
_PATIENCE: Final = 5
"""A busy machine may take so many times as long as a quiet one."""
_FAREWELL_S: Final = 60


class Script(NamedTuple):
    """A benchmark, and the seconds it takes on two quiet cores."""

    name: str
    environment: str
    quick_s: int
    whole_s: int


SCRIPTS: Final = (
    Script("contract", PEERS, 90, 260),
    Script("lint", PEERS, 15, 40),
    Script("hook", PEERS, 45, 150),
    Script("confine", TESTS, 15, 45),
    Script("mcp", TESTS, 10, 30),
    Script("confine_programs", TESTS, 15, 60),
    Script("delegate_command", PEERS, 10, 20),
    Script("delegate_functions", PEERS, 100, 250),
    Script("delegate_crowd", PEERS, 25, 60),
    Script("delegate_evidence", PEERS, 15, 40),
    Script("workspace_tasks", PEERS, 5, 10),
    Script("workspace_evidence", PEERS, 20, 40),
    Script("workspace_manifest", TESTS, 60, 120),
    Script("web", TESTS, 45, 90),
    Script("context", TESTS, 25, 25),
    Script("scale_throughput", TESTS, 90, 740),
    Script("scale_idle", TESTS, 50, 80),
    Script("scale_history", TESTS, 60, 200),
)


def main(words: list[str]) -> int:
    """The command line; 1 when a script failed or nothing has such a name, and 0 however many goals were missed."""
    options = _parse_options(words)
    if options.page:
        write(load())
        return 0
    chosen = [each for each in SCRIPTS if not options.names or each.name.startswith(tuple(options.names))]
    if not chosen:
        print(f"there is no benchmark {', '.join(options.names)}; there are: {_list_names()}", file=sys.stderr)
        return 1
    return int(run_all(chosen, is_quick=options.quick, keeps=options.write or not options.quick))


def _parse_options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run benchmarks and write down what they measure.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"how a script's name begins; there are {_list_names()}"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller amounts, and nothing written")
    parser.add_argument("--write", action="store_true", help="write the figures of the quick form, too")
    parser.add_argument("--page", action="store_true", help="run nothing, and render the page again")
    return parser.parse_args(words)


def _list_names() -> str:
    return ", ".join(each.name for each in SCRIPTS)


def run_all(chosen: list[Script], *, is_quick: bool, keeps: bool) -> bool:
    """Run scripts one after the other and keep what each hands over at once; whether one failed."""
    left = sum(each.quick_s if is_quick else each.whole_s for each in chosen)
    began, failed = time.monotonic(), False
    for number, script in enumerate(chosen, 1):
        spent = (time.monotonic() - began) / 60
        print(f"\n=== {number} of {len(chosen)}: {script.name}; {spent:.0f} minutes so far, about {left / 60:.0f} to go"
              f" on two quiet cores (load {find_load()})", flush=True)  # fmt: skip
        run = run_script(script, is_quick=is_quick)
        left -= script.quick_s if is_quick else script.whole_s
        if run["failure"]:
            failed = True
            print(f"*** {script.name} failed: {run['failure']}", file=sys.stderr, flush=True)
        if keeps:
            keep(script.name, run)
    print(f"\nscripts: {len(chosen)}, minutes: {(time.monotonic() - began) / 60:.1f}")
    return failed


def run_script(script: Script, *, is_quick: bool) -> dict[str, Any]:
    """Run a script to its end or to its limit; what is known of the run, with its rows."""
    estimate = script.quick_s if is_quick else script.whole_s
    _SCRATCH.mkdir(parents=True, exist_ok=True)
    began, load, source = time.time(), find_load(), find_source(_ROOT)
    with tempfile.TemporaryDirectory(dir=_SCRATCH, ignore_cleanup_errors=True) as folder:
        rows, errors = Path(folder) / "rows.jsonl", Path(folder) / "errors"
        environ = {**os.environ, "PYTHONPATH": f"{_ROOT / 'src'}{os.pathsep}{_ROOT}", "BENCH_ROWS": str(rows)}
        environ.pop("BENCH_QUICK", None)
        if is_quick:
            environ["BENCH_QUICK"] = "1"
        words = [str(_ROOT / script.environment / "bin" / "python"), "-m", f"bench.{script.name}"]
        code = run_limited(words, environ, errors, folder, limit_s=60 + _PATIENCE * estimate)
        found = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()] if rows.exists() else []
        said = errors.read_text(encoding="utf-8", errors="replace")
    return {
        "began": time.strftime("%Y-%m-%d %H:%M", time.gmtime(began)),
        "seconds": round(time.time() - began),
        "load": [load, find_load()],
        "source": source,
        "quick": is_quick,
        "failure": find_failure(code, said, found),
        "rows": found,
    }


def run_limited(words: list[str], environ: dict[str, str], errors: Path, folder: str, *, limit_s: float) -> int | None:
    """How a process ended, or None when it was ended: politely first, so that it can end what it started."""
    with errors.open("wb") as out:
        try:
            process = subprocess.Popen(words, cwd=folder, env=environ, stderr=out, start_new_session=True)  # noqa: S603 - ours
        except OSError as error:
            out.write(f"{error}: `make bench` makes what is missing\n".encode())
            return 127
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            pass
        except KeyboardInterrupt:
            _end(process)
            raise
        _end(process)
        return None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_FAREWELL_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def find_failure(code: int | None, said: str, rows: list[dict[str, Any]]) -> str:
    """Why a script is no success, in a sentence; nothing when it only missed a goal."""
    sys.stderr.write(said)
    if code is None:
        return "It took too long and was ended."
    # Both a missed goal and an exception end a script with 1.
    if code in (0, 1) and rows and "Traceback (most recent call last)" not in said:
        return ""
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "It said nothing.")
    # What a program says may name places of this machine, and the page must not.
    return f"It ended with {code}: {last.replace(str(_ROOT), '.')[:300]}"


def keep(name: str, run: dict[str, Any]) -> None:
    """Put a run in the place of an older one of the same script, and of scripts that are no more."""
    runs = {**load()["runs"], name: run}
    write(
        {"machine": read_machine(_ROOT), "runs": {each.name: runs[each.name] for each in SCRIPTS if each.name in runs}}
    )


def load() -> dict[str, Any]:
    """The figures that are kept."""
    told: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {"runs": {}}
    return told


def write(told: dict[str, Any]) -> None:
    """Write the figures, and the page that is made of them."""
    FIGURES.write_text(render_figures(told), encoding="utf-8")
    PAGE.write_text(render_page(told), encoding="utf-8")


def render_figures(told: dict[str, Any]) -> str:
    """The figures as JSON with a row in each line, so that a change of one is seen."""

    def render(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    runs = []
    for name, run in told["runs"].items():
        facts = render({key: value for key, value in run.items() if key != "rows"})
        rows = ",\n".join(map(render, run["rows"]))
        runs.append(f'{render(name)}: {facts[:-1]}, "rows": [\n{rows}\n]}}')
    machine = f'"machine": {render(told["machine"])},\n' if "machine" in told else ""
    listed = ",\n".join(runs)
    return f'{{{machine}"runs": {{\n{listed}\n}}}}\n'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
