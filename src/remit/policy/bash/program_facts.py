"""Tables of programs: whose words are data, which run the words after their options, and which run code.

The words of a program in none of the tables may be a command.
"""

from __future__ import annotations

from remit.policy.bash import program_aliases

read_names = program_aliases.read_names


def read_table(text: str) -> dict[str, str]:
    """Parse a table with one line per program: its name, then its facts."""
    rows = (line.strip().partition(" ") for line in text.strip().splitlines())
    return {name: rest.strip() for name, _, rest in rows}


PLAIN = read_names(
    """
: true false echo printf pwd cd pushd popd dirs exit return break continue shift test [ wait times umask ulimit
shopt set logout suspend fg bg disown kill getopts help history type let local export declare typeset readonly unset
read mapfile readarray jobs complete compopt caller ls dir vdir cat tac head tail wc nl od hexdump xxd hd strings file
stat touch mkdir rmdir rm mv cp ln dd truncate tee tr cut paste join comm uniq sort fold fmt expand unexpand rev column
pr shuf seq yes factor sum cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum base32 base64 basenc
basename dirname realpath readlink pathchk mktemp mkfifo mknod chmod chown chgrp chattr lsattr getfacl setfacl sync df
du tree cmp diff3 patch iconv dos2unix unix2dos tsort ptx csplit look colrm ul numfmt grep egrep fgrep zgrep zcat gzip
gunzip bzip2 bunzip2 bzcat xz unxz xzcat zstd unzstd zstdcat lz4 unlz4 brotli unzip zipinfo unrar cpio jq yq rg ag ack
fd diff sdiff xq gron xmllint dasel date cal sleep usleep uname hostname whoami id groups logname users who w last
uptime free vmstat iostat nproc lscpu lsblk lsmem lspci lsusb lsmod findmnt mountpoint ps pgrep pkill killall top pstree
pidof lsof fuser ss netstat ifconfig ping traceroute dig nslookup host getent tty stty tput clear reset locale which
whereis whatis apropos man printenv objdump readelf size ldd nm curl wget cloc tokei tsc eslint prettier stylelint biome
rustfmt gofmt goimports black ruff isort flake8 mypy pyright pylint pytest py.test jest vitest mocha tox nox coverage
rustc javac clang-format clang-tidy shellcheck shfmt hadolint yamllint markdownlint golangci-lint phpunit rspec rubocop
gh aws gcloud az heroku vercel netlify fly terraform tofu pulumi helm kustomize systemctl journalctl apt apt-get
apt-cache pip pip3 twine rustup createdb dropdb pg_dump pg_isready redis-cli bat delta cargo go mvn
gradle gradlew dotnet
"""
)
"""Programs whose words are data, and clients, checkers and build tools that get no commands."""

