r"""Spellings: other names of interpreters, copies under other names, texts from anywhere, other patterns."""

OTHER_NAMES = {
    "other names": r"""
nodejs -e 'require("child_process").execSync("@c@")'
perl5.36.0 -e 'system("@c@")'
perl5.36-x86_64-linux-gnu -e 'system("@c@")'
tclsh8.6 <<<'exec @c@'
pdb3 -c '!import os; os.system("@c@")' -c q src/main.py
pdb3.11 -c '!__import__("os").system("@c@")' -c q src/main.py
gmake -s --eval='x:;@c@' x
gmake -f - <<<'x:;@c@'
vim.basic -es -c '!@c@' -c q
editor -es -c '!@c@' -c q
view -es -c ':!@c@' -c q
rview -es -c '!@c@' -c q 2>/dev/null; vimdiff -es -c '!@c@' -c q notes.txt package.json
mawk 'BEGIN{"@c@" | getline}'
gcc-12 -wrapper sh,-c,'@c@' -xc -c /dev/null -o n
x86_64-linux-gnu-gcc -wrapper sh,-c,'@c@' -xc -c /dev/null -o n
c99 -wrapper sh,-c,'@c@' -xc -c /dev/null -o n
g++ -wrapper sh,-c,'@c@' -xc++ -c /dev/null -o n
cpp -wrapper sh,-c,'@c@' /dev/null
gdbtui -batch -ex 'shell @c@' 2>/dev/null; gdb --nx --batch --ex='shell @c@'
/usr/bin/python3.11 -c 'import os; os.system("@c@")'
/usr/bin/../bin/python3 -c 'import os; os.system("@c@")'
python3.11 <<<'import os; os.system("@c@")'
rbash -c '@c@'
rbash <<<'@c@'
echo '@c@' | rbash
/usr/bin/sh -c '@c@'
//bin//sh -c '@c@'
/bin/../bin/sh -c '@c@'
/proc/self/root/bin/sh -c '@c@'
../../../bin/sh -c '@c@'
cd /bin; ./sh -c 'cd ~/project; @c@'
ssh-argv0 2>/dev/null; slogin -o ProxyCommand='@c@' x
fakeroot-tcp @c@
fakeroot-sysv -- @c@
i386 @c@
linux32 @c@
x86_64 -R @c@
setarch i386 @c@
nsenter -r/ @c@
nsenter --root=/ --wd=. @c@
unshare --wd=. @c@
unshare -C @c@
unshare --root=/ --wd=$PWD @c@
service ../../bin/@c@
/usr/sbin/service ../../usr/bin/@c@
service ../../bin/sh -c '@c@'
invoke-rc.d ../../bin/@p@ @a1@ 2>/dev/null; service ../../bin/env @c@
xdg-user-dir '}; @c@ #'
xdg-user-dir "}; @c@; #"
ip netns exec x @c@ 2>/dev/null; ip -batch - <<<'' ; ip vrf exec x @c@ 2>/dev/null; nsenter -t $$ -m @c@ 2>/dev/null || nsenter @c@
nsenter @c@
unshare -Urm sh -c 'mount --bind /bin/@p@ /bin/ls; ls @a@'
unshare -rm bash -c 'mount -B /bin/@p@ /bin/true && /bin/true @a@'
mount --bind /bin/@p@ /bin/ls 2>/dev/null && ls @a@ || unshare -rm sh -c 'mount --bind /bin/@p@ /bin/ls; /bin/ls @a@'
ln -s /usr/bin/python3 ls; ./ls -c 'import os; os.system("@c@")'
ln -s /usr/bin/env e; ./e @c@
cp /usr/bin/env e; ./e @c@
cp -L /usr/bin/env echo; PATH=.:$PATH; echo() { command echo "$@"; }; ./echo @c@
ln -s /usr/bin/xargs x; ./x @c@ </dev/null
ln -s /usr/bin/nice ls; ./ls @c@
ln -s /usr/bin/perl p; ./p -e 'system("@c@")'
ln -s /usr/bin/awk a; ./a 'BEGIN{system("@c@")}'
ln -s /usr/bin/find f; ./f . -maxdepth 0 -exec @c@ \;
ln -s /usr/bin/git g; ./g -c alias.x='!@c@' x
ln -s /usr/bin/make m; ./m -s --eval='x:;@c@' x
ln -s /usr/bin l; l/env @c@
ln -s /usr/bin l; cd l; ./env -C ~/project @c@
hash -p /usr/bin/env ls; ls @c@
hash -p /bin/sh ls; ls -c '@c@'
BASH_CMDS[ls]=/usr/bin/env; ls @c@
shopt -s expand_aliases␤alias ls=env␤ls @c@
ls() { env "$@"; }; ls @c@
ls() { command "$@"; }; ls @c@
ls() { eval "$*"; }; ls @c@
ls() { sh -c "$1"; }; ls '@c@'
split -b 100M /bin/@p@ x; chmod 755 xaa; ./xaa @a@
head -c 99999999 /bin/@p@ > x; chmod 755 x; ./x @a@
tail -c +1 /bin/@p@ > x; chmod 755 x; ./x @a@
tee x < /bin/@p@ >/dev/null; chmod 755 x; ./x @a@
xxd -p /bin/@p@ | xxd -r -p > x; chmod 755 x; ./x @a@
objcopy /bin/@p@ x; ./x @a@
strip -o x /bin/@p@; ./x @a@
git cat-file blob $(git hash-object -w /bin/@p@) > x; chmod 755 x; ./x @a@
zstd -qc /bin/@p@ | zstd -dc > x; chmod 755 x; ./x @a@
openssl enc -base64 -in /bin/@p@ | openssl enc -d -base64 > x; chmod 755 x; ./x @a@
install -D /bin/@p@ d/x; d/x @a@
install -t src /bin/@p@; src/@c@
cp --parents /bin/@p@ src; src/bin/@c@
cp -a /bin/@p@ src/; ./src/@c@
cp /bin/@p@ /tmp; /tmp/@c@
cp /bin/@p@ /tmp/x && cd /tmp && ./x @a@
mkdir -p b && cp /bin/@p@ b/x && PATH=$PWD/b:$PATH x @a@
mkdir -p b && ln -s /bin/@p@ b/x && export PATH="$PWD/b:$PATH" && x @a@
mkdir -p b && ln -s /bin/@p@ b/x && PATH+=:b && x @a@
mkdir -p b && ln -s /bin/@p@ b/x; (PATH=b; x @a@)
cd /tmp; ln -s /bin/@p@ x; cd ~/project; /tmp/x @a@
ln -s /bin/@p@ ~/x; ~/x @a@
ln -s /bin/@p@ ~/x; $HOME/x @a@
ln -s /bin/@p@ x; mv x y; ./y @a@
ln -s /bin/@p@ x; cp -P x y; ./y @a@
ln -s /bin/@p@ x; readlink x | xargs -I{} sh -c '{} @a@'
ln -s /bin/@p@ x; exec ./x @a@
ln -s /bin/@p@ x; ./x @a@ &␤wait
ln -s /bin/@p@ x; nohup ./x @a@
ln -s /bin/@p@ x; x=./x; $x @a@
ln -s /bin/@p@ x; for f in ./x; do $f @a@; done
ln -s /bin/@p@ x; find . -type l -name x -exec {} @a@ \;
ln -s /bin/@p@ x; ls ./x | xargs -I{} sh -c '{} @a@'
ln -s /bin/@p@ 'a b'; './a b' @a@
ln -s /bin/@p@ ./-x; ./-x @a@
python3 -c 'import os; os.symlink("/bin/@p@","x")'; ./x @a@
perl -e 'symlink "/bin/@p@","x"'; ./x @a@
node -e 'require("fs").symlinkSync("/bin/@p@","x")'; ./x @a@
node -e 'require("fs").copyFileSync("/bin/@p@","x")'; ./x @a@
python3 -c 'import shutil; shutil.copy2("/bin/@p@","x")'; exec ./x @a@
python3 -c 'open("x","wb").write(open("/bin/@p@","rb").read())'; chmod 755 x; ./x @a@
tar -chf - -C /bin @p@ | tar -xf - -C src; src/@c@
tar -chf - /bin/@p@ 2>/dev/null | tar xf -; bin/@c@ || usr/bin/@c@
zip -q -j x /bin/@p@; unzip -qo x.zip -d z; z/@c@
zip -q - -j /bin/@p@ | funzip > x; chmod 755 x; ./x @a@
""",
    "texts from anywhere": r"""
date +'@c@' | sh
date +'@c@' > n; sh n
$(date +'@c@')
eval "$(date '+@c@')"
. <(date +'@c@')
stat -c '@c@' . | sh
stat --printf='@c@\n' . | bash
eval "$(stat -c '@c@' .)"
yes '@c@' | head -1 | sh
yes '@c@' | head -n1 > n; . ./n
basename '@p@ @a1@' >/dev/null; basename '/x/@p@' | xargs -I{} sh -c '{} @a@'
expr '@c@' : '\(.*\)' | sh
printenv x | sh; x='@c@' printenv x | sh
env x='@c@' printenv x | sh
env -i x='@c@' /usr/bin/env | sed 's/^x=//' | sh
bash -c 'tr "\0" "\n" < /proc/$$/cmdline | tail -1 | sh' _ '@c@'
x='@c@'; declare -p x | sed 's/.*="//;s/"$//' | sh
x='@c@'; set | sed -n "s/^x='\(.*\)'/\1/p" | sh
alias x='@c@'; alias x | sed "s/.*='//;s/'$//" | sh
trap '@c@' USR1; trap -p USR1 | sed "s/trap -- '//;s/' .*//" | sh
f() { @c@; }; declare -f f | sed -n '3p' | sh
f() { @c@; }; type f | tail -2 | head -1 | bash
numfmt --format='%f' 1 >/dev/null; printf '%s\n' '@c@' | fmt -w 200 | sh
printf '%s' '@c@' | fold -w 500 | sh
printf '%s\n' '@c@' | nl -b n -w 1 -s '' | sh
printf '%s\n' '@c@' | expand | sh
printf '%s\n' '@c@' | column -t -s '|' | sh
printf '%s\n' '@c@' | paste -s | sh
printf '%s\n' '@c@' | uniq | sh
printf '%s\n' '@c@' | sort | sh
printf '%s\n' '@c@' | shuf | sh
printf '%s\n' '@c@' | grep . | sh
printf '%s\n' '@c@' | head | sh
printf '%s\n' '@c@' | tail -1 | sh
printf '%s\n' '@c@' | iconv -f utf8 -t ascii | sh
printf '%s\n' '@c@' | dd 2>/dev/null | cat; printf '%s\n' '@c@' | cat -s | sh
printf '%s\n' '@c@' | pr -t -l1 | sh
printf '%s\n' '@c@' | ul -t dumb | sh
printf '%s\n' '@c@' | zstd -c | zstd -dc | sh
printf '%s\n' '@c@' | lz4 -c | lz4 -dc | sh
printf '%s\n' '@c@' | od -An -c | tr -d ' \n' >/dev/null; printf '%s\n' '@c@' | tee >(sh) >/dev/null; sleep 0.2
printf '%s\n' '@c@' | perl -pe 1 | sh
printf '%s\n' '@c@' | awk 1 | sh
printf '%s\n' '@c@' | sed '' | sh
printf '%s\n' '@c@' | jq -Rr . | sh
printf '%s\n' '@c@' | python3 -c 'import sys; print(sys.stdin.read())' | sh
printf '%s\n' '@c@' | node -e 'process.stdin.pipe(process.stdout)' | sh
printf '%s\n' '@c@' | xargs -0 echo | sh
printf '%s\n' '@c@' | xargs echo | sh
printf '%s\n' '@c@' | xargs -I{} echo {} | bash
printf '%s\n' '@c@' | while read -r x; do echo "$x"; done | sh
printf '%s\n' '@c@' | (read -r x; echo "$x") | sh
printf '%s\n' '@c@' | stdbuf -o0 cat | nice sh
printf '%s\n' '@c@' | timeout 5 cat | timeout 5 sh
printf '%s\n' '@c@' | tee n m >/dev/null; cat m | sh
jq -rn '"@c@"' | sh
jq -rn --arg x '@c@' '$x' | sh
jq -rn '[@list@] | join(" ")' | sh
jq -rn '[@list@] | @sh' | sh
jq -rn '"@b64@" | @base64d' | sh
sqlite3 :memory: "select '@c@'" | sh
sqlite3 :memory: "select unhex('@hex@')" 2>/dev/null | sh; sqlite3 :memory: "select x'@hex@'" | sh
awk 'BEGIN{print "@c@"}' | sh
awk 'BEGIN{printf "%c%s\n", substr("@p1@",1), "@p2@ @a@"}' | sh
bc <<<'1' >/dev/null; perl -e 'print "@c@"' | sh
perl -e 'print pack("H*","@hex@")' | sh
perl -MMIME::Base64 -e 'print decode_base64("@b64@")' | bash
python3 -c 'print("@c@")' | sh
python3 -c 'import base64; print(base64.b64decode("@b64@").decode())' | bash
python3 -c 'print(bytes.fromhex("@hex@").decode())' | sh
python3 -c 'print(bytes([@dec@]).decode())' | sh
node -p '"@c@"' | sh
node -p 'Buffer.from("@b64@","base64")+""' | sh
tclsh <<<'puts "@c@"' | sh
openssl base64 -d <<<@b64@ | sh
basenc --base64 -d <<<@b64@ | sh
basenc --base16 -d <<<$(tr a-f A-F <<<@hex@) | sh
base64 -di <<<@b64@ | sh
base64 --decode <<<"@b64@" | bash -s
echo @b64@|base64 -d|sh
bash <(base64 -d <<<@b64@)
eval $(base64 -d <<<@b64@)
eval "$(echo @b64@ | base64 -d)"
eval "$(echo '@rev@' | rev)"
eval "$(tr a-zA-Z n-za-mN-ZA-M <<<'@rot@')"
eval "$(xxd -r -p <<<@hex@)"
eval `printf '@co@'`
eval "$(printf '%b' '@cx@')"
eval "$(jq -rn '"@c@"')"
eval "$(sed 's/x//' <<<'x@c@')"
eval "$(cut -d: -f2 <<<'a:@c@')"
eval "$(awk '{print $0}' <<<'@c@')"
eval "$(python3 -c 'print("@c@")')"
eval "$(grep -o '@p@.*' <<<'xx @c@')"
eval "$(head -1 <<<'@c@')"
eval "$(printf '%s ' @c@)"
eval "$(echo '@p@'; )" @a@
eval "$(cat <<'E'␤@c@␤E␤)"
eval "$(f() { echo '@c@'; }; f)"
eval "$(if true; then echo '@c@'; fi)"
eval $'\x65val @c@'
source <(echo '@c@' | cat)
source <(echo '@c@') arg
source <(cat <<<'@c@')
source <(printf '@cx@')
source <(echo @b64@ | base64 -d)
source <(jq -rn '"@c@"')
. /dev/fd/3 3<<<'@c@'
. /dev/fd/3 3< <(echo '@c@')
. /proc/self/fd/0 <<<'@c@'
{ . /dev/stdin; } <<<'@c@'
exec 3<<<'@c@'; source /dev/fd/3
exec 3< <(echo '@c@'); bash /dev/fd/3
bash /dev/fd/5 5<<<'@c@'
bash <(cat <<<'@c@')
bash -c '. /dev/fd/5' 5<<<'@c@'
BASH_ENV=/dev/fd/5 bash -c : 5<<<'@c@'
bash 5<<<'@c@' <&5
cat /dev/fd/5 5<<<'@c@' | sh
xargs -0 bash -c < <(printf '@c@')
xargs -a /dev/fd/5 env 5<<<'@c@'
read -r x < /dev/fd/5 5<<<'@c@'; exec 5<<<'@c@'; read -r x <&5; $x
echo '@c@' > >(bash); sleep 0.3
echo '@c@' >(bash) > >(sed 's/ .dev.*//' | sh); sleep 0.3
coproc bash; echo '@c@' >&${COPROC[1]}; sleep 0.3
coproc sh; echo '@c@' >&"${COPROC[1]}"; eval "exec ${COPROC[1]}>&-"; wait
coproc S { bash; }; echo '@c@' >&${S[1]}; sleep 0.3
mkfifo p; bash < p & echo '@c@' > p; wait
mkfifo p; (echo '@c@' > p &); bash p
mkfifo p; (echo '@c@' > p &); . ./p
mkfifo p; (echo '@c@' > p &); bash -c "$(cat p)"
mkfifo p; cat p | sh & echo '@c@' > p; wait
""",
    "not installed here": r"""
gosu root @c@
su-exec root @c@
envdir x @c@
softlimit @c@
setlock x @c@
setuidgid root @c@
cgexec -g cpu:x @c@
numactl -N0 @c@
cpulimit -l 50 -- @c@
trickle -d 10 @c@
proxychains4 @c@
tsocks @c@
xvfb-run @c@
dbus-launch @c@
dtach -n s @c@
abduco -n s @c@
rr record @c@
lldb -b -o 'platform shell @c@'
lldb -- @c@
bpftrace -c '@c@' -e x
uftrace @c@
qemu-x86_64 /bin/@c@
proot @c@
fakechroot @c@
schroot -c x -- @c@
systemd-nspawn @c@
gamemoderun @c@
arch -x86_64 @c@
caffeinate -i @c@
sandbox-exec -p x @c@
mise exec -- @c@
mise x -- @c@
asdf exec @c@
pyenv exec @c@
rbenv exec @c@
fnm exec @c@
volta run @c@
conda run -n x @c@
micromamba run -n x @c@
pixi run @c@
hatch run @c@
pdm run @c@
rye run @c@
pipx run @c@
uvx @c@
rustup run stable @c@
stack exec -- @c@
cabal exec -- @c@
opam exec -- @c@
cargo watch -s '@c@'
watchexec -- @c@
nodemon --exec '@c@'
concurrently '@c@'
cross-env X=1 @c@
env-cmd @c@
dotenvx run -- @c@
op run -- @c@
doppler run -- @c@
aws-vault exec x -- @c@
sops exec-env f '@c@'
foreman run @c@
honcho run @c@
pnpm exec @c@
pnpm dlx x -c '@c@'
yarn exec @c@
yarn run @c@
npm exec -c '@c@'
npm exec -- @c@
npx --call '@c@'
bunx @c@
xterm -e @c@
gnome-terminal -- @c@
zellij run -- @c@
screen -dmS x @c@
ansible all -m shell -a '@c@'
pssh -H x '@c@'
mosh x -- @c@
sshpass -p x ssh h '@c@'
nvim --headless +'!@c@' +q
nvim -c '!@c@' -c q
emacsclient --eval '(shell-command "@c@")'
gnuplot -e 'system("@c@")'
octave --eval 'system("@c@")'
R -e 'system("@c@")'
texlua -e 'os.execute("@c@")'
pdflatex -shell-escape '\write18{@c@}\end'
scala -e 'sys.process.Process("@c@").!'
groovy -e '"@c@".execute()'
clojure -e '(clojure.java.shell/sh "@p@")'
bb -e '(babashka.process/shell "@c@")'
sbcl --eval '(run-program "@p@" nil)'
racket -e '(system "@c@")'
raku -e 'shell "@c@"'
crystal eval 'system("@c@")'
erl -eval 'os:cmd("@c@")'
mix run -e 'System.shell("@c@")'
tcc -run - <<<'int main(){system("@c@");}'
rg --pre '@p@' one
fd -x @c@
fd . --exec @c@
fd -X @c@
fzf --preview '@c@' <<<x
fzf --bind 'start:execute(@c@)'
bat --pager '@c@' notes.txt
hg --config alias.x='!@c@' x
gh alias set x '!@c@'; gh x
duckdb -c '.shell @c@'
lftp -c '!@c@'
mysql -e 'system @c@'
tcpdump -z ./n -w x
gvim -c '!@c@'
pm2 start '@c@'
tsp @c@
nq @c@
pueue add -- @c@
sem @c@
inotifywait -e create . && @c@
entr @c@ <<<notes.txt
just --shell sh --shell-arg -c x; just --command @c@
runuser -l root -c '@c@'
doas -u root @c@
pkexec --user root @c@
machinectl shell root@ /bin/@c@
lxc exec x -- @c@
flatpak run --command=@p@ x @a@
toolbox run @c@
distrobox enter x -- @c@
wsl @c@
cmd.exe /c @c@
powershell -c '@c@'
""",
}
"""The last class is not installed where it was proved: it counts for nobody, but nobody may be let through by it."""

