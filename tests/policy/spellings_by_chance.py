r"""Spellings: put together by chance from words, wrappers, places and shells; the same each time."""

from __future__ import annotations

import random
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = r"""
@p@
'@p@'
\@p@
@p1@''@p2@
@p1@\@p2@
@p1@"@p2@"
$'@x@'
$'@p1@'@p2@
@p1@$()@p2@
@p1@${z}@p2@
/usr/bin/@p@
//usr/./bin/@p@
/usr/bin/@pi@[@pl@]
/usr/b?n/@p@
$(echo @p@)
`echo @p@`
"$(printf %s @p@)"
$(rev <<<@prev@)
$(printf '@x@')
$(command -v @p@)
${z:-@p@}
${z-"@p@"}
$(echo @upper@ | tr A-Z a-z)
@p1@\␤@p2@
{@p@,}
"""
"""Ways to write the program's name."""
BEFORE = r"""
x=1
x=1 y=2
>out
2>/dev/null
</dev/null
command
exec
env
env x=1
env -u x
nice
nice -n 3
nohup
timeout 9
timeout -k 1 9
stdbuf -oL
setsid -w
ionice -c3
taskset -c 0
prlimit --core=0
flock out
time
!
setarch -R
chrt -o 0
fakeroot
strace -o out
unshare -r
/usr/bin/time
xargs -a notes.txt -n9 env true;
find . -maxdepth 0 -exec true \; ;
cd . &&
true;
false ||
true |
"""
"""What can stand before a command."""
PLACES: tuple[Callable[[str], str], ...] = (
    lambda c: c,
    lambda c: f"{{ {c}; }}",
    lambda c: f"( {c} )",
    lambda c: f"if true; then {c}; fi",
    lambda c: f"if {c}; then :; fi",
    lambda c: f"while {c}; do break; done",
    lambda c: f"for i in 1; do {c}; done",
    lambda c: f"case x in x) {c};; esac",
    lambda c: f"f() {{ {c}; }}; f",
    lambda c: f"{c} | cat",
    lambda c: f"{c} && true",
    lambda c: f"echo $({c})",
    lambda c: f'echo "a $({c}) b"',
    lambda c: f"x=$({c})",
    lambda c: f"cat <({c})",
    lambda c: f'[ -z "$({c})" ]',
    lambda c: f"[[ -n $({c}) ]]",
    lambda c: f"echo ${{q:-$({c})}}",
    lambda c: f"cat <<E␤$({c})␤E",
    lambda c: f"{c} &␤wait",
    lambda c: f"coproc {{ {c}; }}; wait",
    lambda c: f"ls␤{c}␤ls",
    lambda c: f"echo 'it''s'; {c}; echo \"\\\"\"",
    lambda c: f"cat <<'E'␤`$(␤E␤{c}",
    lambda c: f"# c␤{c} # d",
)
SHELLS: tuple[Callable[[str], str], ...] = (
    lambda c: c,
    lambda c: c,
    lambda c: c,
    lambda c: f"bash -c {quote(c)}",
    lambda c: f"bash -ec {quote(c)}",
    lambda c: f"eval {quote(c)}",
    lambda c: f"bash <<<{quote(c)}",
    lambda c: f"printf %s {quote(c)} | bash",
    lambda c: f"bash <<'EOT'␤{c}␤EOT",
    lambda c: f"source <(printf %s {quote(c)})",
    lambda c: f"trap {quote(c)} EXIT",
    lambda c: f"env bash -c {quote(c)}",
    lambda c: f"find . -maxdepth 0 -exec bash -c {quote(c)} \\;",
    lambda c: f"xargs -0 bash -c < <(printf %s {quote(c)})",
    lambda c: f'x={quote(c)}; eval "$x"',
    lambda c: f"printf %s {quote(c)} > n; bash n",
    lambda c: f"git -c alias.z=!{quote('bash -c ' + quote(c) + ' #')} z",
    lambda c: f"python3 -c {quote('import os; os.system(' + repr('bash -c ' + quote(c)) + ')')}",
)


def mix(number: int) -> str:
    """One of each kind, some of them twice."""
    chance = random.Random(number)  # noqa: S311 - no secret
    words = [line for line in WORDS.split("\n") if line]
    before = [line for line in BEFORE.split("\n") if line]
    script = chance.choice(words) + " @a@"
    for _ in range(chance.choice((0, 1, 1, 2))):
        script = f"{chance.choice(before)} {script}"
    for _ in range(chance.choice((1, 1, 2))):
        script = chance.choice(PLACES)(script)
    return chance.choice(SHELLS)(script)


LAME = {
    26, 45, 64, 68, 75, 79, 83, 119, 120, 154, 208, 212, 257, 275, 280, 317, 343, 344, 359, 381, 396, 408, 460,
    463, 531, 535, 544, 557, 579, 588, 598, 608, 641, 648, 652, 679, 686, 701, 730, 734, 787, 790, 792, 795,
    823, 887, 889, 902, 910, 918, 1008, 1018, 1029, 1037, 1046, 1063, 1066, 1072, 1081, 1098, 1108, 1134, 1159,
    1189, 1191, 1221, 1229, 1248, 1277, 1292, 1294, 1318, 1367, 1368, 1383, 1395, 1407, 1413, 1426, 1438, 1443,
}  # fmt: skip
"""Those that start nothing, as a `!` or a redirection stands where bash does not take it."""

BY_CHANCE = {"by chance": "\n".join(dict.fromkeys(mix(number) for number in range(1500) if number not in LAME))}
BY_CHANCE["line by line"] = r"""
ls␤\@p@ @a@
ls␤\@p@ @a@␤ls
true␤␤\@p@ @a@
true # c␤\@p@ @a@
echo a␤\␤@c@
ls -la␤@bs@ @a@
ls > out␤\@p@ @a@
ls | cat␤\@p@ @a@
let x=1␤\␤@c@
export x=1␤\@p@ @a@
unset x␤\command @c@
ls␤\/usr/bin/@p@ @a@
ls␤\env @c@
cd src; cd ..␤\@p@ @a@
f() { ls␤\@p@ @a@␤}; f
if ls␤\@p@ @a@␤then :; fi
x=$(ls␤\@p@ @a@)
bash -c 'ls␤\@p@ @a@'
bash <<'E'␤ls␤\@p@ @a@␤E
command </dev/null @p1@\␤@p2@ @a@
timeout 9 >out @p1@\␤@p2@ @a@
nohup 2>/dev/null @p1@\␤@p2@ @a@
x=$(nice >out @p1@\␤@p2@ @a@)
time ! ${z:-@p@} @a@
time ! $(echo @p@) @a@
if time ! `echo @p@` @a@; then :; fi
time -p ! "$(echo @p@)" @a@
\ #; @c@
unset x <<-E␤;${x} `@c@` \$
"""
"""What chance has shown: the parser takes a backslash at the beginning of a line for the end of the line before."""