SEARCHED_BY_GIT = read_names(
    """
add am annotate apply blame branch cat-file check-ignore checkout cherry cherry-pick clean commit describe diff fetch
format-patch gc grep init log ls-files ls-remote ls-tree merge merge-base mv notes pull push reflog remote reset restore
rev-list rev-parse revert rm shortlog show stash status switch tag worktree
"""
)
"""Subcommands of git whose words are data, unless an option is a command."""

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
setarch 0
linux32 0
linux64 0
unbuffer 0
fakeroot 0 l: s: i: b: --lib: --faked:
chroot 1 --groups: --userspec:
doas 0 C: u:
pkexec 0 u: --user:
firejail 0
torsocks 0
proxychains 0 f:
proxychains4 0 f:
strace 0 a: b: e: E: I: o: O: p: P: s: S: u: U: X: --attach: --output: --trace: --user: --string-limit:
ltrace 0 a: A: D: e: F: l: n: o: p: s: u: w: x: X: --align: --output: --library:
valgrind 0
unshare 0 S: G: R: w: --map-user: --map-group: --root: --wd: --setuid: --setgid: --propagation: --setgroups:
nsenter 0 t: S: G: --target: --setuid: --setgid:
setpriv 0
bwrap 0
systemd-inhibit 0
systemd-run 0 H: M: p: t: u: --unit: --property: --uid: --gid: --slice: --description: --nice:
dbus-run-session 0 --config-file: --dbus-daemon:
xvfb-run 0 e: f: n: p: s: --server-args:
ssh-agent 0 a: E: O: P: t:
ccache 0
sccache 0
distcc 0
busybox 0
toybox 0
hyperfine 0
caffeinate 0 t: w:
sudo 0 u: g: h: p: C: r: t: T: D: R: U: a: c: --user: --group: --host: --prompt: --close-from: --role: --type: --command-timeout: --chdir: --chroot: --other-user:
runuser 0 u: g: G: s: w: --user: --group: --supp-group: --shell: --whitelist-environment:
exec 0 a:
builtin 0
command 0
npx 0 p: c: w: --package: --call: --workspace:
bunx 0
pnpx 0
uvx 0 p: w: --python: --with: --from:
coproc 0
flock 1 w: E: --timeout: --wait: --conflict-exit-code:
xargs 0 E: I: L: n: P: s: d: a: J: R: --arg-file: --delimiter: --max-args: --max-procs: --max-chars: --process-slot-var: --replace= --max-lines= --eof=
"""  # noqa: E501 - a line for each program
)
"""Programs that run the words after their options: the number of words to skip, and the options with a value."""

LEAVING = read_names(
    """
ssh docker podman nerdctl kubectl oc docker-compose lxc machinectl systemd-run at batch crontab flatpak toolbox vagrant
tmux screen
"""
)
"""Programs that run their words in another process tree or on another machine, which the exec judge can't see."""

CODE = read_table(
    """
python c
ipython c
pypy c
perl e E
ruby e
node e p eval print
deno eval
bun e p eval print
tsx e eval
ts-node e p eval
php r B R E
lua e
luajit e
R e
Rscript e
julia e E eval print
groovy e
scala e
osascript e
elixir e eval
erl eval
racket e
guile c
octave eval
swipl g t
tclsh
expect c
jshell
irb
m4
mongosh eval
gdb ex iex eval-command args -
lldb o -
ed -
ex c cmd -
vi c cmd -
emacs eval -
"""
)
"""Programs that run code: the options before the code; `-` if their files are data. Without a file, they read code from
standard input.
"""

OTHER_SHELLS = read_names("fish csh tcsh pwsh powershell xonsh nu elvish rc es")
SHELLS = read_names("bash sh dash zsh ksh ash mksh yash rbash ksh93 lksh posh") | OTHER_SHELLS
QUERIED = read_names("sqlite3 sqlite psql mysql mariadb")
"""Clients of databases, whose argument is a query."""

CLEAR = read_names(
    """
: [ break builtin cd command continue declare env eval exec exit export false ionice local nice nohup popd pushd
read readonly return set setsid shift stdbuf test time timeout trap true typeset unset wait xargs
"""
)
"""Programs that only start others, which are judged separately: an allow list need not name these."""

SEARCHED = read_names(
    """
PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT PYTHONPATH PYTHONHOME PERL5LIB RUBYLIB NODE_PATH NODE_OPTIONS CLASSPATH
GOFLAGS GIT_EXEC_PATH GCC_EXEC_PREFIX COMPILER_PATH CDPATH IFS MAKEFILES PYTEST_ADDOPTS PYTEST_PLUGINS
"""
)
"""Variables that decide which program or code a name means."""

LOADING = read_names(
    """
BASH_ENV ENV PROMPT_COMMAND PS0 PS4 SHELLOPTS BASHOPTS BASH_ALIASES BASH_CMDS PERL5OPT PERL5DB RUBYOPT PYTHONSTARTUP
PYTHONINSPECT LESSOPEN LESSCLOSE GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG_PARAMETERS MAKEFLAGS GNUMAKEFLAGS TAR_OPTIONS
JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS GCONV_PATH ZDOTDIR EXINIT VIMINIT LD_PRELOAD LD_AUDIT
LD_LIBRARY_PATH
"""
)
"""Variables that make programs load or run something."""