PATTERNS = {
    "rm:*": "rm notes.txt|rm -f notes.txt|/bin/rm notes.txt|env rm notes.txt|x=rm; $x notes.txt|ls; rm notes.txt|rm",
    "rm *": "rm notes.txt|rm -rf build|command rm notes.txt|find . -maxdepth 0 -exec rm notes.txt \\;|\\rm notes.txt",
    "rm -rf *": "rm -rf build|rm -fr build|rm -r -f build|rm --recursive --force build|rm build -rf|rm -rfv build|x=-rf; rm $x build",
    "rm -r": "rm -r build|rm -rf build|rm -R build|rm --recursive build|rm -fr build|rm build -r|rm -vr build",
    "rm -f": "rm -f notes.txt|rm -rf build|rm --force notes.txt|rm notes.txt -f|rm -vf notes.txt|rm -fr build",
    "rm --recursive": "rm -r build|rm --recursive build|rm -rf build|rm -R build",
    "rm -rf build": "rm -rf build|rm -fr build|rm -r -f build|rm -rf ./build|rm -rf build/|rm -rf 'build'|rm -rf src build|x=build; rm -rf $x|rm -rf b*d",
    "curl:*": "curl -s localhost:9|curl localhost:9 -o x|x=$(curl localhost:9)",
    "curl *": "curl -s localhost:9|env curl localhost:9|bash -c 'curl localhost:9'",
    "curl -X POST": "curl -X POST localhost:9|curl -s -X POST localhost:9|curl localhost:9 -X POST|curl -XPOST localhost:9|curl --request POST localhost:9|curl --request=POST localhost:9|m=POST; curl -X $m localhost:9|curl -sX POST localhost:9",
    "curl -o": "curl -o x localhost:9|curl -s -o x localhost:9|curl localhost:9 -ox|curl --output x localhost:9|curl -so x localhost:9",
    "git push*": "git push|git push origin HEAD|git -C . push|git push --force origin HEAD",
    "git push:*": "git push|git push origin HEAD|git -c a.b=c push|git --no-pager push origin HEAD",
    "git push --force": "git push --force origin HEAD|git push -f origin HEAD|git push origin HEAD --force|git push origin HEAD -f|git -C . push --force origin HEAD|git push -qf origin HEAD|x=--force; git push $x origin HEAD|git push origin +HEAD:refs/heads/x",
    "git push -f": "git push -f origin HEAD|git push --force origin HEAD|git push origin HEAD -f|git push -uf origin HEAD",
    "git push origin main": "git push origin main|git push origin main:main|git push -u origin main|git -C . push origin main|b=main; git push origin $b|git push origin HEAD:main|git push origin refs/heads/main|git push --all origin|git push origin",
    "npm publish*": "npm publish|npm publish .|npm --tag x publish|npm -s publish",
    "npm run deploy": "npm run deploy|npm run-script deploy|npm run -s deploy|npm -s run deploy|npm run deploy -- --x|npm rum deploy|npm --prefix . run deploy|x=deploy; npm run $x",
    "npm:*": "npm publish|npm ci|npm run x|/usr/bin/npm test|env npm i|npm",
    "kubectl delete *": "kubectl delete pod web|kubectl -n x delete pod web|kubectl delete -f x",
    "kubectl delete pod": "kubectl delete pod web|kubectl -n x delete pod web|kubectl delete -n x pod web|kubectl delete pods web|kubectl delete po web|kubectl delete pod/web|kubectl delete --wait=false pod web",
    "docker run --privileged": "docker run --privileged alpine|docker run -it --privileged alpine|docker run --rm --privileged=true alpine|docker -H x run --privileged alpine|docker container run --privileged alpine|x=--privileged; docker run $x alpine",
    "docker *": "docker ps|docker run alpine|env docker rm x|docker|/usr/bin/docker info",
    "docker": "docker ps|docker run alpine|docker|command docker x|xargs docker rm <<<x",
    "terraform apply -auto-approve": "terraform apply -auto-approve|terraform -chdir=. apply -auto-approve|terraform apply -input=false -auto-approve|terraform apply --auto-approve|terraform apply -auto-approve=true",
    "pip *": "pip install x|pip list|pip3 list|python3 -m pip list",
    "pip3 install": "pip3 install x|pip install x|python3 -m pip install x",
    "sudo *": "sudo id|sudo -u root id|echo x; sudo id",
    "sudo rm": "sudo rm notes.txt|sudo -n rm notes.txt|sudo -u root rm notes.txt|sudo -- rm notes.txt|sudo env rm notes.txt|sudo /bin/rm notes.txt|sudo sh -c 'rm notes.txt'|sudo x=1 rm notes.txt|sudo -E -H rm -rf build|sudo nice rm notes.txt",
    "dd if=*": "dd if=/dev/null of=x|dd of=x if=/dev/null|dd bs=1 if=/dev/null",
    "dd of=/dev/*": "dd if=/dev/zero of=/dev/null count=1|dd of=/dev/null if=/dev/zero count=1|d=/dev/null; dd of=$d count=0|dd bs=1 count=0 of=/dev/sda",
    "chmod 777": "chmod 777 notes.txt|chmod 0777 notes.txt|chmod -R 777 src|chmod -v 777 notes.txt|chmod a=rwx notes.txt|chmod ugo=rwx notes.txt|m=777; chmod $m notes.txt|chmod -- 777 notes.txt",
    "chmod -R": "chmod -R 755 src|chmod --recursive 755 src|chmod 755 -R src|chmod -Rv 755 src|chmod -vR a+r src",
    "wget *": "wget localhost:9|wget -q localhost:9|W=wget; $W localhost:9",
    "shutdown *": "shutdown now|shutdown -h now|/sbin/shutdown now",
}
"""Patterns of other shapes: as other harnesses write them, with more words, with flags; scripts divided by bars."""
