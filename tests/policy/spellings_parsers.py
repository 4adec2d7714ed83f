r"""Spellings: variables that are told twice, what parsers get wrong, programs that few people know."""

from __future__ import annotations

import random
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PARSERS = {
    "told twice": r"""
x=ls; read x <<<@p@; $x @a@
x=ls; f() { x=@p@; }; f; $x @a@
x=ls; eval x=@p@; $x @a@
x=ls; printf -v x @p@; $x @a@
x=ls; for x in @p@; do :; done; $x @a@
x=ls; declare -n y=x; y=@p@; $x @a@
x=ls; unset x; ${x:-@p@} @a@
x=ls; mapfile -t x <<<@p@; $x @a@
x=ls; set -- -a @p@; getopts a: y; x=$OPTARG; $x @a@
x=ls; x[0]=@p@; $x @a@
x=l; x=@p@; $x @a@
x=ls; export x=@p@; $x @a@
x=ls; . <(echo x=@p@); $x @a@
x=ls; source /dev/stdin <<<x=@p@; $x @a@
x=ls; trap 'x=@p@' DEBUG; :; $x @a@
x=ls; if true; then x=@p@; fi; $x @a@
x=ls; true && x=@p@; $x @a@
x=ls; false || x=@p@; $x @a@
x=ls; while :; do x=@p@; break; done; $x @a@
x=ls; case a in a) x=@p@;; esac; $x @a@
x=ls; { x=@p@; }; $x @a@
shopt -s lastpipe; x=ls; echo @p@ | read x; $x @a@
x=ls; y=x; printf -v $y @p@; $x @a@
x=ls; y=x; declare $y=@p@; $x @a@
x=ls; export $(echo x=@p@); $x @a@
x=ls; x=${x/ls/@p@}; $x @a@
x=ls; : ${x:+${y:=@p@}}; $y @a@
x=ls; declare -l x=@upper@; $x @a@
x=ls; read -r x _ <<<'@p@ a'; $x @a@
x=ls; select x in @p@; do break; done <<<1; $x @a@
x=ls; [[ @p@ =~ .* ]]; x=$BASH_REMATCH; $x @a@
x=ls; let y=1; x=(@p@); $x @a@
x=ls y=@p@; x=$y; $x @a@
x=ls; x=$(echo @p@); $x @a@
x=ls; x=`echo @p@`; $x @a@
x=ls; local x=@p@ 2>/dev/null; typeset x=@p@; $x @a@
x=ls; readonly y=@p@; x=$y; $x @a@
x=ls; unset -v x; x=@p@; $x @a@
x=ls; f() { local x=@p@; g; }; g() { $x @a@; }; f
x=ls; f() { $x @a@; }; x=@p@; f
x=ls; f() { $x @a@; }; x=@p@ f
x=ls; f() { $1 @a@; }; f @p@
f() { x=ls; }; x=@p@; $x @a@; f
x=@p@; f() { x=ls; }; $x @a@
if false; then x=ls; else x=@p@; fi; $x @a@
x=@p@; if false; then x=ls; fi; $x @a@
x=@p@; (x=ls); $x @a@
x=@p@; true | x=ls; $x @a@
x=@p@; x=ls true; $x @a@
x=@p@; $(x=ls); $x @a@
x=@p@; for y in a; do false && x=ls; done; $x @a@
for x in ls @p@; do $x @a@ 2>/dev/null; done
for x in ls; do x=@p@; $x @a@; done
x=ls; alias ls=@p@; shopt -s expand_aliases; eval '$x @a@; ls @a@'
ls() { @p@ "$@"; }; x=ls; $x @a@
ls() { @c@; }; ls
ln -s /bin/@p@ ls; PATH=.:$PATH; x=ls; $x @a@
hash -p /bin/@p@ ls; ls @a@
BASH_CMDS[ls]=/bin/@p@; ls @a@
BASH_CMDS=([ls]=/bin/@p@); ls @a@
x=ls; x+=; x=${x%ls}@p@; $x @a@
x=echo; $x hi; x=@p@; $x @a@
x=echo; $x hi; y=$x; y=@p@; $y @a@
c=true; $c && @c@
a=-la; ls $a; a='@c@'; $a
cmd='ls -la'; $cmd; cmd='@c@'; $cmd
cmd=(ls -la); "${cmd[@]}"; cmd=(@c@); "${cmd[@]}"
cmd=(ls); cmd[0]=@p@; "${cmd[@]}" @a@
cmd=(ls); cmd=("@p@" "${cmd[@]:1}"); "${cmd[@]}" @a@
cmd=(echo); unset 'cmd[0]'; cmd+=(@c@); "${cmd[@]}"
cmd=(echo @c@); "${cmd[@]:1}"
cmd=(echo @c@); unset 'cmd[0]'; "${cmd[@]}"
set -- echo @c@; shift; "$@"
set -- ls; set -- @p@; $1 @a@
set -- ls @p@; $2 @a@
set -- ls; f() { $1 @a@; }; f @p@
IFS=x; c=@p@; $c @a@
IFS=/; c='a/@p@'; set -- $c; $2 @a@
c=lsx@p@; IFS=x; set -- $c; $2 @a@
c='ls;@c@'; eval $c
c='ls␤@c@'; eval "$c"
c='#␤@c@'; eval "$c"
c='ls'; c="$c; @c@"; eval "$c"
c=ls; c+='; @c@'; eval "$c"
c=ls; eval "$c" ';' @c@
c=ls; eval "$c; @c@"
c=:; eval $c && @c@
c='echo $(@c@)'; eval "$c"
c='echo `@c@`'; eval $c
c='$(@c@)'; eval "echo $c"
c='$(@c@)'; echo "$(eval "echo $c")"
echo 'x=@p@' > n; . ./n; $x @a@
echo 'f() { @c@; }' > n; . ./n; f
echo 'alias f="@c@"' > n; shopt -s expand_aliases; . ./n␤f
: > n; echo 'PATH=.' >> n; ln -s /bin/@p@ ls; . ./n; ls @a@
""",
    "parsers": r"""
((@c@); true)
((true); @c@)
( (@c@) )
((@c@) )
echo $((@c@); true)
echo $( (@c@); true)
echo $((true); @c@)
echo "$((@c@) )"
( ( ( @c@ ) ) )
if ((1)) then @c@; fi
if [[ 1 ]] then @c@; fi
if (true) then @c@; fi
if { true; } then @c@; fi
while ((1)) do @c@; break; done
until ((0)) do @c@; break; done
for ((i=0;i<1;i++)) do @c@; done
for ((i=0;i<1;i++))␤{ @c@; }
if (@c@) then :; fi
if { @c@; } then :; fi
case x in x) @c@␤esac
case in in in) @c@;; esac
case x in "x") @c@;; esac
case x in \x) @c@;; esac
case 'x)' in 'x)') @c@;; esac
case x in ?) @c@;; esac
case x in [!y]) @c@;; esac
case '#' in '#') @c@;; esac
case x in x) echo ";;"; @c@;; esac
shopt -s extglob␤case x in !(y)) @c@;; esac
shopt -s extglob␤ls !(x) >/dev/null; @c@
shopt -s extglob␤[[ x == +(x) ]] && @c@
shopt -s extglob␤echo @(a|b); @c@
[[ a =~ a#b ]]; @c@
[[ a =~ ^a$ ]]; @c@
[[ a =~ \( ]]; @c@
[[ a =~ [\"\'] ]]; @c@
[[ a =~ "(" ]]; @c@
[[ a =~ (a|b)(c)? ]]; @c@
[[ a =~ ^[[:alpha:]]+$ ]] && @c@
[[ $x =~ ^([0-9]+)\.([0-9]+)$ ]]; @c@
[[ a == a* ]] && @c@
[[ a == *\;* ]] || @c@
[[ a == "a;b" ]] || @c@
[[ a < b && b > a ]] && @c@
[[ ! a ]] || @c@
[[ (a) ]] && @c@
[[ a &&␤b ]] && @c@
[[ -n a ]]&&@c@
[ a = a -a b = b ] && @c@
[ \( a = a \) ] && @c@
[ a ]&&@c@
test a && @c@
echo ${x:-"}"}; @c@
echo "${x:-'}'}"; @c@
echo ${x:-\}}; @c@
echo ${x//\//}; @c@
echo ${x//"/"/}; @c@
echo ${x#\#}; @c@
echo ${x/#\#/}; @c@
echo ${x%\"}; @c@
echo ${x%\'}; @c@
echo "${x%\"}"; @c@
echo ${x//\'/\"}; @c@
echo "${x//\"/\\\"}"; @c@
echo "${x/\}/}"; @c@
echo "${x:-{\}}"; @c@
echo ${x:-{a,b}}; @c@
echo ${x:-$(echo "}")}; @c@
echo ${x:-`echo "}"`}; @c@
echo "${x:-"$(echo '"')"}"; @c@
echo ${x:=a b}; @c@
(echo ${x:?}) 2>/dev/null; @c@
echo ${x+y z}; @c@
echo ${#}; @c@
echo ${##}; @c@
echo ${#x}; @c@
echo $#$#; @c@
echo ${?}; @c@
echo ${!}; @c@
echo ${-}; @c@
echo ${@}; @c@
echo ${*}; @c@
echo ${x[0]#a}; @c@
echo ${x[@]/#/a}; @c@
echo "${x[*]@Q}"; @c@
echo ${!x*}; @c@
echo ${!x[@]}; @c@
echo ${x^} ${x,,} ${x~}; @c@
echo ${x: -1}; @c@
echo ${x:(-1)}; @c@
echo ${x:1+1:2}; @c@
echo $'a\'b'; @c@
echo $'a"b'; @c@
echo $'\\'; @c@
echo $'\n#'; @c@
echo $"a\"b"; @c@
echo "$'"; @c@; echo "'"
echo "a'b"; @c@; echo "c'd"
echo 'a"b'; @c@; echo 'c"d'
echo a"b'c"d; @c@; echo "'"
echo \"; @c@; echo \"
echo "\\"; @c@; echo "\\"
echo "\`"; @c@; echo "\`"
echo "\$("; @c@; echo ")"
echo '$('; @c@; echo ')'
echo '`'; @c@; echo '`'
echo \`; @c@; echo \`
echo \$\(; @c@
echo \#; @c@
echo a#; @c@
echo a\ #b␤@c@
echo "#" '#' $'#' \# a#b; @c@
echo ${x}#; @c@
echo $x#; @c@
echo $(true)#; @c@
echo `true`#; @c@
echo ""#; @c@
echo ''#a; @c@
x=#; @c@
x=a#b; @c@
x=(a #b␤c); @c@
x=(#a␤b); @c@
echo $(#a␤true); @c@
echo $(true #a␤); @c@
echo $(echo a # )␤); @c@
echo `#a`; @c@
{ #a␤@c@; }
( #a␤@c@ )
if true #a␤then #b␤@c@ #c␤fi
for x in a #b␤do @c@; done
case x in #a␤x) #b␤@c@;; #c␤esac
true \␤&& @c@
true \␤; @c@
true&&\␤@c@
true;\␤\␤@c@
\␤\␤@c@
@p@\␤\␤ @a@
"@p@"\␤ @a@
'@p@'\␤ @a@
@p1@\␤'@p2@' @a@
$'@p1@'\␤@p2@ @a@
{\␤ @c@; }
(\␤@c@)
if\␤ true; then @c@; fi
if true; th\␤en @c@; fi
!\␤ @c@
x=1\␤ @c@
x=\␤1 @c@
>\␤out @c@
2>\␤&1 @c@
true |\␤@c@
true &\␤@c@
echo "\␤"; @c@
echo '\␤'; @c@
echo a\␤b; @c@
echo $\␤x; @c@
echo $\␤{x}; @c@
echo ${\␤x}; @c@
cat <\␤<E␤a␤E␤@c@
cat <<\␤E␤a␤E␤@c@
cat <<E\␤␤a␤E␤@c@
true \␍␤@c@
echo a \␍␤@c@
echo a # \␍␤@c@
echo a@u00a0@#; @c@
echo a @u00a0@#b; @c@
echo a@u2003@#; @c@
echo a @u2003@#b; @c@
echo a@u2028@#; @c@
echo a @u2028@#b; @c@
echo a@u2029@#; @c@
echo a @u2029@#b; @c@
echo a@u3000@#; @c@
echo a @u3000@#b; @c@
echo a@u0085@#; @c@
echo a @u0085@#b; @c@
echo a@u000b@#; @c@
echo a @u000b@#b; @c@
echo a@u000c@#; @c@
echo a @u000c@#b; @c@
echo a@ufeff@#; @c@
echo a @ufeff@#b; @c@
echo a@u200b@#; @c@
echo a @u200b@#b; @c@
echo a@u1680@#; @c@
echo a @u1680@#b; @c@
echo a@u202f@#; @c@
echo a @u202f@#b; @c@
echo a@u205f@#; @c@
echo a @u205f@#b; @c@
echo a@u180e@#; @c@
echo a @u180e@#b; @c@
echo a@u00ad@#; @c@
echo a @u00ad@#b; @c@
echo a@u2060@#; @c@
echo a @u2060@#b; @c@
echo a@u00a0@@u00a0@#; @c@
echo a @u00a0@@u00a0@#b; @c@
@ufeff@true; @c@
@ufeff@@c@; @c@
echo a@u202e@; @c@
echo a@u2066@b@u2069@; @c@
echo @u201c@a; @c@; echo b@u201d@
echo @u2018@a; @c@; echo b@u2019@
echo a@uff1b@ b; @c@
echo a@u037e@ b; @c@
echo a@u000b@; @c@
echo a@u000c@; @c@
echo a@u0001@; @c@
echo a@u007f@; @c@
echo a@u001b@[0m; @c@
@u000c@true; @c@
echo a @u000b@␤@c@
echo é; @c@
echo "日本"; @c@
echo 🎉; @c@
x=é; @c@
function é { @c@; }; é
a.b() { @c@; }; a.b
a-b() { @c@; }; a-b
a+b() { @c@; }; a+b
a@b() { @c@; }; a@b
1a() { @c@; }; 1a
function a:b { @c@; }; a:b
function [[x { @c@; }; [[x
function if2 { @c@; }; if2
function f () { @c@; } ; f
function f␤␤{ @c@; }␤f
f ( ) { @c@; }; f
f()␤(␤@c@␤)␤f
f() { @c@; } <<E␤a␤E␤f
f() { @c@; } > out 2>&1; f
f() (@c@) >out; f
f() { local x; @c@; return; }; f
f() { return; @c@; }; f() { @c@; }; f
a=1 b=2; c=3; @c@
a[1 + 1]=x; @c@
a[$x]=1; @c@
a[0]+=x; @c@
a=([0]=x [1]="y z"); @c@
a=(x␤y␤z); @c@
a=("$(true)" `true`); @c@
a=(<(true)); @c@
a=$(true)b; @c@
a=~/x; @c@
a=b{c,d}; @c@
a=$'b\'c'; @c@
a="b␤c"; @c@
a='b␤c'; @c@
a=b\␤c; @c@
a=b; b=c d=e @c@
a=$((1+1)) @c@
a=$((1 + (2 * 3))); @c@
a=$[1+1]; @c@
a=${b:-$((1))}; @c@
(( a = (1 + 2) * 3 )); @c@
(( a = b ? c : d )); @c@
(( a <<= 1 )); @c@
(( a > 1 )) || @c@
(( "1" )); @c@
(( a[0] = 1 )); @c@
((a=1));@c@
let a=1+1 b=2; @c@
let "a = 1 << 2"; @c@
declare -i a=1+1; @c@
echo $((a)) $((b)); @c@
echo $((0x1F)) $((2#101)); @c@
echo $(( a<<1 )) ; @c@
echo $(( (a) )); @c@
echo $((1))$((2)); @c@
echo {1..3} {a..c} {1..9..2}; @c@
echo a{b,c{d,e}}; @c@
echo {}; @c@
echo {a}; @c@
echo { ; @c@
echo }; @c@
echo a}; @c@
echo if then fi; @c@
echo done; @c@
echo ! ; @c@
echo =; @c@
echo ==; @c@
echo -; @c@
echo --; @c@
echo %; @c@
echo ^; @c@
echo @; @c@
echo ,; @c@
echo :; @c@
echo [; @c@
echo ]; @c@
echo [[; @c@
echo ]]; @c@
echo ~; @c@
echo ~root; @c@
echo $; @c@
echo $ ; @c@
echo "$"; @c@
echo a$; @c@
echo $%; @c@
echo $,a; @c@
echo "$ a"; @c@
echo *; @c@
echo **; @c@
echo ?*[a-z]; @c@
echo [!a]; @c@
echo [$x]; @c@
echo 1>out; @c@
echo 1 >out; @c@
echo a1>out; @c@
echo >out a; @c@
echo>out;@c@
>out echo a; @c@
>out; @c@
2>out; @c@
<notes.txt; @c@
<notes.txt cat; @c@
cat<notes.txt;@c@
cat 3<notes.txt <&3; @c@
cat <&3 3<notes.txt 2>/dev/null; @c@
exec 3<notes.txt 4>out; @c@
exec 3<&-; @c@
exec {fd}<notes.txt; @c@
echo a >&2 2>/dev/null; @c@
echo a 2>&1 1>/dev/null; @c@
echo a >& out; @c@
echo a &> out; @c@
echo a &>>out; @c@
echo a >>out; @c@
echo a >|out; @c@
echo a 1>&-; @c@
echo a > "out 1"; @c@
echo a > out\ 1; @c@
echo a > $HOME/out; @c@
echo a > ${HOME}/out; @c@
echo a > ~/out; @c@
echo a > >(cat); @c@
cat < <(echo a); @c@
cat <<<a; @c@
cat <<<"a" <<<"b"; @c@
cat <<< $x; @c@
cat <<<$(true); @c@
cat <<E␤␤E␤@c@
cat <<E␤E␤@c@
cat <<'E'␤E␤@c@
cat <<E␤$x ${y} $((1)) `true`␤E␤@c@
cat <<E␤$␤E␤@c@
cat <<E␤${x:-'}␤E␤@c@
cat <<E␤${x:-"}"}␤E␤@c@
cat <<E␤$(echo ")")␤E␤@c@
cat <<E␤$(cat <<F␤a␤F␤)␤E␤@c@
cat <<E␤`echo "a"`␤E␤@c@
cat <<E␤\E␤E␤@c@
cat <<E␤E ␤E␤@c@
cat <<E␤E;␤E␤@c@
cat <<E␤ E␤␉E␤E␤@c@
cat <<-E␤␉␉a␤E␤@c@
cat <<-"E"␤␉$(␤␉E␤@c@
cat << E␤a␤E␤@c@
cat <<  'E'␤a␤E␤@c@
cat <<E>out␤a␤E␤@c@
cat >out<<E␤a␤E␤@c@
cat <<E -␤a␤E␤@c@
cat <<E | cat | cat␤a␤E␤@c@
cat <<E | while read x; do echo $x; done␤a␤E␤@c@
while read x; do echo $x; done <<E␤a␤E␤@c@
cat <<E & wait␤a␤E␤@c@
cat <<E ; cat <<F␤a␤E␤b␤F␤@c@
cat <<E && cat <<F || true␤a␤E␤b␤F␤@c@
cat <<E_1␤a␤E_1␤@c@
cat <<1␤a␤1␤@c@
cat <<!␤a␤!␤@c@
cat <<.␤a␤.␤@c@
cat <<'#'␤a␤#␤@c@
cat <<"E"F␤a␤EF␤@c@
cat <<E''␤a␤E␤@c@
cat <<\E␤$(␤E␤@c@
cat <<E\F␤$(␤EF␤@c@
cat <<$x␤a␤$x␤@c@
cat <<"$x"␤a␤$x␤@c@
cat <<${x}␤a␤${x}␤@c@
cat <<E␤a␤E␤cat <<F␤b␤F␤@c@
f() { cat <<E␤$1␤E␤}; f a; @c@
x=$(cat <<E␤a␤E␤)␤@c@
x=$(cat <<E␤a "b␤E␤)␤@c@
x=$(cat <<E␤a 'b␤E␤)␤@c@
x=$(cat <<'E'␤a `b␤E␤)␤@c@
x=$(cat <<'E'␤a # b )␤E␤)␤@c@
x="$(cat <<'E'␤a "b" ) c␤E␤)"␤@c@
echo "$(cat <<E␤a␤E␤)" && @c@
if true; then cat <<E␤a␤E␤fi; @c@
{ cat <<E␤a␤E␤}; @c@
( cat <<E␤a␤E␤); @c@
(cat <<E␤a␤E␤)&&@c@
case x in x) cat <<E␤a␤E␤;; esac; @c@
for i in 1; do cat <<E␤$i␤E␤done; @c@
cat <<E > out; @c@␤a␤E
cat <<E > out && @c@ && true␤a␤E
cat <<E | grep a; @c@␤a␤E
cat <<E | @c@␤a␤E
@c@ <<E␤a␤E
@c@ <<<a
cat <<E␤a␤E␤␤␤@c@␤␤
""",
    "seldom used programs": r"""
printf 'msgid "a"\nmsgstr "b"\n' > n.po; msgexec -i n.po @c@
printf 'msgid "a"\nmsgstr "b"\n' > n.po; msgfilter -i n.po @c@
printf 'msgid "a"\nmsgstr "b"\n' | msgexec @c@
printf 'msgid "a"\nmsgstr "b"\n' | msgfilter sh -c '@c@'
dpkg-architecture -c @c@
dpkg-architecture -c sh -c '@c@'
dpkg-architecture -a amd64 -c @c@
heaptrack @c@
heaptrack -o out @c@
memusage @c@
memusage --no-timer @c@
sotruss @c@
sotruss -o out env @c@
gprofng collect app @c@
gprofng collect app -o x.er @c@
gp-collect-app @c@
not-14 @c@
/usr/bin/time @c@
/usr/bin/time -f %e @c@
/usr/bin/time -v -o out @c@
/usr/bin/time --format=%e --output=out --append @c@
\time @c@
command time -p @c@
env time @c@
gpg-agent --daemon @c@
gpg-agent --daemon -- sh -c '@c@'
gpg-agent --homedir . --daemon env @c@
luit @c@
debconf-apt-progress -- @c@
pg_virtualenv @c@
pg_virtualenv -t sh -c '@c@'
bashbug </dev/null 2>/dev/null; EDITOR='@c@ #' bashbug <<<q
printf '#!/bin/sh\n@c@\n' > ~/.lessfilter; chmod 755 ~/.lessfilter; lesspipe notes.txt
printf '#!/bin/sh\n@c@\n' > ~/.lessfilter; chmod 755 ~/.lessfilter; eval "$(lesspipe)"; less notes.txt
printf '#!/bin/sh\n@c@\n' > ~/.lessfilter; chmod 755 ~/.lessfilter; LESSOPEN='|lesspipe %s' less notes.txt
printf '#!/bin/sh\n@c@\n' > cpp; chmod 755 cpp; echo 'program P{version V{int f(void)=1;}=1;}=1;' > n.x; rpcgen -Y . -h n.x
printf 'declare i32 @system(i8*)\n@s = constant [%d x i8] c"@c@\\00"\ndefine i32 @main(){%%r=call i32 @system(i8* getelementptr([%d x i8],[%d x i8]* @s,i32 0,i32 0))\nret i32 0}' $(( $(printf '@c@' | wc -c) + 1 )){,,} > n.ll; lli n.ll
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; llvm-reduce --test=./n /dev/null
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; opt -load ./n.so /dev/null
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; gcc -fplugin=./n.so -c -xc /dev/null -o n
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; ld -plugin ./n.so /dev/null
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; ar --plugin ./n.so t x.a; nm --plugin ./n.so n.c
printf '__attribute__((constructor)) void f(){unsetenv("LD_AUDIT");system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; LD_AUDIT=./n.so ls
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; tclsh <<<'load ./n.so'
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; perl -e 'require DynaLoader; DynaLoader::dl_load_file("./n.so")'
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.node; node -e 'process.dlopen(module,"./n.node")'
printf '__attribute__((constructor)) void f(){system("@c@");}' > n.c; gcc -w -shared -fPIC n.c -o n.so; gdb -batch -ex 'python import ctypes; ctypes.CDLL("./n.so")'
printf 'int main(){system("@c@");}' | gcc -w -xc - && ./a.out
printf 'int main(){system("@c@");}' > n.c; make n; ./n
printf 'int main(){system("@c@");}' > n.c; make CFLAGS=-w n && $PWD/n
printf 'int main(){system("@c@");}' > n.c; cc -w n.c; ./a.out
printf 'int main(){system("@c@");}' > n.c; gcc -w -o /tmp/n n.c; /tmp/n
printf '#include <cstdlib>\nint main(){std::system("@c@");}' > n.cc; g++ n.cc -o n && ./n
printf '#include <cstdlib>\nint main(){return std::system("@c@");}' | c++ -xc++ - -o n; ./n
touch n.c; make n CC='@c@ #'
touch n.c; make n.o CC='sh -c "@c@" #'
touch n.c; CC='@c@ #' make -e n
touch n.c; make n COMPILE.c='@c@ #' LINK.c='@c@ #'
touch n.y; make n.c YACC='@c@ #'
touch n.l; make n.c LEX='@c@ #'
touch n.sh; make n.o AS='@c@ #'; touch n.s; make n.o AS='@c@ #'
make -f /dev/null -E '$(info $(shell @c@))'
MAKEFILES=<(echo '$(shell @c@)') make -f /dev/null
echo '$(shell @c@)' > n; MAKEFILES=n make
echo '$(info $(shell @c@))' > makefile; make -n
printf '.ONESHELL:\nx:\n\t@c@\n' > n; make -fn
printf 'x:\n\t@@c@\n' | make -sf -
printf 'x:\n\t+@c@\n' | make -nf -
printf 'include n\n' > m; printf 'x:;@c@\n' > n; make -f m
echo 'execute_process(COMMAND @c@)' > CMakeLists.txt; cmake .
echo 'execute_process(COMMAND @c@)' > CMakeLists.txt; cmake -S . -B out
printf 'cmake_minimum_required(VERSION 3.0)\nproject(x NONE)\nadd_custom_target(y ALL COMMAND @c@)\n' > CMakeLists.txt; cmake -S . -B out; cmake --build out
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; printf 'project(x C)\n' > CMakeLists.txt; cmake -DCMAKE_C_COMPILER=$PWD/n .
echo 'ctest_run_script()' > n.cmake; echo 'execute_process(COMMAND @c@)' >> n.cmake; ctest -S n.cmake
echo 'execute_process(COMMAND @c@)' > n; cmake -C n .
printf 'rule r\n command = @c@\nbuild x: r\n' > n; ninja -f n
printf 'rule r\n command = @c@\nbuild x: r\n' > out.ninja; ninja -f out.ninja x
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; SHELL=./n script -q /dev/null
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; SHELL=$PWD/n vim -es -c '!x' -c q
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; SHELL=./n watch -g x 2>/dev/null & sleep 0.3; SHELL=./n script -qc x /dev/null
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; make SHELL=./n -f - <<<'x:;true "a"'
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; flock -c x out; SHELL=./n flock out -c x
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; SSH_ASKPASS=./n SSH_ASKPASS_REQUIRE=force ssh-keygen -y -f /dev/null 2>/dev/null; ssh-keygen -q -N secret -f k; SSH_ASKPASS=$PWD/n SSH_ASKPASS_REQUIRE=force ssh-keygen -y -f k
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; GIT_SSH=./n git ls-remote ssh://x/y
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; GIT_PROXY_COMMAND=./n git ls-remote git://x/y
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; RSYNC_RSH=./n rsync x: y; BROWSER=$PWD/n python3 -m webbrowser x
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; BROWSER="$PWD/n" sensible-browser x
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; EDITOR=./n git commit --allow-empty; GIT_EDITOR=./n git commit --allow-empty
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; ssh -F <(echo) x 2>/dev/null; ssh -oProxyCommand=$PWD/n x
printf 'Host *\n ProxyCommand @c@\n' > n; ssh -F n x
printf 'Match exec "@c@"\n User x\n' > n; ssh -F n x
ssh -o KnownHostsCommand='/bin/sh -c "@c@"' -o ProxyCommand='@c@' x
ssh -o"ProxyCommand=@c@" x
ssh -4 -o BatchMode=yes -o ProxyCommand='@c@' x
scp -oProxyCommand='@c@' x:y .
sftp -oProxyCommand='@c@' x </dev/null
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; sftp -D ./n
ssh-argv0 2>/dev/null; ln -s /usr/bin/ssh-argv0 h; ./h -o ProxyCommand='@c@'
ZIPOPT='-TT @p@' zip -qT x.zip notes.txt 2>/dev/null; zip -q x.zip notes.txt -TT'@c@ #' -T
touch -- '--checkpoint=1' '--checkpoint-action=exec=sh n'; echo '@c@' > n; tar cf /dev/null *
tar --checkpoint=1 --checkpoint-action=dot --checkpoint-action=exec='@c@' -cf /dev/null notes.txt
tar c --checkpoint-action="exec=@c@" --checkpoint=1 notes.txt >/dev/null
tar cf x.tar notes.txt; tar -x --to-comm='@c@' -f x.tar
tar czf x.tgz notes.txt; tar xf x.tgz -I '@c@'
tar czf x.tgz notes.txt; tar --use-compress='@c@' -xf x.tgz
split -n 1 --filter='@c@' notes.txt
split -b 1k --filter="@c@" notes.txt x
split --fil='@c@' notes.txt
seq 300000 | sort -S10k -T. --compress-prog=./n 2>/dev/null; printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; seq 300000 | sort -S10k --compress-prog=./n >/dev/null
man -l --pager='@c@' notes.txt | cat; script -qc "man -l -P '@c@ #' notes.txt" /dev/null
script -qc "git -c core.pager='@c@ #' log" /dev/null
script -qc "GIT_PAGER='@c@ #' git log" /dev/null
script -qc "PAGER='@c@ #' git -p log" /dev/null
script -qc "MANPAGER='@c@ #' man -l notes.txt" /dev/null
script -qc "PAGER='@c@ #' psql --help=commands" /dev/null
script -qc "PAGER='@c@ #' systemctl --help" /dev/null 2>/dev/null; script -qc "PERLDOC_PAGER='@c@ #' perldoc perl" /dev/null; script -qc "PAGER='@c@ #' python3 -m pydoc os" /dev/null
PAGER='@c@ #' sensible-pager notes.txt
LESSOPEN='|sh -c "@c@" %s' less notes.txt
export LESSOPEN='|@c@ %s'; less notes.txt
LESSOPEN='@c@ %s' LESSCLOSE='@c@ %s' less notes.txt
GREP='@c@ #' xzgrep one notes.txt
GREP='@c@ #' zegrep one notes.txt; GREP='@c@ #' lzgrep one notes.txt
xzdiff --help >/dev/null; DIFF='@c@ #' zdiff notes.txt package.json 2>/dev/null; XZOPT='' xzcmp notes.txt notes.txt; GREP='@c@ #' xzgrep x notes.txt
zipgrep one x.zip 2>/dev/null; ln -s /bin/@p@ egrep; zip -q x.zip notes.txt; PATH=.:$PATH zipgrep @a1@ x.zip; @c@
java -XX:OnError='@c@' -XX:+CrashOnOutOfMemoryError -Xmx8m -version >/dev/null 2>&1; echo 'class N{public static void main(String[] a){long[][] x=new long[99999][9999999];}}' > N.java; java -Xmx32m -XX:OnOutOfMemoryError="@c@" N.java
JAVA_TOOL_OPTIONS='-Xmx32m -XX:OnOutOfMemoryError=@p@' java -version; echo 'class N{public static void main(String[] a){long[][] x=new long[99999][9999999];}}' > N.java; echo '@c@' > n; JAVA_TOOL_OPTIONS='-Xmx64m -XX:OnOutOfMemoryError=sh%sn' java N.java; JDK_JAVA_OPTIONS='-Xmx64m "-XX:OnOutOfMemoryError=sh n"' java N.java
echo 'class N{public static void main(String[] a)throws Exception{Runtime.getRuntime().exec(a).waitFor();}}' > N.java; java N.java @c@
echo 'class N{public static void main(String[] a)throws Exception{Runtime.getRuntime().exec(a).waitFor();}}' > N.java; javac N.java; java N @c@
echo 'class N{public static void main(String[] a)throws Exception{Runtime.getRuntime().exec(a).waitFor();}}' > N.java; javac N.java; java -cp . N @c@
jshell -s - <<<'Runtime.getRuntime().exec("@c@").waitFor()'
jshell -s - <<E␤new ProcessBuilder(@list@).start().waitFor()␤/exit␤E
echo 'new ProcessBuilder(@list@).start().waitFor()' > n; echo /exit >> n; jshell n
envsubst <<<'@c@' | sh
x='@c@' envsubst '$x' <<<'$x' | bash
perl -MTAP::Harness -e 'TAP::Harness->new({exec=>[@list@]})->runtests("notes.txt")'
prove --exec='@c@' notes.txt
prove -Q -e @p@ @a1@; prove -e 'env @c@' notes.txt
perldoc -T perl >/dev/null; perl -MO=Deparse -e 'BEGIN{system("@c@")}'
perl -c -e 'BEGIN{system("@c@")}'
perl -cw -e 'BEGIN { `@c@` }'
echo 'BEGIN{system("@c@")}' > n.pl; perl -c n.pl
echo 'BEGIN{system("@c@")}' > n.pl; perl -wc n.pl
python3 -c 'import os' ; echo 'import os; os.system("@c@")' > n.py; python3 -m compileall -q n.py; python3 __pycache__/n.cpython-311.pyc
mkdir -p ~/.local/lib/python3.11/site-packages; echo 'import os; os.system("@c@")' > ~/.local/lib/python3.11/site-packages/n.pth; python3 -c pass
mkdir -p ~/.local/lib/python3.11/site-packages; echo 'import os; os.system("@c@")' > ~/.local/lib/python3.11/site-packages/usercustomize.py; python3 -V; python3 -m json.tool package.json
python3 -m venv v --without-pip; echo 'import os; os.system("@c@")' > v/lib/python3.11/site-packages/n.pth; v/bin/python -c pass
echo 'import os; os.system("@c@")' > .pdbrc; echo 'import os; os.system("@c@")' > ~/.pdbrc; python3 -m pdb src/main.py <<<q
echo 'import os; os.system("@c@")' > ~/.pythonrc; PYTHONSTARTUP=~/.pythonrc python3 -i </dev/null; PYTHONSTARTUP=~/.pythonrc python3 -ic 0 </dev/null; PYTHONINSPECT=1 python3 ~/.pythonrc </dev/null
PYTHONWARNINGS='ignore::n.x' PYTHONPATH=. python3 -c 0; mkdir -p w; echo 'import os; os.system("@c@")' > w/sitecustomize.py; PYTHONPATH=w python3 -V; PYTHONPATH=w python3 src/main.py
cd src; echo 'import os; os.system("@c@")' > random.py; python3 -c 'import random'
echo 'import os; os.system("@c@")' > tokenize.py; python3 -m pdb -h; python3 -c 'import tokenize'
echo 'import os; os.system("@c@")' > this_.py; python3 -c '__import__("this_")'
echo 'shell @c@' > .gdbinit; gdb -batch -iex 'set auto-load safe-path /'; gdb -batch -x .gdbinit
echo 'shell @c@' > ~/.gdbinit; gdb -batch
mkdir -p ~/.config/gdb; echo '!@c@' > ~/.config/gdb/gdbinit; gdb -batch -ex quit
echo '\! @c@' > ~/.psqlrc; psql -c 'select 1'; PSQLRC=~/.psqlrc psql; vim -es -S <(echo '!@c@') -c q
echo ':!@c@' > ~/.exrc; ex -s -c q; echo '!@c@' > .exrc; vim -es -u .exrc -c q
echo 'au VimEnter * !@c@' > ~/.vimrc; vim -c q -s /dev/null </dev/null >/dev/null 2>&1; vim -e -s -u ~/.vimrc -c 'doau VimEnter' -c q
mkdir -p ~/.vim/plugin; echo 'call system("@c@")' > ~/.vim/plugin/n.vim; vim -c q </dev/null >/dev/null 2>&1; vim -N -E -s --cmd 'runtime! plugin/n.vim' -c q
mkdir -p ~/.config/git; printf '[alias]\n x = !@c@\n' > ~/.config/git/config; git x
printf '[alias]\n x = !@c@\n' > .gitconfig; HOME=$PWD git x
mkdir -p git; printf '[alias]\n x = !@c@\n' > git/config; XDG_CONFIG_HOME=. git x
printf '[alias]\n x = !@c@\n' > n; GIT_CONFIG_SYSTEM=n git x
printf '[alias]\n x = !@c@\n' > n; GIT_CONFIG_GLOBAL=$PWD/n git x
printf '[include]\n path = m\n' > n; printf '[alias]\n x = !@c@\n' > m; GIT_CONFIG_GLOBAL=n git x
git init -q s; printf '[alias]\n x = !@c@\n' >> s/.git/config; git -C s x
git init -q s; git -C s config alias.x '!@c@'; cd s; git x
git init -q --template=/dev/null s; cd s; git config core.fsmonitor '@c@'; git status
mkdir -p t/hooks; printf '#!/bin/sh\n@c@\n' > t/hooks/post-checkout; chmod 755 t/hooks/post-checkout; git clone -q --template=t . c
mkdir -p t/hooks; printf '#!/bin/sh\n@c@\n' > t/hooks/post-checkout; chmod 755 t/hooks/post-checkout; GIT_TEMPLATE_DIR=t git clone -q . c
mkdir -p h; printf '#!/bin/sh\n@c@\n' > h/pre-commit; chmod 755 h/pre-commit; git -c core.hooksPath=h hook run pre-commit
mkdir -p h; printf '#!/bin/sh\n@c@\n' > h/pre-rebase; chmod 755 h/pre-rebase; git -c core.hooksPath=$PWD/h rebase HEAD; git -c core.hooksPath=h rebase --root
mkdir -p h; printf '#!/bin/sh\n@c@\n' > h/post-commit; chmod 755 h/post-commit; GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=h git commit --allow-empty -m x
git -c core.alternateRefsCommand='@c@ #' fetch . 2>/dev/null; git -c remote.origin.uploadpack='@c@ #' fetch origin
git -c remote.origin.uploadpack='@c@ #' ls-remote origin
git -c remote.x.url=../remote.git -c remote.x.uploadpack='@c@ #' ls-remote x
git -c url.ext::.insteadOf=x -c protocol.ext.allow=always ls-remote 'x:sh n' 2>/dev/null; echo '@c@' > n; git -c protocol.ext.allow=always ls-remote 'ext::sh n'
GIT_ALLOW_PROTOCOL=ext git ls-remote 'ext::sh -c @p@% @a1@' 2>/dev/null; echo '@c@' > n; GIT_ALLOW_PROTOCOL=ext git fetch 'ext::sh n'
echo '@c@' > n; git remote add z 'ext::sh n'; git -c protocol.allow=always fetch z
git commit -q --allow-empty -m b; git merge-index -o true -a; git checkout -qb z HEAD~1; echo a > notes.txt; git commit -qam a; git checkout -q main; echo b > notes.txt; git commit -qam b; git -c merge.x.driver='@c@ #' merge z; git merge-index sh -a; git reset -q --hard; echo 'notes.txt merge=x' > .gitattributes; git -c merge.x.driver='@c@ #' merge z
echo '* diff=x' > .gitattributes; echo a >> notes.txt; git -c diff.x.command='@c@ #' diff
echo '* diff=x' > .gitattributes; echo a >> notes.txt; git -c diff.x.textconv='@c@ #' diff
echo '* diff=x' > .gitattributes; git -c diff.x.textconv='@c@ #' show HEAD
echo '* diff=x' > .gitattributes; git -c diff.x.textconv='@c@ #' log -p
echo '* diff=x' > .gitattributes; git -c diff.x.textconv='@c@ #' cat-file --textconv HEAD:notes.txt
echo '* diff=x' > .gitattributes; git -c diff.x.textconv='@c@ #' blame notes.txt
echo '* diff=x' > .gitattributes; git -c diff.x.textconv='@c@ #' grep --textconv one
echo '* filter=x' > .gitattributes; git -c filter.x.smudge='@c@;cat' cat-file --filters HEAD:notes.txt
echo '* filter=x' > .gitattributes; git -c filter.x.smudge='@c@;cat' checkout-index -f notes.txt; git -c filter.x.smudge='@c@;cat' archive HEAD >/dev/null
echo '* filter=x' > .gitattributes; git -c filter.x.process='@c@' add -A
echo '* filter=x' > .gitattributes; git -c filter.x.clean='@c@ %f' hash-object notes.txt
echo a >> notes.txt; git -c diff.external='@c@ #' diff --ext-diff
echo a >> notes.txt; git -c diff.external='@c@ #' stash show -p 2>/dev/null; git -c diff.external='@c@ #' diff HEAD
git -c diff.external='@c@ #' show --ext-diff HEAD
git -c diff.external='@c@ #' log -p --ext-diff
git -c diff.external='@c@ #' diff --no-index notes.txt package.json
GIT_EXTERNAL_DIFF='@c@ #' git diff --no-index notes.txt package.json
GIT_EXTERNAL_DIFF='@c@ #' git log -p --ext-diff -1
git -c gpg.program=./n commit -S --allow-empty -m x 2>/dev/null; printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; git -c gpg.program=./n commit -S --allow-empty -m x
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; git -c gpg.program=./n tag -s v1 -m x
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; git -c gpg.format=ssh -c gpg.ssh.program=./n -c user.signingkey=k commit -S --allow-empty -m x; git -c gpg.format=ssh -c gpg.ssh.defaultKeyCommand='@c@' commit -S --allow-empty -m x
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; git -c credential.helper=$PWD/n credential fill <<<$'protocol=https\nhost=x\n'
printf '#!/bin/sh\n@c@\n' > git-credential-x; chmod 755 git-credential-x; PATH=.:$PATH git -c credential.helper=x credential fill <<<$'protocol=https\nhost=x\n'
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; git -c core.askpass=./n credential fill <<<$'protocol=https\nhost=x\n'
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; git -c core.gitProxy=./n ls-remote git://x/y
printf '#!/bin/sh\n@c@\n' > n; chmod 755 n; git send-email --to=a --from=b --smtp-server=$PWD/n --confirm=never notes.txt
git send-email --to-cmd='@c@' --to=a --from=b notes.txt; git send-email --sendmail-cmd='@c@' --to=a --from=b --confirm=never HEAD~0 2>/dev/null; git difftool -y --extcmd '@c@ #' --no-index notes.txt package.json
git difftool -yx '@c@ #' --no-index notes.txt package.json
git -c difftool.z.cmd='@c@' difftool -y --tool=z --no-index notes.txt package.json
git mergetool --tool=z 2>/dev/null; git -c diff.guitool=z -c difftool.z.cmd='@c@' difftool -gy --no-index notes.txt package.json
git -c core.editor='@c@ #' rebase -i --root
git -c core.editor='@c@ #' config --edit
git -c core.editor='@c@ #' commit --amend
git -c core.editor='@c@ #' revert HEAD; git -c core.editor='@c@ #' merge --no-ff -e HEAD 2>/dev/null; git -c core.editor='@c@ #' commit --allow-empty -e -m x
GIT_EDITOR='sh -c "@c@"' git commit --amend
GIT_EDITOR=@p@ git commit --allow-empty 2>/dev/null; GIT_EDITOR='env @c@ #' git commit --allow-empty
git -c alias.x='!env @c@' x
git -c alias.x='! @c@' x
git -c alias.x='!f() { "$@"; }; f' x @c@
git -c alias.x='!"$@"' x x @c@ 2>/dev/null; git -c alias.x='!sh -c "$1" #' x '@c@'; git -c alias.x='!eval' x '@c@'
git -c alias.x='!env' x @c@
git -c alias.x='!sh' x -c '@c@'
git -c alias.x='!nice' x @c@
git instaweb --httpd='@c@' 2>/dev/null; git -c instaweb.httpd='@c@' instaweb; sh -c '@c@'
git for-each-repo --config=x.y @a1@ 2>/dev/null; git config --global x.y $PWD; git -c alias.z='!@c@' for-each-repo --config=x.y z
git -c alias.z='!@c@' -C . z
git maintenance run 2>/dev/null; git -c maintenance.auto=false -c alias.z='!@c@' z
git rebase --root --exec "sh -c '@c@'"
git rebase -q --root -x @p@\ "@a@"
git rebase --root -i --exec='@c@' 2>/dev/null; GIT_SEQUENCE_EDITOR=: git rebase -i --root --exec '@c@'
git commit -q --allow-empty -m 2; git bisect start -q HEAD HEAD~1 2>/dev/null; git bisect start HEAD HEAD~1; git bisect run env @c@
git filter-branch -f --index-filter '@c@' HEAD
git filter-branch -f --commit-filter '@c@; git commit-tree "$@"' HEAD
git filter-branch -f --parent-filter '@c@; cat' HEAD
git filter-branch -f --subdirectory-filter src --setup '@c@' HEAD
git log -1 --format='%x@hex@' >/dev/null; git log -1 --format='format:@c@' | sh
git log -1 --format='format:@c@' > n; sh n
git log --format=%s -1 >/dev/null; git commit -q --allow-empty -m '@c@'; git log -1 --format=%s | sh
git commit -q --allow-empty -m '@c@'; eval "$(git log -1 --format=%B)"
git commit -q --allow-empty -m '@c@'; $(git log -1 --format=%s)
git tag -m '@c@' v1; git tag -l --format='%(contents)' v1 | sh
git notes add -m '@c@'; git notes show | bash
git stash -q 2>/dev/null; git config x.y '@c@'; $(git config x.y)
git branch x; git branch --edit-description x </dev/null 2>/dev/null; git config branch.x.description '@c@'; git config branch.x.description | sh
""",
}

