r"""Spellings: expansions, grammar, options of wrappers, scanners, files written and then run."""

EXPANSIONS = {
    "expansion": r"""
x='@x@'; ${x@E} @a@
x=@p@; eval "${x@Q} @a@"
x='@c@'; eval "${x@E}"
IFS=; set -- @p1@ @p2@; "$*" @a@
a=(@p1@ @p2@); IFS=; "${a[*]}" @a@
: @p@; $_ @a@
true @p@; "$_" @a@
echo @p@ >/dev/null; $_ @a@
: @p@; ${BASH_EXECUTION_STRING:2:@len@} @a@
read <<<@p@; $REPLY @a@
mapfile -t <<<@p@; $MAPFILE @a@
set -- -a @p@; getopts a: o; $OPTARG @a@
[[ @p@ =~ (.*) ]]; ${BASH_REMATCH[1]} @a@
[[ x@p@y =~ x(.*)y ]] && "${BASH_REMATCH[1]}" @a@
coproc echo @p@; read x <&${COPROC[0]}; $x @a@
declare "x=@p@"; $x @a@
declare $(echo x=@p@); $x @a@
export "x=@p@"; $x @a@
eval x=@p@; $x @a@
read x y < <(echo '@p@ z'); $x @a@
x=@p@ eval '$x @a@'
for x in a @p@; do :; done; $x @a@
select x in @p@; do break; done <<<1; $x @a@
printf -v 'x[0]' @p@; $x @a@
cd /bin; cd - >/dev/null; ~-/@c@
pushd /bin >/dev/null; pushd ~/project >/dev/null; ~1/@c@
cd /bin; cd ~/project; $OLDPWD/@c@
x=$(printf '\\%03o' $(printf '%d ' "'@p1@")); $(printf "$x")@p2@ @a@
$(printf "\x$(printf %x \'@p1@)")@p2@ @a@
x=(@p1@ @p2@); ${x[0]}${x[1]} @a@
x=@p@; ${x::9} @a@
x=@p@; ${x:0} @a@
x=@p@; ${x%} @a@
x=a.@p@; ${x##*.} @a@
x=@p@.b; ${x%%.*} @a@
x=@p@; ${x/#/} @a@
x=@upper@; y=${x,,}; $y @a@
x=@p@; declare -n r=x; declare -n s=r; $s @a@
x() { echo @p@; }; $(x) @a@
x() { REPLY=@p@; }; x; $REPLY @a@
f() { printf -v "$1" %s @p@; }; f y; $y @a@
f() { local -n r=$1; r=@p@; }; f y; $y @a@
f() { eval "$1=@p@"; }; f y; $y @a@
x=${x:-${y:-${z:-@p@}}}; $x @a@
${x:-${y:-${z:-@p@}}} @a@
${x:-"@p@"} @a@
${x:-$(echo @p@)} @a@
$'@p1@'${x}"@p2@" @a@
x=" @p@ "; $x @a@
x=$'@p@\n@a1@'; $x @ar@
x=$'\t@c@'; $x
x='@c@' y='$x'; eval eval $y
x=@p@; y='${x}'; eval "$y @a@"
unset x; : "${x:=@p@}"; "$x" @a@
x=1; x=${x:+@p@}; $x @a@
let 'x=1'; y=([1]=@p@); ${y[x]} @a@
y=(a @p@); ${y[1+0]} @a@
y=(a @p@); ${y[$((1))]} @a@
y=(a @p@); i=1; ${y[i]} @a@
y=(a @p@); ${y[@]:1:1} @a@
set -- a @p@; ${@:2} @a@
set -- @c@; "${@:1:1}" "${@:2}"
set -- a b c @p@; shift 3; "$1" @a@
set -- @p@; f() { "$1" @a@; }; f "$@"
bash -c '"${@:2}"' _ x @c@
x='@comma@'; ${x//,/ }
x='@gap@'; ${x//_/ }
x='@c@'; "${x%% *}" ${x#* }
x=@p@; z="${x}"; "${z}" @a@
{ read -r x; } <<<@p@; $x @a@
while read -r x; do break; done <<<@p@; $x @a@
x=$(< <(echo @p@)); $x @a@
x=`echo @p@`; `echo $x` @a@
x=$(echo @p@ | tee /dev/null); $x @a@
x=$(awk 'BEGIN{printf "@p1@"; print "@p2@"}'); $x @a@
$(tr -d x <<<x@p@x) @a@
$(cut -d: -f2 <<<a:@p@) @a@
$(sed 's/.*=//' <<<a=@p@) @a@
$(grep -o '@p1@.*' <<<xx@p@) @a@
$(head -c@len@ <<<@p@xyz) @a@
$(tail -c+3 <<<xx@p@) @a@
$(sort -r <<<@p@) @a@
$(join <(echo @p@) <(echo @p@)) @a@
$(expr substr x@p@ 2 9) @a@
$(expr x@p@ : 'x\(.*\)') @a@
$(jq -rn '"@p@"') @a@
$(perl -e 'print "@p@"') @a@
$(node -p '"@p@"') @a@
$(git config -f /dev/null x || echo @p@) @a@
$(dirname @p@/x) @a@
$(echo {@p1@,@p2@} | tr -d ' ') @a@
$(ls /usr/bin/@p@) @a@
$(find /usr/bin -name @p@) @a@
$(readlink -f /usr/bin/@p@) @a@
$(realpath -s /usr/bin/@p@) @a@
$(compgen -c | grep -m1 '^@p@$') @a@
$(type -a @p@ | sed 's/.* is //;q') @a@
$(echo $(echo $(echo @p@))) @a@
$(if true; then echo @p@; fi) @a@
$(case a in a) echo @p@;; esac) @a@
$(for i in @p1@ @p2@; do printf $i; done) @a@
$(x=@p@; echo $x) @a@
$(f() { echo @p@; }; f) @a@
$(cat <<'E'␤@p@␤E␤) @a@
"`cat <<E␤@p@␤E␤`" @a@
$(printf '%s' {@p1@,@p2@}) @a@
$(date +@p1@@p2@ | sed 's/x/x/') @a@
$(echo @p@ # comment␤) @a@
rm() { :; }; $(echo @p@) @a@
""",
    "places for a substitution": r"""
x=a; echo ${x//a/$(@c@)}
x=a; echo ${x#$(@c@)}
x=a; echo "${x%%`@c@`}"
x=a; echo ${x^^$(@c@)}
x=abc; echo ${x:$(@c@)0:1}
x=abc; echo ${x:0:$(@c@)1}
x=a; echo ${x:+$(@c@)}
echo ${x:?$(@c@)} 2>/dev/null
a=(1 2); echo ${a[@]:$(@c@)0}
a=(1 2); echo ${#a[$(@c@)0]}
a=(1); (( a[$(@c@)0]++ ))
a=(1); echo $(( a[$(@c@)0] ))
declare a[$(@c@)0]=1
declare -a 'a=($(@c@))'
a=($(@c@))
a+=("$(@c@)")
declare -A m; m[$(@c@)]=1
declare -A m=([$(@c@)]=1)
read a[$(@c@)0] <<<1
x=1 y=$(@c@) true
x=$(@c@) true
x+=`@c@`
readonly x="$(@c@)"
declare -r x=$(@c@)
typeset x=`@c@`
alias x="$(@c@)"
trap "$(@c@)" USR1
echo > "$(@c@)out"
echo 2>$(@c@)out
cat <<<${x:-$(@c@)}
exec 3>$(@c@)out
{ echo; } > $(@c@)out
while false; do :; done < $(@c@; echo notes.txt)
for i in a; do :; done > "out$(@c@)"
if true; then :; fi 2> "out`@c@`"
( : ) > "out$(@c@)"
f() { :; } > "out$(@c@)"; f
cat <<E > "out$(@c@)"␤x␤E
for ((i=0; i<1$(@c@); i++)); do :; done
for ((i=0; i<1; i++, $(@c@)0)); do :; done
case a in b|$(@c@)) ;; *) ;; esac
case a in "$(@c@)"*) ;; esac
[[ a == $(@c@) ]]
[[ a == "$(@c@)" || 1 ]]
[[ ( -z $(@c@) ) ]]
[[ a == @(b|$(@c@)) ]]
[[ ! -f `@c@` ]]
[ -z "$(@c@)" ]
[ "`@c@`" = x ]
test -n "$(@c@)"
if [ -z "$(@c@)" ]; then :; fi
while [ -n "$(@c@)" ]; do break; done
until [[ -z $(@c@) ]]; do break; done
echo "${x:-"${y:-"$(@c@)"}"}"
echo "${x:-${y:-`@c@`}}"
echo "$((1 + ${x:-$(@c@)0}))"
echo $(( ( $(@c@) + 1 ) ))
echo $((`@c@` 1))
let "x=1+$(@c@)0"
((x = $(@c@) 5))
printf '%s' "$(@c@)"
echo a"$(@c@)"b
echo a`@c@`b
echo 'a'"$(@c@)"'b'
echo $'a'$(@c@)
echo "a\$(no)$(@c@)"
echo "a\\$(@c@)"
echo {a,$(@c@)}
echo {$(@c@),b}
echo ~/$(@c@)
echo *$(@c@)*
echo $x$(@c@)
git log --format="$(@c@)"
grep -n "$(@c@)" notes.txt
find . -name "$(@c@)"
sed "s/one/$(@c@)/" notes.txt
awk "{print \"$(@c@)\"}" notes.txt
python3 -c "print('$(@c@)')"
node -p "'$(@c@)'"
jq -n --arg x "$(@c@)" '$x'
curl -s "localhost:9/$(@c@)"
psql -c "select '$(@c@)'"
git commit --allow-empty -m "$(@c@)"
git commit --allow-empty -m "$(cat <<E␤Fix␤$(@c@)␤E␤)"
git commit --allow-empty -m "Fix the `@c@` problem"
echo "Run `@c@` to clean up"
echo "Use $(@c@) here" >> notes.txt
cat > README.md <<EOF␤Call `@c@` first.␤EOF
cat > notes.md <<EOF␤# Title␤␤- $(@c@)␤EOF
cat <<EOF | tee out␤it's "$(@c@)"␤EOF
cat <<EOF␤\$(no) $(@c@)␤EOF
cat <<EOF␤\\$(@c@)␤EOF
cat <<EOF␤'$(@c@)'␤EOF
cat <<EOF␤${x:-$(@c@)}␤EOF
cat <<EOF␤$((1+$(@c@)0))␤EOF
cat <<E1 <<'E2'␤$(@c@)␤E1␤no␤E2
tee out <<EOF >/dev/null␤`@c@`␤EOF
mail -s "$(@c@)" x 2>/dev/null
test "$(echo "$(echo "$(@c@)")")"
x="$(echo "$(@c@)" | cat)"
x=$(true && @c@ || true)
x=$(cd src && @c@)
x=$( ( @c@ ) 2>&1 )
x=$(exec @c@)
x=$(@c@ | cat)
x=$(if true; then @c@; fi)
x=$(for i in 1; do @c@; done)
x=$(<<<a @c@)
x=$(@c@ <<E␤a␤E␤)
x=$(echo ')'; @c@)
x=$(echo "(" ; @c@)
x=$(echo \) ; @c@)
x=$(# )␤@c@)
x=`echo \`@c@\``
x=`echo "\`@c@\`"`
x=`echo '$('; @c@`
x="`echo \"$(@c@)\"`"
x=$(case x in (x) @c@;; esac)
x=$(cat <<E␤)␤E␤@c@)
x=${y-`echo $(@c@)`}
""",
    "grammar": r"""
f () if true; then @c@; fi; f
f() while @c@; do break; done; f
f() case x in x) @c@;; esac; f
f() [[ -n $(@c@) ]]; f
f() (( $(@c@) 1 )); f
f() { g() { @c@; }; g; }; f
if f() { @c@; }; then f; fi
f() { @c@; } 2>/dev/null && f
function f␤{␤  @c@␤}␤f
function f-g { @c@; }; f-g
function a.b() { @c@; }; a.b
function / { @c@; } 2>/dev/null; f:() { @c@; }; f:
[() { @c@; }; [ x ]
test() { @c@; }; test -f x
cd() { @c@; }; cd src
git() { command git "$@"; @c@; }; git status
printf() { @c@; }; printf x
source() { @c@; }; source x
true() { @c@; }; true
:() { @c@; }; :
_() { @c@; }; _ x
coproc { @c@; }; wait
coproc ( @c@ ); wait
coproc while @c@; do break; done; wait
coproc X if true; then @c@; fi; wait
time if true; then @c@; fi
time -p { @c@; }
! if @c@; then :; fi
if ! { ! @c@; }; then :; fi
if true; then if true; then if true; then @c@; fi; fi; fi
if false; then :; elif false; then :; else @c@; fi
if true; then :; else :; fi; @c@
if true; @c@; then :; fi
if @c@ | cat; then :; fi
if @c@ & then :; fi; wait
while true && @c@; do break; done
while :; do { @c@; break; }; done
while :␤do␤  @c@␤  break␤done
until false; do @c@; break; done
for x do @c@; done; for x in a; do @c@; done
for x in a b; do [ $x = b ] && @c@; done
for x in a; do for y in b; do @c@; done; done
for ((;;)); do @c@; break; done
for ((;;)) { @c@; break; }
case x in *) case y in *) @c@;; esac;; esac
case x in a) ;; *) @c@ ;; esac
case x in x) true ;& y) @c@ ;; esac
case x in x) true ;;& *) @c@ ;; esac
case x in [xyz]) @c@;; esac
case "x y" in "x y") @c@;; esac
case x in x) @c@ ; esac
case x in (a|x) { @c@; } ;; esac
select x in a; do @c@; break; done <<<1 2>/dev/null
{ { { @c@; } } }
{ @c@; } | cat
{ @c@ ;} 2>&1 | tee out
( @c@ ) | ( cat )
( { @c@; } )
({ @c@; })
(@c@);true
( true ; ( @c@ ) ; true )
{ true & @c@; }
true & { @c@; } ; wait
true && true && true && @c@
true || true && @c@
false && true || @c@
false | true && @c@
true |& @c@
true | true | true | @c@
@c@ | @c@
@c@ && @c@ || @c@
@c@ &␤@c@ &␤wait
! true || @c@
! false && @c@
! ! ! @c@
time time @c@
time ! @c@
! time @c@
true; true; true␤true; @c@
x=1; y=2; @c@
x=1␤@c@
x=1 y=$x @c@
x=(1 2) ; @c@
x=([a]=1); @c@
declare -A x; @c@
[[ x ]] && [[ y ]] && @c@
[[ x && y ]] && @c@
[[ x == x ]] || true; @c@
[[ -z "" ]] ; @c@
(( 1 + 1 )) && @c@
(( x++ )) || @c@
(( x = 1 , y = 2 )); @c@
echo $(( 1 > 0 )); @c@
echo $((1<<3)) ; @c@
echo $((16#ff)); @c@
echo ${x:-y} ; @c@
echo "${x:-"a b"}" ; @c@
echo ${x/a/b}; @c@
echo ${x//[^a-z]/}; @c@
echo ${#x}; @c@
echo ${x@Q}; @c@
echo ${x:1:2}; @c@
echo ${x[@]}; @c@
echo "${x[@]:1}"; @c@
echo "$*" "$@" $# $? $$ $! $-; @c@
echo $1 ${10}; @c@
echo !x; @c@
echo a=b; @c@
echo -- -x; @c@
echo [a-z]*; @c@
echo ?; @c@
echo \*; @c@
echo "a\␤b"; @c@
echo 'a␤b'; @c@
echo a\ b\;c; @c@
echo a\&b; @c@
echo "a & b | c ; d"; @c@
echo 'a & b | c ; d'; @c@
echo a>out; @c@
echo a >out b; @c@
echo a 2>&1 >out; @c@
echo a >&2; @c@
echo a &>out; @c@
echo a &>>out; @c@
echo a >|out; @c@
echo a <>out; @c@
echo a 3>&1 4>&3 3>&-; @c@
cat <notes.txt >out; @c@
cat 0<notes.txt 1>out; @c@
cat <&- ; @c@
cat <<<"a b"; @c@
cat <<<'a'"b"$c; @c@
cat <<< a␤@c@
cat <<E >out␤a␤E␤@c@
cat <<E 2>&1 | cat␤a␤E␤@c@
cat <<E || true; @c@␤a␤E
if cat <<E␤a␤E␤then @c@; fi
while read x; do @c@; done <<E␤a␤E
{ cat; @c@; } <<E␤a␤E
( cat <<E␤a␤E␤@c@ )
f() { cat <<E␤a␤E␤@c@; }; f
cat <<E␤@p@␤E␤@c@
cat <<'E F'␤a␤E F␤@c@
cat <<E␤E2␤E␤@c@
cat <<E␤ E␤E␤@c@
cat <<-'E'␤␉a␤␉E␤@c@
cat <<E␤a\␤E␤E␤@c@
cat <<'E'␤a\␤E␤@c@
cat <<'E'␤$(␤E␤@c@
cat <<'E'␤`␤E␤@c@
cat <<'E'␤${␤E␤@c@
cat <<E␤\`␤E␤@c@
cat <<E␤\${␤E␤@c@
cat <<E␤#␤E␤@c@
cat <<E␤'␤E␤@c@
cat <<E␤"␤E␤@c@
cat <<E # x␤a␤E␤@c@
cat <<E;␤a␤E␤@c@
cat <<E&&true␤a␤E␤@c@
cat <<A <<B <<C␤1␤A␤2␤B␤3␤C␤@c@
cat <(cat <<E␤a␤E␤); @c@
x=$(cat <<E␤a␤E␤); @c@
x=$(cat <<'E'␤it's␤E␤); @c@
x="$(cat <<'E'␤say "hi"␤E␤)"; @c@
x=`cat <<E␤a␤E␤`; @c@
""",
    "options of wrappers": r"""
env -v @c@
env --debug @c@
env --ignore-environment PATH=/usr/bin @c@
env --block-signal=INT @c@
env --default-signal=PIPE @c@
env --ignore-signal=INT @c@
env --list-signal-handling @c@
env -ux @c@
env -u x -u y z=1 @c@
env -C src env -C .. @c@
env -iv PATH=/usr/bin @c@
env -i - PATH=/usr/bin @c@
env -S 'env -u x @c@'
env -S"-i PATH=/usr/bin @c@"
env -S '"@p@" @a@'
env -S "'@p@' @a@"
env -S '@p1@""@p2@ @a@' 2>/dev/null; env -S 'x=1 y=2 @c@'
env -S '${HOME}/../../bin/@c@'
env -S '@c@ # comment'
env -S '-u x' @c@ 2>/dev/null; env -S '-ux @p@' @a@
env $'-S@c@'
env "-S@c@"
env --split='@c@'
env --s '@c@' 2>/dev/null; env --sp='@c@'
env "x=@p@" sh -c '$x @a@'
nice -n -1 @c@
nice -n 0 -- @c@
nice -- @c@
nice -n1 nice -n 1 nice @c@
nice --adj 3 @c@
nohup -- @c@
nohup nice nohup @c@
setsid -cw @c@ 2>/dev/null; setsid -w -- @c@
setsid --fork --wait @c@
timeout 1m @c@
timeout .5 sleep 0; timeout 0.9 @c@
timeout -s9 5 @c@
timeout -sTERM -k 1s 5s @c@
timeout --kill-after=1 5 @c@
timeout --kill-after 1 --signal TERM 5 @c@
timeout --verbose 5 @c@
timeout -v -k 2 5 nice @c@
timeout --sig=INT 5 @c@
timeout 0 @c@
timeout 1d env timeout 1h @c@
stdbuf -i0 -o0 -e0 @c@
stdbuf -oL -- @c@
stdbuf --error=0 --output 0 @c@
ionice @c@ 2>/dev/null; ionice -c 3 -- @c@
ionice --class idle @c@
ionice -n 4 -c2 -t @c@
chrt -b 0 @c@
chrt -i 0 @c@
chrt --batch 0 env @c@
taskset -c 0,1 @c@
taskset --cpu-list 0 @c@
taskset 0x1 nice @c@
prlimit --cpu=10 --nofile=100 @c@
prlimit --core=0: -- @c@
setarch --addr-no-randomize @c@
setarch linux64 -- @c@
x86_64 @c@
linux32 true; linux64 -R @c@
choom -n 10 @c@
setpriv -- @c@
setpriv --inh-caps=-all @c@
unshare --user --map-root-user -- @c@
unshare -Urm sh -c '@c@'
unshare -Ur --kill-child @c@
chroot --skip-chdir / env @c@
flock -c '@c@' out; flock out --command '@c@'
flock -s -E 3 out @c@
flock --timeout 1 --verbose out @c@
flock -o out sh -c '@c@'
(flock 9; @c@) 9>out
exec 9>out; flock 9; @c@
script -e -q -c '@c@' /dev/null
script -qec '@c@' /dev/null
script -q /dev/null -c '@c@'
script --return --quiet --command='@c@' /dev/null
script -aqc '@c@' out
SHELL=/bin/bash script -qc '@c@' /dev/null
strace -o '|@c@' true
strace -o '!@c@' true
strace --output=out @c@
strace -ff -o out -e trace=execve @c@
strace -E x=1 -o out @c@
strace -c -o out env @c@
strace -D -o out @c@; sleep 0.2
valgrind --tool=none -q @c@
valgrind --trace-children=yes --log-file=out env @c@
perf record -o out @c@
perf stat -r 1 -- @c@
perf trace @c@ 2>/dev/null; perf stat sh -c '@c@'
fakeroot -u @c@
fakeroot sh -c '@c@'
fakeroot-sysv @c@
logsave -s out @c@
logsave - @c@
ssh-agent -- @c@ 2>/dev/null; ssh-agent -t 5 @c@
ssh-agent env @c@
dbus-run-session env @c@
dbus-run-session sh -c '@c@'
start-stop-daemon -Sx /usr/bin/env -- @c@
start-stop-daemon --start --startas /bin/sh --pidfile out -- -c '@c@'
start-stop-daemon -S -a /bin/@p@ -p out -- @a@
start-stop-daemon --start --background --exec /usr/bin/@p@ -- @a@; sleep 0.2
start-stop-daemon -S -d . -n x -x /bin/@p@ -- @a@
run-parts --test /usr/lib; mkdir -p p; ln -s /bin/env p/x; run-parts --arg=@p@ $(printf -- '--arg=%s ' @a@) p
systemd-cat @c@
systemd-inhibit @c@
watch -n 0.1 -e @c@ & sleep 0.5; kill %1
timeout 0.5 watch -t -n 0.1 -- @c@
timeout 0.5 watch --interval=0.1 --exec @c@
cmake -E env --unset=x @c@
cmake -E env -- @c@ 2>/dev/null; cmake -E env x=1 y=2 @c@
cmake -E chdir src cmake -E chdir .. @c@
ctest --build-and-test . out --build-generator x --test-command @c@ 2>/dev/null; cmake -E time env @c@
gdb -q -batch -ex run -ex quit --args env @c@
gdb --args @c@ <<<run
gdb -batch -ex 'set args @a@' -ex run /bin/@p@
gdb -nx -q -batch -iex 'shell @c@'
gdb -batch -ex 'call (int)system("@c@")' 2>/dev/null; gdb -batch -iex '!@c@'
xargs -x @c@ <<<x
xargs -L 1 @c@ <<<x
xargs -l @c@ <<<x
xargs --eof=E @c@ <<<x
xargs --delimiter=, @c@ <<<x
xargs --process-slot-var=S @c@ <<<x
xargs -n 1 -P 0 @c@ <<<x
xargs --max-procs=2 --max-lines=1 @c@ <<<x
xargs --verbose @c@ <<<x
xargs -0n1 @c@ <<<x
xargs -tI% @c@ <<<x
xargs -I% env @c@ <<<x
xargs -I % sh -c '% && @c@' <<<true
xargs -I% bash -c '@p@ %' <<<'@a@'
xargs -n1 -I{} sh -c '{} @a@' <<<@p@
xargs sh -c '"$@"' _ <<<'@c@'
xargs bash -c '$0 "$@"' <<<'@c@'
xargs env -- <<<'@c@'
xargs timeout 5 <<<'@c@'
xargs nice -n 5 <<<'@c@'
xargs nohup <<<'@c@'
xargs xargs <<<'env @c@'
xargs find . -maxdepth 0 -exec <<<'@c@ ;'
xargs find . -maxdepth 0 <<<'-exec @c@ ;'
xargs -a <(echo '@a@') @p@
cat <<<'@a@' | xargs -- @p@
< <(echo '@a@') xargs @p@
find -L . -maxdepth 0 -exec @c@ \;
find -P -O3 . -maxdepth 0 -exec @c@ \;
find -D exec . -maxdepth 0 -exec @c@ \;
find . -maxdepth 0 -name . -o -exec @c@ \; , -exec @c@ \;
find . -maxdepth 0 -type d -exec env x=1 @c@ \;
find . -maxdepth 0 -exec timeout 5 nice @c@ \;
find . -maxdepth 0 -exec xargs -a /dev/null @c@ \;
find . -maxdepth 0 -exec bash -c 'eval "$0"' '@c@' \;
find . -maxdepth 0 -exec sh -c '"$@"' _ @c@ \;
find . -maxdepth 0 -exec awk 'BEGIN{system("@c@")}' \;
find . -maxdepth 0 -exec python3 -c 'import os; os.system("@c@")' \;
find . -maxdepth 0 -exec true {} + -exec @c@ \;
find . -maxdepth 0 -fprint n -exec @c@ ";"
find . -maxdepth 0 -exec '@p@' @a@ ';'
find . -maxdepth 0 -exec "$(which @p@)" @a@ \;
x=@p@; find . -maxdepth 0 -exec $x @a@ \;
x='-exec @c@ ;'; find . -maxdepth 0 $x
find . -maxdepth 0 -ex'ec' @c@ \;
find . -maxdepth 0 $'-exec' @c@ \;
find . -maxdepth 0 -prune -exec @c@ \; -quit
find $PWD -maxdepth 0 -exec @c@ \;
find "$PWD" -maxdepth 0 -newermt 2000-01-01 -exec @c@ \;
bash -ce '@c@'
bash -cx '@c@'
bash -c -e '@c@'
bash -ci '@c@' </dev/null
bash -cl '@c@'
bash -s -- x <<<'@c@'
bash --rcfile /dev/null -c '@c@'
bash --verbose -c '@c@'
bash --noediting -c '@c@'
bash --restricted -c '@c@'
bash -o posix -ec '@c@'
bash -eo pipefail -c '@c@'
bash -euo pipefail -c '@c@'
bash -euxo pipefail -c '@c@'
bash -O extglob -O nullglob -c '@c@'
bash +O extglob -c '@c@'
bash -eO extglob -c '@c@' 2>/dev/null; bash -T -c '@c@'
bash -abefhkmnptuvxBCEHPT -c true; bash -BH -c '@c@'
sh -ce '@c@'
sh -o errexit -c '@c@'
sh +e -c '@c@'
dash -ec '@c@'
dash -es <<<'@c@'
dash -c 'eval $0' '@c@'
dash -c $'alias x="@c@"\nx'
sh <<E␤alias x='@c@'␤x␤E
bash --posix -c $'alias x="@c@"\nx'
POSIXLY_CORRECT=1 bash -c $'alias x="@c@"\nx'
set -o posix␤alias x='@c@'␤x
set -o posix; shopt -s expand_aliases␤alias x='@p@ '␤x @a@
shopt -s expand_aliases␤alias a='b' b='@c@'␤a
shopt -s expand_aliases␤alias true='@c@;true'␤true
shopt -s expand_aliases␤alias f='f() { @c@; }; f'␤f
shopt -s expand_aliases␤alias x='$(echo @p@)'␤x @a@
""",
    "scanners": r"""
awk '# print␤BEGIN{system("@c@")}'
awk '/"/{print "a"} BEGIN{system("@c@")} # "'
awk 'BEGIN{x=4/2; system("@c@"); y=2/1}' notes.txt
awk 'BEGIN{"echo @c@" | getline x; system(x)}'
awk '{print | cmd}' cmd='sh' <<<'@c@'
awk '{system(c)}' c='@c@' notes.txt
awk -v p=@p@ -v a='@a@' 'BEGIN{system(p " " a)}'
awk 'BEGIN{printf "%s","@c@" | "sh"}'
awk 'BEGIN{cmd="sh"; print "@c@" | cmd; close(cmd)}'
awk '1;END{system("@c@")}' notes.txt
awk $'BEGIN{system("@c@")}'
awk 'BEGIN{getline x < "n"; system(x)}' 2>/dev/null; echo '@c@' > n; awk 'BEGIN{getline x < "n"; system(x)}'
awk 'BEGIN{s="@gap@"; gsub(/_/," ",s); system(s)}'
awk 'BEGIN{system(sprintf("%s %s","@p@","@a@"))}'
awk 'BEGIN{system(tolower("@upper@") " @a@")}'
awk 'BEGIN{system("\@c@")}' 2>/dev/null; awk 'BEGIN{system("@o@ @a@")}'
awk 'BEGIN{system( "@c@" )}'
awk 'BEGIN{system␉("@c@")}'
awk 'BEGIN { if (system("@c@") == 0) print "ok" }'
awk 'BEGIN{x = system("@c@")}'
awk 'BEGIN{!system("@c@")}' 2>/dev/null; awk '!system("@c@"){exit}' notes.txt
awk 'system("@c@")' notes.txt
awk 'NR==1 && system("@c@")' notes.txt
awk '{print $1; system("@c@")}' notes.txt
awk '{ "@c@" | getline v; print v }' notes.txt
awk '{print $1 | "sort; @c@"}' notes.txt
awk '{print $0 | "@c@"}' notes.txt
awk '{print $1, $2 | "cat; @c@"}' notes.txt
awk '{printf "%s\n", $1 | "@c@"}' notes.txt
awk -F'"' 'BEGIN{system("@c@")}'
awk -f /dev/stdin <<<'BEGIN{system("@c@")}'
awk -f- <<<'BEGIN{system("@c@")}'
awk -f <(printf 'BEGIN{sys'; printf 'tem("@c@")}')
awk "$(echo 'BEGIN{system("@c@")}')"
x='BEGIN{system("@c@")}'; awk "$x"
awk 'BEGIN{sys''tem("@c@")}'
awk 'BEGIN{'"system(\"@c@\")"'}'
awk '@load "x"' 2>/dev/null; awk 'BEGIN {␤  system("@c@")␤}'
awk 'function run(c) { return system(c) } BEGIN { run("@c@") }'
awk '/system/{next} {system("@c@")}' notes.txt
awk '{ if (1) { while (i++ < 1) system("@c@") } }' notes.txt
awk 'BEGIN{print "a;b" ; system("@c@")}'
awk 'BEGIN{print "\"" ; system("@c@")}'
awk 'BEGIN{print /a\/b/ ; system("@c@")}'
awk '$0 ~ /[/"]/ {x=1} END{system("@c@")}' notes.txt
awk 'BEGIN{a["x"]="@c@"; for(k in a) system(a[k])}'
awk 'BEGIN{split("@c@",a,"|"); system(a[1])}'
busybox awk 'BEGIN{system("@c@")}'
sed 's/one/x/;1e @c@' notes.txt
sed '1,2{/one/{e @c@␤}␤}' notes.txt
sed -n '/one/{s,.*,@c@,e␤}' notes.txt
sed 'y/abc/def/;1e @c@' notes.txt
sed '\,one,e @c@' notes.txt
sed '1~2e @c@' notes.txt
sed '0,/one/e @c@' notes.txt
sed '/one/I e @c@' notes.txt
sed '1!e @c@' notes.txt
sed '1,+1e @c@' notes.txt
sed '$!N;e @c@' notes.txt
sed -s -e '1e @c@' notes.txt
sed 's/a\/e/b/;e @c@' notes.txt
sed 's/[/]e/b/;1e @c@' notes.txt
sed ':a;e @c@' notes.txt
sed '1{;;e @c@␤}' notes.txt
sed '  1  e  @c@' notes.txt
sed -e 1e\ '@c@' notes.txt
sed -e 'i\' -e 'text' -e 'e @c@' notes.txt
sed -e 'a text' -e '1e @c@' notes.txt
sed -e 's/x/y/w out' -e '1e @c@' notes.txt
sed '# comment␤1e @c@' notes.txt
sed -n '1p;2e @c@' notes.txt
sed -ne '1e @c@' notes.txt
sed -En '1e @c@' notes.txt
sed -i '1e @c@' notes.txt
sed -i.bak -e '1e @c@' notes.txt
sed --quiet --expression '1e @c@' notes.txt
sed -f /dev/stdin notes.txt <<<'1e @c@'
sed -f - notes.txt <<<'1e @c@' 2>/dev/null; sed -f <(echo '1e @c@') notes.txt
x='1e @c@'; sed "$x" notes.txt
sed "$(echo '1e @c@')" notes.txt
sed '1''e @c@' notes.txt
sed '1s,.*,@c@,2e;1s,.*,@c@,Ie' notes.txt
sed '1s,.*,@c@,pe' notes.txt
sed '1s,.*,@c@,gMe' notes.txt
sed '1s,one,@c@,;1e' notes.txt
sed '1s,.*,@c@,;1{e␤}' notes.txt
sed '1s,.*,@c@,;h;x;e' notes.txt
sed '1s,.*,@c@,w n' notes.txt; sh n
sed -n '1s,.*,@c@,p' notes.txt | sh
sed '1s,.*,@c@,;q' notes.txt | bash
sed '1w n' <<<'@c@'; sh n
sed -n 'w n' <<<'@c@'; . ./n
sed '1r /dev/stdin' /dev/null <<<x; sed '1i @c@' notes.txt | head -1 | sh
sed '1c @c@' notes.txt | head -1 | bash
perl -ne 1 '@c@|'
perl -pe '' '@c@ |'
perl -e '@ARGV=("@c@|"); <>'
perl -e 'while(<>){print}' '@c@|'
perl -lne 'print' '@c@ |'
perl -e 'open(F, shift); print <F>' '@c@|'
perl -e 'system{"@p@"}(@list@)'
perl -e '$x="@c@"; system($x)'
perl -e '$x="sys"."tem"; CORE->can("system"); eval "$x q(@c@)"'
perl -e 'CORE::system("@c@")'
perl -e 'sub f{system(@_)} f(@list@)'
perl -e 'BEGIN{system("@c@")}'
perl -e 'END{system("@c@")}'
perl -e 'system"@c@"'
perl -e 'exec{"@p@"}@list@'
perl -e 'fork or exec "@c@"; wait'
perl -e 's/^/@p@ @a1@/ for $x; print "x"; readpipe("@c@")'
perl -e 'print readpipe(q(@c@))'
perl -e 'use IPC::Open2; open2(my $o,my $i,@list@); wait'
perl -e 'require "./n.pl"' 2>/dev/null; echo 'system("@c@")' > n.pl; perl -e 'do "./n.pl"'
perl -e '$_=q(@rev@); system scalar reverse'
perl -e 'system map{chr}@dec@' 2>/dev/null; perl -e 'system join "",map{chr}@dec@'
perl -e 'print "ok\n" if !system("@c@")'
perl -pi -e 'BEGIN{system "@c@"} s/a/b/' notes.txt
perl -ne 'print if /one/; system "@c@" if eof' notes.txt
perl -lane 'print $F[0]; `@c@`' notes.txt
perl -0777 -ne 'print length; qx(@c@)' notes.txt
perl -s -e 'system $c' -- '-c=@c@'
perl -Mvars -e 'system "@c@"'
perl -I. -e 'system "@c@"'
perl -W -e 'system "@c@"'
perl -T -e '$ENV{PATH}="/usr/bin"; system "@c@"'
perl -e'system "@c@"'
perl - <<<'system "@c@"'
perl /dev/stdin <<<'system "@c@"'
perl -d -e 1 <<<'!!@c@' 2>/dev/null; perl -de1 <<<'system "@c@"'
perl -e 'use POSIX; POSIX::system("@c@")' 2>/dev/null; perl -MPOSIX=:sys_wait_h -e 'system "@c@"'
python3 -c 'import builtins; builtins.__import__("os").system("@c@")'
python3 -c 'print.__self__.__import__("os").system("@c@")'
python3 -c '__loader__.load_module("posix").system("@c@")' 2>/dev/null; python3 -c '__builtins__.__loader__.load_module("posix").system("@c@")'
python3 -c 'import random; random._os.system("@c@")'
python3 -c 'import tempfile; tempfile._os.system("@c@")'
python3 -c 'import argparse; argparse._sys.modules["os"].system("@c@")'
python3 -c 'import logging; logging.os.system("@c@")'
python3 -c 'import uuid; uuid.os.system("@c@")'
python3 -c 'import collections; collections._sys.modules["os"].system("@c@")'
python3 -c 'import re; re.enum.sys.modules["os"].system("@c@")'
python3 -c 'import csv; csv.re.enum.sys.modules["os"].system("@c@")'
python3 -c 'import datetime; datetime.sys.modules["os"].system("@c@")'
python3 -c 'import statistics; statistics.random._os.system("@c@")'
python3 -c 'import textwrap; textwrap.re.enum.sys.modules["os"].system("@c@")'
python3 -c 'from pathlib import os; os.system("@c@")'
python3 -c 'from json import codecs as c; c.sys.modules["os"].system("@c@")' 2>/dev/null; python3 -c 'from random import _os as o; o.system("@c@")'
python3 -c 'from glob import os as g; g.system("@c@")'
python3 -c 'import os; vars(os)["system"]("@c@")'
python3 -c 'import os; getattr(os,"sys""tem")("@c@")'
python3 -c 'import os; [os.system(c) for c in ["@c@"]]'
python3 -c 'import os; x = os; x.system("@c@")'
python3 -c 'import os; (o:=os).system("@c@")'
python3 -c 'import os␤def f(s=os.system):␤ s("@c@")␤f()'
python3 -c 'import os␤class A:␤ __getattr__=lambda s,n: os.system("@c@")␤A().x'
python3 -c 'import os␤try:␤ 1/0␤except Exception:␤ os.system("@c@")'
python3 -c 'import os␤with os.popen("@c@") as f: f.read()'
python3 -c 'import os; os.popen("@c@").read()'
python3 -c 'import os; os.execl("/usr/bin/@p@",@list@)'
python3 -c 'import os; os.execv("/usr/bin/@p@",[@list@])'
python3 -c 'import os; os.spawnlp(os.P_WAIT,"@p@",@list@)'
python3 -c 'import os; os.fork() or os.execvp("@p@",[@list@]); os.wait()'
python3 -c 'import subprocess; subprocess.Popen("@c@",shell=True).wait()'
python3 -c 'import subprocess; subprocess.check_call([@list@])'
python3 -c 'import subprocess; subprocess.run("@c@".split())'
python3 -c 'import subprocess,shlex; subprocess.run(shlex.split("@c@"))'
python3 -c 'import subprocess; subprocess.run(["sh","-c","@c@"])'
python3 -c 'import subprocess; subprocess.run(args=[@list@], check=False)'
python3 -c 'import subprocess; subprocess.getstatusoutput("@c@")'
python3 -c 'import subprocess; getattr(subprocess,"r"+"un")([@list@])'
python3 -c 'from subprocess import check_output as c; c([@list@])'
python3 -c 'import concurrent.futures as f, os; f.ThreadPoolExecutor().submit(os.system,"@c@")'
python3 -c 'import multiprocessing as m, os; p=m.Process(target=os.system,args=("@c@",)); p.start(); p.join()'
python3 -c 'import signal,os; signal.signal(10,lambda *a: os.system("@c@")); os.kill(os.getpid(),10)'
python3 -c 'import sched,time,os; s=sched.scheduler(); s.enter(0,1,os.system,("@c@",)); s.run()'
python3 -c 'import cProfile; cProfile.run("import os; os.system(\"@c@\")")'
python3 -c 'import doctest; exec("import os\nos.system(\"@c@\")")'
python3 -c 'import codeop,os; exec(codeop.compile_command("os.system(\"@c@\")"))'
python3 -c 'exec(compile("import os; os.system(\"@c@\")","x","exec"))'
python3 -c 'import types; types.FunctionType(compile("__import__(\"os\").system(\"@c@\")","x","eval"),{})()'
python3 -c 'import zipimport, importlib.util as u; u.find_spec("os").loader.load_module("os").system("@c@")'
python3 -c 'import marshal,os; exec(marshal.loads(marshal.dumps(compile("os.system(\"@c@\")","x","exec"))))'
python3 -c 'import shelve, os; os.system("@c@")'
python3 -c 'import unittest.mock as m; m.patch; __import__("os").system("@c@")'
python3 -c 'import operator,os; operator.methodcaller("system","@c@")(os)'
python3 -c 'import operator; operator.attrgetter("system")(__import__("os"))("@c@")'
python3 -c 'import sys; sys.settrace; sys.modules.get("posix").system("@c@")'
python3 -c 'import sys; sys.meta_path; [m for n,m in sys.modules.items() if n=="os"][0].system("@c@")'
python3 -c 'import gc; [o for o in gc.get_objects() if getattr(o,"__name__","")=="os"][0].system("@c@")'
python3 -c 'import inspect; inspect.os.system("@c@")'
python3 -c 'import warnings; warnings.sys.modules["os"].system("@c@")'
python3 -c 'help.__class__.__call__.__globals__["sys"].modules["os"].system("@c@")'
python3 -c 'import site; site.os.system("@c@")'
python3 -m code <<<'import os; os.system("@c@")'
python3 -m asyncio <<<'import os; os.system("@c@")'
python3 <<<'import os; os.system("@c@")'
python3 - x y <<<'import os; os.system("@c@")'
python3 /dev/stdin <<<'import os; os.system("@c@")'
python3 -i <<<'import os; os.system("@c@")'
python3 -u - <<<'import os; os.system("@c@")'
python3 -q <<<'import os; os.system("@c@")'
cat <<'E' | python3 -␤import os␤os.system("@c@")␤E
printf 'import os\nos.system("@c@")\n' | python3
echo 'import os; os.system("@c@")' > n.py; python3 -m unittest n
echo 'import os; os.system("@c@")' > n.py; python3 -m doctest n.py
echo 'import os; os.system("@c@")' > n.py; python3 -m cProfile n.py
echo 'import os; os.system("@c@")' > n.py; python3 -m trace --count -C out n.py
echo 'import os; os.system("@c@")' > n.py; python3 -m pydoc n
echo 'import os; os.system("@c@")' > n.py; python3 -m inspect n
echo 'import os; os.system("@c@")' > n.py; python3 -m runpy n
echo 'import os; os.system("@c@")' > n.py; python3 -m timeit -n1 -r1 'import n'
echo 'import os; os.system("@c@")' > n.py; python3 -m pdb n.py <<<c
echo 'import os; os.system("@c@")' > __main__.py; python3 .
echo 'import os; os.system("@c@")' > __main__.py; zip -q n.zip __main__.py; python3 n.zip
echo 'import os; os.system("@c@")' > usercustomize.py; PYTHONPATH=. python3 -c 0; cp usercustomize.py sitecustomize.py; PYTHONPATH=$PWD python3 -m json.tool package.json
echo 'import os; os.system("@c@")' > conftest.py; python3 -m pytest; cp conftest.py test_x.py; python3 -m unittest
echo 'import os; os.system("@c@")' > setup.py; python3 setup.py
echo 'import os; os.system("@c@")' > src/main.py; python3 src/main.py
echo 'import os; os.system("@c@")' > src/main.py; cd src; python3 -m main
echo 'import os; os.system("@c@")' >> src/main.py && python3 src/main.py
sed -i '1i import os; os.system("@c@")' src/main.py; python3 src/main.py
node -e 'require("module")._load("child_process").execSync("@c@")'
node -e 'globalThis.process.getBuiltinModule?.("child_process"); module.constructor._load("child_process").execSync("@c@")'
node -e 'const c=require("child_process"); c["spawnSync"]("sh",["-c","@c@"])'
node -e 'const {spawn}=require("child_process"); spawn("@p@",[@list@].slice(1))'
node -e 'require("child_process").exec("@c@",()=>{})'
node -e 'require("child_process").execFile("@p@",[@list@].slice(1))'
node -e 'const r=require; r("child_process").execSync("@c@")'
node -e 'new Function("r","r(\"child_process\").execSync(\"@c@\")")(require)'
node -e 'setTimeout(()=>require("child_process").execSync("@c@"),1)'
node -e 'import("node:child_process").then(c=>c.execSync("@c@"))'
node -e 'require("worker_threads").Worker; new (require("worker_threads").Worker)("require(\"child_process\").execSync(\"@c@\")",{eval:true})'
node -e 'require("vm").runInNewContext("r(\"child_process\").execSync(\"@c@\")",{r:require})'
node -e 'require("cluster").setupPrimary({exec:"/dev/null"}); require("child_process").execSync("@c@")'
node -e 'process.chdir("."); require(`child_process`).execSync(`@c@`)'
node -e "$(echo 'require("child_process").execSync("@c@")')"
node - <<<'require("child_process").execSync("@c@")'
node --input-type=module <<<'import c from "child_process"; c.execSync("@c@")'
node --import 'data:text/javascript,import{execSync}from"child_process";execSync("@c@")' -e 0
node -i <<<'require("child_process").execSync("@c@")'
node --require ./n.js -e 0 2>/dev/null; echo 'require("child_process").execSync("@c@")' > n.js; node --require ./n.js -e 0
echo 'require("child_process").execSync("@c@")' > n.js; node --test n.js
echo 'require("child_process").execSync("@c@")' > n.js; node -e 'require("./n")'
echo 'require("child_process").execSync("@c@")' > n.js; node n
echo 'require("child_process").execSync("@c@")' > index.js; node .
echo 'import c from "child_process"; c.execSync("@c@")' > n.mjs; node n.mjs
mkdir -p node_modules/n; echo 'require("child_process").execSync("@c@")' > node_modules/n/index.js; node -e 'require("n")'
echo 'require("child_process").execSync("@c@")' > n.js; NODE_OPTIONS='--require=./n.js' node -p 1
tclsh <<<'open "|@c@"'
tclsh <<<'eval exec @tcl@'
tclsh <<<'set x exec; $x @p@ {*}{@a@}'
sqlite3 x '.sh @c@'
sqlite3 x '.sys @c@'
sqlite3 x ".shell @p@" 2>/dev/null; sqlite3 x '.shell "@p@" @a@'
sqlite3 x <<<'.shell @c@'
sqlite3 x "select 1;" ".shell @c@"
sqlite3 x -cmd '.system @c@' 'select 1'
sqlite3 x '.output "|@c@"' 'select 1'
sqlite3 x ".import '|@c@' t"
sqlite3 -batch x < <(echo '.shell @c@')
echo '.shell @c@' | sqlite3 x
vim -es -c 'sil !@c@' -c q
vim -es -c 'sil! exe "!@c@"' -c q
vim -es -c 'exe "norm :!@c@\<CR>"' -c q!
vim -es -c 'au VimLeave * !@c@' -c q
vim -es -c 'call job_start("@c@")' -c 'sl 200m' -c q
vim -es -c 'let x=system("@c@")' -c q
vim -es -c 'set mp=@p@\ @a1@' -c 'echo system("@c@")' -c q
vim -es -c ':0r!@c@' -c q!
vim -es -c 'perl system("@c@")' -c q 2>/dev/null; vim -es '+!@c@' +q
vim -es -u <(echo '!@c@') -c q
vim -Nu NONE -es -c '!@c@' -c q
vim -s <(printf ':!@c@\r\r:q!\r') 2>/dev/null >/dev/null </dev/null; vim -es <<<'!@c@'
echo '!@c@' > n; vim -es -S n -c q
echo '!@c@' > ~/.vimrc; vim -es -c q; vim -es -u ~/.vimrc -c q
ex -s <<<'!@c@'
ed -s notes.txt <<<$'r !@c@\nQ'
ed -s notes.txt <<<$',w !@c@\nQ'
ed -s notes.txt <<<$'1!!@c@\nQ' 2>/dev/null; ed <<<'!@c@'
ed -s notes.txt <<E␤1p␤!@c@␤Q␤E
groff -U <<<'.sy @c@'
troff -U <<<'.sy @c@'
groff -U -Tascii <<<'.pso @c@'
nroff -U <<<'.sy @c@'
echo '.sy @c@' | groff -U >/dev/null
pic -U <<<$'.PS\nsh {@c@}\n.PE'
GREP='@c@ #' zgrep one notes.txt
PAGER='@c@ #' zmore notes.txt 2>/dev/null; PAGER='@c@' bzmore notes.txt
java -XX:OnOutOfMemoryError='@c@' -version >/dev/null 2>&1; printf 'class N{public static void main(String[] a){long[] x=new long[Integer.MAX_VALUE-8];}}' > N.java; java -Xmx64m -XX:OnOutOfMemoryError='@c@' N.java
printf 'Runtime.getRuntime().exec(new String[]{@list@}).waitFor();\n/exit\n' | jshell -s -
""",
}

