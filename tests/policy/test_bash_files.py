"""Files that shell commands touch: redirections and known programs, in the folder that the script has gone to."""

from pathlib import Path

import pytest

from remit.policy import Call, Decision, Permissions, judge
from tests.policy.ground import make_ground

LOCKED = Permissions(None, {}, {"write": ("locked/**",), "read": ("secret/**",)})


def ask(command: str, root: Path, rules: Permissions = LOCKED) -> Decision:
    """What is said of a command under rules for files."""
    return judge(Call("bash", command=command), [rules], make_ground(root))


@pytest.mark.parametrize(
    "command",
    [
        "echo x > locked/a", "echo x >> locked/a", "echo x >| locked/a", "echo x &> locked/a", "echo x 2> locked/a",
        "> locked/a", "echo x > ./locked/../locked/a", "echo x > $PWD/locked/a", "cd locked && echo x > a",
        "cd src/.. && cd locked && touch a", "(cd locked; touch a)", "pushd locked; touch a", "echo x | tee locked/a",
        "cp a locked/a", "cp a locked/", "cp -t locked a", "mv a locked/b", "mv locked/a b", "rm locked/a",
        "rm -r locked", "ln -s x locked/a", "install a locked/a", "dd if=a of=locked/a", "sed -i s/a/b/ locked/a",
        "truncate -s 0 locked/a", "touch locked/a", "rsync a locked/", "tar xf a.tar -C locked",
        "tar xf a.tar --directory=locked", "unzip a.zip -d locked", "git checkout -- locked/a",
        "git restore locked/a", "git rm locked/a", "git restore ':(top)locked/a'", "git rm -r ':/locked'",
        "git clean -f locked/a", "git clean -fdq locked", "git clean -fdx", "git clean -fdx -enothing", "git clean -ix",
        "git clean -nxfd --no-dry-run", "git clean -f -- ':!src'", "git stash push -- locked/a", "git stash -a",
        "git stash push --al", "git stash save -qa x", "gawk -i inplace 1 locked/a",
        "awk -iinplace '{ print }' locked/a", "gawk --incl=inplace 1 locked/a", "gawk -f inplace.awk locked/a",
         "chmod 600 locked/a", "curl -o locked/a http://example.org",
        "wget -O locked/a http://example.org", "sort -o locked/a b", 'awk \'{ print > "locked/a" }\' b',
        "sed -n 'w locked/a' b", "find . -fprint locked/a", 'python3 -c \'open("locked/a", "w")\'',
        "for f in locked/a; do echo x > $f; done", "name=locked/a; echo x > $name", "bash -c 'echo x > locked/a'",
        "{ echo x; } > locked/a", "cat <<EOF > locked/a\nx\nEOF", "cat > locked/a <<'EOF'\nx\nEOF", "rm -rf .",
        "mv . ..", "cat secret/a", "head -n1 < secret/a", "grep x secret/a", "cp secret/a b", "cat < secret/a",
        "cd secret; cat a",
    ],
)  # fmt: skip
def test_a_denied_file_is_denied_to_every_command_that_is_known_to_touch_it(tmp_path: Path, command: str) -> None:
    """R1.3: writes through redirection count as writes."""
    decision = ask(command, tmp_path)
    assert decision.answer == "deny", decision
    assert decision.rule.startswith(("deny write", "deny read", "protected"))


@pytest.mark.parametrize(
    "command",
    [
        'echo x > "$f"', "cd $d; echo x > a", "cd -; touch a", 'cp a "$1"', "echo x > locked*/a",
        "cd nowhere; echo x > locked/a", "echo x > $(cat name)", "git clean -fd", "git clean -f .",
    ],
)  # fmt: skip
def test_a_place_that_cannot_be_told_is_asked_about(tmp_path: Path, command: str) -> None:
    assert ask(command, tmp_path).answer == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "echo x > free/a", "cp locked/a free/a", "cat locked/a", "ls locked", "make > /dev/null 2>&1", "echo x >&2",
        "cd src && touch a", "git diff locked/a", "sed -n 1p locked/a", "touch secret/a", "echo secret/a",
        "ls 2>/dev/null | wc -l", "git clean -nfdx", "git clean -fdx build", "git clean -fd -e x src", "git stash",
        "git stash -u", "git stash --include-untracked", "git stash push -u -m wip", "git stash push -mu",
        "git stash -m all -- src", "git stash list", "gawk -i inplace 1 free/a",
        "gawk -i join 1 locked/a",
    ],
)  # fmt: skip
def test_what_no_rule_means_passes(tmp_path: Path, command: str) -> None:
    assert ask(command, tmp_path).answer == "allow"


def test_a_list_of_places_to_write_holds_for_commands(tmp_path: Path) -> None:
    rules = Permissions(None, {"write": ("specs/**", "/var/out/**")}, {})
    assert ask("echo x > specs/a", tmp_path, rules).answer == "allow"
    assert ask("echo x > src/a", tmp_path, rules).answer == "deny"
    assert ask("echo x > /var/out/a", tmp_path, rules).answer == "allow"
    assert ask('echo x > "$x"', tmp_path, rules).answer == "ask"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("echo x > .claude/settings.json", "deny"),
        ("echo x > ~/.claude/settings.json", "deny"),
        ("rm -rf .claude", "deny"),
        ("mv .remit elsewhere", "deny"),
        ("ln -sf x .claude", "deny"),
        ("sed -i s/deny/allow/ remit.toml", "deny"),
        ("cd .claude && echo x > settings.json", "deny"),
        ("cp x .git/hooks/pre-commit", "deny"),
        ("vim .claude/settings.json", "ask"),
        ("perl -pi -e s/a/b/ remit.toml", "deny"),
        ("some-tool --settings=.claude/settings.json", "ask"),
        ('node -e \'fs.writeFileSync(".claude/settings.json", "")\'', "ask"),
        ("cat .claude/settings.json", "allow"),
        ("cp .claude/settings.json /tmp/x", "allow"),
        ("git add .claude/agents/a.md", "allow"),
        ("timeout 5 cat remit.toml", "allow"),
        ("jq . .claude/settings.json", "allow"),
        ("python3 tools/build.py src/remit.toml.py", "allow"),
        ("echo x > .claude/specs/TODO.md", "allow"),
    ],
)
def test_protected_places_hold_without_any_rule(tmp_path: Path, command: str, answer: str) -> None:
    """Whatever an agent's own file says, or does not say."""
    decision = ask(command, tmp_path, Permissions())
    assert decision.answer == answer, decision


def test_who_may_not_write_does_not_write_through_a_shell(tmp_path: Path) -> None:
    """R1.2: a tool that is switched off is not had by a detour."""
    rules = Permissions(("read", "bash"), {}, {})
    assert ask("echo x > a", tmp_path, rules).answer == "deny"
    assert ask("echo x > /tmp/a", tmp_path, rules).answer == "allow"
    assert ask("ls > /dev/null", tmp_path, rules).answer == "allow"
    assert ask("echo x > a", tmp_path, Permissions(("edit", "bash"), {}, {})).answer == "allow"
