"""Signals: nobody stops or ends what holds agents, and everybody ends what is their own."""

from pathlib import Path
from time import process_time

import pytest

from tests.policy.ground import ask_about, make_ground


@pytest.mark.parametrize(
    "command",
    [
        "kill -9 -1", "kill -- -1", "pkill -STOP -f hook.py", "while :; do pkill -STOP -f 'doors/[h]ook'; done &",
        "pkill -f remit", "pkill claude", "killall -9 codex", "kill $(pidof opencode)", "kill $(pgrep -f remit)",
        "pgrep -f hook.py | xargs kill -STOP", "bash -c 'pkill -f doors/hook'", "pkill -f 'vite|claude'", "kill claude",
    ],
)  # fmt: skip
def test_what_holds_agents_is_not_stopped(tmp_path: Path, command: str) -> None:
    """Whatever an agent's own file allows."""
    decision = ask_about(command, make_ground(tmp_path), deny=())
    assert decision.answer == "deny"
    assert "limits" in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        "kill -STOP 12345", "kill -19 $p", "kill -s STOP 5", "kill -n 19 5", "kill -SIGSTOP 5", "/bin/kill -STOP 5",
        "kill 0", "kill 1", "kill $PPID", "kill $(ps -o ppid= $$)", "kill -9 -$pgid", "kill -- -4567", "pkill python",
        "pkill node", "killall -STOP python3", "killall node", "pkill .", "pkill -f 'ho*k'", "pkill -v x", "killall5",
        "pkill -u $USER", 'pkill "$x"', "pkill -f '(h)ook'", "fuser -km .", "prlimit --pid 5 --cpu=1",
        "ps aux | grep claude | awk '{print $2}' | xargs kill", "for p in /proc/[0-9]*; do kill ${p#/proc/}; done",
        'python3 -c "import os, signal; os.kill(4, signal.SIGSTOP)"', "perl -e 'kill \"STOP\", 55'",
        "node -e 'process.kill(55)'", "sudo kill -STOP 5", "trap 'kill -STOP 5' EXIT",
    ],
)  # fmt: skip
def test_what_may_mean_it_is_asked_about(tmp_path: Path, command: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=()).answer == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "kill 12345", "kill -9 12345", "kill -s INT 3456", "kill %1", "kill -STOP %1", "npm start & kill $!", "kill -l",
        "kill -TERM $PID", "kill -0 $pid", "kill $(lsof -t -i:3000)", "kill $(cat server.pid)", "pkill chrome",
        'pkill -f "python manage.py runserver"', 'pkill -f "next dev"', "pkill -f uvicorn", "pkill -f 'vite|webpack'",
        "pkill -P $$", "lsof -ti:3000 | xargs kill -9", "ps aux | grep vite | awk '{print $2}' | xargs kill",
        "fuser -k 3000/tcp", "killall webpack", "trap 'kill $pid' EXIT", 'kill $(pgrep -f "node server.js")',
        "ps -o ppid= $$", "pgrep -fl claude", "grep -rn SIGSTOP src",
    ],
)  # fmt: skip
def test_processes_of_ones_own_are_ended_as_ever(tmp_path: Path, command: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=()).answer == "allow"


def test_no_pattern_takes_long(tmp_path: Path) -> None:
    start = process_time()
    for pattern in ("(a+)+$" * 40, ".*" * 5000 + "b", "a|" * 9000, "[" * 9000):
        ask_about(f"pkill -f '{pattern}'", make_ground(tmp_path), deny=())
    assert process_time() - start < 2