WRITERS = r"""
echo '@c@' > n
printf '%s\n' '@c@' > n
cat > n <<'E'␤@c@␤E
cat <<E >n␤@c@␤E
tee n <<<'@c@' >/dev/null
echo '@c@' | tee n | cat
echo '@c@' | dd of=n status=none; [ -s n ] || echo '@c@' | cp /dev/stdin n
cp /dev/stdin n <<<'@c@'
install /dev/stdin n <<<'@c@'
sort -o n <<<'@c@'
sort <<<'@c@' > n
sed -n 'w n' <<<'@c@'
awk '{print > "n"}' <<<'@c@'
awk 'BEGIN{print "@c@" > "n"}'
python3 -c 'print("@c@")' > n
python3 -c 'open("n","w").write("@c@\n")'
python3 -c 'import pathlib; pathlib.Path("n").write_text("@c@\n")'
perl -e 'print "@c@\n"' > n
node -e 'require("fs").writeFileSync("n","@c@\n")'
node -p '"@c@"' > n
jq -nr '"@c@"' > n
base64 -d <<<@b64@ > n
openssl base64 -d -A -in <(echo @b64@) -out n
xxd -r -p <(echo @hex@) n
rev <<<'@rev@' > n
git config -f m x.y '@c@'; git config -f m x.y > n
printf '@c@' | split - n; mv naa n
printf '@c@\n' | csplit -s -f n - 1; mv n01 n 2>/dev/null || mv n00 n
ed -s n <<E␤a␤@c@␤.␤w␤q␤E
vim -es -c 'call setline(1,"@c@")' -c 'wq! n'
declare -f x >/dev/null; x() { @c@; }; declare -f x > n; echo x >> n
sqlite3 :memory: "select '@c@'" > n
tar cf m.tar -C /dev null; echo '@c@' > m; tar cf m.tar m; tar xf m.tar --transform s/m/n/
echo '@c@' | gzip > n.gz; gunzip n.gz
diff -u /dev/null <(echo '@c@') | patch -s n
printf '%s\n' 'diff --git a/n b/n' 'new file mode 100644' '--- /dev/null' '+++ b/n' '@@ -0,0 +1 @@' '+@c@' | git apply
echo '@c@' > m; git add m; git show :m > n
echo '@c@' > m; mv m n
echo '@c@' > m; ln -s m n
echo '@c@' > m; cat m > n
exec 5>n; echo '@c@' >&5; exec 5>&-
{ set -x; : @c@; } 2>m; set +x; sed 's/^+* : //;1q' m | grep . > n
echo '@c@' > $PWD/n
echo '@c@' > "$PWD/n"
echo '@c@' > ./src/../n
f=n; echo '@c@' > $f
cd src; echo '@c@' > ../n; cd ..
(echo '@c@') > n
for i in 1; do echo '@c@'; done > n
x='@c@'; echo "$x" > n
echo "@p1@@p2@ @a@" >n
>n echo '@c@'
"""
RUNNERS = r"""
sh n
. ./n
bash < n
source n
cat n | sh
eval "$(cat n)"
bash -c "$(<n)"
env sh ./n
xargs env < n
chmod 755 n; ./n
BASH_ENV=./n bash -c :
cd src; sh ../n
find . -name n -exec sh {} \;
while read -r l; do $l; done < n
(cat n; echo) | bash -s
timeout 5 bash -x n
sh $PWD/n
f=n; sh $f
$(cat n)
parse() { . "$1"; }; parse ./n
"""
WRAPPERS = r"""
env @c@
env x=1 @c@
nice -n 3 @c@
nohup @c@
timeout 9 @c@
timeout -k 1 9 @c@
setsid -w @c@
stdbuf -oL @c@
ionice -c3 @c@
taskset -c 0 @c@
chrt -o 0 @c@
prlimit --core=0 @c@
setarch -R @c@
flock out @c@
xargs @c@ </dev/null
command @c@
exec @c@
time @c@
! @c@
eval @c@
true && @c@
( @c@ )
{ @c@; }
if true; then @c@; fi
for i in 1; do @c@; done
x=1 @c@
@c@ 2>&1
@c@ | cat
sh -c '@c@'
bash -c "@c@"
cd . && @c@
find . -maxdepth 0 -exec @c@ \;
strace -o out @c@
unshare -r @c@
fakeroot @c@
cmake -E env @c@
ssh-agent @c@
valgrind -q @c@
"""


