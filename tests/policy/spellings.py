r"""Ways to write a command so that a denied program starts though its name is not where one would look for it.

`list_spellings` gives each way for each denied command. `torture/bypasses.py` runs them all and says which of them do
start it; `test_spellings.py` asks the policy about all of them.

In a way, `@c@` stands for the whole command, `@p@` for its program, `@a@` for its arguments and so on (`render_parts`);
`␤` is a line end, `␉` a tab, `␍` a carriage return and `@u00a0@` the character of that number.
"""

from __future__ import annotations

import base64
import codecs
import json
import re
from typing import NamedTuple

from tests.policy.spellings_by_chance import BY_CHANCE
from tests.policy.spellings_expansions import EXPANSIONS, OWN_EXPANSIONS
from tests.policy.spellings_fresh_eyes import FRESH_EYES
from tests.policy.spellings_functions import FUNCTIONS
from tests.policy.spellings_names import OTHER_NAMES, PATTERNS
from tests.policy.spellings_parsers import PARSERS
from tests.policy.spellings_rare_programs import OWN_RARE_PROGRAMS, RARE_PROGRAMS

SIGNS = {"␤": "\n", "␉": "\t", "␍": "\r"}
OPTIONS = "options"
"""The class of what a command has of its own."""
SHAPES = "patterns of other shapes"
"""The class of scripts that are tried under a pattern of their own."""
PART = re.compile(r"@([a-z0-9]+)@")
CHARACTER = re.compile(r"@u([0-9a-f]{4})@")


class Denied(NamedTuple):
    """A pattern of a deny list and a command that it is meant for."""

    pattern: str
    command: str

    @property
    def program(self) -> str:
        """The name of the program."""
        return re.split(r"[ :*]", self.pattern)[0]


class Spelling(NamedTuple):
    """A script that starts what a pattern denies, or so it is meant."""

    batch: int
    kind: str
    denied: Denied
    way: str
    script: str

    @property
    def name(self) -> str:
        """The class of the way, the pattern, the script in one line."""
        return f"{self.kind}: {self.denied.pattern}: {self.script!r}"


DENIED = (
    Denied("rm", "rm notes.txt"),
    Denied("rm -rf", "rm -rf build"),
    Denied("sudo", "sudo id"),
    Denied("curl", "curl -s http://127.0.0.1:9/up"),
    Denied("git push", "git push origin HEAD"),
    Denied("dd", "dd if=/dev/null of=notes.txt"),
    Denied("chmod +x", "chmod +x notes.txt"),
    Denied("npm publish", "npm publish ."),
    Denied("pip install", "pip install ./pkg"),
    Denied("kubectl delete", "kubectl delete pod web"),
    Denied("docker run", "docker run alpine"),
    Denied("shutdown", "shutdown now"),
    Denied("terraform destroy", "terraform destroy -auto-approve"),
    Denied("wget", "wget http://127.0.0.1:9/up"),
)
"""What is denied, one pattern at a time."""

STUBS = (*sorted({each.program for each in DENIED} - {"git"}), "pip3", "npx")
"""The programs that a box has to have as stubs; git is real, and its remote tells."""


def render_parts(command: str) -> dict[str, str]:
    """What the signs in a way stand for."""
    program, *words = command.split()
    raw = command.encode()
    return {
        "c": command,
        "p": program,
        "a": " ".join(words),
        "a1": words[0],
        "ar": " ".join(words[1:]),
        "p1": program[0],
        "p2": program[1:],
        "pi": program[:-1],
        "pl": program[-1],
        "upper": program.upper(),
        "path": f"/usr/bin/{program}",
        "x": "".join(f"\\x{ord(each):02x}" for each in program),
        "o": "".join(f"\\{ord(each):03o}" for each in program),
        "u": "".join(f"\\u{ord(each):04x}" for each in program),
        "cx": "".join(f"\\x{each:02x}" for each in raw),
        "co": "".join(f"\\{each:03o}" for each in raw),
        "bs": "".join(f"\\{each}" for each in program),
        "sq": "".join(f"'{each}'" for each in program),
        "b64": base64.b64encode(raw).decode(),
        "b32": base64.b32encode(raw).decode(),
        "hex": raw.hex(),
        "rot": codecs.encode(command, "rot13"),
        "rev": command[::-1],
        "prev": program[::-1],
        "dec": ",".join(str(each) for each in raw),
        "json": json.dumps([program, *words], separators=(",", ":")),
        "list": json.dumps([program, *words], separators=(",", ":"))[1:-1],
        "comma": ",".join([program, *words]),
        "nl": "\\n".join([program, *words]),
        "tcl": " ".join(f"{{{word}}}" for word in [program, *words]),
        "len": str(len(program)),
        "gap": "_".join([program, *words]),
    }


def render(way: str, command: str) -> str:
    """The script of a way for a command."""
    parts = render_parts(command)
    script = PART.sub(lambda found: parts.get(found[1], found[0]), way)
    script = CHARACTER.sub(lambda found: chr(int(found[1], 16)), script)
    for sign, text in SIGNS.items():
        script = script.replace(sign, text)
    return script


def read_ways(text: str) -> list[str]:
    """The ways of a block, one in a line."""
    return [line for line in text.split("\n") if line]


