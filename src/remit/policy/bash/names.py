"""Names: what is known of programs by their names.

Owns the tables: which programs start no others whatever they are told, which only pass on what follows them, and with
which options. A program that is in none of them is judged by principle: its words may be a command.
"""

from __future__ import annotations

from remit.policy.bash import families

read_names = families.read_names


def read_table(text: str) -> dict[str, str]:
    """A line for each name, and what is known of it."""
    rows = (line.strip().partition(" ") for line in text.strip().splitlines())
    return {name: rest.strip() for name, _, rest in rows}


PLAIN = read_names(
    """
: true false echo printf pwd cd pushd popd dirs exit return break continue shift test [ wait times umask ulimit
shopt set logout suspend fg bg disown kill getopts help history type let local export declare typeset readonly unset
read mapfile readarray jobs hash enable complete compgen compopt caller bind ls dir vdir cat tac head tail wc nl od
hexdump xxd hd strings file stat touch mkdir rmdir rm mv cp ln dd truncate tee tr cut paste join comm uniq fold fmt
expand unexpand rev column pr shuf seq yes factor sum cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum
b2sum base32 base64 basenc basename dirname realpath readlink pathchk mktemp mkfifo mknod chmod chown chgrp chattr
lsattr getfacl setfacl sync df du tree cmp diff3 patch iconv dos2unix unix2dos uuencode uudecode tsort ptx csplit
look colrm ul numfmt grep egrep fgrep zgrep zcat gzip gunzip bzip2 bunzip2 bzcat xz unxz xzcat zstd unzstd zstdcat
lz4 unlz4 compress uncompress brotli unzip zipinfo unrar cpio pax jq yq bc rg man diff sdiff xq gron csvcut csvgrep
csvlook xmllint xmlstarlet tidy dasel htmlq date cal sleep usleep uname hostname whoami id groups logname users who
w last uptime free vmstat iostat nproc lscpu lsblk lsmem lspci lsusb lsmod lsns findmnt mountpoint ps pgrep pkill
killall top pstree pidof lsof fuser ss netstat ifconfig ping traceroute dig nslookup host getent tty stty tput clear
reset locale localectl which whereis whatis apropos printenv objdump readelf size ldd curl wget cloc tokei scc
sloccount fdisk passwd tsc eslint prettier stylelint biome rustfmt gofmt goimports black ruff isort flake8 mypy
pyright pylint pytest py.test jest vitest mocha tox nox coverage rustc javac kotlinc scalac clang-format clang-tidy
shellcheck shfmt hadolint yamllint markdownlint golangci-lint gtest phpunit rspec rubocop gh aws gcloud az heroku
vercel netlify fly terraform tofu pulumi helm kustomize systemctl journalctl loginctl apt apt-get apt-cache pip pip3
twine cargo-clippy rustup nvm pyenv createdb dropdb pg_dump pg_isready redis-cli
"""
)
"""Programs whose words are no commands: the shell's own, those for files and texts and about the machine, checkers and
tests of what is there already, clients of services. Options of theirs that are commands are in `tools`."""

READERS = read_names(
    """
. [ ack ag awk b2sum base32 base64 basename bash bat cat cd cksum cmp column comm cut diff diff3 dir dirname du echo
egrep fgrep file fmt fold gh git grep hd head hexdump join jq less ls md5sum more nl node od paste pr printf python
readlink realpath rev rg sdiff sed sh sha1sum sha224sum sha256sum sha384sum sha512sum shellcheck sort source stat
strings tac tail test tree type uniq vdir wc which xmllint xxd yq zcat zgrep
"""
)
"""Programs that only read what they name."""

WRAPPERS = read_table(
    """
nohup 0
setsid 0
nice 0 n: --adjustment:
stdbuf 0 i: o: e: --input: --output: --error:
ionice 0 c: n: p: P: u: --class: --classdata:
timeout 1 s: k: --signal: --kill-after:
time 0 f: o: --format: --output:
chrt 1 T: P: D: --sched-runtime: --sched-period: --sched-deadline:
taskset 1
numactl 0 N: m: C: i: p: --cpunodebind: --membind: --physcpubind:
choom 0 n: --adjust:
prlimit 0
setarch 1
linux32 0
linux64 0
i386 0
x86_64 0
uname26 0
unbuffer 0
catchsegv 0
fakeroot 0 l: s: i: b: --lib: --faked:
chroot 1 --groups: --userspec:
doas 0 C: u:
pkexec 0 u: --user:
firejail 0
torsocks 0
torify 0
proxychains 0 f:
proxychains4 0 f:
strace 0 a: b: e: E: I: o: O: p: P: s: S: u: U: X: --attach: --output: --trace: --user: --string-limit:
ltrace 0 a: A: D: e: F: l: n: o: p: s: u: w: x: X: --align: --output: --library:
valgrind 0
heaptrack 0 o:
gprofng 1
unshare 0 S: G: R: w: --map-user: --map-group: --root: --wd: --setuid: --setgid: --propagation: --setgroups:
nsenter 0 t: S: G: --target: --setuid: --setgid:
setpriv 0
bwrap 0
systemd-inhibit 0
systemd-run 0 H: M: p: t: u: --unit: --property: --uid: --gid: --slice: --description: --nice:
dbus-run-session 0 --config-file: --dbus-daemon:
dbus-launch 0
xvfb-run 0 e: f: n: p: s: --server-args:
ssh-agent 0 a: E: O: P: t:
cgexec 0 g:
chpst 0 u: U: b: e: d: o: p: f: c: r: t: m: n: l: L:
ccache 0
sccache 0
distcc 0
bear 0 o: --output:
envdir 1
softlimit 0
start-stop-daemon 0
runcon 0 t: u: r: l: --type: --user: --role: --range:
busybox 0
toybox 0
hyperfine 0
lockf 1 t: k: s:
winpty 0
arch 0
caffeinate 0 t: w:
"""
)
"""Programs that start what follows their options: how many words come first, and which options take a value."""

TESTERS = read_names(
    """
eslint prettier stylelint pytest py.test jest vitest mocha tox nox coverage java phpunit rspec rubocop gtest black
flake8 isort gofmt pylint mypy tsc biome golangci-lint pip pip3 gem javac rustc terraform helm pulumi
"""
)
"""Programs that run what they find around them: tests, settings that are code."""

CLEAR = read_names(
    """
: [ break builtin cd command continue declare env eval exec exit export false ionice local nice nohup popd pushd
read readonly return set setsid shift stdbuf test time timeout trap true typeset unset wait xargs
"""
)
"""What does nothing by itself: an allow list need not name it, for what it starts is judged by itself."""