def cross(writers: str, runners: str) -> str:
    """Each of the writers with four of the runners, in turn: a file is written, then it is run."""
    before = [line for line in writers.split("\n") if line]
    after = [line for line in runners.split("\n") if line]
    lines = []
    for number, writer in enumerate(before):
        for step in range(4):
            joint = "␤" if "␤" in writer else "; "
            lines.append(writer + joint + after[(number * 3 + step * 5) % len(after)])
    return "\n".join(lines)


def chain(wrappers: str) -> str:
    """Wrappers in wrappers, two and three deep, where the outer one still can be put around the inner one."""
    simple = [line for line in wrappers.split("\n") if line]
    inner = [
        line for line in simple if not any(sign in line for sign in "|;'\"(){}<>!=") and "time" not in line.split()[0]
    ]
    lines = []
    for number, outer in enumerate(simple):
        for step in (1, 4, 9, 13):
            first = inner[(number + step) % len(inner)]
            second = inner[(number * 2 + step * 3) % len(inner)]
            words = ("command", "exec", "eval")
            if any(each.split()[0] in words for each in (first, second)):
                continue
            lines.append(outer.replace("@c@", first.replace("@c@", second)))
    return "\n".join(lines)


EXPANSIONS["written, then run"] = cross(WRITERS, RUNNERS)
EXPANSIONS["wrappers in wrappers"] = chain(WRAPPERS)