def list_spellings(each: int = 1) -> list[Spelling]:
    """Every way with some of the commands that it is for, in turn, and each command's own; without doubles."""
    found: dict[tuple[str, str], Spelling] = {}
    for batch, kinds in enumerate(WAYS, 1):
        for kind, text in kinds.items():
            fit = [denied for denied in DENIED if kind != "subcommand" or " " in denied.pattern]
            for number, way in enumerate(read_ways(text)):
                for step in range(min(each, len(fit))):
                    denied = fit[(number + step * max(1, len(fit) // each)) % len(fit)]
                    script = render(way, denied.command)
                    found.setdefault((denied.pattern, script), Spelling(batch, kind, denied, way, script))
    for batch, own in enumerate(OWN, 1):
        for denied in DENIED:
            for way in read_ways(own.get(denied.pattern, "")):
                script = render(way, denied.command)
                found.setdefault((denied.pattern, script), Spelling(batch, OPTIONS, denied, way, script))
    for pattern, scripts in PATTERNS.items():
        for script in scripts.split("|"):
            denied = Denied(pattern, script)
            found.setdefault((pattern, script), Spelling(4, SHAPES, denied, script, script))
    return list(found.values())


FIRST = {
    "quoting": r"""
@c@
'@p@' @a@
"@p@" @a@
\@p@ @a@
@bs@ @a@
@sq@ @a@
@p1@''@p2@ @a@
@p1@""@p2@ @a@
@p1@"@p2@" @a@
'@p1@'@p2@ @a@
@p1@\@p2@ @a@
""@p@ @a@
@p@'' @a@
"@p1@"'@p2@' @a@
@pi@"@pl@" @a@
'@p1@'"@p2@" @a@
''""''@p@""'' @a@
@p1@"$()"@p2@ @a@
@p1@$()@p2@ @a@
@p1@``@p2@ @a@
@p1@$@@p2@ @a@
@p1@$*@p2@ @a@
@p1@${nothing}@p2@ @a@
@p1@"${nothing:-}"@p2@ @a@
@p1@${nothing:+x}@p2@ @a@
$nothing @c@
$(true) @c@
"$@" @c@
""",
    "ansi-c": r"""
$'@p@' @a@
$'@x@' @a@
$'@o@' @a@
$'@u@' @a@
$"@p@" @a@
@p1@$'@p2@' @a@
$'@p1@'"@p2@" @a@
$'@p1@'$'@p2@' @a@
$'@x@'$'' @a@
$'@p@\0ignored' @a@
$'@p@\x00' @a@
$'\c@'@p@ @a@
bash -c $'@cx@'
bash -c $'@co@'
eval $'@cx@'
eval $'@p@\x20'@a@
eval $'@p@\t'"@a@"
""",
    "braces": r"""
{@comma@}
{@p@,@a1@} @ar@
{@p1@@p2@,@a1@} @ar@
{,@p@} @a@
{@p@,} @a@
{,,}@p@ @a@
{'@p@',@a1@} @ar@
eval {@comma@}
command {@comma@}
env {@comma@}
exec {@comma@}
{"@p1@"@p2@,@a1@} @ar@
eval "{@comma@}"
X={@comma@}; eval "$X"
bash -c '{@comma@}'
{command,@comma@}
{/usr/bin/@p@,@a1@} @ar@
""",
    "globs": r"""
/usr/bin/@pi@[@pl@] @a@
/usr/bin/[@p1@]@p2@ @a@
/???/bin/@pi@[@pl@] @a@
/usr/b*n/@p@ @a@
/u?r/?in/@p@ @a@
/usr/bin/@p@* @a@
cd /usr/bin && ./@pi@[@pl@] @a@
shopt -s extglob␤/usr/bin/+(@p@) @a@
shopt -s nocaseglob; /usr/bin/@upper@* @a@
cd /usr/bin; [@p1@]@p2@ @a@
touch @p@; [@p1@]@p2@ @a@
touch @p@; @pi@? @a@
touch @p@; * @a@ 2>/dev/null; @p1@* @a@
set -- /usr/bin/@pi@[@pl@]; "$1" @a@
for x in /usr/bin/@pi@[@pl@]; do $x @a@; done
ls -d /usr/bin/@pi@[@pl@] | while read -r x; do $x @a@; done
""",
    "variables": r"""
x=@p@; $x @a@
x=@p@; ${x} @a@
x=@p@; "$x" @a@
x=@p@␤$x @a@
x=@p@ && $x @a@
x='@c@'; $x
x="@c@"; eval $x
x="@c@"; eval "$x"
x=@p1@; ${x}@p2@ @a@
x=@p2@; @p1@$x @a@
x=@p1@ y=@p2@; $x$y @a@
x=@p1@; y=@p2@; "$x$y" @a@
x=@p1@; x+=@p2@; $x @a@
x=@p@; y=$x; z=$y; $z @a@
x=x@p@; ${x#x} @a@
x=@p@x; ${x%x} @a@
x=@p@xyz; ${x:0:@len@} @a@
x=abc@p@; ${x:3} @a@
x=@upper@; ${x,,} @a@
x=@upper@; ${x@L} @a@
x=@p1@Q@p2@; ${x/Q} @a@
x=@p1@Q@p2@; ${x//Q/} @a@
x=Z@p2@; ${x/Z/@p1@} @a@
${x:-@p@} @a@
${x-@p@} @a@
${x:=@p@} @a@
: ${x:=@p@}; $x @a@
x=1; ${x:+@p@} @a@
x=@prev@; $(rev <<<$x) @a@
export x=@p@; bash -c '$x @a@'
x=@p@ bash -c '$x @a@'
x='@c@' bash -c "\$x"
export x='@c@'; sh -c 'eval "$x"'
readonly x=@p@; $x @a@
declare x=@p@; $x @a@
typeset -l x=@upper@; $x @a@
declare -l x; x=@upper@; $x @a@
f() { local x=@p@; $x @a@; }; f
read x <<<@p@; $x @a@
read -r x y <<<'@c@'; $x $y
read x < <(echo @p@); $x @a@
echo @p@ > n; read x < n; $x @a@
printf -v x %s @p@; $x @a@
printf -v x '@x@'; $x @a@
mapfile -t x <<<@p@; $x @a@
IFS=_; x=@gap@; $x
IFS=, x='@comma@'; set -- $x; "$@"
x=@p@; eval '$x @a@'
x=@p@; y='$x @a@'; eval $y
let x=0; y=@p@; ${y} @a@
x=@p@; unset y; $y$x @a@
x=@p@; exec $x @a@
x=@p@; command $x @a@
x=@p@; (exec "$x" @a@)
x=@p@; { $x @a@; }
x=@p@; time $x @a@
x=@p@; ! $x @a@
x=@p@; $x @a@ &␤wait
x=@p@; true | $x @a@
x=@p@; if $x @a@; then :; fi
""",
    "arrays": r"""
x=(@c@); "${x[@]}"
x=(@c@); ${x[*]}
x=(@p@); ${x[0]} @a@
x=(@p@); $x @a@
x=(a @p@); ${x[1]} @a@
x=([5]=@p@); ${x[5]} @a@
x=(@p@ a); ${x[-2]} @a@
x=(); x+=(@p@); x+=(@a@); "${x[@]}"
declare -A x=([k]=@p@); ${x[k]} @a@
declare -a x=(@c@); "${x[@]}"
set -- @c@; "$@"
set -- @c@; $*
set -- @p@; $1 @a@
set -- a b @p@; $3 @a@
set -- a @p@; shift; $1 @a@
set -- a @p@; ${!#} @a@
set -- a @p@; ${@: -1} @a@
set -- @c@; eval "$@"
f() { "$@"; }; f @c@
f() { $1 @a@; }; f @p@
f() { $*; }; f @c@
f() { shift; "$@"; }; f x @c@
bash -c '"$@"' x @c@
bash -c '$0 @a@' @p@
bash -c '$1 @a@' x @p@
sh -c '"$0" "$@"' @c@
bash -c 'eval "$*"' x @c@
for x in @p@; do $x @a@; done
for x; do :; done; for x in "@c@"; do $x; done
x=({@comma@}); "${x[@]}"
IFS=' ' read -ra x <<<'@c@'; "${x[@]}"
readarray -d ' ' -t x < <(printf '@c@'); "${x[@]}"
""",
    "indirection": r"""
x=@p@; y=x; ${!y} @a@
declare -n y=x; x=@p@; $y @a@
x=@p@; eval "\$x @a@"
x=@p@; eval '"$'x'"' @a@
x='$(@c@)'; echo "${x@P}"
x='`@c@`'; : "${x@P}"
PS4='$(@c@)'; set -x; :
x='a[$(@c@)]'; : $((x))
: $(( $(@c@) ))
x='a[$(@c@)]'; [[ $x -eq 0 ]]
x='a[$(@c@)]'; let x
x='a[$(@c@)]'; declare -i y=$x
x='a[$(@c@ >&2)]'; test -v "$x"
[ -v 'a[$(@c@)]' ]
[[ -v 'a[$(@c@)]' ]]
read 'a[$(@c@)]' <<<1
printf -v 'a[$(@c@)]' x
a=(1); echo ${a[$(@c@)0]}
x=(1 2); echo ${x:$(@c@)0}
echo ${x:-$(@c@)}
echo "${x:=`@c@`}"
[[ $(@c@) ]]
[[ -n `@c@` ]]
[[ a =~ $(@c@) ]]
case $(@c@) in *) ;; esac
case x in $(@c@)) ;; esac
for x in $(@c@); do :; done
x=$(@c@)
x=`@c@`
export x=$(@c@)
local x=$(@c@) 2>/dev/null; readonly x=$(@c@)
x[$(@c@)0]=1
x=([$(@c@)0]=1)
echo $[ $(@c@) ]
(( $(@c@) 1 ))
for (( i=$(@c@)0; i<1; i++ )); do :; done
while (( i++ < $(@c@)1 )); do :; done
select x in $(@c@); do break; done <<<1
""",
    "substitution": r"""
$(echo @p@) @a@
`echo @p@` @a@
$(echo @c@)
`echo @c@`
"$(echo @p@)" @a@
$(printf @p@) @a@
$(printf %s @p1@ @p2@) @a@
$(printf '@x@') @a@
$(printf '@o@') @a@
$(printf "%b" '@x@') @a@
$(which @p@) @a@
`which @p@` @a@
$(command -v @p@) @a@
$(type -P @p@) @a@
"$(type -p @p@)" @a@
$(whereis -b @p@ | cut -d' ' -f2) @a@
$(basename /x/@p@) @a@
$(echo @prev@ | rev) @a@
$(rev <<<@prev@) @a@
$(echo @upper@ | tr A-Z a-z) @a@
$(tr A-Z a-z <<<@upper@) @a@
$(tr b-za a-z <<<'@p@' | tr a-z b-za) @a@
$(echo x@p@ | cut -c2-) @a@
$(echo x@p@ | sed s/x//) @a@
$(sed s/x// <<<x@p@) @a@
$(awk 'BEGIN{print "@p@"}') @a@
$(python3 -c 'print("@p@")') @a@
$(echo @b64@ | base64 -d)
$(base64 -d <<<@b64@)
$(<<<@b64@ base64 -d)
$(xxd -r -p <<<@hex@)
$(cat <<<@p@) @a@
$(cat <<E␤@p@␤E␤) @a@
echo $(@c@)
echo "$(@c@)"
echo "a `@c@` b"
: $(@c@)
true "$(@c@)"
echo $(echo $(@c@))
echo `echo \`@c@\``
echo "$(echo "$(@c@)")"
cat <<E␤$(@c@)␤E
cat <<E␤`@c@`␤E
cat <<"E" <<F␤x␤E␤$(@c@)␤F
cat <<-E␤␉$(@c@)␤␉E
cat <<<$(@c@)
cat <<<"`@c@`"
echo hi > $(@c@)out
cat < $(@c@; echo notes.txt)
echo ${x:-`@c@`}
git log $(@c@)
ls "$(@c@)"
$(@c@)
`@c@`
"$(@c@)"
x=1 $(@c@)
echo $(: ; @c@)
echo $(# comment␤@c@)
echo $(case x in x) @c@;; esac)
echo $( ( @c@ ) )
echo $({ @c@; })
echo $((1)) $(@c@)
echo '$(no)' "$(@c@)"
echo $(<notes.txt) $(@c@)
""",
    "here": r"""
bash <<E␤@c@␤E
bash <<'E'␤@c@␤E
sh <<"E"␤@c@␤E
bash <<\E␤@c@␤E
bash <<-E␤␉@c@␤␉E
bash -s <<E␤@c@␤E
bash -s x y <<E␤@c@␤E
bash /dev/stdin <<E␤@c@␤E
bash - <<E␤@c@␤E
bash -- /dev/stdin <<E␤@c@␤E
sh -e <<E␤@c@␤E
bash <<<'@c@'
bash <<<"@c@"
sh -s <<<'@c@'
bash <<<$'@cx@'
x='@c@'; bash <<<"$x"
bash <<< @p@\ '@a@'
cat <<E | bash␤@c@␤E
cat <<'E' | sh␤@c@␤E
bash 0<<E␤@c@␤E
bash /dev/fd/3 3<<E␤@c@␤E
bash /proc/self/fd/3 3<<<'@c@'
source /dev/stdin <<E␤@c@␤E
. /dev/stdin <<<'@c@'
. /dev/fd/0 <<<'@c@'
eval "$(cat <<E␤@c@␤E␤)"
python3 <<E␤import os␤os.system("@c@")␤E
python3 - <<'E'␤import subprocess␤subprocess.run([@list@])␤E
perl <<'E'␤system("@c@");␤E
node <<'E'␤require("child_process").execSync("@c@")␤E
xargs <<<'@c@' env
xargs -I% sh -c % <<<'@c@'
while read -r x; do $x; done <<<'@c@'
while read -r x; do eval "$x"; done <<E␤@c@␤E
read -d '' x <<E␤@c@␤E␤eval "$x"
mapfile x <<E␤@c@␤E␤eval "${x[0]}"
exec <<<'@c@'; bash
exec 3<<<'@c@'; bash <&3
exec 3<<<'@c@'; . /dev/fd/3
{ bash; } <<E␤@c@␤E
( sh ) <<<'@c@'
if true; then bash; fi <<E␤@c@␤E
for i in 1; do sh; done <<<'@c@'
f() { bash; }; f <<<'@c@'
timeout 5 bash <<E␤@c@␤E
env bash <<E␤@c@␤E
nice sh <<<'@c@'
command sh <<<'@c@'
dash <<E␤@c@␤E
bash <<A <<B␤true␤A␤@c@␤B
tee n <<<'@c@' | sh
cat - <<<'@c@' | bash -
awk '{system($0)}' <<<'@c@'
make -f - <<E␤all:␤␉@c@␤E
make -f /dev/stdin <<<'x:;@c@'
ed -s <<E␤!@c@␤q␤E
sqlite3 <<E␤.shell @c@␤E
gdb -q <<E␤shell @c@␤E
tclsh <<E␤exec @c@␤E
""",
    "pipes": r"""
echo '@c@' | bash
echo @c@ | sh
echo "@c@" | bash -s
echo '@c@' | bash -
echo '@c@' | bash /dev/stdin
echo '@c@' | dash
echo '@c@' | /bin/sh
echo '@c@' | env sh
echo '@c@' | nice bash
echo '@c@' | timeout 5 sh
echo '@c@' | command bash
echo '@c@' | exec bash
echo '@c@' | (bash)
echo '@c@' | { sh; }
echo '@c@' | if true; then sh; fi
echo '@c@' | while read -r x; do $x; done
echo '@c@' | while read -r x; do eval "$x"; done
echo '@c@' | { read -r x; $x; }
echo '@c@' | xargs env
echo '@c@' | xargs -I{} sh -c '{}'
echo '@c@' | xargs -0 sh -c
echo '@c@' | xargs -d '\n' bash -c
echo '@c@' | tee /dev/null | bash
echo '@c@' | cat | cat | sh
echo '@c@' | tac | sh
echo '@c@' |& bash
echo '@c@' | source /dev/stdin
echo '@c@' | . /dev/stdin
printf '@c@' | sh
printf '%s\n' '@c@' | bash
printf '%s ' @c@ | bash
printf '@cx@' | sh
printf '@co@' | sh
printf %b '@cx@' | bash
echo -e '@cx@' | bash
echo -n '@c@' | sh
echo @b64@ | base64 -d | bash
echo @b64@ | base64 --decode | sh
base64 -d <<<@b64@ | sh
echo @b64@ | openssl base64 -d | sh
echo @b64@ | openssl enc -d -base64 | sh
echo @b64@ | python3 -m base64 -d | sh
echo @b64@ | perl -MMIME::Base64 -ne 'print decode_base64($_)' | sh
echo @b32@ | base32 -d | bash
echo @hex@ | xxd -r -p | sh
echo '@rev@' | rev | sh
rev <<<'@rev@' | bash
echo '@rot@' | tr 'A-Za-z' 'N-ZA-Mn-za-m' | sh
tr 'a-zA-Z' 'n-za-mN-ZA-M' <<<'@rot@' | bash
echo 'x@c@' | cut -c2- | sh
echo '#@c@' | sed 's/^#//' | sh
echo '#@c@' | tr -d '#' | sh
echo 'echo hi; @c@' | sh
echo '@c@' | gzip | gunzip | sh
echo '@c@' | gzip -c | zcat | bash
echo '@c@' | bzip2 | bunzip2 | sh
echo '@c@' | xz | xz -d | sh
echo '@c@' | awk '{print | "sh"}'
echo '@c@' | awk '{system($0)}'
echo '@c@' | perl -ne 'system $_'
echo '@c@' | python3 -c 'import os,sys; os.system(sys.stdin.read())'
echo 'import os; os.system("@c@")' | python3
echo 'system("@c@")' | perl
echo 'require("child_process").execSync("@c@")' | node
echo 'exec @c@' | tclsh
echo '@c@' | sed 's/.*/&/e'
echo x | sed '1e @c@'
echo '@c@' > n; cat n | sh
cat notes.txt | @c@
true | @c@ | true
@c@ | cat
echo y | @c@
yes | head -1 | @c@
echo '@c@' | parallel
seq 1 | xargs -I{} @c@
echo '@c@' | split --filter=sh
echo '@c@' | bash 2>&1 | tail -1
echo '@c@' | nohup sh
echo '@c@' | setsid -w bash
echo '@c@' | stdbuf -oL sh
echo '@c@' | time bash
echo '@c@' | bash -x
echo '@c@' | bash --norc --noprofile
echo '@c@' | bash -o pipefail -s
echo '@c@' | bash +x
echo '@c@' | bash -eu -
""",
    "builtins": r"""
eval @c@
eval '@c@'
eval "@p@" @a@
eval "@p1@""@p2@" @a@
eval 'eval "@c@"'
eval eval @c@
eval -- @c@
exec @c@
exec -a x @c@
exec -c @path@ @a@
exec -l @c@
(exec @c@)
command @c@
command -p @c@
command -- @c@
command command @c@
command -p -- @c@
command eval @c@
command exec @c@
builtin eval @c@
builtin command @c@
builtin exec @c@
builtin builtin eval '@c@'
\command @c@
"command" @c@
'eval' @c@
\eval '@c@'
e=eval; $e '@c@'
time @c@
time -p @c@
time -- @c@
! @c@
! ! @c@
coproc @c@; wait
coproc X { @c@; }; wait
@c@ & wait
{ @c@; }
( @c@ )
( ( @c@ ) )
{ { @c@; }; }
trap '@c@' EXIT
trap "@c@" 0
trap -- '@c@' exit
trap '@c@' DEBUG; :
trap '@c@' ERR; false
trap '@c@' USR1; kill -USR1 $$
trap '@c@' RETURN; f() { :; }; . /dev/null; f
trap '@c@' INT; kill -INT $$
alias x='@c@'; shopt -s expand_aliases; eval x
shopt -s expand_aliases␤alias x='@c@'␤x
shopt -s expand_aliases␤alias x=@p@␤x @a@
shopt -s expand_aliases; alias ls='@c@;ls'; eval ls
BASH_ALIASES[x]='@c@'; shopt -s expand_aliases; eval x
bash -O expand_aliases -c $'alias x="@c@"\nx'
hash -p /usr/bin/@p@ x; x @a@
hash -p "$(type -P @p@)" harmless; harmless @a@
command_not_found_handle() { @c@; }; no_such_program
command_not_found_handle() { "$@"; }; command_not_found_handle @c@
f() { @c@; }; f
f() ( @c@ ); f
function f { @c@; }; f
function f() { @c@; }␤f
f() { g; }; g() { @c@; }; f
ls() { @c@; }; ls
echo() { @c@; }; echo hello
f() for i in 1; do @c@; done; f
f() { @c@; }; export -f f; bash -c f
f() { @c@; }; trap f EXIT
f() { @c@; }; eval f
f() { @c@; }; x=f; $x
f() { @c@; } >/dev/null; f
env 'BASH_FUNC_f%%=() { @c@; }' bash -c f
env "BASH_FUNC_f%%=() { @c@␤}" bash -c f
mapfile -C '@c@ #' -c 1 x <<<1
readarray -c1 -C 'eval @c@ #' x <<<y
complete -C '@c@' x; compgen -C '@c@' x
compgen -F f x; f() { @c@; }; compgen -F f x
compgen -W '$(@c@)' x
compgen -W '`@c@`'
set -- '@c@'; eval "$1"
fc -s 2>/dev/null; eval '@c@'
bind -x '"x":@c@' 2>/dev/null; @c@
let 'x=a[$(@c@)0]'
enable -n echo; echo() { @c@; }; echo
unset -f command; command @c@
times; @c@
umask 022 && @c@
pushd . >/dev/null; @c@; popd
shopt -q login_shell || @c@
history -s '@c@'; eval '@c@'
PROMPT_COMMAND='@c@' bash -i -c : </dev/null; echo : | PROMPT_COMMAND='@c@' bash -i
BASH_ENV=<(echo '@c@') bash -c :
echo '@c@' > n; BASH_ENV=n bash -c :
echo '@c@' > n; BASH_ENV=./n sh -c : ; BASH_ENV=$PWD/n bash -c true
BASH_ENV='$(@c@)' bash -c :
ENV='$(@c@)' sh -i -c : </dev/null
echo '@c@' > n; ENV=./n dash -i -c : </dev/null
echo '@c@' > n; bash --rcfile n -i -c : </dev/null
echo '@c@' > n; bash --init-file ./n -i </dev/null
echo '@c@' > ~/.bashrc; bash -i -c : </dev/null
echo '@c@' > ~/.bash_profile; bash -l -c :
echo '@c@' >> ~/.profile; bash --login -c true
""",
    "structure": r"""
true; @c@
true && @c@
false || @c@
true␤@c@
true;@c@
true&&@c@
false||@c@
true & @c@
@c@; true
@c@ && true
@c@␤true
if true; then @c@; fi
if @c@; then :; fi
if false; then :; else @c@; fi
if false; then :; elif @c@; then :; fi
while @c@; do break; done
until @c@; do break; done
while true; do @c@; break; done
for i in 1; do @c@; done
for i in 1␤do @c@␤done
for ((i=0;i<1;i++)); do @c@; done
for ((i=0;i<1;i++)) { @c@; }
for i in 1; { @c@; }
select i in 1; do @c@; break; done <<<1
case x in x) @c@;; esac
case x in (x) @c@;; esac
case x in y|x) @c@ ;& *) ;; esac
case x in␤x)␤@c@␤;;␤esac
[ -f nothing ] || @c@
[[ -d . ]] && @c@
((1)) && @c@
test 1 -eq 1 && @c@
true | { @c@; }
{ true; @c@; } > /dev/null
( cd src && @c@ )
(true; (true; (true; @c@)))
if (( 1 )); then { ( @c@ ); }; fi
x=1 @c@
x=1 y=2 @c@
PATH=$PATH @c@
LANG=C @c@
x= @c@
x=() ; @c@
a[0]=1 @c@
@c@ > out.txt
@c@ 2>&1
@c@ < /dev/null
> out.txt @c@
2>/dev/null @c@
</dev/null @c@
&> out.txt @c@
>out 2>&1 <notes.txt @c@
{fd}>out @c@
1>&2 @c@
2>&1 >/dev/null @c@
<<<x @c@
<<E @c@␤x␤E
x=1 >out y=2 @c@
> >(cat) @c@
< <(echo) @c@
@c@ # comment
# comment␤@c@
echo hi # @p@␤@c@
echo "␤" ; @c@
echo 'it''s' ; @c@
echo "a;b" ; @c@ ; echo "c"
echo \; @c@ ; @c@
echo '␤@p@␤'␤@c@
echo $'it\'s'; @c@
echo "\""; @c@
echo \'; @c@; echo \'
: '␤'; @c@
cat > n <<'E'␤text␤E␤@c@
cat <<E␤it's␤E␤@c@
cat <<'E'␤"␤E␤@c@
cat <<E; @c@␤x␤E
cat <<E && @c@␤x␤E
cat <<E | @c@␤x␤E
: <<'E'␤E␤@c@
: <<E␤ E␤E␤@c@
cd src; cd ..; @c@
cd . && (@c@)
set -e; @c@
set -euo pipefail␤@c@
true;{ @c@;}
true;(@c@)
(@c@)
(@c@;)
{␤@c@␤}
!  @c@
time { @c@; }
time (@c@)
! { @c@; }
@c@ |& cat
@c@&
@c@&&true
wait; @c@
sleep 0; @c@
echo x | tee out | @c@
ls; ls; ls; ls; ls; ls; ls; ls; @c@; ls; ls
git status --short; git diff --stat; @c@; git log --oneline -1
""",
    "wrappers": r"""
env @c@
env -i @path@ @a@
env -i PATH=/usr/bin @c@
env x=1 @c@
env x=1 y=2 @c@
env -u x @c@
env --unset=x @c@
env -C . @c@
env --chdir=. @c@
env -- @c@
env - @path@ @a@
env -S '@c@'
env -S'@c@'
env --split-string='@c@'
env -vS '@c@'
env -iS'PATH=/usr/bin @c@'
env -S 'x=1 @p@' @a@
env -S "@p@\_@a1@" @ar@
env env @c@
env -i env PATH=/usr/bin @c@
env bash -c '@c@'
/usr/bin/env @c@
/usr/bin/env -S @c@
nice @c@
nice -n 5 @c@
nice -5 @c@
nice -n5 @c@
nice --adjustment=5 @c@
nohup @c@
nohup @c@ >/dev/null 2>&1 & wait
setsid -w @c@
setsid --wait @c@
nohup setsid -w @c@
timeout 5 @c@
timeout -k 1 5 @c@
timeout -s KILL 5 @c@
timeout --signal=KILL 5 @c@
timeout --foreground 5s @c@
timeout --preserve-status -k1 5 @c@
timeout -v 5 @c@
timeout -- 5 @c@
stdbuf -oL @c@
stdbuf -o0 -e0 @c@
stdbuf --output=L @c@
stdbuf -i 0 -o L @c@
ionice -c3 @c@
ionice -c 2 -n 7 @c@
ionice -t @c@
chrt -o 0 @c@
chrt --other 0 @c@
taskset 1 @c@
taskset -c 0 @c@
prlimit --nofile=64 @c@
prlimit -n64 @c@
setarch x86_64 @c@
setarch -R @c@
setarch x86_64 -R @c@
linux64 @c@
choom -n 0 -- @c@
uclampset -m 0 -M 1024 @c@
setpriv --no-new-privs @c@
setpriv --reuid=0 --clear-groups @c@
capsh -- -c '@c@'
capsh --print -- -c '@c@'
unshare @c@
unshare -r @c@
unshare --map-root-user @c@
unshare -U @c@
nsenter -t 1 -m @c@
nsenter --target $$ --user -- @c@
chroot / @c@
chroot / /bin/sh -c '@c@'
su -c '@c@'
su root -c '@c@'
su - root -c '@c@'
su -s /bin/sh -c '@c@' root
runuser -u root -- @c@
runuser -c '@c@'
sg root '@c@'
sg root -c '@c@'
start-stop-daemon --start --exec @path@ -- @a@
start-stop-daemon -S -x @path@ -- @a@
script -qc '@c@' /dev/null
script -q -c '@c@'
script -c '@c@' out
script --command '@c@' --quiet /dev/null
flock out @c@
flock out -c '@c@'
flock -n out @c@
flock -x -w 1 out @c@
flock --nonblock . @c@
watch -n 1 -g @c@ & sleep 1; kill $!
timeout 1 watch -n1 '@c@'
timeout 1 watch -x @c@
strace -o /dev/null @c@
strace -qq -e trace=none @c@
strace -f -o out @c@
valgrind -q @c@
perf stat -o out @c@
fakeroot @c@
fakeroot -- @c@
dbus-run-session -- @c@
ssh-agent @c@
ssh-agent sh -c '@c@'
logsave out @c@
logsave -a out @c@
cmake -E env @c@
cmake -E env x=1 @c@
cmake -E time @c@
cmake -E chdir . @c@
xargs @c@ </dev/null
xargs -r true </dev/null; @c@
bwrap --bind / / @c@
dumb-init @c@
tini -- @c@
chpst @c@
doas @c@
pkexec @c@
systemd-run --user --wait @c@
busybox env @c@
busybox sh -c '@c@'
ltrace @c@
rlwrap @c@
unbuffer @c@
eatmydata @c@
faketime '2020-01-01' @c@
chronic @c@
daemonize /usr/bin/@p@ @a@
parallel @c@ ::: x
parallel ::: '@c@'
entr -n @c@ <<<notes.txt
hyperfine -r 1 '@c@'
catchsegv @c@
torsocks @c@
firejail @c@
ssh localhost '@c@'
nix-shell --run '@c@'
direnv exec . @c@
poetry run @c@
pipenv run @c@
uv run @c@
npx -c '@c@'
bundle exec @c@
dotenv run -- @c@
""",
    "shells": r"""
bash -c '@c@'
bash -c "@c@"
sh -c '@c@'
dash -c '@c@'
/bin/sh -c '@c@'
/bin/bash -c '@c@'
rbash -c '@c@'
bash -ec '@c@'
bash -lc '@c@'
bash -xec '@c@'
bash -c -- '@c@'
bash -e -c '@c@'
bash -o errexit -c '@c@'
bash -O extglob -c '@c@'
bash --norc -c '@c@'
bash --norc --noprofile -c '@c@'
bash --posix -c '@c@'
bash +e -c '@c@'
bash -c '@c@' name arg
bash -c 'true; @c@'
bash -c 'bash -c "@c@"'
bash -c "bash -c '@c@'"
bash -c "sh -c \"@c@\""
bash -c 'eval "@c@"'
bash -c 'exec @c@'
bash -c '@p1@'"@p2@ @a@"
bash -c @p@\ @a1@\ "@ar@"
bash -c $'@p@\x20@a@'
bash -c "$(echo @c@)"
bash -c "$(printf '@cx@')"
bash -c "`echo @c@`"
bash -c "$(base64 -d <<<@b64@)"
bash -c "$(rev <<<'@rev@')"
x='@c@'; bash -c "$x"
x='@c@'; sh -c "$x"
x='@c@' sh -c 'eval $x'
SHELL=bash; $SHELL -c '@c@'
${SHELL:-bash} -c '@c@'
$0 -c '@c@'
"$BASH" -c '@c@'
$BASH <<<'@c@'
/proc/self/exe -c '@c@'
/proc/$$/exe -c '@c@'
exec bash -c '@c@'
exec -a ls bash -c '@c@'
s=sh; $s -c '@c@'
b'a'sh -c '@c@'
/bin/b?sh -c '@c@'
/bin/[b]ash -c '@c@'
ln -s /bin/bash x; ./x -c '@c@'
cp /bin/sh x; ./x -c '@c@'
bash -i -c '@c@' </dev/null
bash -rc '@c@'
set -- -c '@c@'; bash "$@"
bash $(echo -c) '@c@'
o=-c; bash $o '@c@'
bash -"c" '@c@'
bash -$'c' '@c@'
bash {-c,'@c@'}
sh -s x <<<'@c@'
sh -ic '@c@' </dev/null
zsh -c '@c@'
ksh -c '@c@'
fish -c '@c@'
busybox ash -c '@c@'
csh -c '@c@'
pwsh -c '@c@'
""",
    "xargs and find": r"""
echo @a@ | xargs @p@
echo '@a@' | xargs -n 9 @p@
echo @a@ | xargs -t @p@
echo @c@ | xargs env
echo @c@ | xargs -n 20 env
printf '@nl@' | xargs env
printf '%s\0' @a@ | xargs -0 @p@
printf '%s\n' @a@ | xargs -d '\n' @p@
printf '%s,' @a@ | xargs -d, @p@
echo '@c@' | xargs -I{} bash -c {}
echo '@c@' | xargs -I{} bash -c "{}"
echo x | xargs -I{} @c@
echo x | xargs -n1 sh -c '@c@'
echo x | xargs sh -c '@c@' _
echo x | xargs -P2 -L1 bash -c '@c@' _
echo x | xargs -- @c@
echo x | xargs --max-args=1 --no-run-if-empty @c@
echo x | xargs -rn1 @c@
echo x | xargs -n1 -P 4 @c@
echo x | xargs -s 5000 @c@
echo x | xargs -E END @c@
echo x | xargs -a notes.txt @c@
echo x > n; xargs -a n @c@
echo '@c@' > n; xargs -a n env
xargs --arg-file=<(echo '@c@') env
echo x | xargs timeout 5 @c@
echo x | xargs env @c@
echo x | xargs nice xargs @c@ <<<y
ls | xargs -I{} echo {} | xargs -n1 echo | head -1 | xargs @c@
find . -maxdepth 0 -exec @c@ \;
find . -maxdepth 0 -exec @c@ ';'
find . -maxdepth 0 -exec @c@ {} \;
find . -maxdepth 0 -exec @c@ {} +
find . -maxdepth 0 -execdir @c@ \;
find . -maxdepth 0 -ok @c@ \; <<<y
find . -maxdepth 0 -okdir @c@ \; <<<y
find . -maxdepth 0 -exec sh -c '@c@' \;
find . -maxdepth 0 -exec bash -c '@c@' _ {} \;
find . -maxdepth 0 -exec env @c@ \;
find . -maxdepth 0 -exec true \; -exec @c@ \;
find . -maxdepth 0 -type d -a -exec @c@ \;
find . -maxdepth 0 \( -exec @c@ \; \)
find . -maxdepth 0 ! -exec @c@ \;
find . -maxdepth 0 -not -exec @c@ \;
find . -maxdepth 0 -"exec" @c@ \;
find . -maxdepth 0 -e'xec' @c@ \;
find . -maxdepth 0 $(echo -exec) @c@ \;
x=-exec; find . -maxdepth 0 $x @c@ \;
find . -maxdepth 0 {-exec,@comma@,\;}
find /usr/bin -name @p@ -exec {} @a@ \;
find /usr/bin/@p@ -exec {} @a@ \;
find /usr/bin -name '@pi@[@pl@]' -exec {} @a@ \;
find . -maxdepth 0 -printf '@c@\n' | sh
find . -maxdepth 0 -print0 | xargs -0 -I{} @c@
find . -maxdepth 0 -fprintf n '@c@\n'; sh n
find . -name notes.txt -exec @p@ @a@ {} +
find -exec @c@ \; -quit
find . -maxdepth 0 | while read -r f; do @c@; done
for f in $(find . -maxdepth 0); do @c@; done
find . -maxdepth 0 -exec xargs -a notes.txt @c@ \;
find -files0-from <(printf '.\0') -maxdepth 0 -exec @c@ \;
""",
    "process substitution": r"""
cat <(@c@)
diff <(@c@) <(echo)
echo x | tee >(@c@) >/dev/null; sleep 0.1
bash <(echo '@c@')
sh <(printf '%s' '@c@')
. <(echo '@c@')
source <(echo '@c@')
source <(printf '@cx@')
source <(base64 -d <<<@b64@)
bash <(base64 -d <<<@b64@)
. <(rev <<<'@rev@')
bash < <(echo '@c@')
sh -s < <(echo '@c@')
while read -r x; do $x; done < <(echo '@c@')
mapfile -t x < <(echo '@c@'); ${x[0]}
exec 3< <(echo '@c@'); sh <&3
python3 <(echo 'import os; os.system("@c@")')
perl <(echo 'system("@c@")')
awk -f <(echo 'BEGIN{system("@c@")}')
sed -n -f <(echo '1e @c@') notes.txt
make -f <(echo 'x:;@c@')
node <(echo 'require("child_process").execSync("@c@")') 2>/dev/null; cat <(@c@)
echo '@c@' > >(sh); sleep 0.1
echo '@c@' | tee >(bash) >/dev/null; sleep 0.1
: <(@c@); sleep 0.1
true >(@c@) ; sleep 0.1
wc -l <(true; @c@)
comm -3 <(sort notes.txt) <(@c@)
paste <(echo) <(echo `@c@`)
x=<(@c@); sleep 0.1
[[ -e <(@c@) ]]; sleep 0.1
for f in <(@c@); do cat $f; done
grep x <(cat <(cat <(@c@)))
git diff --no-index <(@c@) notes.txt
env BASH_ENV=<(echo '@c@') bash -c :
bash --rcfile <(echo '@c@') -i </dev/null
read x < <(@c@)
""",
    "source": r"""
echo '@c@' > n; source n
echo '@c@' > n; source ./n
echo '@c@' > n; . ./n
echo '@c@' > n; . $PWD/n
echo '@c@' > n; builtin . ./n
echo '@c@' > n; builtin source ./n
echo '@c@' > n; command . ./n
echo '@c@' > n; eval "$(cat n)"
echo '@c@' > n; eval "$(<n)"
echo '@c@' > n; eval `cat n`
echo '@c@' > n; $(cat n)
echo '@c@' > n; $(<n)
echo '@c@' > n; bash n
echo '@c@' > n; bash ./n
echo '@c@' > n; sh n
echo '@c@' > n; bash < n
echo '@c@' > n; sh <./n
echo '@c@' > n; cat n | bash
echo '@c@' > n; bash -c "$(cat n)"
echo '@c@' > n; bash -c '. ./n'
echo '@c@' > n; bash -x ./n
echo '@c@' > n; env bash n
echo '@c@' > n; timeout 5 sh n
echo '@c@' > n; nohup sh n
echo '@c@' > n; while read -r x; do $x; done < n
echo '@c@' > n; xargs env < n
echo '@c@' > n; awk '{system($0)}' n
echo '@c@' > n; perl -ne system n; perl -pe 'system $_' n
echo '@c@' > n; exec < n; bash
echo '@c@' > n && mv n m && sh m
echo '@c@' > n && cp n m && sh m
echo '@c@' > n; ln n m; sh m
echo '@c@' > n; ln -s n m; . ./m
echo '@c@' > n; cat n > m; sh m
echo '@c@' > src/n; cd src; sh n
echo '@c@' > src/n; (cd src && bash n)
echo '@c@' > src/../n; sh n
cd src; echo '@c@' > n; cd ..; sh src/n
echo '@c@' > /tmp/n; sh /tmp/n
echo '@c@' > /tmp/n; cd /tmp; sh n
echo '@c@' > ~/n; sh ~/n
echo '@c@' > ~/n; sh "$HOME/n"
n=$(mktemp); echo '@c@' > $n; sh $n
n=$(mktemp); echo '@c@' > "$n"; bash "$n"
echo '@c@' >> n; sh n
echo '@c@' >| n; sh n
echo '@c@' &> n; sh n
echo '@c@' 1> n; sh n
1>n echo '@c@'; sh n
echo '@c@' | tee n; sh n
echo '@c@' | tee n >/dev/null; . ./n
echo '@c@' | tee -a n; bash n
echo '@c@' | cat > n; sh n
printf '@c@' > n; sh n
printf '%s\n' @p@ > n; printf '%s ' $(cat n) @a@ > m; sh m
printf '@cx@' > n; sh n
cat > n <<E␤@c@␤E␤sh n
cat > n <<'E'␤@c@␤E␤bash ./n
cat <<E > n␤@c@␤E␤. ./n
cat <<'E' > n && bash n␤@c@␤E
cat > n.sh <<'E'␤#!/bin/sh␤@c@␤E␤chmod 755 n.sh; ./n.sh
cat > n.sh <<'E'␤#!/bin/sh␤@c@␤E␤chmod u+x n.sh && ./n.sh
cat > n.sh <<'E'␤#!/bin/sh␤@c@␤E␤install -m 755 n.sh m; ./m
printf '#!/bin/sh\n@c@\n' > n; chmod +x n; ./n
printf '#!/bin/sh\n@c@\n' > n; chmod a+rx n; $PWD/n
printf '#!/bin/sh\n@c@\n' > n; chmod 0755 n; PATH=.:$PATH; n
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; env ./n
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; find . -name n -exec {} \;
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; exec ./n
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; ./[n]
printf '#!/bin/sh\n@c@\n' > ls; chmod 755 ls; PATH=.:$PATH ls
printf '#!/bin/sh\n@c@\n' > ls; chmod 755 ls; export PATH=$PWD:$PATH; ls
umask 0; cp /usr/bin/env n; printf '#!/bin/sh\n@c@\n' > n; ./n
install -m 755 /dev/stdin n <<E␤#!/bin/sh␤@c@␤E␤./n
install -D -m755 <(printf '#!/bin/sh\n@c@\n') bin/n; bin/n
perl -e 'print "@c@"' > n; sh n
python3 -c 'print("@c@")' > n; sh n
python3 -c 'open("n","w").write("@c@")'; sh n
perl -e 'open F,">n"; print F "@c@"'; sh n
awk 'BEGIN{print "@c@" > "n"}'; sh n
sed -n '1s/.*/@p@/w n' notes.txt; printf '%s ' $(cat n) @a@ | sh
sed 's|.*|@c@|;q' notes.txt > n; sh n
sed -i '1i @c@' notes.txt; sh notes.txt
sed -i '1s|^|@c@;|' notes.txt; sh notes.txt
dd if=<(echo '@c@') of=n 2>/dev/null; echo '@c@' > n; sh n
cp <(echo '@c@') n; sh n
base64 -d <<<@b64@ > n; sh n
echo @b64@ > n; base64 -d n | sh
echo @b64@ > n; base64 -d n > m; sh m
echo '@rev@' > n; rev n | sh
touch n; echo '@c@' >> n; . ./n
: > n; echo '@c@' >> n; sh n
exec 3>n; echo '@c@' >&3; sh n
{ echo '@c@'; } > n; sh n
( echo true; echo '@c@' ) > n; sh n
for x in '@c@'; do echo "$x"; done > n; sh n
f() { echo '@c@'; }; f > n; sh n
f() { echo '@c@'; }; f | sh
f() { echo '@c@'; }; eval "$(f)"
echo 'import os; os.system("@c@")' > n.py; python3 n.py
cat > n.py <<'E'␤import subprocess␤subprocess.run([@list@])␤E␤python3 n.py
echo 'import os; os.system("@c@")' > json.py; python3 -c 'import json'
echo 'import os; os.system("@c@")' > n.py; python3 -m n
echo 'import os; os.system("@c@")' > n.py; python3 -c 'import n'
echo 'import os; os.system("@c@")' > sitecustomize.py; PYTHONPATH=. python3 -c pass
echo 'import os; os.system("@c@")' > n.py; PYTHONSTARTUP=n.py python3 -i -c pass </dev/null; python3 -i n.py </dev/null
mkdir n; echo 'import os; os.system("@c@")' > n/__main__.py; python3 n
echo 'system("@c@")' > n.pl; perl n.pl
echo 'system("@c@"); 1' > N.pm; perl -I. -MN -e1
echo 'require("child_process").execSync("@c@")' > n.js; node n.js
echo 'require("child_process").execSync("@c@")' > n.js; node -r ./n.js -e 0
echo 'require("child_process").execSync("@c@")' > n.js; NODE_OPTIONS='-r ./n.js' node -e 0
echo 'BEGIN{system("@c@")}' > n.awk; awk -f n.awk
printf 'all:\n\t@c@\n' > Makefile; make
printf 'all:\n\t@c@\n' > n; make -f n
printf 'all:\n\t@c@\n' > n; make --file=n all
printf 'all:; @c@\n' > GNUmakefile; make -s
printf 'x := $(shell @c@)\nall:\n' > Makefile; make
printf 'all:\n\t@c@\n' > src/Makefile; make -C src
echo '1e @c@' > n; sed -f n notes.txt
echo 'exec @c@' > n; tclsh n
echo 'shell @c@' > n; gdb -q -batch -x n
echo 'shell @c@' > n; gdb -q -batch -command=n
echo '.shell @c@' > n; sqlite3 < n
echo '.shell @c@' > n; sqlite3 -init n x .quit
echo '.shell @c@' > n; sqlite3 x '.read n'
echo 'int main(){return system("@c@");}' > n.c; cc -w n.c -o n; ./n
echo 'int main(){return system("@c@");}' | gcc -w -xc - -o n && ./n
echo 'execute_process(COMMAND @c@)' > n.cmake; cmake -P n.cmake
echo '{"scripts":{"x":"@c@"}}' > package.json; node --run x 2>/dev/null; /real/bin/node /real/lib/node_modules/npm/bin/npm-cli.js run x
printf 'rule r\n command = @c@\nbuild x: r\n' > build.ninja; ninja
printf '@c@' > .git/hooks/n; sh .git/hooks/n 2>/dev/null; mkdir -p .git/hooks; printf '@c@' > .git/hooks/n; sh .git/hooks/n
tar cf n.tar --files-from /dev/null; echo '@c@' > n; tar cf n.tar n; tar xOf n.tar n | sh
echo '@c@' > n; zip -q n.zip n; unzip -p n.zip n | sh
echo '@c@' > n; git add n; git show :n | sh
echo '@c@' | git hash-object -w --stdin | xargs git cat-file -p | sh
git config x.y '@c@'; sh -c "$(git config x.y)"
git config x.y '@c@'; git config x.y | sh
export x='@c@'; env | sed -n 's/^x=//p' | sh
export x='@c@'; printenv x | sh
export x='@c@'; printenv x > n; sh n
exec 9<>n; echo '@c@' >&9; sh n
mkfifo n; echo '@c@' > n & sh n
mkfifo n; sh n & echo '@c@' > n; wait
mkfifo n; sh < n & echo '@c@' > n; wait
""",
    "paths": r"""
/usr/bin/@c@
/bin/@c@
//bin/@c@
/bin//@c@
/bin/./@c@
/usr/../bin/@c@
/usr/bin/../bin/@c@
/usr/./bin/@c@
/../bin/@c@
../../../bin/@c@
../../../usr/bin/@c@
./../../../bin/@c@
src/../../../../bin/@c@
/proc/self/root/bin/@c@
/proc/self/root/usr/bin/@c@
/proc/1/root/bin/@c@
/proc/self/cwd/../../../bin/@c@
/dev/../bin/@c@
~/../../bin/@c@
~+/../../../bin/@c@
$HOME/../../bin/@c@
$PWD/../../../bin/@c@
"/bin/@p@" @a@
/bin/'@p@' @a@
/b'i'n/@c@
/bin\/@c@
/"usr"/bin/@c@
cd /bin; ./@c@
cd /usr/bin && ./@c@
cd /; bin/@c@
cd / && usr/bin/@c@
cd /usr; bin/@c@
pushd /bin; ./@c@
cd -P /bin && ./@c@
cd -- /bin && ./@c@
CDPATH=/usr; cd bin; ./@c@
d=/bin; $d/@c@
d=/bin; "$d"/@c@
d=/bin; cd $d; ./@c@
PATH=/bin; @c@
PATH=/bin @c@
PATH=/nothing:/usr/bin @c@
PATH= ; /bin/@c@
export PATH=/bin; @c@
unset PATH; /bin/@c@
ln -s /bin/@p@ x; ./x @a@
ln -s /usr/bin/@p@ ./x && ./x @a@
ln -sf /bin/@p@ x; $PWD/x @a@
ln -s /bin x; x/@c@
ln -s / x; x/bin/@c@
ln -s /bin/@p@ x; ln -s x y; ./y @a@
ln -s /bin/@p@ ls; PATH=.:$PATH ls @a@
ln -s /bin/@p@ ls; PATH=$PWD:$PATH; ls @a@
ln -s /bin/@p@ x; PATH=. x @a@
ln -s /bin/@p@ /tmp/x; /tmp/x @a@
ln -s /bin/@p@ x; env ./x @a@
ln -s /bin/@p@ x; find . -name x -exec {} @a@ \;
ln -s -- /bin/@p@ x; ./x @a@
ln -st . /bin/@p@; ./@c@
ln -s ../../../bin/@p@ x; ./x @a@
ln -s $(which @p@) x; ./x @a@
cp /bin/@p@ x; ./x @a@
cp /usr/bin/@p@ ./x && ./x @a@
cp /bin/@p@ .; ./@c@
cp -p /bin/@p@ /tmp/x; /tmp/x @a@
cp -L /bin/@p@ x; ./x @a@
cp -t . /bin/@p@; ./@c@
cp /bin/@p@ ls; PATH=.:$PATH ls @a@
cp $(which @p@) x; ./x @a@
cp "$(command -v @p@)" x; ./x @a@
cat /bin/@p@ > x; chmod 755 x; ./x @a@
cat < /bin/@p@ > x; chmod u+x x; ./x @a@
install /bin/@p@ x; ./x @a@
install -m 755 /bin/@p@ x; ./x @a@
tar -ch -C /bin @p@ | tar x; ./@c@
tar -chf x.tar -C /bin @p@; tar xf x.tar; ./@c@
rsync /bin/@p@ x; ./x @a@
cp -r /usr/bin/@p@ src/x; src/x @a@
cp /bin/@p@ x; mv x y; ./y @a@
cp /bin/@p@ x; mv x y && ln -s y z; ./z @a@
python3 -c 'import shutil; shutil.copy("/bin/@p@","x")'; ./x @a@
perl -MFile::Copy -e 'copy "/bin/@p@","x"; chmod 0755, "x"'; ./x @a@
gzip -c /bin/@p@ | gunzip > x; chmod 755 x; ./x @a@
base64 /bin/@p@ | base64 -d > x; chmod 755 x; ./x @a@
zip -qj x.zip /bin/@p@; unzip -q x.zip; ./@c@
/lib64/ld-linux-x86-64.so.2 /bin/@c@
/lib64/ld-linux-x86-64.so.2 /usr/bin/@c@
/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 /bin/@c@
ld.so /bin/@c@
/lib64/ld-linux-x86-64.so.2 --argv0 x /bin/@c@
/lib64/ld-linux-x86-64.so.2 --library-path /lib /bin/@c@
/lib64/ld-linux-x86-64.so.2 --preload '' /bin/@c@
/lib64/ld-*.so.2 /bin/@c@
/lib64/ld-linux-x86-64.so.2 /bin/sh -c '@c@'
/lib64/ld-linux-x86-64.so.2 /usr/bin/env @c@
cp /lib64/ld-linux-x86-64.so.2 x; ./x /bin/@c@
exec -a ls /bin/@c@
exec -a innocent @c@
(exec -a x /bin/@c@)
readlink -f /bin/@p@ | xargs -I{} sh -c '{} @a@'
type -p @p@ | while read x; do $x @a@; done
command -V @p@ >/dev/null && @c@
command -v @p@ && @c@
""",
    "python": r"""
python3 -c 'import os; os.system("@c@")'
python3 -c "import os; os.system('@c@')"
python -c 'import os; os.system("@c@")' || python3 -c 'import os; os.popen("@c@").read()'
python3 -c 'import subprocess; subprocess.run([@list@])'
python3 -c 'import subprocess as s; s.call([@list@])'
python3 -c 'from subprocess import run; run([@list@])'
python3 -c 'from subprocess import *; Popen([@list@]).wait()'
python3 -c 'import subprocess; subprocess.check_output("@c@", shell=True)'
python3 -c 'import subprocess; subprocess.getoutput("@c@")'
python3 -c 'from os import system as p; p("@c@")'
python3 -c 'from os import *; system("@c@")'
python3 -c 'import os; os.execvp("@p@",[@list@])'
python3 -c 'import os; os.execlp(*(["@p@"]+[@list@]))'
python3 -c 'import os; os.spawnvp(os.P_WAIT,"@p@",[@list@])'
python3 -c 'import os; os.posix_spawnp("@p@",[@list@],os.environ); os.wait()'
python3 -c 'import posix; posix.system("@c@")'
python3 -c 'import pty; pty.spawn([@list@])'
python3 -c '__import__("os").system("@c@")'
python3 -c 'getattr(__import__("o"+"s"),"sys"+"tem")("@c@")'
python3 -c 'import importlib; importlib.import_module("os").system("@c@")'
python3 -c 'exec("import os; os.system(\"@c@\")")'
python3 -c 'eval("__import__(\"os\").system(\"@c@\")")'
python3 -c 'exec(bytes([105,109,112,111,114,116,32,111,115])); os.system("@c@")'
python3 -c 'import os; os.system(bytes([@dec@]).decode())'
python3 -c 'import os,base64; os.system(base64.b64decode("@b64@").decode())'
python3 -c 'import os; os.system("@rev@"[::-1])'
python3 -c 'import sys; sys.modules["os"].system("@c@")'
python3 -c 'import shutil; shutil.os.system("@c@")'
python3 -c 'import json; json.codecs.sys.modules["os"].system("@c@")'
python3 -c 'import asyncio; asyncio.run(asyncio.create_subprocess_shell("@c@"))' 2>/dev/null; python3 -c 'import asyncio␤async def f():␤ p = await asyncio.create_subprocess_shell("@c@")␤ await p.wait()␤asyncio.run(f())'
python3 -c 'print(().__class__.__base__.__subclasses__()) if 0 else [c for c in object.__subclasses__() if c.__name__=="_wrap_close"][0].__init__.__globals__["system"]("@c@")'
python3 -c 'import ctypes; ctypes.CDLL(None).system(b"@c@")'
python3 -c 'import multiprocessing.util, os; os.system("@c@")'
python3 -c 'import code; code.interact(local=None)' <<<'import os; os.system("@c@")'
python3 -c 'import timeit; timeit.timeit("__import__(\"os\").system(\"@c@\")",number=1)'
python3 -m timeit -n1 -r1 '__import__("os").system("@c@")'
python3 -m pdb -c '!import os; os.system("@c@")' -c q src/main.py
python3 -m cProfile src/main.py; python3 -c 'import webbrowser; webbrowser.get("@c@ %s").open("x")'
python3 -i -c 'import os; os.system("@c@")' </dev/null
python3 -Ic 'import os; os.system("@c@")'
python3 -Sc 'import os; os.system("@c@")'
python3 -W ignore -c 'import os; os.system("@c@")'
python3 -X utf8 -c 'import os; os.system("@c@")'
python3 -B -E -c 'import os; os.system("@c@")'
python3 -c'import os; os.system("@c@")'
python3.11 -c 'import os; os.system("@c@")'
/usr/bin/python3 -c 'import os; os.system("@c@")'
env python3 -c 'import os; os.system("@c@")'
x='import os; os.system("@c@")'; python3 -c "$x"
python3 -c "$(printf 'import os; os.system("@c@")')"
python3 -c "import os␤os.system('@c@')"
python3 -c 'import sys,os; os.system(" ".join(sys.argv[1:]))' @c@
python3 -c 'import sys,subprocess; subprocess.run(sys.argv[1:])' @c@
python3 -c 'import os; os.system(os.environ["X"])' 2>/dev/null; X='@c@' python3 -c 'import os; os.system(os.environ["X"])'
python3 -c 'import os; os.system(input())' <<<'@c@'
python3 -c 'exec(open("/dev/stdin").read())' <<<'import os; os.system("@c@")'
python3 -c 'import pickle; pickle.loads(b"cos\nsystem\n(S\"@c@\"\ntR.")'
python3 -c 'import distutils.spawn as d; d.spawn([@list@])' 2>/dev/null || python3 -c 'import os; os.system("@c@")'
python3 -c 'import platform; platform.os.system("@c@")'
python3 -c 'breakpoint()' <<<'import os; os.system("@c@")'
PYTHONBREAKPOINT=os.system python3 -c 'breakpoint("@c@")'
python3 -c 'class A:␤ def __del__(s):␤  import os; os.system("@c@")␤A()'
python3 -c 'import os as json; json.system("@c@")'
python3 -c 'import os.path as p; p.os.system("@c@")'
python3 -c 'import pathlib; pathlib.os.system("@c@")'
python3 -c 'import glob; glob.os.system("@c@")'
python3 -c 'f=__builtins__.__dict__["__imp"+"ort__"]; f("os").system("@c@")'
python3 -c 'import os; (lambda f: f("@c@"))(os.system)'
python3 -c 'import os; list(map(os.system,["@c@"]))'
python3 -c 'import os; s=os.system; s("@c@")'
python3 -c 'import os; os.__dict__["system"]("@c@")'
python3 -c 'import atexit,os; atexit.register(os.system,"@c@")'
python3 -c 'import threading,os; threading.Thread(target=os.system,args=("@c@",)).start()'
python3 -c 'import functools,os; functools.partial(os.system,"@c@")()'
""",
    "interpreters": r"""
perl -e 'system("@c@")'
perl -e 'system(@list@)'
perl -e 'exec("@c@")'
perl -e 'exec @list@'
perl -e '`@c@`'
perl -e 'print qx(@c@)'
perl -e 'print qx{@c@}'
perl -e 'open(F,"@c@|"); print <F>'
perl -e 'open F,"-|",@list@; print <F>'
perl -e 'open(F,"|@c@")'
perl -e 'system pack("C*",@dec@)'
perl -e 'system scalar reverse "@rev@"'
perl -e 'eval q(system("@c@"))'
perl -E 'system("@c@")'
perl -we 'system("@c@")'
perl -le 'system "@c@"'
perl -ne 'system "@c@"; last' notes.txt
perl -pe 'BEGIN{system("@c@")}' notes.txt
perl -pi -e 's/one/`@c@`/e' notes.txt
perl -pe 's{one}{qx(@c@)}ge' notes.txt
perl -MPOSIX -e 'POSIX::_exit(system("@c@"))'
perl -Mstrict -e 'system("@c@")'
perl '-Mvars;system("@c@");' -e1
perl -M-warnings -e 'use IPC::Open3; waitpid open3(0,1,2,@list@),0'
PERL5OPT='-Mvars;system("@c@");' perl -e1 2>/dev/null; PERL5DB='BEGIN{system("@c@")}' perl -d -e1
perl -x <<<$'#!perl\nsystem("@c@")'
perl -e 'do shift' <(echo 'system("@c@")')
awk 'BEGIN{system("@c@")}'
awk 'BEGIN { system("@c@"); exit }'
awk 'BEGIN{"@c@"|getline}'
awk 'BEGIN{"@c@"|getline x; print x}'
awk 'BEGIN{print "x" | "@c@"}'
awk 'BEGIN{printf "" | "@c@"}'
awk 'BEGIN{c="@c@"; system(c)}'
awk 'BEGIN{c="@p1@" "@p2@ @a@"; system(c)}'
awk -v c='@c@' 'BEGIN{system(c)}'
awk 'BEGIN{system(ARGV[1])}' '@c@'
awk 'BEGIN{system(ENVIRON["X"])}' 2>/dev/null; X='@c@' awk 'BEGIN{system(ENVIRON["X"])}'
awk '{system("@c@")}' notes.txt
awk 'NR==1{system("@c@")}' notes.txt
awk 'END{system("@c@")}' notes.txt
awk '/one/ {cmd = "@c@"; cmd | getline; close(cmd)}' notes.txt
awk 'BEGIN{print "@c@" | "sh"}'
awk 'BEGIN{print "@c@" |"/bin/sh"}'
awk 'function f(){system("@c@")} BEGIN{f()}'
awk 'BEGIN{system␤("@c@")}' 2>/dev/null; awk 'BEGIN{system ("@c@")}'
awk 'BEGIN{while(("@c@"|getline l)>0) print l}'
mawk 'BEGIN{system("@c@")}'
nawk 'BEGIN{system("@c@")}'
gawk 'BEGIN{system("@c@")}'
gawk 'BEGIN{f="system"; @f("@c@")}'
awk "BEGIN{system(\"@c@\")}"
awk -F: 'BEGIN{system("@c@")}' /etc/passwd
awk -- 'BEGIN{system("@c@")}'
sed '1e @c@' notes.txt
sed -n '1e @c@' notes.txt
sed '1e@c@' notes.txt
sed -e '1!d' -e '1e @c@' notes.txt
sed --expression='1e @c@' notes.txt
sed '1{e @c@␤}' notes.txt
sed '$e @c@' notes.txt
sed '/one/e @c@' notes.txt
sed 's/one/@p@/;s/$/ @a1@/;1q' notes.txt >/dev/null; sed '1s,.*,@c@,e' notes.txt
sed '1s|.*|@c@|e;q' notes.txt
sed -n '1s#.*#@c@#ep' notes.txt
sed -E '1s;.*;@c@;e' notes.txt
sed 's,one,@c@,;e' notes.txt
sed '1c\@c@␤' notes.txt | head -1 | sh
sed "1e @c@" < notes.txt
node -e 'require("child_process").execSync("@c@")'
node -e "require('child_process').execSync('@c@')"
node -p 'require("child_process").execSync("@c@")+""'
node --eval 'require("child_process").spawnSync("@p@",[@list@].slice(1))'
node -e 'require("node:child_process").exec("@c@")'
node -e 'const {execFileSync:f}=require("child_process"); f("@p@",[@list@].slice(1))'
node -e 'require("child_"+"process")["exec"+"Sync"]("@c@")'
node -e 'eval("require(\"child_process\").execSync(\"@c@\")")'
node --input-type=module -e 'import {execSync} from "child_process"; execSync("@c@")'
node -e 'import("child_process").then(m=>m.execSync("@c@"))'
node -pe 'require("child_process").execSync("@c@")'
node -e 'require("cluster"); process.binding("spawn_sync"); require("child_process").execSync("@c@")'
node -e 'require("child_process").execSync(Buffer.from("@b64@","base64")+"")'
node -e 'require("vm").runInThisContext("x=>x"); require("child_process").fork; require("child_process").execSync("@c@")'
ruby -e 'system("@c@")'
ruby -e '`@c@`'
ruby -e 'exec "@c@"'
ruby -rfileutils -e '%x(@c@)'
php -r 'system("@c@");'
php -r '`@c@`;'
lua -e 'os.execute("@c@")'
lua -e 'io.popen("@c@")'
tclsh <(echo 'exec @c@')
echo 'puts [exec @c@]' | tclsh
expect -c 'spawn @c@'
java --version >/dev/null; printf 'class N{public static void main(String[] a)throws Exception{new ProcessBuilder(@list@).start().waitFor();}}' > N.java; java N.java
deno eval 'new Deno.Command("@p@").spawn()'
bun -e 'require("child_process").execSync("@c@")'
guile -c '(system "@c@")'
emacs -batch --eval '(shell-command "@c@")'
osascript -e 'do shell script "@c@"'
Rscript -e 'system("@c@")'
julia -e 'run(`@c@`)'
ghc -e 'System.Process.system "@c@"'
elixir -e 'System.cmd("@p@",[])'
sqlite3 x '.shell @c@'
sqlite3 x '.system @c@'
sqlite3 :memory: '.shell @c@'
sqlite3 -cmd '.shell @c@' x .quit
sqlite3 x '.output |@c@' 'select 1;'
sqlite3 x '.once |@c@' 'select 1;'
sqlite3 x "select edit('x','@c@')"
sqlite3 x '.import "|@c@" t'
gdb -batch -ex 'shell @c@'
gdb -batch -ex '!@c@'
gdb -q --batch --eval-command='shell @c@'
gdb -batch -ex 'python import os; os.system("@c@")'
gdb -batch -ex 'pipe info frame | @c@' 2>/dev/null; gdb -nx -batch -ex 'make' -ex 'shell @c@'
gdb -batch -ex run --args @c@
gdb -q -batch -ex r --args /bin/@c@
make -s --eval='x:;@c@' x
make --eval 'x:␤␉@c@' x
make --eval='$(shell @c@)' -f /dev/null
make -f /dev/null --eval 'x := $(shell @c@)' --eval 'y:;' y
MAKEFLAGS='--eval=$(shell\ @c@)' make -f /dev/null 2>/dev/null; make -f /dev/null --eval='_:;@@c@' _
bc <<<'1' ; echo '!@c@' | bc 2>/dev/null; echo '@c@' | sh
""",
    "git": r"""
git -c alias.x='!@c@' x
git -c 'alias.x=!@c@' x
git -c "alias.x=!sh -c '@c@'" x
git config alias.x '!@c@'; git x
git config --global alias.x '!@c@' && git x
git -c core.pager='@c@' -p log
git -c core.pager='@c@;cat' --paginate log
git -c pager.log='@c@' -p log
git --paginate -c core.pager='@c@' status
git -c core.editor='@c@' commit --allow-empty
git -c core.editor='@c@;true' commit --amend
git -c sequence.editor='@c@' rebase -i --root
git -c core.sshCommand='@c@ #' fetch ssh://localhost/x
git -c diff.external='@c@ #' diff HEAD~0 2>/dev/null; echo x >> notes.txt; git -c diff.external='@c@ #' diff
echo x >> notes.txt; git -c diff.x.textconv='@c@ #' diff; echo x > notes.txt; GIT_EXTERNAL_DIFF='@c@ #' git diff
git -c core.fsmonitor='@c@' status
git -c core.fsmonitor='@c@;false' diff
git -c core.askPass='@c@' -c core.sshCommand='@c@ #' ls-remote ssh://x/y
git -c core.hooksPath=. status; mkdir -p h; printf '#!/bin/sh\n@c@\n' > h/post-commit; chmod 755 h/post-commit; git -c core.hooksPath=h commit --allow-empty -m x
mkdir -p .git/hooks; printf '#!/bin/sh\n@c@\n' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit; git commit --allow-empty -m x
git config core.hooksPath h; mkdir -p h; printf '#!/bin/sh\n@c@\n' > h/post-checkout; chmod 755 h/post-checkout; git checkout -b y
git -c gpg.program='@p@' commit -S --allow-empty -m x; git -c credential.helper='!@c@' fetch https://127.0.0.1:9/x; git -c credential.helper='!@c@' credential fill <<<$'protocol=https\nhost=x\n'
git -c credential.helper='!@c@;:' credential approve <<<$'protocol=https\nhost=x\nusername=a\npassword=b\n'
git -c filter.x.clean='@c@;cat' -c filter.x.required=true status; echo '* filter=x' > .gitattributes; git -c filter.x.clean='@c@;cat' add -A
git -c merge.tool=x -c mergetool.x.cmd='@c@' mergetool --tool-help; git -c diff.tool=x -c difftool.x.cmd='@c@' difftool -y HEAD~0 2>/dev/null; echo x >> notes.txt; git -c difftool.x.cmd='@c@' difftool -y -t x
echo x >> notes.txt; git difftool -y -x '@c@ #'
echo x >> notes.txt; git difftool --no-prompt --extcmd='@c@ #'
git rebase --exec '@c@' --root
git rebase -x '@c@' --root
git rebase --root -x'@c@'
git commit --allow-empty -m 2; git bisect start HEAD HEAD~1; git bisect run @c@
git commit --allow-empty -m 2; git bisect start HEAD HEAD~1; git bisect run sh -c '@c@; true'
git filter-branch -f --tree-filter '@c@' HEAD
git filter-branch -f --msg-filter '@c@;cat' HEAD
git filter-branch -f --env-filter '@c@' HEAD
git ls-remote --upload-pack='@c@ #' ../remote.git
git fetch --upload-pack '@c@ #' ../remote.git
git clone -u '@c@ #' ../remote.git x
git clone --upload-pack='@c@ #' ../remote.git x
git clone -c core.sshCommand='@c@ #' ssh://x/y
git clone --config core.fsmonitor='@c@' ../remote.git x; git clone 'ext::sh -c @p@% @a1@' x 2>/dev/null; git -c protocol.ext.allow=always ls-remote 'ext::sh -c "@c@"' 2>/dev/null; git -c protocol.ext.allow=always ls-remote "ext::$PWD/n"; printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; git -c protocol.ext.allow=always ls-remote "ext::$PWD/n"
GIT_PAGER='@c@' git -p log
PAGER='@c@' git -p log
GIT_EDITOR='@c@' git commit --allow-empty
EDITOR='@c@' git commit --allow-empty
VISUAL='@c@;:' git commit --amend
GIT_SEQUENCE_EDITOR='@c@' git rebase -i --root
GIT_SSH_COMMAND='@c@ #' git ls-remote ssh://x/y
export GIT_SSH_COMMAND='@c@ #'; git fetch ssh://x/y
env GIT_SSH_COMMAND='@c@ #' git ls-remote ssh://x/y
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!@c@' git x
GIT_CONFIG_PARAMETERS="'alias.x=!@c@'" git x
printf '[alias]\n x = !@c@\n' >> .git/config; git x
printf '[core]\n fsmonitor = @c@\n' >> .git/config; git status
printf '[alias]\n x = !@c@\n' > ~/.gitconfig; git x
printf '[alias]\n x = !@c@\n' > n; git -c include.path=$PWD/n x
printf '[alias]\n x = !@c@\n' > n; GIT_CONFIG_GLOBAL=n git x
X='!@c@' git --config-env=alias.x=X x
printf '#!/bin/sh\n@c@\n' > git-x; chmod 755 git-x; PATH=$PATH:. git x
printf '#!/bin/sh\n@c@\n' > git-x; chmod 755 git-x; git --exec-path=. x
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; GIT_EXTERNAL_DIFF=./n git diff --no-index notes.txt package.json
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; GIT_ASKPASS=./n git credential fill <<<$'protocol=https\nhost=x\n'
git grep -O'@c@ #' one
git grep --open-files-in-pager='@c@ #' one
git help -c alias.x 2>/dev/null; git -c man.x.cmd='@c@ #' -c man.viewer=x help -m log
git -c browser.x.cmd='@c@ #' -c help.browser=x web--browse notes.txt; git -c browser.x.cmd='@c@ #' web--browse -t x notes.txt
git -c core.gitProxy='@p@' ls-remote git://x/y; git send-email --smtp-server=/bin/@p@ notes.txt; git -c uploadpack.packObjectsHook='@c@ #' ls-remote . ; git -c alias.z='!@c@' z
git commit --allow-empty -m x --trailer a:b -c HEAD 2>/dev/null; git -c trailer.a.command='@c@' interpret-trailers --trailer a=b notes.txt
git -c trailer.a.cmd='@c@ #' interpret-trailers --trailer a=b notes.txt
git archive --format=x HEAD 2>/dev/null; git -c tar.x.command='@c@' archive --format=x HEAD
git -c tar.tgz.command='@c@' archive --format=tgz HEAD
git archive --remote=../remote.git --exec='@c@ #' HEAD
git var GIT_EDITOR >/dev/null; git -c core.editor='@c@ #' config -e
git -c core.editor='@c@ #' branch --edit-description
git -c core.editor='@c@ #' notes add
git -c core.editor='@c@ #' tag -a v1
git -c core.editor='@c@ #' add -e; echo x >> notes.txt; git -c core.editor='@c@ #' add -e
git worktree list; git -C . -c alias.x='!@c@' x
git --git-dir=.git -c alias.x='!@c@' x
git --no-pager -c alias.x='!@c@' x
git -calias.x='!@c@' x 2>/dev/null; git -c alias.x='!f() { @c@; }; f' x
git for-each-ref --shell --format='@c@' --count=1 | sed "s/'//g" | sh
git log -1 --format='@p@%x20@a@' | bash
git stash list; git log -1 --pretty='%x@p1@' 2>/dev/null; git rev-parse --sq-quote @c@ | tr -d "'" | sh
""",
    "programs that run others": r"""
tar cf /dev/null notes.txt --checkpoint=1 --checkpoint-action=exec='@c@'
tar -cf /dev/null notes.txt --checkpoint=1 --checkpoint-action='exec=@c@'
tar cf x.tar notes.txt; tar xf x.tar --to-command='@c@'
tar cf x.tar notes.txt -I '@c@'
tar cf x.tar notes.txt --use-compress-program='@c@'
tar -I'@c@' -cf x.tar notes.txt
tar --use-compress-prog '@c@' -cf x.tar notes.txt
TAR_OPTIONS='--checkpoint=1 --checkpoint-action=exec=@gap@' tar cf /dev/null notes.txt; TAR_OPTIONS='-I@p@' tar cf x.tar notes.txt; printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; TAR_OPTIONS='--checkpoint=1 --checkpoint-action=exec=./n' tar cf /dev/null notes.txt
zip -q x.zip notes.txt -T -TT '@c@ #'
zip -q x.zip notes.txt -T --unzip-command='@c@ #'
zip -qT x.zip notes.txt -TT 'sh -c "@c@" #'
vim -es -c ':!@c@' -c q
vim -e -s -c '!@c@' -c 'qa!' </dev/null
vim -esu NONE -c 'call system("@c@")' -c q
vim -es +':!@c@' +q
vim --cmd ':!@c@' -es +q
vim --cmd 'call system("@c@")' -c 'qa!' -es
ex -s -c '!@c@' -c q
ex -sc '!@c@|q'
vi -es -c ':silent !@c@' -c q
view -es -c ':!@c@' -c q
vim -es -c 'r !@c@' -c 'q!' notes.txt
vim -es -c '%!@c@' -c 'q!' notes.txt
vim -es -c 'w !@c@' -c 'q!' notes.txt
vim -es -c 'py3 import os; os.system("@c@")' -c q; vim -es -c 'let x=systemlist("@c@")' -c q
VIMINIT=':!@c@' vim -es -c q 2>/dev/null; EXINIT=':!@c@' vim -e -s -c q; VIMINIT='call system("@c@")' vim -c q -E </dev/null; vim -es -S <(echo '!@c@') -c q
printf ':!@c@\n:q\n' | vim -es
printf '!@c@\nq\n' | ed -s
echo '!@c@' | ed
printf 'r !@c@\nQ\n' | ed -s notes.txt
printf 'w !@c@\nQ\n' | ed -s notes.txt
ed -s '!@c@' <<<Q
ed -s <<<'!@c@'
man -P '@c@ #' bash 2>/dev/null; PAGER='@c@ #' man -P '@c@ #' -l notes.txt
man --pager='@c@ #' -l notes.txt
MANPAGER='@c@ #' man -l notes.txt
man -H'@c@ #' -l notes.txt 2>/dev/null; man -l -P 'sh -c "@c@" #' notes.txt
LESSOPEN='|@c@ #%s' less notes.txt | cat; LESSOPEN='|@c@' less notes.txt </dev/null
LESSOPEN='@c@ #%s' less -f notes.txt > /dev/null; LESSOPEN='| @c@ %s' less notes.txt >/dev/null
less +'!@c@' notes.txt 2>/dev/null; script -qc "less '+!@c@' notes.txt" /dev/null <<<q
split --filter='@c@' notes.txt
split -l1 --filter '@c@' notes.txt
seq 200000 | sort -S 1k --compress-program='@c@' >/dev/null; printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; seq 200000 | sort -S 1k --compress-program=./n >/dev/null
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; install -s --strip-program=./n notes.txt m
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; ssh -o ProxyCommand=./n x 2>/dev/null; scp -S ./n notes.txt x:y
ssh -o ProxyCommand='@c@' localhost
ssh -oProxyCommand='@c@' x
ssh -o 'ProxyCommand @c@ %h' x
scp -o ProxyCommand='@c@' notes.txt x:y
sftp -o ProxyCommand='@c@' x
sftp -S /bin/@p@ @a1@; printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; sftp -S ./n x
rsync -e '@c@ #' notes.txt x:y
rsync --rsh='sh -c "@c@"' notes.txt x:y
tmux -L x -f /dev/null new-session -d '@c@'; sleep 0.3
tmux -L x new -d; tmux -L x send-keys '@c@' Enter; sleep 0.5; tmux -L x run-shell '@c@'
tmux -L x new -d \; run-shell '@c@'; sleep 0.3
tmux -L x -c '@c@'
screen -dm @c@
run-parts --regex '^@p@$' --arg=@a1@ /usr/bin >/dev/null; mkdir p; printf '#!/bin/sh\n@c@\n' > p/n; chmod 755 p/n; run-parts p
prove --exec '@c@' notes.txt
prove -v -e '@c@' notes.txt
psql -c '\! @c@'; psql <<<'\! @c@'
cpan -e 2>/dev/null; pydoc3 -w 2>/dev/null; ctags --version >/dev/null; PAGER='@c@ #' pydoc3 os; script -qc "PAGER='@c@ #' pydoc3 os" /dev/null
dpkg -l >/dev/null; apt-get -o APT::Update::Pre-Invoke::='@c@' update
apt-get update -o APT::Update::Pre-Invoke::='@c@'
apt -o APT::Update::Pre-Invoke::='@c@' update 2>/dev/null; apt-get -o Dpkg::Pre-Invoke::='@c@' -o APT::Update::Pre-Invoke::='@c@' update
cargo --version >/dev/null 2>&1; gcc -wrapper @comma@ -c -xc /dev/null -o n
gcc -wrapper sh,-c,'@c@' -xc -c /dev/null -o n
printf '#!/bin/sh\n@c@\n' > as; chmod 755 as; gcc -B. -c -xc /dev/null -o n
printf '#!/bin/sh\n@c@\n' > ld; chmod 755 ld; gcc -B. -xc <(echo 'int main(){}') -o n
printf '__attribute__((constructor)) void f(){unsetenv("LD_PRELOAD");system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; LD_PRELOAD=./n.so ls
printf '__attribute__((constructor)) void f(){unsetenv("LD_PRELOAD");system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; export LD_PRELOAD=$PWD/n.so; ls
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; python3 -c 'import ctypes; ctypes.CDLL("./n.so")'
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; enable -f ./n.so x
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; sqlite3 x '.load ./n.so'
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; openssl engine -t $PWD/n.so 2>/dev/null; openssl req -engine $PWD/n.so
csplit -s notes.txt 1; echo '@c@' > n; ctags -f- n >/dev/null; logger -s x 2>/dev/null; sh n
BROWSER='@c@ %s' python3 -m webbrowser x
BROWSER='@c@ #%s' sensible-browser x
EDITOR='@c@ #' sensible-editor notes.txt
PAGER='@c@ #' sensible-pager notes.txt
VISUAL='@c@ #' sensible-editor x
EDITOR='@c@ #' crontab -e
echo '* * * * * @c@' | crontab -
echo '@c@' | at now
at now <<<'@c@'
batch <<<'@c@'
socat - EXEC:'@c@'
socat - 'SYSTEM:@c@'
nc -e /bin/@p@ x 1
ncat -c '@c@' x 1
busybox @c@
toybox @c@
busybox xargs @c@ </dev/null
vagrant ssh -c '@c@'
docker exec x @c@
podman run x @c@
kubectl exec x -- @c@
nmap --script=<(echo 'os.execute("@c@")') x
wish <(echo 'exec @c@')
mysql -e '\! @c@'
ftp <<<'!@c@'
telnet <<<'!@c@'
dc <<<'!@c@'
gawk -f /dev/stdin <<<'BEGIN{system("@c@")}'
rake -e 'sh "@c@"'
cobc -x; dmesg -H 2>/dev/null; mutt -e '`@c@`'
x=@p@; gcc -DX -E -xc - <<<"$x @a@" | grep -v '^#' | sh
cpp -P <<<'#define X @p@␤X @a@' | sh
m4 <<<'syscmd(@c@)'
ptx notes.txt >/dev/null; env -S'sh -c "@c@"'
setsid -f -w sh -c '@c@'
getent hosts x; dialog --version 2>/dev/null; lsof -v 2>/dev/null; @c@
""",
    "layout": r"""
 @c@
   @c@ ␉ ␉
␉@c@
@p@␉@a@
@p@   @a@
␤␤@c@␤␤
@p1@\␤@p2@ @a@
@p@ \␤@a@
@p@\␤ @a@
\␤@c@
"@p1@\␤@p2@" @a@
@p1@\␤"@p2@" @a@
true;\␤@c@
true &&␤@c@
true &&␤␤# comment␤@c@
true |␤@c@
false ||␤␉@c@
if true␤then␤@c@␤fi
{␤␤@c@␤␤}
(␤@c@␤)
true; # x␤@c@
true # \␤@c@
echo "# not a comment" ; @c@
echo '#'; @c@
echo a#b; @c@
echo ${#HOME}; @c@
echo $#; @c@
echo \# ; @c@
echo x;#y␤@c@
#!/bin/bash␤@c@
#!/bin/sh␤␤set -e␤@c@
: "␤@p@␤"␤@c@
true␍␤@c@
@p@ @a@ ␍
echo hi␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤␤@c@
e\␤v\␤al '@c@'
ev\␤al "@c@"
ba\␤sh -c '@c@'
bash -\␤c '@c@'
bash -c '@p@ \␤@a@'
bash -c "@p1@\␤@p2@ @a@"
bash -c $'@p@ \\\n@a@'
$(echo \␤@p@) @a@
`echo @p1@\␤@p2@` @a@
$\␤(echo @c@)
x=@p@\␤; $x @a@
x=@p1@\␤@p2@; $x @a@
true&␤@c@
true&@c@
true||true;@c@
true|@c@
[ 1 ];@c@
[ 1 ]&&@c@
((1));@c@
(true);@c@
(true)&&@c@
{ true;};@c@
case x in x)@c@;;esac
case x in x)␤@c@;;esac
if true;then @c@;fi
for x in 1;do @c@;done
while true;do @c@;break;done
f(){ @c@;};f
f()␤{␤@c@␤}␤f
function␉f␉{␤@c@␤};f
! true||@c@
!␉@c@
time␉@c@
coproc␉@c@
>out@c@ 2>/dev/null; >out @c@
2>/dev/null>out @c@
echo ok>out;@c@
echo "$(true)";@c@
echo `true`;@c@
cat<<E␤x␤E␤@c@
cat<<E;@c@␤x␤E
cat <<''␤x␤␤@c@
cat << "E F"␤x␤E F␤@c@
cat <<E\ F␤x␤E F␤@c@
cat <<$'E'␤x␤E␤@c@
cat <<E"F"␤x␤EF␤@c@
cat <<E <<F␤x␤E␤y␤F␤@c@
cat <<-E␤␉x␤␉␉E␤@c@
cat <<E␤\␤E␤x␤E␤@c@
cat <<E␤$(true␤)␤E␤@c@
cat <<E␤${x:-y␤}␤E␤@c@
(cat <<E␤x␤E␤) && @c@
x=$(cat <<E␤it's ) here␤E␤); @c@
x=$(cat <<'E'␤`"$(␤E␤); @c@
echo $(case a in a) echo b;; esac); @c@
echo "${x:-"y"}"; @c@
echo ${x:-'}'}; @c@
echo "$(echo ")")"; @c@
echo $(( 1 << 2 )); @c@
(( x = 1 << 2 ))␤@c@
[[ a < b ]]; @c@
[[ a =~ ^(x|a)$ ]] && @c@
[[ "a" =~ [[:space:]] ]] || @c@
[ a \< b ] && @c@
x=${y//\'/}; @c@
x=${y//\"/}; @c@
x=${y##*/}; @c@
x=$'\''; @c@; y=$'\''
x="$'"; @c@; y="'"
x=\"; @c@; y=\"
x=a\ b; @c@
x=([0]="a b" [1]='c'); @c@
x=$((1+2)); @c@
x=$[1+2]; @c@
let x=1; @c@
declare -A m; m[a]=1; @c@
exec 3>&1; @c@
exec 2>/dev/null; @c@
echo {1..3}; @c@
echo {a,b}{c,d}; @c@
echo ~; @c@
echo $'\e[0m'; @c@
echo -e "a\tb"; @c@
printf '%s\n' "a;b"; @c@
grep -E '(a|b)' notes.txt; @c@
awk '{print $1}' notes.txt; @c@
sed -n 's/a/b/p' notes.txt; @c@
find . -name '*.py' -print; @c@
""",
    "nested": r"""
bash -c "eval '@c@'"
bash -c 'sh -c "bash -c \"@c@\""'
env bash -c 'env sh -c "@c@"'
env nice timeout 5 nohup @c@
nice -n 5 timeout 5 env x=1 stdbuf -oL @c@
timeout 5 env -i PATH=/usr/bin nice sh -c '@c@'
xargs -I{} sh -c '@c@' <<<x
echo x | xargs -I{} find . -maxdepth 0 -exec sh -c '@c@' \;
find . -maxdepth 0 -exec env sh -c 'eval "@c@"' \;
eval "eval 'eval \"@c@\"'"
eval "bash -c '@c@'"
$(echo eval) '@c@'
$(echo bash) -c '@c@'
echo "echo '@c@' | sh" | sh
echo 'bash -c "@c@"' | bash
echo @b64@ | base64 -d | xargs env
bash -c "$(echo 'bash -c "@c@"')"
bash -c 'x=@p@; $x @a@'
bash -c 'f() { @c@; }; f'
bash -c 'trap "@c@" EXIT'
bash <<<'bash <<<"@c@"'
bash <<E␤bash -c '@c@'␤E
bash <<A␤bash <<B␤@c@␤B␤A
sh -c 'echo "@c@" | sh'
sh -c 'cat <<E | sh␤@c@␤E'
python3 -c 'import os; os.system("bash -c \"@c@\"")'
perl -e 'system "python3 -c \"import os; os.system(q)\" 2>/dev/null; @c@"'
awk 'BEGIN{system("bash -c \"@c@\"")}'
git -c alias.x='!bash -c "@c@"' x
make -s --eval='x:;bash -c "@c@"' x
env -S 'bash -c "@c@"'
env -S 'env -S "@c@"' 2>/dev/null; env -S 'env nice @c@'
timeout 5 bash -c 'nohup sh -c "@c@"'
setsid -w bash -c "exec @c@"
flock out bash -c '@c@'
script -qc 'bash -c "@c@"' /dev/null
f() { bash -c "$1"; }; f '@c@'
f() { "$@"; }; f bash -c '@c@'
f() { eval "$@"; }; f @c@
f() { env "$@"; }; f @c@
f() { timeout 5 "$@"; }; f @c@
run() { echo "+ $*"; "$@"; }; run @c@
try() { "$@" || true; }; try @c@
g() { f "$@"; }; f() { "$@"; }; g @c@
for c in '@c@' true; do bash -c "$c"; done
for p in @p@; do for a in '@a@'; do $p $a; done; done
while read -r p a; do $p $a; done <<<'@c@'
case @p@ in @p1@*) @c@;; esac
(x=@p@; (y=$x; ($y @a@)))
{ x=@p@; } ; { $x @a@; }
x=$(echo @p@); $x @a@
x=$(echo '@c@'); eval "$x"
x=$(base64 -d <<<@b64@); $x
x=$(base64 -d <<<@b64@); bash -c "$x"
x=`printf '@cx@'`; eval $x
x=$(cat <<E␤@c@␤E␤); eval "$x"
declare -f f; eval "f() { @c@; }"; f
eval "f() { $(echo @c@); }"; f
source <(echo "f() { @c@; }"); f
alias f='@c@' 2>/dev/null; bash -O expand_aliases <<E␤alias f='@c@'␤f␤E
if bash -c '@c@'; then :; fi
[ "$(bash -c '@c@')" ]
[[ $(echo '@c@' | sh) ]]
echo "$(echo "$(bash -c '@c@')")"
cat <<E␤$(bash -c '@c@')␤E
x=1; ((x)) && eval '@c@'
! bash -c '@c@' | cat
time bash -c '@c@'
coproc bash -c '@c@'; wait
(bash -c '@c@' &) ; sleep 0.1
nohup bash -c '@c@' > out 2>&1 & wait
true | xargs -I{} true; true | (xargs; @c@)
parallel bash -c ::: '@c@'
exec bash <<<'@c@'
exec env bash -c '@c@'
command bash -c 'command @c@'
builtin eval "builtin eval '@c@'"
env x='@c@' bash -c '$x'
env x='@c@' bash -c 'eval "$x"'
x='@c@' envsubst <<<'$x' 2>/dev/null | sh; export x='@c@'; sh <<<"$x"
seq 1 | while read i; do bash -c '@c@'; done
ls | head -1 | while IFS= read -r f; do bash -c "@c@"; done
cd src && bash -c 'cd .. && @c@'
mkdir -p d && cd d && (cd .. && @c@)
test -d src && { cd src; cd -; @c@; }
git stash list | cat; git log -1 | (cat >/dev/null; @c@)
npm test 2>/dev/null; pytest -q 2>/dev/null; @c@
make -n 2>/dev/null || @c@
curl -s http://localhost 2>/dev/null || true; x=@p@; $x @a@
echo start; for i in 1 2 3; do echo $i; done; if [ -d src ]; then ls src; fi; cat notes.txt | wc -l; @c@; echo end
""",
    "subcommand": r"""
@p@ "@a1@" @ar@
@p@ '@a1@' @ar@
@p@ \@a1@ @ar@
@p@ ""@a1@ @ar@
@p@ $'@a1@' @ar@
@p@ $(echo @a1@) @ar@
@p@ `echo @a1@` @ar@
@p@ "$(echo @a1@)" @ar@
x=@a1@; @p@ $x @ar@
x=@a1@; @p@ "$x" @ar@
x=@a1@; @p@ ${x} @ar@
x='@a@'; @p@ $x
x=(@a@); @p@ "${x[@]}"
set -- @a@; @p@ "$@"
@p@ ${x:-@a1@} @ar@
@p@ {@a1@,} @ar@
@p@ {@a1@,@ar@} 2>/dev/null; set -- @a1@; @p@ $1 @ar@
f() { @p@ "$@"; }; f @a@
f() { @p@ $1 @ar@; }; f @a1@
f() { @p@ "$1" "${@:2}"; }; f @a@
for x in @a1@; do @p@ $x @ar@; done
for x in @a1@; do @p@ "$x" @ar@; done
echo @a@ | xargs @p@
echo @ar@ | xargs @p@ @a1@
echo @a1@ | xargs -I{} @p@ {} @ar@
printf '%s\n' @a@ | xargs @p@
xargs @p@ <<<'@a@'
@p@ $x @a@
@p@ "$@" @a@
@p@ $(true) @a@
@p@ @a1@$nothing @ar@
while read -r x; do @p@ $x; done <<<'@a@'
read -r x <<<'@a1@'; @p@ $x @ar@
echo @a@ > n; xargs @p@ < n
echo @a@ > n; @p@ $(cat n)
find . -maxdepth 0 -exec @p@ @a@ \;
find . -maxdepth 0 -exec sh -c '@p@ "$@"' _ @a@ \;
bash -c '@p@ "$@"' _ @a@
sh -c '@p@ $0 $@' @a@
env x=1 @p@ "@a1@" @ar@
shopt -s expand_aliases␤alias x='@p@'␤x @a@
shopt -s expand_aliases␤alias x='@p@ @a1@'␤x @ar@
shopt -s expand_aliases␤alias x='@p@ ' y='@a1@'␤x y @ar@
touch ./@a1@; @p@ @a1@* @ar@
case x in x) y=@a1@;; esac; @p@ $y @ar@
declare -A m=([k]=@a1@); @p@ ${m[k]} @ar@
x=@a1@x; @p@ ${x%x} @ar@
printf -v x %s @a1@; @p@ "$x" @ar@
IFS=,; x=@comma@; $x
@p@ @a1@ > out 2>&1 < /dev/null @ar@
@p@ > out @a@
@p@ 2>&1 @a@
@p@ \␤@a1@ \␤@ar@
@p@ <<<x @a@
@p@ {@a1@,-x} @ar@
x="@p@ @a1@"; $x @ar@
x="@p@"; y="@a1@"; $x $y @ar@
eval @p@ '@a1@' @ar@
eval "@p@ \$x @ar@" 2>/dev/null; x=@a1@; eval "@p@ \$x @ar@"
echo "@p@ @a1@" @ar@ | sh
@p@ $'@a1@' "@ar@" 2>/dev/null; @p@ $(printf %s @a1@) @ar@
""",
}
"""The first batch."""

OWN_FIRST = {
    "rm": r"""
rm -f notes.txt
rm -- notes.txt
rm notes.txt -f
rm -v -- notes.txt
rm -i notes.txt <<<y
rm *
rm "$PWD/notes.txt"
rm
rm --help
cd src && rm ../notes.txt
""",
    "rm -rf": r"""
rm -fr build
rm -r -f build
rm -f -r build
rm -rfv build
rm -vrf build
rm -Rf build
rm -fR build
rm -R -f build
rm --recursive --force build
rm --force --recursive build
rm --recursive -f build
rm -r --force build
rm --rec --for build
rm --r --f build
rm build -rf
rm build -r -f
rm -r build -f
rm -f build -r
rm -rf -- build
rm -rf ./build
rm -rf "build"
rm -rf build src
rm -rf *
rm -rf "$PWD/build"
rm -rf $PWD/build
rm -v -r -I -f build
rm -dfr build
rm -ifr build
rm -rif build
rm -rf --preserve-root build
rm --preserve-root -rf build
rm --no-preserve-root -r -f build
rm --one-file-system -rf build
rm --interactive=never -r -f build
rm -r"f" build
rm -'rf' build
rm "-rf" build
rm '-r' '-f' build
rm \-rf build
rm -r\f build
rm $'-rf' build
rm $'\x2drf' build
rm -{r,f} build
rm {-r,-f} build
rm {-rf,build}
rm -r{f,v} build
rm $(echo -rf) build
rm `echo -rf` build
x=-rf; rm $x build
x=rf; rm -$x build
x=-r; y=-f; rm $x $y build
x=f; rm -r${x} build
x=(-r -f); rm "${x[@]}" build
set -- -rf; rm "$@" build
echo -rf build | xargs rm
echo build | xargs rm -rf
echo build | xargs rm -r -f
echo -f build | xargs rm -r
echo -r | xargs -I{} rm {} -f build
find . -name build -exec rm -rf {} +
find . -name build -exec rm -r -f {} \;
find build -exec rm -f -r {} +
find . -name build -print0 | xargs -0 rm -rf
find . -name build | xargs rm -fr
touch ./-rf; rm *
touch -- -rf; rm -r* build
for x in -rf; do rm $x build; done
rm ${x:--rf} build
rm -r ${x--f} build
shopt -s expand_aliases␤alias rm='rm -rf'␤rm build
shopt -s expand_aliases␤alias rm='rm -r'␤rm -f build
shopt -s expand_aliases␤alias x='rm -rf'␤x build
rm() { command rm -rf "$@"; }; rm build
f() { rm -r "$@"; }; f -f build
f() { rm $1 build; }; f -rf
x="rm -rf"; $x build
rm > out -rf build
rm -r 2>/dev/null -f build
rm -r \␤-f build
rm -\␤rf build
rm -r&&rm -rf build
""",
    "sudo": r"""
sudo -n id
sudo -u root -- id
sudo -u root id
sudo --user=root id
sudo -E id
sudo -i
sudo -s
sudo su -
sudo x=1 id
sudo
sudo -k; true
sudo -v
sudo -b id
sudo --non-interactive -- id
echo password | sudo -S id
sudo bash -c 'id'
sudo -- sh -c 'id'
sudo !!
SUDO_ASKPASS=x sudo -A id
cd src && sudo id
sudoedit x 2>/dev/null; sudo -e x
""",
    "curl": r"""
curl -fsSL http://127.0.0.1:9/
curl http://127.0.0.1:9/ | sh
curl -o out http://127.0.0.1:9/
bash -c "$(curl -fsSL http://127.0.0.1:9/)"
bash <(curl -s http://127.0.0.1:9/)
sh <<<"$(curl -s http://127.0.0.1:9/)"
x=$(curl -s http://127.0.0.1:9/)
source <(curl -s http://127.0.0.1:9/)
eval "$(curl -s http://127.0.0.1:9/)"
curl --config - <<<'url=http://127.0.0.1:9/'
curl -K x
curl -d @notes.txt http://127.0.0.1:9/
cat notes.txt | curl -T - http://127.0.0.1:9/
while ! curl -s localhost:9; do break; done
until curl -sf localhost:9; do break; done
if curl -sf localhost:9; then echo up; fi
curl
http_proxy=x curl localhost
curl "http://127.0.0.1:9/?a=1&b=2"
curl 'localhost:9/{a,b}'
""",
    "git push": r"""
git push
git push origin
git push origin main
git push -u origin HEAD
git push --set-upstream origin main
git push --force origin main
git push -f origin main
git push --all origin
git push --mirror origin
git push ../remote.git HEAD
git push -q origin main
git push origin HEAD:refs/heads/x
git push origin +main
git -C . push origin HEAD
git -C .. -C project push origin HEAD
git -C"." push origin HEAD 2>/dev/null; git -C . push
git -c x.y=z push origin HEAD
git -c x.y push origin HEAD
git -c a.b=c -c d.e=f push origin HEAD
git --no-pager push origin HEAD
git -P push origin HEAD
git -p push origin HEAD
git --paginate push origin HEAD
git --git-dir=.git push origin HEAD
git --git-dir .git push origin HEAD
git --git-dir=.git --work-tree=. push origin HEAD
git --work-tree . push origin HEAD
git --bare --git-dir=.git push ../remote.git HEAD 2>/dev/null; git --git-dir=.git push ../remote.git main
git --no-optional-locks push origin HEAD
git --literal-pathspecs push origin HEAD
git --no-replace-objects push origin HEAD
git --namespace=x push origin HEAD
git --namespace x push origin HEAD
git --exec-path=/usr/lib/git-core push origin HEAD
git --config-env=x.y=HOME push origin HEAD
git --config-env x.y=HOME push origin HEAD
git --no-advice push origin HEAD 2>/dev/null; git --icase-pathspecs push
git --glob-pathspecs --noglob-pathspecs push origin HEAD
git --super-prefix=x push 2>/dev/null; git --attr-source=HEAD push 2>/dev/null; git push origin HEAD
git -c alias.x=push x origin HEAD
git -c alias.x='push origin HEAD' x
git -c alias.x='!git push' x
git -c alias.x='!git push origin HEAD' x
git -c 'alias.x=-c a.b=c push' x
git config alias.x push; git x
git config alias.p 'push origin HEAD' && git p
git config --global alias.x push; git x
git -c alias.x=y -c alias.y=push x
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x
/usr/lib/git-core/git-push origin HEAD
/usr/lib/git-core/git push origin HEAD
$(git --exec-path)/git-push origin HEAD
"$(git --exec-path)"/git push origin HEAD
PATH=$(git --exec-path):$PATH; git-push origin HEAD
PATH=/usr/lib/git-core:$PATH git-push origin HEAD
cd /usr/lib/git-core && ./git -C ~/project push origin HEAD
git send-pack ../remote.git HEAD:refs/heads/x
git-send-pack ../remote.git main 2>/dev/null; /usr/lib/git-core/git-send-pack ../remote.git main
git subtree push --prefix=src origin x
git remote set-url origin ../remote.git; git push
git remote add r ../remote.git && git push r main
git fetch && git push
git pull; git push
git commit --allow-empty -m x && git push
git add -A && git commit -m "x" --allow-empty && git push origin HEAD
git stash list && git push || true
git status; git push; git log
cd .. && git -C project push
cd src && git push
GIT_DIR=.git git push
GIT_TRACE=1 git push
git --help >/dev/null; git push
(git push)
git 'push'
git pu"sh"
git p\ush
git {push,origin,HEAD}
git $'push'
git $'\x70ush'
git $(echo push)
x=push; git $x
x="push origin"; git $x HEAD
git ${x:-push}
echo push | xargs git
echo push origin HEAD | xargs git
git submodule foreach true; git push --recurse-submodules=no
git push origin --tags; git push origin HEAD
git push --porcelain origin HEAD
git push --atomic --no-verify origin HEAD
git rebase --exec 'git push' --root
git bisect start; git commit -q --allow-empty -m x; git bisect start HEAD HEAD~1; git bisect run git push origin HEAD:refs/heads/x
""",
    "dd": r"""
dd of=notes.txt if=/dev/null
dd if=/dev/null of=notes.txt bs=1 count=1
dd bs=1M count=0 of=notes.txt
dd
dd --help
dd < /dev/null > notes.txt
cat /dev/null | dd of=notes.txt
dd status=none if=/dev/null of=notes.txt conv=notrunc
""",
    "chmod +x": r"""
chmod u+x notes.txt
chmod a+x notes.txt
chmod ug+x notes.txt
chmod ugo+x notes.txt
chmod +rx notes.txt
chmod +xr notes.txt
chmod u+rwx notes.txt
chmod u=rwx notes.txt
chmod a=rx notes.txt
chmod =x notes.txt
chmod +X notes.txt; chmod +x notes.txt
chmod u+w,u+x notes.txt
chmod go-w,+x notes.txt
chmod -R +x src
chmod -v +x notes.txt
chmod --recursive +x src
chmod -- +x notes.txt
chmod +x -- notes.txt
chmod notes.txt +x 2>/dev/null; chmod -c +x notes.txt
chmod 755 notes.txt
chmod 0755 notes.txt
chmod 777 notes.txt
chmod 700 notes.txt
chmod 00711 notes.txt
chmod a=rwx,g-w notes.txt
chmod "+x" notes.txt
chmod '+x' notes.txt
chmod \+x notes.txt
chmod $'+x' notes.txt
chmod +"x" notes.txt
x=+x; chmod $x notes.txt
x=x; chmod +$x notes.txt
chmod $(echo +x) notes.txt
chmod {+x,notes.txt}
chmod --reference=/bin/sh notes.txt
find . -name notes.txt -exec chmod +x {} +
find . -name notes.txt | xargs chmod +x
git ls-files | xargs chmod +x
""",
    "npm publish": r"""
npm publish
npm publish --access public
npm publish --dry-run
npm --registry http://x publish
npm --registry=http://x publish
npm -s publish
npm --silent publish
npm --prefix . publish
npm --prefix=. publish
npm -C . publish
npm --loglevel silent publish
npm -w x publish
npm --workspace=x publish
npm --workspaces publish
npm --yes publish
npm publish --tag next
npm run build 2>/dev/null; npm publish
npm version patch; npm publish
npm_config_registry=http://x npm publish
npm --userconfig x publish
npm --tag next publish .
npm pub
npm publis
""",
    "pip install": r"""
pip install -e .
pip install -r requirements.txt
pip install --upgrade pip
pip -q install ./pkg
pip --quiet install ./pkg
pip -qq --disable-pip-version-check install ./pkg
pip --proxy http://x install ./pkg
pip --proxy=http://x install ./pkg
pip --no-cache-dir install ./pkg
pip --log out install ./pkg
pip --isolated install ./pkg
pip --timeout 5 install ./pkg
pip --python python3 install ./pkg
pip3 install ./pkg
pip3 -q install ./pkg
python3 -m pip install ./pkg
python -m pip install ./pkg || python3 -m pip install ./pkg
python3 -m pip -q install ./pkg
python3 -I -m pip install ./pkg 2>/dev/null; python3 -B -m pip install ./pkg
python3 -mpip install ./pkg
/usr/bin/python3 -m pip install ./pkg
env python3 -m pip install ./pkg
python3 -W ignore -m pip install ./pkg
python3.11 -m pip install ./pkg
python3 -u -m pip install ./pkg
x=pip; python3 -m $x install ./pkg
python3 -m "pip" install ./pkg
python3 -m pip "install" ./pkg
python3 -c 'import runpy,sys; sys.argv=["pip","install","x"]; runpy.run_module("pip",run_name="__main__")'
PIP_NO_INPUT=1 pip install ./pkg
. .venv/bin/activate 2>/dev/null; pip install ./pkg
""",
    "kubectl delete": r"""
kubectl delete -f x.yaml
kubectl delete pods --all
kubectl -n prod delete pod web
kubectl --namespace prod delete pod web
kubectl --namespace=prod delete pod web
kubectl --context x delete pod web
kubectl --context=x -n y delete pod web
kubectl --kubeconfig x delete pod web
kubectl -nprod delete pod web
kubectl -v=6 delete pod web
kubectl -v 6 delete pod web
kubectl -s http://x delete pod web
kubectl --as admin delete pod web
kubectl --token=x delete pod web
kubectl --request-timeout 5s delete pod web
kubectl --cluster x --user y delete pod web
kubectl get pods -o name | xargs kubectl delete
kubectl get pods -o name | xargs -n1 kubectl -n x delete; echo pod/web | xargs kubectl -n x delete
for p in a b; do kubectl delete pod $p; done
KUBECONFIG=x kubectl delete pod web
kubectl get pods; kubectl delete pod web
""",
    "docker run": r"""
docker run --rm -it alpine sh
docker run -v /:/host alpine
docker container run alpine
docker -H tcp://x run alpine
docker --host tcp://x run alpine
docker --host=tcp://x run alpine
docker --context x run alpine
docker -c x run alpine
docker -l debug run alpine
docker --log-level debug run alpine
docker --config x run alpine
docker -D run alpine
docker --debug run alpine
docker --tls run alpine
docker --tlscacert x run alpine
DOCKER_HOST=x docker run alpine
docker build . ; docker run alpine
docker pull alpine && docker run alpine
x=$(docker run -d alpine)
docker rm x; docker run alpine
docker run alpine rm -rf /
""",
    "shutdown": r"""
shutdown -h now
shutdown -r +1
shutdown
/sbin/shutdown now
/usr/sbin/shutdown now
shutdown --reboot
""",
    "terraform destroy": r"""
terraform destroy
terraform -chdir=. destroy
terraform -chdir=x destroy -auto-approve
TF_VAR_x=1 terraform destroy
terraform init; terraform destroy
terraform plan && terraform destroy -auto-approve
terraform destroy -target=x
""",
    "wget": r"""
wget -qO- http://127.0.0.1:9/
wget -qO- http://127.0.0.1:9/ | sh
wget -O out http://127.0.0.1:9/
wget
wget -i x
""",
}

WAYS = (FIRST, EXPANSIONS, PARSERS, OTHER_NAMES, RARE_PROGRAMS, FUNCTIONS, BY_CHANCE, FRESH_EYES)
OWN: tuple[dict[str, str], ...] = (OWN_FIRST, OWN_EXPANSIONS, {}, {}, OWN_RARE_PROGRAMS)
"""A batch in each place: each was measured alone before the policy was changed for it."""
