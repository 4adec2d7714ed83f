"""What a shell makes of a text when it runs: translated strings, other homes, arithmetic, lines from before."""

from pathlib import Path

import pytest

from tests.support.policy_questions import ask_about, make_ground

CODE = "'a[$(rm x)]'"


@pytest.mark.parametrize(
    "command",
    [
        'r$""m x', 'rm$"" x', "r''$\"\"''m x", "bash -c 'r$\"\"m x'", 'env r$""m x', 'find . -exec r$""m x \\;',
        "HOME=/usr/bin/rm; ~ x", "declare HOME=/usr/bin/rm; ~ x", "for HOME in /usr/bin/rm; do ~ x; done",
        "read HOME <<< /usr/bin/rm; ~ x", "printf -v HOME /usr/bin/rm; ~ x", "HOME=/usr/bin/rm; y=~; $y x",
        "HOME=/usr/bin/rm; eval '~ x'", "HOME=/usr/bin/rm; env ~ x", "export HOME=/usr/bin/rm; bash -c '~ x'",
        f"read n <<< {CODE}; echo $((n))", f"mapfile -t v <<< {CODE}; echo $((v[0]))", f"set -- {CODE}; (( $1 ))",
        f"for n in {CODE}; do echo $((n)); done", f"while read n; do (( n )); done <<< {CODE}", f": {CODE}; (( _ ))",
        f"n=$(echo {CODE}); echo $((n))", f"echo {CODE} > f; n=$(<f); if (( n > 1 )); then :; fi",
        f"bash -c '(( $0 ))' {CODE}", f'bash -c "echo \\$(( \\$1 ))" _ {CODE}', f"read n <<< {CODE}; [[ $n -eq 0 ]]",
        f"read n <<< {CODE}; echo ${{b[n]}}", f"read n <<< {CODE}; for ((i=n;i<2;i++)); do :; done",
        "N=a[\\$\\(rm\\ x\\)]; echo $((N))", "read a <<< 'b['; read b <<< '$(rm x)'; n=$a$b]; echo $((n))",
        "set -o history -H\necho rm x\n!!:1-$", "set -H -o history\nls x\n^ls^rm", "set -o histexpand\n!rm",
        "bash -i <<'E'\nrzzm x\n!!:s/zz//\nE", "bash -H -o history <<'E'\necho rm x\n!!:1-$\nE",
        "echo ${x:-<(rm x)}", 'echo "${x:->(rm x)}"', "echo ${x/a/<(rm)}",
    ],
)  # fmt: skip
def test_what_only_a_running_shell_makes_of_a_text_is_not_allowed(tmp_path: Path, command: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=("rm",)).answer != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "ls ~ ~/src", 'echo $HOME; ls "$HOME/.config"', 'echo $"hello"', "n=$(wc -l < a); echo $((n + 1))",
        "while read n; do total=$((total + n)); done < numbers.txt", "for i in 1 2 3; do echo $((i * 2)); done",
        "set -euo pipefail; for ((i = 0; i < 3; i++)); do echo $i; done", "bash -ic 'll'", "set -- a b; echo $(( $# ))",
        "a=(1 2 3); for i in 0 1; do echo ${a[i]}; done", "git commit -m 'Use `x` for y' && [[ -f z ]]",
    ],
)  # fmt: skip
def test_ordinary_arithmetic_and_homes_are_let_alone(tmp_path: Path, command: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=("rm",)).answer == "allow"
