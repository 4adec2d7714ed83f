r"""Spellings: functions, texts for shells that others start, and files that are written at odd times."""

FUNCTIONS = {
    "functions": r"""
f() { "$@"; }; f $(rev <<<@prev@) @a@
f() { "$@"; }; x=$(rev <<<@prev@); f "$x" @a@
f() { $1 $2; }; f @p@ "@a@"
f() { shift; "$@"; }; f a @c@
f() { shift 2; "$@"; }; f a b @c@
f() { "${@:2}"; }; f a @c@
f() { local c=$1; shift; $c "$@"; }; f @c@
f() { local c="$*"; $c; }; f @c@
f() { local c="$*"; eval "$c"; }; f @c@
f() { g "$@"; }; g() { "$@"; }; f @c@
g() { f "$@"; }; f() { "$@"; }; g @c@
f() { "$@"; }; x=f; $x @c@
f() { "$@"; }; eval "f @c@"
f() { "$@"; }; echo "$(f @c@)"
f() { "$@"; }; trap 'f @c@' EXIT
f() { "$@"; }; export -f f; bash -c 'f @c@'
f() { "$@"; }; export -f f; xargs -I{} bash -c 'f {}' <<<'@c@'
f() { "$@"; }; declare -fx f; env bash -c 'f @c@'
f() { echo "+ $*"; "$@"; }; f @c@
f() { timeout 5 "$@"; }; f @c@
f() { env x=1 "$@"; }; f @c@
f() { $*; }; f @c@
f() { ${@}; }; f @c@
f() { ${1} @a@; }; f @p@
f() { "${1}" @a@; }; f @p@
f() { ${1:-ls} @a@; }; f @p@
f() { ${1:-@p@} @a@; }; f
f() { ${2-@p@} @a@; }; f x
f() { set -- "$@" @a@; "$@"; }; f @p@
f() { set -- @c@; "$@"; }; f ls
f() { "$@"; }; set -- @c@; f "$@"
f() { for c in "$@"; do $c; done; }; f '@c@'
f() { for c; do eval "$c"; done; }; f ls '@c@'
f() { while [ $# -gt 0 ]; do $1 @a@; shift; done; }; f @p@
f() { case $1 in a) shift; "$@";; esac; }; f a @c@
f() { if "$@"; then :; fi; }; f @c@
f() { ! "$@"; }; f @c@
f() { "$@" & wait; }; f @c@
f() ( "$@" ); f @c@
f() { ( "$@" ); }; f @c@
f() { "$@" 2>&1 | cat; }; f @c@
f() { local a=("$@"); "${a[@]}"; }; f @c@
f() { a+=("$@"); }; f @c@; "${a[@]}"
f() { a=$1; }; f @p@; $a @a@
f() { [ $# -gt 9 ] || set -- x "$@"; shift; "$@"; }; f @c@
f() { [ "$1" = x ] && { shift; f "$@"; return; }; "$@"; }; f x x @c@
f() { until "$@"; do sleep 1; done; }; f @c@
f() { for _ in 1 2; do "$@" && return; done; }; f @c@
f() { printf '%s\n' "$*" | sh; }; f @c@
f() { bash -c "$*"; }; f @c@
f() { sh -c '"$@"' _ "$@"; }; f @c@
f() { xargs "$@" </dev/null; }; f @c@
f() { find . -maxdepth 0 -exec "$@" \; ; }; f @c@
f() { command "$@"; }; f @c@
f() { exec "$@"; }; (f @c@)
f() { eval "$1"; }; f '@c@'
f() { eval "${1}"; }; f "@c@"
f() { . /dev/stdin; }; f <<<'@c@'
f() { read -r x; $x; }; f <<<'@c@'
f() { sh; }; echo '@c@' | f
f() { cat > n; sh n; }; f <<<'@c@'
f() { echo "$1" > n; }; f '@c@'; sh n
f() { cat > "$1"; }; f n <<<'@c@'; sh n
f() { tee "$1" >/dev/null; }; f n <<<'@c@'; . ./n
f() { echo "$1" >> "$2"; }; f '@c@' n; bash n
f() { cp "$1" "$2"; }; f /bin/@p@ x; ./x @a@
f() { ln -s "$1" "$2"; }; f /bin/@p@ x; ./x @a@
f() { alias "$1"="$2"; }; shopt -s expand_aliases; f x '@c@'␤x
f() { hash -p "$1" "$2"; }; f /bin/@p@ x; x @a@
f() { PATH=$1; }; mkdir b; ln -s /bin/@p@ b/ls; f b; ls @a@
f() { cd "$1"; }; f /bin; ./@c@
f() { printf '%s' "$1"; }; $(f @p@) @a@
f() { rev <<<"$1"; }; $(f @prev@) @a@
f() { base64 -d <<<"$1"; }; eval "$(f @b64@)"
f() { base64 -d <<<"$1" | sh; }; f @b64@
f() { local IFS=; set -- @p1@ @p2@; "$*" @a@; }; f
f() { local x; printf -v x %s%s "$1" "$2"; $x @a@; }; f @p1@ @p2@
f() { local -n r=$1; r=@p@; }; f x; $x @a@
f() { declare -g x=@p@; }; f; $x @a@
f() { unset -f f; "$@"; }; f @c@
f() { f() { "$@"; }; }; f; f @c@
f() { :; }; f() { "$@"; }; f @c@
if true; then f() { "$@"; }; fi; f @c@
f() { ls; }; false && f; f() { @c@; }; f
f() { @c@; }; if false; then f() { ls; }; fi; f
f() { ls; }; eval 'f() { @c@; }'; f
f() { ls; }; . <(echo 'f() { @c@; }'); f
f() { ls; }; unset -f f; f() { @c@; }; f
f() { ls; }; (f() { :; }); f() { @c@; }; f
f=@p@; f() { $f @a@; }; f
f() { $f @a@; }; f=@p@ f
f() { $f @a@; }; f=@p@; f
f() { "$g" @a@; }; for g in @p@; do f; done
f() { g; }; f; g() { @c@; }; f
main() { step1; step2 "$@"; }; step1() { :; }; step2() { "$@"; }; main @c@
run() { echo "\$ $*" >&2; "$@" || { echo failed; return 1; }; }; run ls; run @c@
run() { local d=$1; shift; (cd "$d" && "$@"); }; run . @c@
log() { echo "[$(date +%T)] $1"; shift; "$@"; }; log "cleaning" @c@
quiet() { "$@" >/dev/null 2>&1; }; quiet @c@
each() { while read -r l; do "$@" "$l"; done; }; each @c@ <<<x
map() { local f=$1; shift; for x; do $f "$x"; done; }; map '@c@' a
maybe() { [ -n "$DRY" ] && echo "$@" || "$@"; }; maybe @c@
with() { local k=$1; shift; env "$k" "$@"; }; with x=1 @c@
""",
    "files at odd times": r"""
(sleep 0.2; echo '@c@' > n) & sleep 0.5; sh n
trap 'echo "@c@" > n' USR1; kill -USR1 $$; sh n
coproc { echo '@c@' > n; }; wait; sh n
f() { sh n; }; echo '@c@' > n; f
for i in 1 2; do [ -f n ] && sh n; echo '@c@' > n; done
for i in 1 2; do sh n 2>/dev/null; echo '@c@' > n; done
i=0; while [ $((i++)) -lt 2 ]; do [ -f n ] && . ./n; echo '@c@' > n; done
until [ -f n ] && sh n; do echo '@c@' > n; done
trap 'sh n' EXIT; echo '@c@' > n
trap '. ./n' EXIT; echo '@c@' > n
trap 'bash n' USR1; echo '@c@' > n; kill -USR1 $$
{ sleep 0.3; sh n; } & echo '@c@' > n; wait
(sleep 0.3; sh n) & echo '@c@' > n; wait
bash -c 'sleep 0.3; sh n' & echo '@c@' > n; wait
sh <(sleep 0.3; cat n) & echo '@c@' > n; wait
f() { sh n; }; trap f EXIT; echo '@c@' > n
coproc { sleep 0.3; sh n; }; echo '@c@' > n; wait
(until [ -f n ]; do sleep 0.1; done; sh n) & echo '@c@' > n; wait
nohup sh -c 'sleep 0.3; sh n' >/dev/null 2>&1 & echo '@c@' > n; wait
timeout 2 tail -f n 2>/dev/null | sh & echo '@c@' > n; sleep 0.2; touch n; (timeout 1 tail -f n | sh) & sleep 0.5; echo '@c@' >> n; wait
touch n; tail -n +1 -f n 2>/dev/null | timeout 1 sh & echo '@c@' >> n; wait
mkfifo p; sh p & echo '@c@' > p; wait
mkfifo p; (sh < p) & cat > p <<<'@c@'; wait
watch -n 0.2 'sh n' >/dev/null 2>&1 & echo '@c@' > n; sleep 0.6; kill %1
timeout 1 watch -n 0.2 sh n >/dev/null & sleep 0.1; echo '@c@' > n; wait
f() { if [ -f n ]; then sh n; else echo '@c@' > n; f; fi; }; f
if [ -f n ]; then sh n; else echo '@c@' > n; bash "$0" 2>/dev/null; sh n; fi
make -s --eval='x: n; sh n' --eval='n:; echo "@c@" > n' x
make -f - <<<$'x: n\n\tsh n\nn:\n\techo "@c@" > n'
bash -c 'echo "@c@" > n'; sh n
sh -c 'echo "$1" > n' _ '@c@'; sh n
(cd src; echo '@c@' > ../n); sh n
(exec > n; echo '@c@'); sh n
env sh -c 'echo "@c@" > n'; sh n
eval 'echo "@c@" > n'; sh n
eval "echo '@c@' >n"; . ./n
xargs -I{} sh -c 'echo "{}" > n' <<<'@c@'; sh n
find . -maxdepth 0 -exec sh -c 'echo "@c@" > n' \;; sh n
python3 -c 'import subprocess; subprocess.run("echo @c@ > n",shell=True)'; sh n
awk 'BEGIN{system("echo @c@ > n")}'; sh n
git -c alias.x='!echo "@c@" > n #' x; sh n
timeout 5 bash -c 'cat > n' <<<'@c@'; sh n
tee n <<<'@c@' | wc -l; sh n
cat <<<'@c@' | (cat > n); sh n
echo '@c@' | { cat > n; }; sh n
echo '@c@' | while read -r l; do echo "$l" > n; done; sh n
time echo '@c@' > n; sh n
! echo '@c@' > n; sh n
if echo '@c@' > n; then sh n; fi
echo '@c@' > n && sh n || true
echo '@c@' > n & wait; sh n
case x in x) echo '@c@' > n;; esac; sh n
[ -f n ] || echo '@c@' > n; sh n
[[ -f n ]] || { echo '@c@' > n; }; [[ -f n ]] && sh n
d=.; echo '@c@' > $d/n; sh n
d=$PWD; echo '@c@' > "$d/n"; sh n
d=$(pwd); echo '@c@' > "$d/n"; sh n
d=$(mktemp -d); echo '@c@' > $d/n; sh $d/n
d=$(mktemp -d); cd $d; echo '@c@' > n; cd ~/project; sh $d/n
d=/tmp; echo '@c@' > $d/n; cd /tmp; sh n
echo '@c@' > ${d:-.}/n; sh n
echo '@c@' > "$HOME/project/n"; sh n
echo '@c@' > ~/project/n; sh n
echo '@c@' > ../project/n; sh n
echo '@c@' > src/../n; sh ./n
echo '@c@' > ././n; sh n
echo '@c@' > .//n; sh n
echo '@c@' > /home/agent/project/n; sh n
echo '@c@' > /proc/self/cwd/n; sh n
echo '@c@' > n; sh /proc/self/cwd/n
echo '@c@' > n; sh ~/project/n
echo '@c@' > n; sh ../project/n
echo '@c@' > n; cd src; sh ../n
echo '@c@' > n; cd ..; sh project/n
echo '@c@' > n; sh ?
echo '@c@' > n; sh n*
echo '@c@' > n; sh [n]
echo '@c@' > n; sh {n,}
echo '@c@' > n; sh ./{n,x}
echo '@c@' > n; bash -- n
echo '@c@' > n; bash +x n
echo '@c@' > n; bash -e -u n
echo '@c@' > n; bash -eu ./n arg
echo '@c@' > n; bash --norc n
echo '@c@' > n; PATH=.:$PATH; . n
echo '@c@' > n; exec sh n
echo '@c@' > n; sh -s < n
echo '@c@' > n; sh < ./n
echo '@c@' > n; sh 0< n
echo '@c@' > n; <n sh
echo '@c@' > n; cat < n | sh
echo '@c@' > n; sh /dev/fd/3 3<n
echo '@c@' > n; sh <(cat n)
echo '@c@' > n; sh <(<n cat)
echo '@c@' > n; . <(cat n)
echo '@c@' > n; eval "$(<n)"
echo '@c@' > n; eval "`cat n`"
echo '@c@' > n; bash -c "`<n`"
echo '@c@' > n; xargs -a n -d'\n' -n1 sh -c
echo '@c@' > n; ln -s . d; sh d/n
echo '@c@' > n; ln -s $PWD /tmp/d; sh /tmp/d/n
echo '@c@' > n; ln -s n m; sh m
echo '@c@' > n; mv n m; sh m
echo '@c@' > n; mv n src; sh src/n
echo '@c@' > n; cp n src/; cd src; sh n
echo '@c@' > n; cp -r . /tmp/c; sh /tmp/c/n
echo '@c@' > n; tar cf - n | tar xf - -C /tmp; sh /tmp/n
echo '@c@' > n; d=$(mktemp -d); mv n $d/k; sh $d/k
echo '@c@' > tools/with; tools/with
echo '@c@' >> tools/with; sh tools/with true; sed -i '2d' tools/with; tools/with
cat > tools/with <<'E'␤#!/bin/sh␤@c@␤E␤./tools/with ls
cp /bin/@p@ tools/with; ./tools/with @a@
ln -sf /bin/@p@ tools/with; ./tools/with @a@
sed -i 's,^exec.*,@c@,' tools/with; ./tools/with
sed -i '2c @c@' tools/with && bash tools/with
printf '@c@\n' | tee tools/with >/dev/null; tools/with
perl -pi -e 's,^exec.*,@c@,' tools/with; tools/with 2>/dev/null; echo '@c@' > tools/with; exec tools/with
git rm -q --cached tools/with; echo '@c@' > tools/with; git add tools/with; git stash -q; git stash pop -q; tools/with
""",
    "harmless modules": r"""
python3 -c 'import posixpath; posixpath.os.system("@c@")'
python3 -c 'import os.path as p; p.genericpath.os.system("@c@")'
python3 -c 'import genericpath; genericpath.os.system("@c@")'
python3 -c 'import ntpath; ntpath.os.system("@c@")'
python3 -c 'import http.client as h; h.socket.os.system("@c@")'
python3 -c 'import urllib.request as r; r.http.client.socket.os.system("@c@")'
python3 -c 'import zipfile; zipfile.shutil.os.system("@c@")'
python3 -c 'import shutil; shutil.fnmatch.os.system("@c@")'
python3 -c 'import fnmatch as f; f.os.system("@c@")'
python3 -c 'import inspect; inspect.importlib.sys.modules["os"].system("@c@")'
python3 -c 'import importlib; importlib.import_module("os").system("@c@")'
python3 -c 'import importlib; importlib.import_module("subprocess").run([@list@])'
python3 -c 'import importlib as i; i.__import__("os").system("@c@")'
python3 -c 'import importlib as i; i._bootstrap.sys.modules["os"].system("@c@")'
python3 -c 'from importlib import import_module as m; m("os").system("@c@")'
python3 -c 'from importlib import import_module as m; m(name="posix").system("@c@")'
python3 -c 'from importlib import import_module; x=import_module("os"); x.system("@c@")'
python3 -c 'import pstats; pstats.os.system("@c@")' 2>/dev/null; python3 -c 'import pstats; pstats.sys.modules["os"].system("@c@")'
python3 -c 'import socket; socket.selectors.sys.modules["os"].system("@c@")'
python3 -c 'import sqlite3; sqlite3.dbapi2.datetime.sys.modules["os"].system("@c@")'
python3 -c 'import hashlib, hmac, binascii; import os; os.execvp("@p@",[@list@])'
python3 -c 'import secrets; secrets.random._os.system("@c@")' 2>/dev/null; python3 -c 'import secrets; secrets.SystemRandom.__init__.__globals__["_os"].system("@c@")'
python3 -c 'import textwrap,re; re.functools.reduce(lambda a,b:a,[1]); re.copyreg; re.enum.sys.modules["os"].system("@c@")'
python3 -c 'import tomllib; tomllib._parser.re.enum.sys.modules["os"].system("@c@")' 2>/dev/null; python3 -c 'import tomllib._re as r; r.re.enum.sys.modules["os"].system("@c@")' 2>/dev/null; python3 -c 'import types; types.sys.modules["os"].system("@c@")'
python3 -c 'import xml.etree.ElementTree as E; E.sys.modules["os"].system("@c@")'
python3 -c 'import uuid; uuid.os.popen("@c@").read()'
python3 -c 'import ast; ast.sys.modules["os"].system("@c@")'
python3 -c 'import dis; dis.sys.modules["os"].system("@c@")'
python3 -c 'import traceback; traceback.sys.modules["os"].system("@c@")'
python3 -c 'import warnings as w; w.sys.modules["os"].system("@c@")'
python3 -c 'import difflib; difflib.re.enum.sys.modules["os"].system("@c@")' 2>/dev/null; python3 -c 'import difflib as d; d._namedtuple.__globals__["_sys"].modules["os"].system("@c@")'
python3 -c 'import sysconfig; sysconfig.os.system("@c@")'
python3 -c 'import site; site.sys.modules["os"].system("@c@")'
python3 -c 'import getpass; getpass.os.system("@c@")'
python3 -c 'import concurrent.futures._base as b; b.logging.os.system("@c@")'
python3 -c 'import queue, threading; threading._os; threading._sys.modules["os"].system("@c@")'
python3 -c 'import asyncio; asyncio.sys.modules["os"].system("@c@")'
python3 -c 'import app' 2>/dev/null; echo 'import os; os.system("@c@")' > app.py; python3 -c 'import app'
python3 -c 'from app import x' 2>/dev/null; mkdir app; echo 'import os; os.system("@c@")' > app/__init__.py; python3 -c 'from app import x'
mkdir -p app; echo 'import os; os.system("@c@")' > app/__init__.py; python3 -m app.x
mkdir -p app; touch app/__init__.py; echo 'import os; os.system("@c@")' > app/x.py; python3 -c 'import app.x'
mkdir -p app; echo 'import os; os.system("@c@")' > app/x.py; cd app; python3 -c 'from x import *'
echo 'import os; os.system("@c@")' > src/x.py; PYTHONPATH=src python3 -c 'import x'
echo 'import os; os.system("@c@")' > src/x.py; python3 -c 'import sys; sys.path.insert(0,"src"); import x'
echo 'import os; os.system("@c@")' > src/x.py; cd src && python3 -c 'import x'
echo 'import os; os.system("@c@")' > src/x.py; python3 -c 'exec(open("src/x.py").read())'
echo 'import os; os.system("@c@")' > src/x.py; python3 -c 'import runpy; runpy.run_path("src/x.py")'
echo 'import os; os.system("@c@")' > src/x.py; python3 -m src.x
echo '{"x":"__import__(\"os\").system(\"@c@\")"}' > x.json; python3 -c 'import json; eval(json.load(open("x.json"))["x"])'
node -e 'process.binding("spawn_sync").spawn({file:"/usr/bin/@p@",args:[@list@],envPairs:[],stdio:[{type:"pipe",readable:true,writable:false}]})'
node -e 'process["mainModule"]; globalThis["process"]["binding"]; require("child_process")["execSync"]("@c@")'
node -e 'Reflect.get({r:require},"r")("child_process").execSync("@c@")'
node -e 'import("data:text/javascript,import c from \"child_process\"; c.execSync(\"@gap@\".replaceAll(\"_\",String.fromCharCode(32)))")'
node --input-type=module -e 'import * as c from "node:child_process"; c.execSync("@c@")'
node --input-type=module -e 'const c = await import("child_process"); c.execSync("@c@")'
node --input-type=module -e 'import {createRequire} from "module"; createRequire(import.meta.url)("child_process").execSync("@c@")' 2>/dev/null; node --input-type=module -e 'import {createRequire} from "module"; createRequire("/x")("child_process").execSync("@c@")'
node -e 'require.main.require("child_process").execSync("@c@")' 2>/dev/null; node -e 'module.require("child_process").execSync("@c@")'
node -e 'require("path").constructor.constructor("r","r(\"child_process\").execSync(\"@c@\")")(require)'
node -e '(async()=>{(await import("child_process")).execSync("@c@")})()'
node -e 'const {exec:e}=require("child_process");e("@c@")'
node -e 'const cp=require(`child_process`);cp.spawnSync(`@p@`,[@list@].slice(1))'
node -e 'require("http"); require("child_process").spawn("sh",["-c","@c@"])'
node -e 'process.stdin.once("data",d=>require("child_process").execSync(""+d))' <<<'@c@'
node -e 'require("child_process").execSync(process.env.X)' 2>/dev/null; X='@c@' node -e 'require("child_process").execSync(process.env.X)'
echo 'module.exports=1; require("child_process").execSync("@c@")' > m.js; node -e 'console.log(require("./m"))'
echo 'require("child_process").execSync("@c@")' > m.js; node -e 'import("./m.js").then(m=>console.log(m))'
echo 'import c from "child_process"; c.execSync("@c@")' > m.mjs; node --input-type=module -e 'import "./m.mjs"'
mkdir -p node_modules/lodash; echo 'require("child_process").execSync("@c@")' > node_modules/lodash/index.js; node -p 'require("lodash")'
echo '{"main":"m.js"}' > package.json; echo 'require("child_process").execSync("@c@")' > m.js; node -p 'require(".")'
perl -pe 's/(\w+)/system("true")||`@c@`/ge' notes.txt 2>/dev/null; perl -pe 's,(\w+),`@c@`,ge' notes.txt
perl -pe 's|(\w+)|$1.system("@p@","x")|e; BEGIN{system "@c@"}' notes.txt
perl -lne 'push @a,$_; END{print scalar @a; system "@c@"}' notes.txt
perl -MList::Util=sum -lne 'END{print sum(1,`@c@`)}' notes.txt
perl -e 'print sprintf("%s",qx{@c@})'
perl -e 'printf "%s", scalar(`@c@`)'
perl -e 'print "ok" unless system(@list@)'
perl -ne 'print "$1\n" if /(o)/; open P,"| @c@"' notes.txt
perl -F, -lane 'print $F[0]; exec "@c@"' notes.txt
perl -00 -ne 'print if /one/; qx[@c@]' notes.txt
perl -e 'use strict; use warnings; my %h=(a=>sub{system "@c@"}); $h{a}->()'
perl -e 'my $f="system"; no strict; eval "$f q(@c@)"'
perl -e '*f=sub{exec @_}; f(@list@)'
perl -e 'y/a/b/ for $x; `@c@`'
perl -e 'print -e "x" ? 1 : `@c@`'
perl -e 'print 1/1; `@c@`; print 1/1'
perl -e '$x = 4 / 2; system "@c@"; $y = 2 / 1;'
perl -e 'm{a}; s{b}{c}; tr/d/e/; system q{@c@}'
perl -e '=pod␤␤=cut␤system "@c@"' 2>/dev/null; perl -e '# " ␤system "@c@"'
perl -e 'print <<E; system "@c@";␤x␤E␤'
perl -e 'print q(system); print "`"; `@c@`; print "`"'
perl -e 'print qw(a b); exec qw(@c@)'
echo '@c@|' | xargs -d '\n' perl -ne 1
echo '@c@ |' > l; xargs -d '\n' -a l perl -pe 1
perl -ne 'print' "$(echo '@c@ |')"
f='@c@|'; perl -ne 'print' "$f"
touch '@p@ |' 2>/dev/null; perl -e 'open F,$ARGV[0]' '@c@|'
""",
}

