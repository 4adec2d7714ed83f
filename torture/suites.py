"""Run the tests that are a torture by themselves, in their whole form, and count.

Run as `python torture/suites.py NAME`; `--help` lists the options. What `make test` tries in part or leaves out is
tried here: every route of the dashboard, every fault of the hook, every form of a secret.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree as ET

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from torture.tally import tell

ROOT = Path(__file__).resolve().parents[1]
SUITES = {
    "hook": ("tests/hooks/test_entry.py", "tests/cli/commands/test_hooks.py", "tests/harnesses/test_packages.py"),
    "dashboard": (
        "tests/server/test_security.py", "tests/server/test_answers.py", "tests/views/report/test_html.py",
        "tests/views/report/test_markdown.py", "tests/server/dashboard/test_hostile.py",
    ),
    "secrets": (
        "tests/storage/test_secrets.py", "tests/telemetry/test_export.py", "tests/errorlog/test_log.py",
        "tests/errorlog/test_records.py", "tests/mcp/test_output_limits.py",
        "tests/views/report/test_record.py",
        "tests/runs/results/test_fit_budget.py", "tests/runs/admission/test_run_config.py",
        "tests/views/test_diffs.py", "tests/views/test_run_list.py", "tests/views/test_events_logs.py",
        "tests/cli/commands/test_resume_retry.py",
    ),
}  # fmt: skip


def main() -> int:
    """Run a suite, and print its counts; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", choices=SUITES)
    parser.add_argument("--jobs", default="2", metavar="N", help="so many processes (2)")
    options = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="remit-suite-") as folder:
        told = Path(folder) / "told.xml"
        command = (sys.executable, "-m", "pytest", "-n", options.jobs, f"--junitxml={told}", *SUITES[options.name])
        subprocess.run(command, cwd=ROOT, env=os.environ | {"REMIT_TEST_ALL": "1"}, check=False)
        suite = next(ET.parse(told).iter("testsuite")) if told.exists() else None  # noqa: S314 - pytest's own
    if suite is None:
        print("no test was run")
        return 1
    tests, failed, skipped = (
        sum(int(suite.get(name, "0")) for name in names) for names in (("tests",), ("failures", "errors"), ("skipped",))
    )
    tell(tests - skipped, failed, skipped=skipped)
    print(f"{tests - skipped} cases, {failed} failed, {skipped} skipped, {time.perf_counter() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
