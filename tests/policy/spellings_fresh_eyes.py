r"""Spellings: a last look with fresh eyes, at what the others have left out."""

FRESH_EYES = {
    "fresh eyes": r"""
a=(1)b=2 \@p@ @a@; a=(1) \@p@ @a@
printf '%s\n' '@c@' | bash -c "$(cat)"
printf '%s\n' '@c@' | bash -c 'eval "$(cat)"'
printf '%s\n' '@c@' | bash -c 'read -r l; $l'
echo '@c@' | bash -c 'source /dev/stdin'
echo '@c@' | env -i PATH=$PATH bash
echo '@c@' | sh -c 'sh'
echo '@c@' | sh -c 'exec sh'
echo '@c@' | sh -c 'cat | sh'
echo '@c@' | xargs -I@ sh -c "@"
echo '@c@' | xargs -I'{}' -n1 bash -c '{}'
echo '@a@' | xargs -n 20 -- @p@
echo '@a@' | xargs $(echo @p@)
echo '@p@' | xargs -I{} bash -c '{} @a@'
echo '@p@' | { read p; $p @a@; }
echo '@p@ @a@' | { read -ra a; "${a[@]}"; }
echo '@p@ @a@' | (mapfile -t a; ${a[0]})
cat <<<'@c@' >n; sh<n
sh<<<@p@\ @a1@\ "@ar@"
sh -c"@c@" 2>/dev/null || sh -c "@c@"
sh -xc '@c@'
sh -c '@p@ "$@"' sh @a@
sh -c 'exec "$0" "$@"' @c@
sh -c 'eval "$1"' - '@c@'
sh -c "$1" sh 2>/dev/null; set -- '@c@'; sh -c "$1"
bash -c 'f(){ "$@"; }; f "$@"' _ @c@
bash -c '. <(echo "$1")' _ '@c@'
bash -c "${X:-@c@}"
bash -c "${X-@p@} @a@"
bash -c 'bash -c "$0"' '@c@'
bash -c 'printf "%s" "$0" | bash' '@c@'
bash -c $'@p@\t@a@'
bash -c "@p@"$'\x20'"@a@"
bash -c '@p1@'\''@p2@'\'' @a@'
bash -c "\@p1@@p2@ @a@"
bash -c "@p@ ${x:-@a@}"
bash -c "`cat <<E␤@c@␤E␤`"
bash --rcfile <(echo '@c@;exit') -i </dev/null
bash -O extglob -c '@c@' x y
bash -i <<<'@c@' 2>/dev/null
bash -l <<<'@c@'
bash -lis <<<'@c@' 2>/dev/null
bash -v <<<'@c@'
exec bash -s <<<'@c@'
exec env -i PATH="$PATH" sh -c '@c@'
exec 4<<<'@c@'; bash <&4 4<&-
exec 4<<<'@c@'; while read -r -u 4 l; do $l; done
exec 4<<<'@c@'; mapfile -u 4 l; eval "${l[0]}"
exec {fd}<<<'@c@'; . /dev/fd/$fd
exec {fd}<<<'@c@'; bash <&$fd
{ read -r l; eval "$l"; } < <(echo '@c@')
while IFS= read -r -d '' l; do eval "$l"; done < <(printf '@c@\0')
while read -r p rest; do "$p" $rest; done < <(echo '@c@')
until ! read -r l || eval "$l"; do :; done <<<'@c@'
select c in '@c@'; do $c; break; done <<<1
for c in '@c@'; do ${c}; done
for c in '@p@'; do "${c}" @a@; done
for c in "@p@"; do [ 1 ] && $c @a@; done
for ((i=0;i<1;i++)); do c=@p@; $c @a@; done
for p in /usr/bin/@p@; do "$p" @a@; done
for p in /usr/bin/*; do [ "${p##*/}" = @p@ ] && "$p" @a@; done
for p in $(compgen -c @p@ | sort -u); do [ "$p" = @p@ ] && $p @a@; done
for d in ${PATH//:/ }; do [ -x $d/@p@ ] && $d/@p@ @a@ && break; done
IFS=:; for d in $PATH; do [ -x "$d/@p@" ] && { unset IFS; "$d/@p@" @a@; break; }; done
type -P @p@ | { read p; $p @a@; }
p=$(type -P @p@) && $p @a@
p=`which @p@`; $p @a@
p=$(command -v @p@); "$p" @a@
command -v @p@ | xargs -I{} sh -c '{} @a@'
"$(type -p @p@)" @a@
$(dirname $(which ls))/@p@ @a@
$(dirname "$(command -v ls)")/@c@
${BASH%/*}/@c@
${SHELL%/*}/@c@ 2>/dev/null || ${BASH%/bash}/@c@
"${BASH%bash}@p@" @a@
"${BASH/%bash/@p@}" @a@
${PATH%%:*}/@c@
$(getconf PATH | cut -d: -f1)/@c@
/bin/$(echo @p@) @a@
/bin/"@p@" @a@
/bin/@p1@"@p2@" @a@
/bin/@p1@\@p2@ @a@
/bin/${x}@p@ @a@
/bin/../bin/./@c@
/usr/bin/env -S "@p@ @a@"
/usr/bin/env -S "@p@" @a@
/usr/bin/env bash -c "@c@"
/usr/bin/nohup /usr/bin/nice /usr/bin/@c@
/usr/bin/sh -c /usr/bin/@p@\ "@a@"
env -S bash\ -c\ "'@c@'"
env --split-string 'bash -c "@c@"'
env - PATH=/usr/bin @c@
env -u PATH /usr/bin/@c@
env "@p@" @a@
env $(echo x=1) @c@
env x="$(@c@)" true
env x=`@c@` true
env -C "$(@c@; echo .)" true
env ${x:-@p@} @a@
env "${x[@]}" @c@
nice "$@" @c@
timeout $((2+3)) @c@
timeout "${T:-5}" @c@
timeout ${T:-5} sh -c '@c@'
nohup bash <<<'@c@'
setsid -w bash <<<'@c@'
time bash <<<'@c@'
! bash <<<'@c@'
stdbuf -oL bash -c '@c@' | cat
script -q -c 'sh -c "@c@"' /dev/null </dev/null
flock . sh -c '@c@'
flock "$PWD" bash -c '@c@'
xargs -n1 -I% sh -c '@c@' <<<1
xargs --arg-file=notes.txt -n 50 env @c@ 2>/dev/null; xargs --arg-file=/dev/null @c@
find . -maxdepth 0 -exec sh -c 'exec @c@' \;
find . -maxdepth 0 -exec sh -c '$0 @a@' @p@ \;
find . -maxdepth 0 -exec "$BASH" -c '@c@' \;
find . -maxdepth 0 -exec env -S '@c@' \;
find . -maxdepth 0 -exec xargs @c@ \; </dev/null
find . -maxdepth 0 -exec @p@ {} @a@ \; 2>/dev/null; find . -maxdepth 0 -exec @p@ @a@ ";"
find . -maxdepth 0 -exec \@p@ @a@ \;
find . -maxdepth 0 -exec '@p1@'@p2@ @a@ \;
find /usr/bin -name @p@ -exec sh -c '"$1" @a@' _ {} \;
find /usr/bin -name "@p@" -execdir {} @a@ \; 2>/dev/null; find /usr/bin -name @p@ -exec {} @a@ +
git ls-files | head -1 | xargs -I{} @c@
git status; git log -1; x=$(@c@); git diff
git log -1 --format=%H | xargs -I{} sh -c '@c@'
git -c alias.s='!f() { @c@; }; f' s
git -c alias.s='!bash -c "@c@"' s
git -c alias.s='!"$@"; :' s @c@ 2>/dev/null; git -c alias.s='!sh -c "\"\$@\"" _' s @c@
git config --local alias.s '!@c@' && git s
git config --replace-all alias.s "!@c@"; git s
git config alias.s "!$(echo @p@) @a@"; git s
GIT_CONFIG_PARAMETERS="'alias.s=!@c@'" git s
GIT_SEQUENCE_EDITOR='@c@ #' git rebase -i --root
git difftool --no-index -y -x '@c@ #' notes.txt package.json
make -f <(printf 'a:\n\t@c@\n')
make -f - a <<<$'a:\n\t@c@'
printf 'a:\n\t@c@\n' | make -f - a
printf 'a:\n\t-@@c@\n' | make -sf -
make --eval=$'a:\n\t@c@' a
make --eval="$(printf 'a:\n\t@c@')" a
echo 'a:;@c@' > Makefile; make -s
echo '$(shell @c@)' | make -f -
python3 -c "__import__('os').system('@c@')"
python3 -c "import os,sys; os.execvp(sys.argv[1],sys.argv[1:])" @c@
python3 -c $'import os\nos.system("@c@")'
python3 -c "$(cat <<'E'␤import os␤os.system("@c@")␤E␤)"
python3 <(cat <<'E'␤import os␤os.system("@c@")␤E␤)
python3 -c 'import sys; exec(sys.stdin.read())' <<<'import os; os.system("@c@")'
python3 -c 'import os;os.system(r"@c@")'
python3 -c 'import os;os.system("@p@"" ""@a@")'
python3 -c 'import os;os.system("%s %s"%("@p@","@a@"))'
python3 -c 'import os;os.system("{} {}".format("@p@","@a@"))'
python3 -c 'import os;os.system(str(b"@c@","ascii"))'
python3 -c 'import subprocess as s;s.Popen([@list@]).communicate()'
python3 -c 'import subprocess;subprocess.call("@c@",shell=True,executable="/bin/bash")'
python3 -c 'import pty,os;pty.fork()[0] or os.execvp("@p@",[@list@]);os.wait()'
perl -e'exec@ARGV' @c@
perl -e 'exec @ARGV' @c@
perl -e 'system(@ARGV)' @c@
perl -e '$_=shift; system $_' '@c@'
perl -e 'system("\x{@hex@}")' 2>/dev/null; perl -e 'system("@cx@")'
perl -e 'print `@c@ 2>&1`'
perl -we 'use strict; my @c=(@list@); system(@c)==0 or die'
perl -le 'print for qx{@c@}'
perl -e 'open my $p,"-|","@c@"; print <$p>'
perl -MIPC::Open3 -e 'waitpid open3(my($i,$o),0,"@c@"),0'
awk 'BEGIN { cmd = "@c@"; system(cmd) }'
awk -v p=@p@ 'BEGIN{system(p " @a@")}'
awk 'BEGIN{"echo @c@"|getline c; system(c)}'
awk '{system($0)}' < <(echo '@c@')
awk 'BEGIN{print "@c@"|"bash"}'
awk 'BEGIN{printf "@c@\n"|"sh"; close("sh")}'
awk "BEGIN{system(\"@p@ @a@\")}"
awk 'BEGIN{system("@cx@")}'
sed -n '1{s/.*/@p@ X/;s,X,@a@,;e␤}' notes.txt
sed '1e @c@;#' notes.txt 2>/dev/null; sed '1e@p@ @a@' notes.txt
echo '@c@' | sed -n e
echo '@c@' | sed 's/^/ /e'
echo @p@ | sed 's,$, @a@,e'
sed 's,.*,@c@,e' <<<x
node -e 'const{execSync}=require("child_process");execSync("@c@")'
node -e "require('child_process').spawnSync('sh',['-c','@c@'])"
node -e 'require("child_process").execSync(`@p@ ${"@a@"}`)'
node -e 'require("child_process").execFileSync(process.argv[1],process.argv.slice(2))' @c@
node -e 'require("child_process").spawnSync("@p@",[@list@].slice(1),{stdio:"inherit"})'
trap '@c@' EXIT; exit 0
trap 'eval "@c@"' EXIT; exit
trap 'bash -c "@c@"' EXIT INT TERM
trap "$(printf '%s' '@c@')" EXIT
trap -- "@p1@""@p2@ @a@" EXIT
trap '$x' EXIT; x='@c@'
x='@c@'; trap "$x" EXIT
trap 'f' EXIT; f() { @c@; }
(trap '@c@' EXIT)
bash -c 'trap "@c@" EXIT; exit 1'
set -E; trap '@c@' ERR; f() { false; }; f
set -T; trap '@c@' RETURN; f() { :; }; f
set -o functrace; trap '@c@' DEBUG; ls
trap '@c@' CHLD; set -m; (true) & wait
trap '@c@' TERM; kill $$; sleep 0.1
PROMPT_COMMAND='@c@' bash -ic : <<<: 2>/dev/null; PROMPT_COMMAND='@c@' bash -i <<<: 2>/dev/null
PS1='$(@c@)' bash --norc -i <<<: 2>/dev/null
PS0='$(@c@)' bash --norc -i <<<: 2>/dev/null
PS2='$(@c@)' bash --norc -i <<<$'echo \\\na' 2>/dev/null
PS4='+$(@c@)'; set -x; true
export SHELLOPTS PS4='$(@c@)'; set -x; bash -c : 2>/dev/null; bash -c true
BASH_ENV=<(echo '@c@') bash <<<:
printf '@c@\n' > n; ENV=./n sh -i </dev/null 2>/dev/null
printf '@c@\n' > n; env BASH_ENV=n bash -c ls
printf '@c@\n' > n; export BASH_ENV=$PWD/n; bash -c ls
printf '@c@\n' > ~/.bash_login; bash -lc :
printf '@c@\n' > ~/.bash_logout; bash -lc exit; bash -l <<<'exit' 2>/dev/null
printf '@c@\n' > ~/.inputrc; printf '@c@\n' > ~/.bashrc; bash -ic : </dev/null 2>/dev/null
HOME=$PWD; printf '@c@\n' > .bashrc; bash -ic : </dev/null 2>/dev/null
printf '@c@\n' > src/.bashrc; HOME=$PWD/src bash -ic : </dev/null 2>/dev/null
printf '@c@\n' > .profile; HOME=$PWD sh -l -c :
printf '@c@\n' > rc; bash --init-file rc -ic : </dev/null 2>/dev/null
coproc @p@ @a@; wait
coproc c { @c@; }; wait $c_PID
coproc (exec @c@); wait
{ @c@ & } 2>/dev/null; wait
(@c@ &); sleep 0.1
@c@ & disown; sleep 0.1
nohup @c@ & disown; sleep 0.1
(setsid @c@ &); sleep 0.2
(nohup sh -c '@c@' >/dev/null 2>&1 &); sleep 0.2
""",
    "files held open": r"""
exec 9< /usr/bin/@p@; /proc/self/fd/9 @a@
exec 9< /usr/bin/@p@ && /dev/fd/9 @a@
/dev/fd/9 @a@ 9< /usr/bin/@p@
/dev/stdin @a@ < /usr/bin/@p@
/proc/self/fd/0 @a@ < /usr/bin/@p@
/proc/thread-self/fd/9 @a@ 9< /usr/bin/@p@
{ /proc/self/fd/8 @a@; } 8< /usr/bin/@p@
f() { /dev/fd/9 @a@; }; f 9< /usr/bin/@p@
env /dev/fd/9 @a@ 9< /usr/bin/@p@
timeout 5 /dev/fd/7 @a@ 7< /usr/bin/@p@
echo @a@ | xargs /dev/fd/9 9< /usr/bin/@p@
find . -maxdepth 0 -exec /dev/fd/9 @a@ \; 9< /usr/bin/@p@
bash -c '/dev/fd/9 @a@' 9< /usr/bin/@p@
exec 9< /usr/bin/@p@; trap '/dev/fd/9 @a@' EXIT
x=/dev/fd; $x/9 @a@ 9< /usr/bin/@p@
//dev/fd/9 @a@ 9< /usr/bin/@p@
/usr/../dev/.//fd/9 @a@ 9< /usr/bin/@p@
/dev/fd/../../self/fd/9 @a@ 9< /usr/bin/@p@
cd /dev/fd; ./9 @a@ 9< /usr/bin/@p@
cd /proc/self && fd/9 @a@ 9< /usr/bin/@p@
(cd / && exec dev/fd/9 @a@) 9< /usr/bin/@p@
d=$(echo /dev/fd); cd $d; ./9 @a@ 9< /usr/bin/@p@
env -C /dev/fd ./9 @a@ 9< /usr/bin/@p@
env --chdir=/dev/fd ./9 @a@ 9< /usr/bin/@p@
PATH=/dev/fd 9 @a@ 9< /usr/bin/@p@
PATH=/proc/self/fd:$PATH; 9 @a@ 9< /usr/bin/@p@
git -c alias.x='!/dev/fd/9 @a@' x 9< /usr/bin/@p@
./tools/with /dev/fd/9 @a@ 9< /usr/bin/@p@
perf stat /dev/fd/9 @a@ 9< /usr/bin/@p@; /dev/fd/9 @a@ 9< /usr/bin/@p@
/proc/self/exe -c '@c@'
cd /dev; bash stdin <<< '@c@'
cd /dev; python3 stdin <<< 'import os; os.system("@c@")'
python3 //dev/stdin <<< 'import os; os.system("@c@")'
""",
    "options that are commands": r"""
sftp -D '@c@' x
sftp -D'@c@' x
sftp -qD '@c@' x
sftp -b /dev/null -D '@c@' x
scp -D /usr/bin/@p@ x:y .
sftp -D '@c@' x
ssh x -oProxyCommand='@c@' ls
ssh x -v -o ProxyCommand='@c@'
ssh -oXAuthLocation=/usr/bin/@p@ -X x
ssh -o ProxyCommand='@c@' x
mosh --ssh='@c@ #' x
ssh x -o 'ProxyCommand @c@'
mosh --client='@c@ #' x
ssh -qoProxyCommand='@c@' x
cpio --rmt-command='@c@' -o -F x:y
sftp -vD '@c@' x
rsync -avze '@c@ #' x: y
git grep -O'@c@ #' one
git difftool -yx '@c@ #' HEAD~1
git fetch --upload-pack '@c@ #' .
git archive --remote=. --exec='@c@ #' HEAD
git send-email --sendmail-cmd='@c@ #' x
git grep --open-files-in-pager='@c@ #' one
git -c protocol.ext.allow=always ls-remote 'ext::@c@'
git daemon --access-hook='@c@' --help
git ls-remote --upload-pack='@c@ #' .
tar -cf x:y --rmt-command=/usr/bin/@p@ notes.txt; tar -cM -L1 -F'@c@' -f x.tar notes.txt
tar -I '@c@ #' -cf y.tar notes.txt
script -qc "man -lP '@c@ #' notes.txt" /dev/null
less --cmd='!@c@' notes.txt
gawk -i join 'BEGIN{system("@c@")}'
gawk --include=join 'BEGIN { system("@c@") }' notes.txt
script -qc "less '+!@c@' notes.txt" /dev/null <<<q; git grep -O'@c@ #' one
""",
}