SURE = (
    "true",
    "echo ok",
    "ls",
    "x=1",
    "cd .",
    "[ -d src ] && ls src",
    "for i in 1 2; do echo $i; done",
    "git status --short",
)


LAYERS: tuple[Callable[[str], str], ...] = (
    lambda c: f"bash -c {quote(c)}",
    lambda c: f"sh -c {quote(c)}",
    lambda c: f"eval {quote(c)}",
    lambda c: f"timeout 9 bash -c {quote(c)}",
    lambda c: f"env bash -c {quote(c)}",
    lambda c: f"nice sh -c {quote(c)}",
    lambda c: f"printf %s {quote(c)} | bash",
    lambda c: f"echo {quote(c)} | sh",
    lambda c: f"bash <<<{quote(c)}",
    lambda c: f'x={quote(c)}; eval "$x"',
    lambda c: f'y={quote(c)}; bash -c "$y"',
    lambda c: f"f() {{ {c}\n}}; f",
    lambda c: f"( {c}\n)",
    lambda c: f"{{ {c}\n}}",
    lambda c: f"if true; then {c}\nfi",
    lambda c: f"for i in 1; do {c}\ndone",
    lambda c: f'echo "$({c}\n)"',
    lambda c: f"cat <({c}\n)",
    lambda c: f"trap {quote(c)} EXIT",
    lambda c: f"find . -maxdepth 0 -exec sh -c {quote(c)} \\;",
    lambda c: f"echo x | xargs -n1 sh -c {quote(c)}",
    lambda c: f"perl -e {quote('system(q~' + c + '~)')}",
    lambda c: f"awk {quote('BEGIN{system(ARGV[1])}')} {quote(c)}",
    lambda c: f"python3 -c {quote('import os,sys; os.system(sys.argv[1])')} {quote(c)}",
    lambda c: f"python3 -c {quote('import os; os.system(' + repr(c) + ')')}",
    lambda c: f"source /dev/stdin <<<{quote(c)}",
    lambda c: f". <(echo {quote(c)})",
    lambda c: f"flock out -c {quote(c)}",
    lambda c: f"script -qc {quote(c)} /dev/null",
    lambda c: f"true && {c}",
    lambda c: f"! {c}" if "\n" not in c and not c.startswith(("trap", "x=", "y=", "f(")) else c,
    lambda c: f'set -- {quote(c)}; eval "$1"',
    lambda c: f"bash -c 'eval \"$0\"' {quote(c)}",
    lambda c: f"git -c alias.z=!{quote('sh -c ' + quote(c) + ' #')} z",
    lambda c: f"xargs -0 -a <(printf %s {quote(c)}) sh -c",
    lambda c: f"coproc {{ {c}\n}}; wait",
    lambda c: f"case x in x) {c}\n;; esac",
    lambda c: f"setsid -w bash -c {quote(c)}",
    lambda c: f"while :; do {c}\nbreak; done",
    lambda c: f"command bash -c {quote(c)}",
    lambda c: f'bash -c "$(printf %s {quote(c)})"',
)


def compose(number: int) -> str:
    """Layers in layers, by chance but the same each time."""
    chance = random.Random(number)  # noqa: S311 - no secret
    script = "@p@ @a@"
    for _ in range(chance.randint(2, 4)):
        script = chance.choice(LAYERS)(script)
        if chance.random() < 0.3:
            script = f"{chance.choice(SURE)}; {script}"
    return script.replace("\n", "␤")


LAME = {0, 9, 12, 17, 19, 33, 35, 45, 50, 64, 80, 81, 86, 95, 136, 147, 150, 169, 186, 188, 189, 192, 193, 195, 199, 210,
        220, 230, 231, 241, 262, 265, 297, 302, 315, 321, 330, 334, 351, 361, 389}  # fmt: skip
"""Those that start nothing: a plain sh gets what only bash knows."""
PARSERS["layers"] = "\n".join(dict.fromkeys(compose(number) for number in range(400) if number not in LAME))