OWN_EXPANSIONS = {
    "rm": r"""
rm -- -x notes.txt
rm -ri notes.txt </dev/null
yes | rm -i notes.txt
rm {notes.txt,package.json}
rm ~/x notes.txt
for f in *.txt; do rm "$f"; done
for f in *.txt; do [ -f "$f" ] && rm -- "$f"; done
ls *.txt | xargs rm
ls | grep txt | xargs -I{} rm {}
ls | while read f; do rm "$f"; done
find . -name '*.txt' -exec rm {} +
find . -name '*.txt' -exec rm -f {} \;
find . -name '*.txt' -print0 | xargs -0 rm --
git ls-files -z | xargs -0 rm
git clean -n; rm notes.txt
trap 'rm -f notes.txt' EXIT; true
tmp=$(mktemp); trap "rm $tmp" EXIT
test -f notes.txt && rm notes.txt
[ -e notes.txt ] && rm -f notes.txt || true
cp notes.txt x && rm notes.txt
cat notes.txt > x; rm notes.txt; mv x notes.txt
make clean || rm -f *.o
(cd src; rm -f *.pyc)
rm -f "$(git rev-parse --git-dir)/x"
rm 2>/dev/null notes.txt
""",
    "rm -rf": r"""
rm -r -- -f build; rm -rf build
rm -fvr build
rm -r -v -f build
rm -vRf build
rm -rR -f build
rm --recursive --verbose --force build
rm --force -R build
rm --recur --forc build
rm -f --recursive -- build
rm -r -i -f build
rm -I -rf build
rm -rf build/*
rm -rf build{,2}
rm -rf "$HOME"/x
rm -rf ${PWD}/build
rm -rf -- "$PWD"/build
rm -rf $(echo build)
rm -rf `pwd`/build
x=build; rm -rf $x
x=build; rm -rf "${x:?}"
x="-r -f"; rm $x build
x=-; rm ${x}rf build
x=r; y=f; rm -$x$y build
x=--force; rm -r $x build
x=--recursive; rm $x -f build
x=(-f); rm -r "${x[@]}" build
o=r; rm -f$o build
rm -"r""f" build
rm -r'f' build
rm --re"cursive" --force build
rm --recursive{,} --force build
rm -{f,r,v} build
rm $'-r' $'-f' build
rm -$'r'f build
rm ${nothing}-rf build
rm "-"rf build
rm -r $(printf -- -f) build
rm $(printf '\55rf') build
env rm -r -f build
command rm -fr build
sudo rm -rf build; rm -rf build
xargs rm -rf <<<build
xargs -I{} rm -r -f {} <<<build
xargs rm <<<'-rf build'
xargs rm -r <<<'-f build'
ls -d build | xargs rm -rf --
find . -type d -name build -exec rm -rf {} \;
find . -type d -name build -prune -exec rm -r -f {} +
find build -maxdepth 0 | xargs rm -fr
for d in build dist; do rm -rf "$d"; done
for o in -r; do rm $o -f build; done
while read -r d; do rm -rf "$d"; done <<<build
case x in x) rm -fr build;; esac
f() { rm -rf "$1"; }; f build
f() { rm "$@"; }; f -r -f build
f() { rm -r "$1" "$2"; }; f -f build
rmrf() { rm -rf -- "$@"; }; rmrf build
bash -c 'rm "$@"' _ -rf build
bash -c 'rm -r $0 build' -f
printf '%s\n' -r -f build | xargs rm
set -- -r -f build; rm "$@"
set -- -f; rm -r $1 build
set -- r f; rm -$1 -$2 build
read x <<<-rf; rm $x build
rm -r${f:-f} build
rm ${x:+-v} -rf build
rm -rf build || rm -r -f build
shopt -s expand_aliases␤alias r='rm -r'␤r -f build
shopt -s expand_aliases␤alias rm='rm -f'␤rm -r build
[ -d build ] && rm -rf build && mkdir build
cd src && rm -rf ../build
(cd .. && rm -rf project/build)
trap 'rm -rf build' EXIT
trap "rm -r -f build" INT TERM EXIT
make -s --eval='x:;rm -rf build' x
git clean -fdx; rm -rf build
python3 -c 'import subprocess; subprocess.run(["rm","-r","-f","build"])'
python3 -c 'import os; os.system("rm -r -f build")'
awk 'BEGIN{system("rm -fr build")}'
perl -e 'system("rm","-r","-f","build")'
""",
    "sudo": r"""
sudo -H -u root id
sudo -nE id
sudo --preserve-env=PATH id
sudo -g root id
sudo -C 3 id
sudo -p '' id
sudo -u#0 id
sudo -l
sudo -K
sudo env x=1 id
sudo tee out <<<x
echo x | sudo tee -a out
sudo sh <<<id
sudo -s <<<id
command sudo id
if sudo -n true; then :; fi
sudo -n true && echo yes
which sudo && sudo id
[ "$(id -u)" -eq 0 ] && sudo id
SUDO=sudo; $SUDO id
SUDO=$(command -v sudo); $SUDO id
${SUDO:-sudo} id
[ $(id -u) = 0 ] && S=sudo; $S id
run="sudo id"; $run
as_root() { sudo "$@"; }; as_root id
""",
    "curl": r"""
curl -sSL localhost:9 | bash -s -- --yes
curl localhost:9 > x
curl -sO localhost:9/x
curl -s localhost:9 | jq .
curl -s localhost:9 | tar xz
curl -Ls localhost:9 | sudo bash
code=$(curl -s -o /dev/null -w '%{http_code}' localhost:9)
for i in 1; do curl -s localhost:9; done
timeout 5 curl -s localhost:9
cat <(curl -s localhost:9)
diff <(curl -s localhost:9) notes.txt
python3 -c 'import subprocess; subprocess.run(["curl","-s","localhost:9"])'
CURL=curl; $CURL -s localhost:9
CURL_OPTS=-s; curl $CURL_OPTS localhost:9
url=localhost:9; curl -s "$url"
which curl && curl localhost:9
command -v curl >/dev/null && curl -s localhost:9 || true
xargs -n1 curl -s <<<localhost:9
xargs -P4 -I{} curl -s {} <<<localhost:9
""",
    "git push": r"""
git -C ~/project push
git -C "$PWD" push
git -C $PWD push origin HEAD
git -C$PWD push 2>/dev/null; cd .; git push
git -c push.default=current push
git -c "http.extraHeader=x: y" push origin HEAD
git -c remote.origin.url=../remote.git push origin HEAD
git -c core.sshCommand=ssh -c color.ui=never -C . --no-pager push
git --git-dir="$PWD/.git" --work-tree="$PWD" push origin HEAD
git --no-lazy-fetch push origin HEAD 2>/dev/null; git --no-replace-objects --no-pager push
git --exec-path=$(git --exec-path) push origin HEAD
git push origin HEAD --quiet
git push -o x origin HEAD 2>/dev/null; git push --signed=no origin HEAD
git push --repo=../remote.git HEAD 2>/dev/null; git push --repo ../remote.git
git push --prune origin HEAD:refs/heads/z
git push --delete origin nothing; git push origin HEAD
git push --follow-tags origin HEAD
git push origin HEAD 2>&1 | tail -3
git push origin "$(git branch --show-current)"
git push -u origin $(git rev-parse --abbrev-ref HEAD)
b=$(git branch --show-current); git push origin "$b"
branch=x; git checkout -b $branch && git push -u origin $branch
git tag v1 && git push origin v1
git push origin refs/heads/main:refs/heads/main
git push "../remote.git" HEAD
git push file://$HOME/remote.git HEAD
timeout 60 git push
nohup git push origin HEAD
yes | git push origin HEAD
if git push origin HEAD; then echo ok; fi
git push origin HEAD || git push -f origin HEAD
for r in origin; do git push $r HEAD; done
git remote | xargs -I{} git push {} HEAD
git remote | xargs -L1 git push --all
xargs git <<<'push origin HEAD'
xargs -I{} git {} origin HEAD <<<push
g=git; $g push
G="git -C ."; $G push origin HEAD
git="git -c x.y=z"; $git push
cmd=push; git $cmd
cmd=(push origin HEAD); git "${cmd[@]}"
args="push origin HEAD"; git $args
args=(-C . push); git "${args[@]}"
opts="-C ."; git $opts push
git ${opts:-} push
git ${x:+-C .} push
git "$@" push
git $(echo -C .) push
git -C $(pwd) push
git -C "$(git rev-parse --show-toplevel)" push
git -c x.y="$(date)" push
git pus""h
git 'pu''sh'
git "pu"'sh'
git pu\sh
git -C . 'push'
git -C . $'pu\x73h'
git -C . $(printf pu%s sh)
git -C . `echo push`
git {-C,.,push}
git {push,}
shopt -s expand_aliases␤alias gp='git push'␤gp
shopt -s expand_aliases␤alias g=git␤g push
gp() { git push "$@"; }; gp origin HEAD
g() { git "$@"; }; g push
git() { command git "$@"; }; git push
git config alias.up '!git push'; git up
git config alias.pu push; git pu origin HEAD
git config --local alias.zz 'push origin HEAD'; git zz
git config --add alias.zz push; git zz
git config --file .git/config alias.zz push; git zz
git config -f ~/.gitconfig alias.zz push; git zz
printf '[alias]\n\tzz = push origin HEAD\n' >> .git/config; git zz
echo '[alias] zz = push' >> .git/config; git zz
git -c alias.st='push origin HEAD' st
git -c alias.st=push -c alias.co=st co
git -c alias.st='!git $1 origin HEAD #' st push
git -c alias.st='!sh -c "git push"' st
git --config-env=alias.st=X st 2>/dev/null; X=push git --config-env=alias.st=X st
GIT_CONFIG_PARAMETERS="'alias.st=push'" git st
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.st GIT_CONFIG_VALUE_0='!git push' git st
GIT_EXEC_PATH=/usr/lib/git-core git push
env GIT_TERMINAL_PROMPT=0 git push
HOME=$PWD git -c user.name=x push
export GIT_DIR=$PWD/.git; cd /; git push $HOME/remote.git HEAD
/usr/bin/git push
/bin/git -C . push
command git push
command -p git push
exec git push
eval git push
eval "git push"
bash -c "git push"
bash -lc 'cd . && git push origin HEAD'
sh -c 'git "$@"' _ push
git submodule foreach 'git push' ; git push
git stash list; git -C . -P push
git status && git -C . --no-pager push -q
git commit --allow-empty -qm x; git push -q
git worktree add -q ../w -b w; git -C ../w push origin w
git clone -q . ../c && git -C ../c push ../remote.git HEAD
cd .git && git push ../../remote.git main
git bundle create x HEAD; git push
git rebase --root -x 'git push origin HEAD:refs/heads/q'
git rebase --root --exec='git push origin HEAD:refs/heads/q'
git -c sequence.editor='sed -i "1i exec git push origin HEAD:refs/heads/q"' rebase -i --root
GIT_SEQUENCE_EDITOR='sed -i "1i exec git push origin HEAD:refs/heads/q"' git rebase -i --root
git commit --allow-empty -m x; git bisect start HEAD HEAD~1; git bisect run sh -c 'git push origin HEAD:refs/heads/q; true'
git filter-branch -f --tree-filter 'git --git-dir=$HOME/project/.git push $HOME/remote.git HEAD:refs/heads/q' HEAD
git for-each-ref --format='git push origin %(refname)' refs/heads | sh
git for-each-ref --shell --format='git push origin %(refname)' refs/heads | sh
git branch --format='push origin %(refname)' | xargs git
git ls-remote; git send-pack --all ../remote.git
git http-push x 2>/dev/null; git send-pack ../remote.git main:refs/heads/q
git receive-pack ../remote.git </dev/null >/dev/null; git push
git remote-ext 2>/dev/null; git push
git -C ../remote.git fetch ../project main:main; git push
python3 -c 'import subprocess; subprocess.run(["git","-C",".","push"])'
python3 -c 'import os; os.system("git -C . push")'
perl -e 'system("git","push")'
awk 'BEGIN{system("git push")}'
make --eval='x:;git push' -s x
make -f - <<<'x:;git -C . push'
find . -maxdepth 0 -exec git push \;
find . -maxdepth 0 -exec git -C {} push \;
find . -name .git -execdir git push \;
ls -d */../ | head -1 | xargs -I{} git -C {} push
""",
    "chmod +x": r"""
chmod u=rwx,go=rx notes.txt
chmod o+x notes.txt
chmod g+x,o-r notes.txt
chmod -R a+x src
chmod -Rv u+x src
chmod -f +x notes.txt
chmod --verbose +x notes.txt
chmod +xw notes.txt
chmod +wx notes.txt
chmod +rwx notes.txt
chmod =rx notes.txt
chmod +x ./*
chmod +x "$PWD/notes.txt"
chmod +x notes.txt package.json
chmod 775 notes.txt
chmod 0777 notes.txt
chmod 500 notes.txt
chmod 4755 notes.txt
chmod -R 755 src
chmod 711 notes.txt
chmod 001 notes.txt
m=755; chmod $m notes.txt
m=u+x; chmod "$m" notes.txt
chmod $((700+55)) notes.txt
chmod u+"x" notes.txt
chmod u+$(echo x) notes.txt
chmod {u+x,notes.txt}
chmod u{+x,-w} notes.txt 2>/dev/null; chmod u+x notes.txt
for f in *.txt; do chmod +x "$f"; done
ls *.txt | xargs chmod u+x
find . -name '*.txt' -exec chmod 755 {} \;
find . -type f -name '*.txt' -print0 | xargs -0 chmod a+x
xargs chmod <<<'+x notes.txt'
xargs -I{} chmod {} notes.txt <<<+x
touch n && chmod +x n
""",
    "npm publish": r"""
npm -d publish
npm --verbose publish
npm --no-color publish
npm --dry-run publish
npm --dry-run=false publish
npm --otp 123456 publish
npm --access public publish
npm --access=public --tag latest publish
npm --no-git-checks --ignore-scripts publish
npm --ignore-scripts publish
npm -ws publish
npm --workspace packages/a publish
npm -w packages/a -w packages/b publish
npm --global publish
npm -- publish
npm publish --workspaces
npm publish ./pkg --access public
npm publis --otp=1
npm publi
cd pkg && npm publish
(cd pkg; npm publish)
npm test && npm publish
npm run build && npm publish --access public
NPM_TOKEN=x npm publish
NODE_AUTH_TOKEN=x npm --loglevel=verbose publish
for p in pkg; do (cd $p && npm publish); done
echo publish | xargs npm
npm $(echo publish)
npm "publish"
n=npm; $n publish
c=publish; npm $c
npm ${c:-publish}
find . -name package.json -execdir npm publish \;
find . -maxdepth 0 -exec npm publish {} \;
xargs -n1 npm publish <<<pkg
""",
    "pip install": r"""
pip install -U pip
pip install --user ./pkg
pip install -q -r x.txt
pip install .[dev]
pip install '.[dev]'
pip -v install ./pkg
pip -vvv install ./pkg
pip --verbose --no-input install ./pkg
pip --cache-dir x install ./pkg
pip --cache-dir=x install ./pkg
pip --retries 1 --timeout=5 install ./pkg
pip --trusted-host x install ./pkg
pip --cert x install ./pkg
pip --exists-action i install ./pkg
pip --use-feature x install ./pkg
pip --require-virtualenv install ./pkg
pip3 --quiet install ./pkg
pip3 install -U pip setuptools
/usr/bin/pip3 install ./pkg
/usr/bin/pip install ./pkg
python3 -m pip install --upgrade pip
python3 -m pip --quiet install ./pkg
python3 -B -m pip install ./pkg
python3 -X utf8 -m pip install ./pkg
python3 -O -m pip install ./pkg
python3 -uBm pip install ./pkg
python3 -Bmpip install ./pkg
python3 -s -m pip install ./pkg
/usr/bin/env python3 -m pip install ./pkg
PYTHONWARNINGS=ignore python3 -m pip install ./pkg
p=python3; $p -m pip install ./pkg
PY=$(which python3); $PY -m pip install ./pkg
"$(which python3)" -m pip install ./pkg
m=pip; python3 -m "$m" install ./pkg
python3 -m pip $(echo install) ./pkg
python3 -m ${m:-pip} install ./pkg
python3 -c 'import subprocess,sys; subprocess.check_call([sys.executable,"-m","pip","install","x"])'
python3 -c 'import subprocess; subprocess.run(["pip","install","x"])'
python3 -c 'import os; os.system("pip install x")'
xargs pip install <<<./pkg
xargs -n1 pip install < <(echo ./pkg)
xargs python3 -m pip install <<<./pkg
cat x 2>/dev/null | xargs pip install
timeout 60 pip install ./pkg
nohup python3 -m pip install ./pkg
cd pkg && pip install -e .
(cd pkg; python3 -m pip install .)
pip list; pip install ./pkg
python3 -c 'import x' || pip install x
python3 -c 'import x' 2>/dev/null || python3 -m pip install x
python3 -m ensurepip 2>/dev/null; python3 -m pip install x
ln -s /usr/bin/python3 py; ./py -m pip install x
ln -s /usr/bin/pip3 p; ./p install x
""",
    "kubectl delete": r"""
kubectl delete --all pods
kubectl delete ns x --wait=false
kubectl delete -k .
kubectl delete -f - <<<x
cat x 2>/dev/null | kubectl delete -f -
kubectl -n x --context y delete pod web
kubectl --server=x delete pod web
kubectl --server x delete pod web
kubectl --user x delete pod web
kubectl --as-group=x --as=y delete pod web
kubectl --insecure-skip-tls-verify delete pod web
kubectl --insecure-skip-tls-verify=true delete pod web
kubectl --certificate-authority x delete pod web
kubectl --cache-dir x delete pod web
kubectl --tls-server-name x delete pod web
kubectl --warnings-as-errors delete pod web
kubectl --v=9 delete pod web
kubectl -v9 delete pod web
kubectl --log-flush-frequency 5s delete pod web
kubectl --profile none delete pod web
kubectl -n "$NS" delete pod web
kubectl -n $NS delete pod web
kubectl $OPTS delete pod web
kubectl ${CTX:+--context $CTX} delete pod web
k=kubectl; $k delete pod web
k="kubectl -n x"; $k delete pod web
verb=delete; kubectl $verb pod web
kubectl de"lete" pod web
kubectl 'delete' pod/web
kubectl $(echo delete) pod web
shopt -s expand_aliases␤alias k=kubectl␤k delete pod web
k() { kubectl "$@"; }; k delete pod web
k() { kubectl -n x "$@"; }; k delete pod web
echo pod/web | xargs kubectl delete
echo delete pod web | xargs kubectl
xargs -I{} kubectl delete pod {} <<<web
xargs -I{} kubectl {} pod web <<<delete
for p in web; do kubectl delete pod "$p" --grace-period=0; done
kubectl get pod web && kubectl delete pod web
kubectl get pods | awk '{print $1}' | xargs kubectl delete pod; xargs kubectl delete pod <<<web
timeout 9 kubectl delete pod web
if kubectl delete pod web; then :; fi
bash -c 'kubectl -n x delete pod web'
""",
    "docker run": r"""
docker run -d --name x -p 80:80 nginx
docker run --privileged -v /:/h alpine chroot /h
docker run -it --rm -v "$PWD:/w" -w /w alpine sh
docker run --rm $IMG
docker run "$@" alpine
docker container run --rm alpine
docker --context=x container run alpine
docker -H unix:///x run alpine
docker -Hunix:///x run alpine
docker --tlsverify --tlscert x --tlskey y run alpine
docker --config=x --log-level=error run alpine
docker -l error -D run alpine
docker -Dl error run alpine
docker $OPTS run alpine
docker ${H:+-H $H} run alpine
d=docker; $d run alpine
D="docker -H x"; $D run alpine
verb=run; docker $verb alpine
docker 'run' alpine
docker ru"n" alpine
docker $(echo run) alpine
docker {run,alpine}
docker build -q . | xargs docker run
echo alpine | xargs docker run --rm
echo run alpine | xargs docker
id=$(docker run -d alpine); docker logs $id
docker rm -f x 2>/dev/null || true; docker run --name x alpine
docker image inspect x >/dev/null 2>&1 || docker build -t x .; docker run x
timeout 60 docker run alpine
docker compose build && docker run alpine
shopt -s expand_aliases␤alias d=docker␤d run alpine
d() { docker "$@"; }; d run alpine
""",
    "terraform destroy": r"""
terraform -chdir=infra destroy -auto-approve
terraform -chdir="$PWD" destroy
terraform -chdir=$DIR destroy
terraform destroy -auto-approve -var x=1
TF_LOG=DEBUG terraform destroy
cd src && terraform destroy
t=terraform; $t destroy
a=destroy; terraform $a
terraform de"stroy"
echo destroy | xargs terraform
terraform $(echo destroy)
yes yes | terraform destroy
terraform plan -destroy -out=x && terraform destroy
""",
    "shutdown": r"""
shutdown -P +5 "going down"
shutdown -c
sleep 0; shutdown now
(shutdown now &)
nohup shutdown now &
wait; /sbin/shutdown -r now
/usr/sbin/shutdown -h +0
""",
    "dd": r"""
dd if=notes.txt | cat
dd if=/dev/zero of=/dev/null count=1
cat notes.txt | dd bs=1 count=3 2>/dev/null
dd if=<(echo x) of=out
x=$(dd if=notes.txt bs=1 count=1 2>/dev/null)
head -c 10 /dev/zero | dd of=out
""",
    "wget": r"""
wget -q -O - localhost:9 | bash
wget --no-check-certificate localhost:9
bash -c "$(wget -qO- localhost:9)"
source <(wget -qO- localhost:9)
command -v wget && wget localhost:9
W=wget; $W localhost:9
wget -c localhost:9 -P /tmp
xargs -n1 wget <<<localhost:9
""",
}
