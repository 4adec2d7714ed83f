"""Writes to protected places that are named in another way: by stars, by pieces, by others' options."""

from pathlib import Path

import pytest

from tests.policy.ground import ask_about, make_ground


@pytest.mark.parametrize(
    "command",
    [
        "echo x > .cl*/settings.json", "echo x > .c[l]aude/settings.json", "cp a .cl?ude/settings.json", "cp a r*.toml",
        "tee .mcp.* <<< x", "sed -i '$a x' *.toml", "sed -i '$a x' .*.json", "rm -rf .c*", "echo x > rem${x}it.toml",
        "echo x > rem$@it.toml", "echo x > rem`:`it.toml", "f() { echo x; } > .claude/settings.json; f",
        "read f <<< remit.toml; echo x > $f", "f=$(echo remit.toml); cp a $f", "bash -c 'echo x > $0' remit.toml",
        "echo remit.toml | xargs cp a", "echo 'echo x > .mcp.json' | sh", "exec 3< remit.toml; echo x > /dev/fd/3",
        "mkdir -p q/.claude; cp a q/.claude/settings.json; cp -rT q .", "awk -v f=remit.toml '{print > f}' a",
        "mkdir q; cp a q/remit.toml; tar -C q -cf q.tar .; tar xf q.tar", "printf 'a\\nw remit.toml\\n' | ed -s",
        "shuf -o.claude/settings.json a", "iconv -o remit.toml a", "xz .claude/settings.json",
        "zip -qm q.zip .mcp.json",
        "zstd -q a -o .claude/settings.json", "openssl req -keyout remit.toml", "curl -s --etag-save remit.toml x",
        "curl --output-dir .claude -o settings.json x", "cd .claude; curl -sO x/settings.json",
        "gcc -M -MF remit.toml a.c",
        "git bundle create .claude/settings.json HEAD",
        "git config --file=remit.toml x.y z",
        "git init -q --template=t", "python3 -m venv .codex", "cmake -E remove_directory .claude",
        "mount --bind .claude src", "perl -e 'rename \".claude\",\"q\"'", "yq -i '.z=1' .mcp.json",
        "HISTFILE=remit.toml bash -c 'history -a'", "python3 -c 'open(\"remit\" + \".toml\", \"w\")'",
        "python3 -c 'import shutil; shutil.rmtree(\".claude\")'", "python3 -c 'open(\"lmot.timer\"[::-1], \"w\")'",
    ],
)  # fmt: skip
def test_a_write_to_a_protected_place_is_not_allowed_however_it_is_named(tmp_path: Path, command: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=()).answer != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "rm *.o", "rm -rf build/*", "sed -i s/a/b/ src/*.py", "cp src/*.py out/", "echo x > $f",
        'echo x > "$out/a.json"',
        "for f in *.txt; do echo x >> $f; done", "git add .claude/settings.json", "git commit -m 'Change remit.toml'",
        "cat .claude/settings.json | jq .", "find . -name remit.toml", "find .claude -type f", "ls .claude",
        "tar xzf a.tgz", "cp -r a/. .", "ls | xargs wc -l", "echo x > .claude/specs/TODO.md", "grep -rn hooks .claude",
    ],
)  # fmt: skip
def test_ordinary_writes_and_looks_are_let_alone(tmp_path: Path, command: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=()).answer == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.json' -exec sed -i s/a/b/ {} +", "find . -name '*.toml' | xargs truncate -s 0",
        "find . -name '*.json' -delete", "git ls-files | xargs sed -i s/a/b/", "rm $(find . -name '*.json')",
        "git ls-files -z | xargs -0 perl -pi -e 's/a/b/'", "git grep -l foo | xargs sed -i s/foo/bar/",
        'for f in *.toml; do echo x >> "$f"; done', "for f in $(git ls-files); do echo x >> $f; done",
        'for d in .c*; do rm -rf "$d"; done', 'ls -A | while read f; do echo x >> "$f"; done',
        "grep -rl . --include='*.toml' . | xargs rm", "ls .claude/*.json | xargs -I% cp a %",
        "while read -r f; do echo x > \"$f\"; done < <(find . -name '*.toml')", "f=$(ls *.toml); cp a $f",
        "find . -name '*.json' | sed 's/^/rm /' | sh", "rg -l foo -g '*.toml' | xargs sed -i s/a/b/",
        "fd -H -e json -x sed -i s/a/b/", "shopt -s dotglob; sed -i s/a/b/ */*.json", "rm -rf .[a-z]*", "rm -rf *",
        "find . -name '*.json' > q; xargs sed -i s/a/b/ < q", 'set -- *.toml; echo x > "$1"',
        'a=(*.toml); echo x > "${a[0]}"', "f=$(compgen -f remit); echo x > $f", "ls | xargs truncate -s 0",
        "stat -c %n *.toml | xargs rm", "git diff --name-only HEAD other | xargs sed -i s/a/b/",
        "awk '{print > FILENAME}' *.toml", "wc -l *.toml | xargs truncate -s 0",
        "bash -c 'echo x > $1' _ *.toml", "perl -e 'open(F, \">\", <*.toml>)'",
        "python3 -c 'import glob; [open(f, \"a\") for f in glob.glob(\"*.toml\")]'",
        "python3 -c 'from pathlib import Path; [p.unlink() for p in Path().rglob(\"*.json\")]'",
        "python3 -c 'import os; [os.remove(f) for f in os.listdir() if f.endswith(\".toml\")]'",
    ],
)  # fmt: skip
def test_a_write_to_whatever_is_on_a_list_is_not_allowed_where_protected_places_may_be(
    tmp_path: Path, command: str
) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=()).answer == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.py' -exec sed -i s/a/b/ {} +", "find . -name '*.log' -delete", "find . -type d -empty -delete",
        "find src -name '*.json' | xargs sed -i s/a/b/", "grep -rl foo src | xargs sed -i s/foo/bar/",
        "rg -l foo | xargs sed -i s/foo/bar/", "git ls-files '*.py' | xargs sed -i s/a/b/",
        'for f in src/*.json; do jq . "$f" > "$f.tmp" && mv "$f.tmp" "$f"; done', "cd build && rm -rf *",
        "git ls-files | xargs wc -l", "find . -name '*.json' -exec jq empty {} +", "sed -i s/a/b/ docs/*.md",
        'f=$(mktemp); echo x > "$f"', 'ls -la; echo x > "$out"', "cp a/package.json b/tsconfig.json .",
        "python3 -c 'from pathlib import Path; [p.unlink() for p in Path(\"src\").rglob(\"*.pyc\")]'",
        "git diff --name-only | xargs sed -i s/a/b/", "find . -name '*.json' > \"$out\"", "git apply fix.patch",
        'cat *.json | jq -s . > "$out"', "cd $dir; echo x > notes.txt",
        "git config user.name x", "git checkout main", "git checkout -- .", "git restore src/a.py",
        "mount | grep tmpfs",
    ],
)  # fmt: skip
def test_a_list_that_holds_no_protected_place_is_worked_through(tmp_path: Path, command: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=()).answer == "allow"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("cp ../other/remit.toml .", "deny"), ("mv x/.mcp.json .", "deny"), ("install -t . a/remit.toml", "deny"),
        ("git checkout other remit.toml", "deny"), ("git checkout other -- .claude", "deny"),
        ("git -C src checkout other -- ../.mcp.json", "deny"),
        ("a=remit; a+=.toml; echo x > $a", "ask"), ("f=REMIT.TOML; echo x > ${f,,}", "ask"),
        ("f() { echo x > $1.toml; }; f remit", "ask"), ("printf -v f '\\x72emit.toml'; echo x > $f", "ask"),
        ("cd .cl*; echo x > settings.json", "ask"), ("cd $(echo .claude); echo x > settings.json", "ask"),
        ("git apply <<< $'+++ b/remit.toml\\n@@ -1 +1 @@\\n+x'", "ask"),
        ("python3 -c 'import pathlib; pathlib.Path(\"remit\").with_suffix(\".toml\").write_text(\"\")'", "ask"),
        ("git restore -s other -- '*.json'", "ask"), ("git read-tree -u --reset other", "ask"),
        ("git config core.hooksPath h", "ask"), ("git config alias.x '!y'", "ask"),
        ("GIT_TEMPLATE_DIR=t git init", "ask"), ("git -c init.templateDir=t init", "ask"),
        ("mount --bind . src", "ask"), ("curl -K <(echo output=x) y", "ask"),
        ("f=$(rev <<< lmot.timer); cp a $f", "ask"),
        ("f=$(printf 'remit.%s' toml); cp a $f", "ask"), ("cp a \"$(printf '\\162emit.toml')\"", "ask"),
        ('cp a "$(echo cmVtaXQudG9tbA== | base64 -d)"', "ask"),
        ('cp a "$(xxd -r -p <<< 72656d69742e746f6d6c)"', "ask"),
        ("awk '{print > \"remit\" \".toml\"}' a", "deny"), ('IFS=.; set -- remit toml; echo x > "$*"', "ask"),
        ("python3 -c 'open(bytes.fromhex(\"72656d69742e746f6d6c\"), \"w\")'", "ask"),
        ("node -e 'require(\"fs\").writeFileSync([\"remit\", \"toml\"].join(\".\"), \"\")'", "ask"),
        ("ruby -e 'Dir[\"*.toml\"].each { |f| File.write(f, \"\") }'", "ask"),
    ],
)  # fmt: skip
def test_what_a_command_brings_or_makes_up_is_known_by_where_it_ends(tmp_path: Path, command: str, answer: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=()).answer == answer


@pytest.mark.parametrize(
    "command",
    [
        "echo '--exec=rm' > .proverc; prove a",
        "cp -r .git g; echo x >> g/config; git --git-dir=g --work-tree=. status",
        "cp -r .git g; echo x >> g/config; GIT_DIR=g GIT_WORK_TREE=. git status",
    ],
)
def test_settings_that_start_programs_count_wherever_they_lie(tmp_path: Path, command: str) -> None:
    assert ask_about(command, make_ground(tmp_path), deny=("rm",)).answer == "ask"
