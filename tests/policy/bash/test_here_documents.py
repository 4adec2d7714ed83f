"""Here-documents: what a program that is no shell reads is data, whatever its lines begin with."""

from pathlib import Path

import pytest

from tests.support.policy_questions import ask_about, make_ground


@pytest.mark.parametrize(
    "command",
    [
        "psql -h localhost <<'EOF'\n\\dt\nselect now();\n\\d users\nEOF", "psql <<EOF\n\\dt+ users\nEOF",
        'psql <<-"EOF"\n\t\\x on\n\tselect 1;\n\tEOF', "psql <<\\EOF\n\\timing\nselect 1;\nEOF",
        "cat > a.tex <<'EOF'\n\\documentclass{article}\n\\begin{document}\nEOF", "cat <<'EOF'\n\n  \\alpha\nEOF",
    ],
)  # fmt: skip
def test_a_backslash_at_its_beginning_is_text(tmp_path: Path, command: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=("rm",)).answer == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "bash <<'EOF'\n\\rm x\nEOF", "sh <<EOF\n\\rm x\nEOF", "cat <<'EOF' | sh\n\\rm x\nEOF",
        "psql <<'EOF'\n\\! rm x\nEOF", "psql <<'EOF'\n\\timing\n\\! rm x\nEOF", "cat <<EOF\n\\dt $(rm x)\nEOF",
        "echo \"<<'EOF'\"\n\\rm x\nEOF", "# <<'EOF'\n\\rm x\nEOF", ": $((1<<a))\n\\rm x",
        "cat <<'EOF'\n\\dt\nEOF\nrm x",
        "cat <<'\\EOF'\n\\EOF\nrm x\n\\EOF", 'cat <<"EOF"a\n\\b\nEOF\nrm x\nEOFa', "cat <<A <<B\n\\dt\nA\n\\x\nB\nrm x",
        "cat <<EOF; \\rm x\n\\dt\nEOF",
    ],
)  # fmt: skip
def test_what_is_run_behind_or_in_it_is_found(tmp_path: Path, command: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=("rm",)).answer != "allow"
