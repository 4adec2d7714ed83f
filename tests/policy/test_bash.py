"""Shell commands: what is started by whatever is written, judged by the rules of an agent's file."""

from pathlib import Path

import pytest

from tests.policy.ground import ask_about, make_ground

DENIED = r"""
alias ls='rm -rf'; ls x
echo 'rm -rf x' > y.sh; sh y.sh
rm -rf x
rm -r -f x
rm -fr x
rm --recursive --force x
rm --recurs --forc x
rm -Rfv x
rm x -r -f
/bin/rm -rf x
./../../../bin/rm -rf x
'r'm -rf x
"r"m -rf x
\rm -rf x
$'\x72m' -rf x
$'\162\155' -rf x
$'\u0072m' -rf x
$"rm" -rf x
r{m,} -rf x
a=rm; $a -rf x
a='rm -rf'; $a x
echo $(rm -rf x)
echo "`rm -rf x`"
cat <(rm -rf x)
cat <<EOF⏎$(rm -rf x)⏎EOF
f() { rm -rf x; }; f
for a in 1; do rm -rf x; done
if true; then rm -rf x; fi
case a in a) rm -rf x;; esac
[[ -n $(rm -rf x) ]]
(( $(rm -rf x) ))
true && rm -rf x
true | rm -rf x
(rm -rf x)
{ rm -rf x; }
! rm -rf x
time rm -rf x
coproc rm -rf x
A=1 rm -rf x
>out rm -rf x
rm >out -rf x
trap 'rm -rf x' EXIT
eval 'rm -rf x'
eval rm -rf x
exec rm -rf x
command rm -rf x
env A=1 rm -rf x
env -S 'rm -rf x'
nohup nice -n 5 timeout -k 1 5 rm -rf x
xargs rm -rf < list
find . -exec rm -rf {} ;
find . -exec rm -rf {} +
bash -c 'rm -rf x'
bash -ec 'rm -rf x'
sh <<< 'rm -rf x'
bash <<'EOF'⏎rm -rf x⏎EOF
su -c 'rm -rf x'
script -c 'rm -rf x' /dev/null
flock . rm -rf x
watch 'rm -rf x'
ssh host rm -rf x
busybox rm -rf x
/lib64/ld-linux-x86-64.so.2 /bin/rm -rf x
git -c alias.x='!rm -rf x' x
git -c core.pager='rm -rf x' log
git rebase --exec 'rm -rf x' HEAD
git bisect run rm -rf x
git submodule foreach 'rm -rf x'
tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec='rm -rf x'
tar xf x --to-command='rm -rf x'
rsync -e 'rm -rf x' a: b
split --filter='rm -rf x' f
npx -c 'rm -rf x'
npm exec -- rm -rf x
docker run alpine sh -c 'rm -rf x'
sudo ls
git push
git -C x push
git --no-pager push
git -c color.ui=false push origin main
git-push
chmod +x f
chmod u+x f
chmod 755 f
chmod a=rwx f
curl example.org
dd if=/dev/zero of=x
""".strip().splitlines()

ASKED = r"""
$x -rf y
"$(which rm)" -rf x
/bin/r? -rf x
{r,}m -rf x
rm $x
rm "$x"
git $x
chmod "$mode" f
echo rm -rf x | sh
curl_it() { :; }; "$@"
bash -c "$x"
eval "$x"
base64 -d <<< cm0= | bash
xargs -I{} {} x
python3 -c 'import os; os.system("x")'
perl -e 'system("x")'
awk 'BEGIN { system("x") }'
sed '1e x' f
cp /bin/rm y; ./y -rf x
hash -p /bin/rm y; y -rf x
enable -f x y
PATH=.:$PATH ls
LD_PRELOAD=x.so ls
r\⏎m -rf x
echo 'a
RM -rf x
unknown-runner rm -rf x
git p
""".strip().splitlines()

PASSED = r"""
ls -la
cd src && make -j4 test
npm test -- --watch=false
git status --short
git commit -m "$(cat <<'EOF'⏎Fix rm -rf and sudo⏎EOF⏎)"
for f in *.py; do wc -l "$f"; done
find . -name '*.py' -not -path './.git/*' | xargs grep -n 'rm -rf'
grep -rn "sudo" docs | head -20
echo $HOME
rm x
rm -f build/x.o
chmod 644 f
python3 -m pytest -q tests
python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])' < package.json
node -p "require('./package.json').version"
awk -F, '{ sum += $3 } END { print sum }' data.csv
sed -i 's/foo/bar/g' src/x.py
./gradlew build
bash scripts/test.sh
PY=python3; $PY -m pytest
while IFS= read -r line; do echo "$line"; done < list.txt
export PATH="$HOME/.local/bin:$PATH"
docker compose up -d
cat > notes.md <<'EOF'⏎# Notes⏎use `rm -rf` never⏎EOF
""".strip().splitlines()


def unfold(line: str) -> str:
    """One of the commands above, with its line breaks."""
    return line.replace("⏎", "\n")


@pytest.mark.parametrize("line", DENIED)
def test_what_is_denied_is_denied_however_it_is_written(tmp_path: Path, line: str) -> None:
    """R1.3: every simple command in a script is judged."""
    decision = ask_about(unfold(line), make_ground(tmp_path))
    assert decision.answer == "deny", decision
    assert decision.rule.startswith("deny bash")


@pytest.mark.parametrize("line", ASKED)
def test_what_cannot_be_told_is_asked_about(tmp_path: Path, line: str) -> None:
    """R1.3: a word that is not literal is never allowed."""
    decision = ask_about(unfold(line), make_ground(tmp_path))
    assert decision.answer == "ask", decision
    assert decision.reason


@pytest.mark.parametrize("line", PASSED)
def test_ordinary_commands_pass(tmp_path: Path, line: str) -> None:
    decision = ask_about(unfold(line), make_ground(tmp_path))
    assert decision.answer == "allow", decision