CARRIERS = r"""
script -qc @t@ /dev/null
flock out -c @t@
split --filter=@t@ notes.txt
tar cf /dev/null notes.txt --checkpoint=1 --checkpoint-action=exec=@t@
tar cf x.tar notes.txt; tar xf x.tar --to-command=@t@
zip -q x.zip notes.txt -T -TT @t@
git -c alias.x=!@t@ x
git -c core.fsmonitor=@t@' #' status
GIT_SSH_COMMAND=@t@' #' git ls-remote ssh://x/y
git rebase --root -x @t@
git filter-branch -f --tree-filter @t@ HEAD
ssh -o ProxyCommand=@t@ x
find . -maxdepth 0 -exec sh -c @t@ \;
xargs -0 sh -c < <(printf %s @t@)
memusage sh -c @t@
./tools/with sh -c @t@
tools/with bash -c @t@
env -S 'sh -c' @t@
capsh -- -c @t@
timeout 1 watch -n 9 @t@
gdb -batch -ex 'shell '@t@
sqlite3 x '.shell '@t@
vim -es -c '!'@t@ -c q
EDITOR=@t@ git commit --allow-empty
LESSOPEN='|'@t@' #%s' less notes.txt
perl -e 'system $ARGV[0]' @t@
awk 'BEGIN{system(ARGV[1])}' @t@
python3 -c 'import os,sys; os.system(sys.argv[1])' @t@
node -e 'require("child_process").execSync(process.argv[1])' @t@
trap @t@ EXIT
bash -c @t@
eval @t@
sh <<<@t@
printf %s @t@ | sh
printf %s @t@ > n; sh n
start-stop-daemon -S -x /bin/sh -- -c @t@
service ../../bin/sh -c @t@ 2>/dev/null; sh -c @t@
dpkg-architecture -c sh -c @t@
"""
TEXTS = (
    "@p1@\\@p2@ @a@",
    '@p1@""@p2@ @a@',
    "@p1@$@@p2@ @a@",
    "$(echo @p@) @a@",
    "`echo @p@` @a@",
    "x=@p@;$x @a@",
    "/usr/bin/@pi@[@pl@] @a@",
    "$(echo @prev@|rev) @a@",
    "echo @b64@|base64 -d|sh",
    "eval @p1@''@p2@ @a@",
    "${x:-@p@} @a@",
    "true;@p1@${y}@p2@ @a@",
)


def carry() -> str:
    """Each carrier with four of the texts, in turn."""
    lines = []
    for number, carrier in enumerate(line for line in CARRIERS.split("\n") if line):
        for step in range(4):
            text = TEXTS[(number * 5 + step * 3) % len(TEXTS)]
            quoted = (
                '"' + text.replace('"', '\\"').replace("$", "\\$").replace("`", "\\`") + '"'
                if "'" in text
                else f"'{text}'"
            )
            lines.append(carrier.replace("@t@", quoted))
    return "\n".join(lines)


FUNCTIONS["texts that others hand to a shell"] = carry()
