r"""Ordinary commands, mostly awkward ones: several steps in one call, inline code, loops."""

STEPS = {
    "edit, then run": r"""
sed -i 's/foo/bar/' src/app.py && pytest -q
sed -i 's/"strict": false/"strict": true/' tsconfig.json && npx tsc --noEmit
sed -i 's/DEBUG = True/DEBUG = False/' settings.py && python manage.py check --deploy
cat > tests/test_tmp.py <<'EOF'␤from app import f␤␤def test_f():␤    assert f(1) == 2␤EOF␤pytest -q tests/test_tmp.py
cat > src/util.ts <<'EOF'␤export const add = (a: number, b: number) => a + b;␤EOF␤npx tsc --noEmit
cat > src/lib.rs <<'EOF'␤pub fn add(a: i32, b: i32) -> i32 { a + b }␤EOF␤cargo test
cat > main.go <<'EOF'␤package main␤␤import "fmt"␤␤func main() { fmt.Println("hi") }␤EOF␤go vet ./... && go build ./...
cat > .eslintrc.json <<'EOF'␤{"extends": "eslint:recommended"}␤EOF␤npx eslint src
cat > pyproject.toml <<'EOF'␤[project]␤name = "x"␤version = "0.1"␤EOF␤python -m build --wheel
cat > docker-compose.override.yml <<'EOF'␤services:␤  web:␤    environment:␤      DEBUG: "1"␤EOF␤docker compose config
cat > queries.sql <<'EOF'␤select count(*) from users;␤EOF␤psql -f queries.sql
cat > data.json <<'EOF'␤{"a": [1, 2, 3]}␤EOF␤jq '.a | add' data.json
cat > input.txt <<'EOF'␤3␤1␤2␤EOF␤sort -n input.txt
cat > CHANGELOG.md <<'EOF'␤# Changelog␤EOF␤git add CHANGELOG.md && git commit -m "Add changelog"
echo "requests==2.32.0" >> requirements.txt && git diff requirements.txt
echo 'export PORT=3000' > .env.local && cat .env.local
echo "print('ok')" > check.py && cat check.py
printf 'a,b\n1,2\n' > t.csv && python3 -c "import csv; print(list(csv.reader(open('t.csv'))))"
cp config.example.yml config.yml && make test
cp .env.example .env && docker compose up -d
mv src/old.ts src/new.ts && npx tsc --noEmit
git apply fix.patch && make test
git stash && npm test; git stash pop
git checkout main -- src/app.py && pytest -q tests/runs/test_check_message.py
jq '.scripts.test = "vitest run"' package.json > p.json && mv p.json package.json && npm test
npm pkg set type=module && node --check src/index.js
touch src/__init__.py && python -m pytest -q
mkdir -p build && cd build && cmake -DCMAKE_BUILD_TYPE=Debug .. && make -j4 && ctest
python scripts/gen.py > src/generated.py && ruff check src/generated.py
protoc --python_out=src proto/api.proto && pytest -q
npx prettier --write src && git diff --stat
black src && git diff --quiet || echo "reformatted"
ruff check --fix . && ruff format . && pytest -q
cargo fmt && cargo clippy -- -D warnings && cargo test
gofmt -w . && go test ./...
npx openapi-typescript api.yaml -o src/api.d.ts && npx tsc --noEmit
sed -i '/TODO/d' notes.md; wc -l notes.md
perl -pi -e 's/v1/v2/g' docs/*.md && git diff --stat docs
find . -name '*.snap' -delete && npx jest --ci=false
echo "FROM node:20" > Dockerfile.test && docker build -f Dockerfile.test -t t .
tee config/test.yml <<'EOF' >/dev/null␤db: sqlite␤EOF␤RAILS_ENV=test bin/rails test
cat >> Makefile <<'EOF'␤␤fmt:␤␉ruff format .␤EOF␤git diff Makefile
cat > /tmp/body.json <<'EOF'␤{"title": "x"}␤EOF␤curl -s -X POST -d @/tmp/body.json localhost:3000/api
cat > /tmp/msg.txt <<'EOF'␤Fix the thing␤␤Closes #4␤EOF␤git commit -F /tmp/msg.txt
cat > pr.md <<'EOF'␤## What␤It's a "fix" for $HOME␤EOF␤gh pr create --title "Fix" --body-file pr.md
gh pr create --title "Fix parser" --body "$(cat <<'EOF'␤## Summary␤- one␤- two (it's fine)␤EOF␤)"
git diff > /tmp/d.patch && wc -l /tmp/d.patch
npm run build && ls -la dist && du -sh dist
pytest --junitxml=out.xml -q; python3 -c "import xml.etree.ElementTree as E; print(E.parse('out.xml').getroot().attrib)"
coverage json -o cov.json && jq '.totals.percent_covered' cov.json
""",
    "loops and conditions": r"""
for f in $(git ls-files '*.py'); do python -m py_compile "$f" || echo "bad $f"; done
for f in src/**/*.ts; do grep -q "use strict" "$f" || echo "$f"; done
for p in $(ls packages); do jq -r '"\(.name) \(.version)"' "packages/$p/package.json"; done
for port in 3000 5432 6379; do nc -z localhost $port && echo "$port open" || echo "$port closed"; done
for i in $(seq 1 10); do echo -n "$i "; done; echo
for id in $(docker ps -q); do docker inspect -f '{{.Name}}' "$id"; done
for ns in $(kubectl get ns -o name); do echo "$ns"; done
for file in *.md; do title=$(head -1 "$file"); echo "$file: ${title#\# }"; done
for t in unit integration; do pytest -q "tests/$t" || exit 1; done
for c in $(git log --format=%h -5); do git show --stat "$c" | tail -1; done
for n in {1..3}; do npm test -- --seed=$n || { echo "failed with $n"; break; }; done
for l in en de fr; do msgfmt -c "locale/$l.po" -o /dev/null && echo "$l ok"; done
for k in $(jq -r 'keys[]' en.json); do jq -e "has(\"$k\")" de.json >/dev/null || echo "missing $k"; done
while IFS= read -r f; do wc -c < "$f"; done < files.txt
while read -r a b; do echo "$b $a"; done <<< "$(git log --format='%h %an' -3)"
while sleep 1; do curl -sf localhost:8080/health && break; done
find . -name '*.test.ts' | while read -r t; do echo "== $t"; npx vitest run "$t" | tail -3; done
git branch --merged | grep -v main | while read -r b; do echo "$b"; done
until pg_isready -q; do sleep 0.5; done; echo ready
if [ -n "$(git status --porcelain)" ]; then echo dirty; else echo clean; fi
if git diff --quiet; then echo "no change"; fi
if ! npm run lint; then npm run lint -- --fix; fi
if [[ -f poetry.lock ]]; then poetry install; elif [[ -f requirements.txt ]]; then python -m venv .venv; fi
if curl -sf localhost:3000 >/dev/null; then echo up; else tail -20 server.log; fi
if docker ps --format '{{.Names}}' | grep -q '^db$'; then echo running; fi
if command -v pnpm >/dev/null; then pnpm test; else npm test; fi
[ -d node_modules ] || npm ci
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] && echo ok
[[ $(wc -l < big.csv) -gt 1000 ]] && echo big
test -z "$(gofmt -l .)" || { echo "run gofmt"; exit 1; }
case "$(git rev-parse --abbrev-ref HEAD)" in main|master) echo "on main";; *) echo "on a branch";; esac
n=$(find src -name '*.ts' | wc -l); [ "$n" -gt 10 ] && echo many || echo few
count() { find "$1" -name "*.$2" | wc -l; }; count src ts; count tests py
retry() { for _ in 1 2 3; do "$@" && return 0; sleep 1; done; return 1; }; retry npm test
step() { echo "== $1"; shift; "$@"; }; step build make build; step test make test
die() { echo "$*" >&2; exit 1; }; [ -f package.json ] || die "no package.json"
time_it() { local s=$SECONDS; "$@"; echo "$((SECONDS - s)) s"; }; time_it make
declare -A seen; for f in *.js; do h=$(md5sum < "$f"); [ -n "${seen[$h]}" ] && echo "$f = ${seen[$h]}"; seen[$h]=$f; done
mapfile -t files < <(git diff --name-only HEAD~3); printf '%s\n' "${files[@]}"
IFS=$'\n' read -r -d '' -a lines < <(git ls-files && printf '\0'); echo "${#lines[@]}"
shopt -s globstar nullglob; for f in **/*.md; do echo "$f"; done
set -- $(git rev-list --count HEAD); echo "$1 commits"
arr=(one two three); echo "${arr[-1]} ${#arr[@]} ${arr[*]:1}"
s="a,b,c"; IFS=, read -ra p <<< "$s"; echo "${p[1]}"
x=10; while ((x > 0)); do ((x -= 3)); done; echo $x
total=$(( $(wc -l < a.txt) + $(wc -l < b.txt) )); echo "$total"
printf 'Total: %d\n' "$(find . -name '*.py' -exec cat {} + | wc -l)"
echo "Size: $(du -sh dist | cut -f1), files: $(find dist -type f | wc -l)"
trap 'kill $(jobs -p)' EXIT; npm start & sleep 2; curl -s localhost:3000
(sleep 5; kill $$) & wait
""",
    "find, xargs, awk, sed, perl": r"""
find . -name '*.ts' -not -path '*/node_modules/*' -print0 | xargs -0 grep -ln "useMemo"
find . -type f -name '*.py' -exec bash -c 'echo "$1: $(wc -l < "$1")"' _ {} \;
find . -name package.json -not -path '*/node_modules/*' -execdir pwd \;
find src -type f | sed 's/.*\.//' | sort | uniq -c | sort -rn
find . -name '*.log' -mtime +7 -print
find . -perm -u+x -type f | head
find . -type f -printf '%s %p\n' | sort -rn | head -5
find . \( -name '*.js' -o -name '*.ts' \) -a -not -name '*.d.ts' | xargs wc -l | tail -1
find /var/log -name '*.log' 2>/dev/null | head
find . -name '*.png' -size +100k -exec du -h {} + | sort -h
find . -iname '*readme*' -maxdepth 3
find . -type l -exec readlink -f {} \;
find tests -name '*.py' -newer pytest.ini
find . -name '*.sh' -exec shellcheck {} +
find . -name '*.json' -print0 | xargs -0 -n1 -P4 jq empty
git ls-files | xargs -I{} git log -1 --format='%ad {}' --date=short -- {} | sort | head
git diff --name-only | xargs -r npx prettier --check
grep -rl 'foo' src | xargs -n1 basename
ls *.csv | xargs -I{} sh -c 'echo "{}: $(wc -l < {})"'
cat ids.txt | xargs -I{} curl -s "localhost:3000/items/{}" | jq -s length
cat hosts.txt | xargs -P8 -I{} ping -c1 -W1 {}
echo a b c | xargs -n1 | sort -r
seq 5 | xargs -I{} echo "item {}"
printf '%s\n' a b | xargs -d '\n' -I{} mkdir -p "out/{}"
docker ps -q | xargs -r docker stop
docker images -q --filter dangling=true | xargs -r docker rmi
pgrep node | xargs -r ps -p
awk 'NR==FNR{a[$1]=$2; next} $1 in a {print $0, a[$1]}' map.txt data.txt
awk -F'\t' '$3 > 100 {n++; s += $3} END {if (n) printf "%.2f\n", s/n}' data.tsv
awk 'BEGIN {OFS=","} {$1=$1; print}' data.txt
awk '/^## / {if (p) print p, n; p=$2; n=0} {n++} END {print p, n}' README.md
awk 'match($0, /[0-9]+ms/) {print substr($0, RSTART, RLENGTH)}' log.txt
awk -F'"' '/version/ {print $4; exit}' package.json
awk '{for (i = NF; i > 0; i--) printf "%s ", $i; print ""}' f.txt
awk 'length > max {max = length; line = $0} END {print max ": " line}' f.txt
awk -v d="$(date +%F)" '$1 == d' app.log
awk '{sub(/\r$/, ""); print}' win.txt > unix.txt
awk 'NR % 2 == 0 {print prev " | " $0} {prev = $0}' f.txt
awk '{print > ("out_" $1 ".txt")}' data.txt
awk '{c[$9]++} END {for (k in c) print c[k], k}' access.log | sort -rn
sed -n '/BEGIN/,/END/p' f.txt | sed '1d;$d'
sed -E 's/([a-z]+)@([a-z.]+)/\2 at \1/g' mails.txt
sed -e '/^#/d' -e '/^$/d' .env
sed '1!G;h;$!d' f.txt
sed 's/[[:space:]]*$//' f.txt
sed -n '$=' f.txt
sed -i '/^import React/!b;n;/useState/!s/$/ \/\/ hook/' src/App.tsx
sed -i -e "s|__VERSION__|${VERSION}|g" -e "s|__DATE__|$(date +%F)|g" src/version.ts
sed -i 's/\t/    /g; s/ *$//' src/*.py
sed 's/.*"\(.*\)".*/\1/' f.txt
sed '/foo/s//bar/g' f.txt
sed '0,/foo/s//bar/' f.txt
sed -n 'H;${x;s/\n/,/g;s/^,//;p}' f.txt
perl -ne 'print "$1\n" if /href="([^"]+)"/' index.html
perl -pe 's/(\d+)/$1*2/ge' nums.txt
perl -F, -lane 'print join(",", @F[0,2])' data.csv
perl -i -pe 's/\bfoo\b/bar/g' $(git ls-files '*.rb')
perl -00 -ne 'print if /error/' log.txt
perl -e 'printf "%.3f\n", 22/7'
perl -MList::Util=sum -lne 'push @a, $_; END { print sum(@a) }' nums.txt
perl -MJSON::PP -e 'print JSON::PP->new->pretty->encode({a=>1})'
perl -ne '$c{$_}++ for /\w+/g; END { print "$_ $c{$_}\n" for sort keys %c }' f.txt
grep -Pzo '(?s)def foo.*?\n\n' src/app.py
grep -rhoE "from '[^']+'" src | sort | uniq -c | sort -rn | head
grep -c . f.txt && grep -n '[^[:print:]]' f.txt
cut -d' ' -f1 access.log | sort | uniq -c | sort -rn | awk '$1 > 100'
sort -k2,2 -k1,1n f.txt | uniq -f1 -c
comm -23 <(jq -r 'keys[]' a.json | sort) <(jq -r 'keys[]' b.json | sort)
diff <(npx tsc --showConfig) tsconfig.base.json
paste <(cut -f1 a.tsv) <(cut -f3 b.tsv) | column -t
join -t, <(sort a.csv) <(sort b.csv) | head
tr -s ' ' < f.txt | cut -d' ' -f2
tac app.log | grep -m1 -B2 ERROR | tac
rev f.txt | cut -d. -f1 | rev | sort -u
xmllint --xpath '//dependency/artifactId/text()' pom.xml
yq e '.jobs | keys' .github/workflows/ci.yml
yq -o=json '.' config.yml | jq '.db'
jq -r 'to_entries[] | "\(.key)=\(.value)"' env.json
jq -n --slurpfile a a.json --slurpfile b b.json '$a[0] * $b[0]'
jq 'walk(if type == "object" then del(.id) else . end)' data.json
jq -r '.[] | select(.name | test("^a")) | .id' data.json
jq --raw-output '.dependencies // {} | to_entries | map("\(.key)@\(.value)") | join("\n")' package.json
""",
    "inline code": r"""
python3 -c "import os; print(os.getcwd())"
python3 -c "import os; print('\n'.join(sorted(os.listdir('src'))))"
python3 -c "import os, sys; print(sys.executable, os.environ.get('PATH'))"
python3 -c "import os.path as p; print(p.abspath('src'))"
python3 -c "import shutil; print(shutil.which('node'))"
python3 -c "import glob; print(len(glob.glob('**/*.py', recursive=True)))"
python3 -c "import json,glob; [json.load(open(f)) for f in glob.glob('data/*.json')]; print('ok')"
python3 -c "import hashlib; print(hashlib.sha256(open('f.bin','rb').read()).hexdigest())"
python3 -c "import base64; print(base64.b64encode(b'hello').decode())"
python3 -c "import urllib.parse as u; print(u.quote('a b&c'))"
python3 -c "import time; print(int(time.time()))"
python3 -c "import uuid; print(uuid.uuid4())"
python3 -c "import random; print(random.randint(1, 100))"
python3 -c "import itertools; print(list(itertools.product('ab', repeat=2)))"
python3 -c "import sqlite3; c = sqlite3.connect('app.db'); print(c.execute('select count(*) from users').fetchone())"
python3 -c "import pandas as pd; df = pd.read_csv('data.csv'); print(df.describe())"
python3 -c "import torch; print(torch.cuda.is_available())"
python3 -c "import django; print(django.get_version())"
python3 -c "import inspect, app; print(inspect.getsource(app.main))"
python3 -c "import app.models as m; print([n for n in dir(m) if n[0].isupper()])"
python3 -c "from app import create_app; print(create_app().url_map)"
python3 -c "from importlib.metadata import version; print(version('requests'))"
python3 -c "import importlib; importlib.import_module('app.views')"
python3 -c "import ast; t = ast.parse(open('src/app.py').read()); print([n.name for n in ast.walk(t) if isinstance(n, ast.FunctionDef)])"
python3 -c "import re,sys; print(re.sub(r'\s+', ' ', sys.stdin.read()))" < f.txt
python3 -c "import sys; sys.path.insert(0, 'src'); import app; print(app.VERSION)"
python3 -c "import socket; s = socket.socket(); s.bind(('', 0)); print(s.getsockname()[1])"
python3 -c "import http.client as h; c = h.HTTPConnection('localhost', 3000); c.request('GET', '/'); print(c.getresponse().status)"
python3 -c "import urllib.request as r; print(r.urlopen('http://localhost:8000/health').read().decode())"
python3 -c "import textwrap; print(textwrap.fill(open('README.md').read(), 80)[:500])"
python3 -c "import difflib; print(''.join(difflib.unified_diff(open('a').readlines(), open('b').readlines())))"
python3 -c "import statistics as s; print(s.mean([1, 2, 3]))"
python3 -c "import csv; r = list(csv.DictReader(open('d.csv'))); print(len(r), r[0])"
python3 -c "import zipfile; print(zipfile.ZipFile('x.zip').namelist())"
python3 -c "import struct; print(struct.unpack('<I', open('f.bin','rb').read(4)))"
python3 -c "import yaml; d = yaml.safe_load(open('c.yml')); print(list(d))"
python3 -c "␤import sys␤for i in range(3):␤    print(i, file=sys.stderr)␤"
python3 - <<'EOF'␤from pathlib import Path␤import re␤␤for path in Path("src").rglob("*.py"):␤    text = path.read_text()␤    new = re.sub(r"\bfoo\b", "bar", text)␤    if new != text:␤        path.write_text(new)␤        print(path)␤EOF
python3 - <<'EOF'␤import json␤␤with open("package.json") as f:␤    data = json.load(f)␤data["version"] = "2.0.0"␤with open("package.json", "w") as f:␤    json.dump(data, f, indent=2)␤    f.write("\n")␤EOF
python3 - <<'EOF'␤import collections, os␤␤sizes = collections.Counter()␤for root, dirs, files in os.walk("."):␤    dirs[:] = [d for d in dirs if d != "node_modules"]␤    for name in files:␤        sizes[os.path.splitext(name)[1]] += os.path.getsize(os.path.join(root, name))␤print(sizes.most_common(5))␤EOF
python3 - "$VERSION" <<'EOF'␤import sys␤print(f"releasing {sys.argv[1]}")␤EOF
python3 <<EOF␤print("in $PWD")␤EOF
python manage.py shell <<'EOF'␤from app.models import User␤print(User.objects.filter(is_active=True).count())␤EOF
node -e "const fs = require('fs'); console.log(fs.readdirSync('src').length)"
node -e "const p = require('path'); console.log(p.resolve('src'))"
node -e "console.log(new Date().toISOString())"
node -e "console.log(require('crypto').randomBytes(16).toString('hex'))"
node -e "const d = JSON.parse(require('fs').readFileSync(0)); console.log(d.length)" < data.json
node -e "fetch('http://localhost:3000/health').then(r => r.text()).then(console.log)"
node -e "import('./src/index.mjs').then(m => console.log(Object.keys(m)))"
node -e "const { parse } = require('./dist/parser'); console.log(parse('a=1'))"
node -e 'for (const [k, v] of Object.entries(process.env)) if (k.startsWith("npm_")) console.log(k, v)'
node --input-type=module -e "import { add } from './src/math.js'; console.log(add(1, 2))"
node <<'EOF'␤const fs = require('fs');␤const pkg = JSON.parse(fs.readFileSync('package.json', 'utf8'));␤console.log(Object.keys(pkg.dependencies || {}).length);␤EOF
cat data.json | node -e "let s='';process.stdin.on('data',d=>s+=d).on('end',()=>console.log(JSON.parse(s).length))"
ruby -e 'puts RUBY_VERSION'
ruby -rjson -e 'puts JSON.parse(File.read("package.json"))["name"]'
php -r 'echo PHP_VERSION, "\n";'
go run - <<< 'package main'
sqlite3 app.db "select name, count(*) from events group by 1 order by 2 desc limit 5"
sqlite3 app.db <<'EOF'␤.headers on␤.mode column␤select * from users limit 3;␤EOF
psql "$DB" -Atc "select tablename from pg_tables where schemaname = 'public'"
psql -h localhost -U app <<'EOF'␤\dt␤select now();␤EOF
mysql -u root app -e "show tables; select count(*) from users"
redis-cli --scan --pattern 'session:*' | head
mongosh app --quiet --eval 'db.users.find().limit(2).toArray()'
docker compose exec -T db psql -U app -c "select 1"
docker compose exec web python -c "import app; print(app.__version__)"
docker compose exec -T web sh -c 'ls -la /app && env | sort'
docker exec -i db psql -U postgres < schema.sql
kubectl exec deploy/web -- env | grep DATABASE
kubectl exec -it web-0 -c app -- sh -c 'cat /etc/hosts'
kubectl get pods -o json | jq -r '.items[] | select(.status.phase != "Running") | .metadata.name'
kubectl logs -l app=web --since=10m | grep -c ERROR
ssh build@ci.local 'cd app && git log -1'
bc <<< "scale=4; 355/113"
awk 'BEGIN {print 2^10, sqrt(2), exp(1)}'
expr 5 + 3
gdb -batch -ex bt ./app core
lldb -b -o bt -c core ./app
valgrind --leak-check=full ./build/tests
strace -f -e trace=openat ./app 2>&1 | head -50
perf stat -e cycles ./bench
hyperfine 'npm run build' 'pnpm build'
make -s -f Makefile.ci test
make CFLAGS='-O2 -g' -j4
tar czf - src | wc -c
tar -xzf x.tgz --strip-components=1 -C vendor
vim --version | head -1
""",
    "the person's own tools": r"""
gh pr view 12 --json reviews --jq '.reviews[].state'
gh pr review 12 --comment --body "Looks good, but see src/app.py:10"
gh issue create --title "Crash" --body "$(cat crash.txt)"
gh run watch --exit-status
gh api graphql -f query='{ viewer { login } }'
gh workflow run ci.yml -f ref=main
gh release create v1.2.3 --generate-notes --draft
gh search code "parse_config" --repo org/repo
git log --pretty=format:'%h%x09%an%x09%ad%x09%s' --date=short | head
git log main..HEAD --oneline | cat
git log -L '/def main/,/^def/:src/app.py' -1
git diff --word-diff=porcelain HEAD~1 -- README.md
git diff -U0 | grep '^+' | grep -v '^+++'
git show :/fix --stat
git rev-parse --verify -q origin/dev || echo none
git ls-remote --heads origin
git remote show origin | head
git blame -w -C -L '/class App/,+20' src/app.py
git rebase --autosquash --autostash origin/main
git -c rebase.autoStash=true pull --rebase
git -c diff.noprefix=true diff > x.patch
git -C ~/other log --oneline -3
git -C "$(git rev-parse --show-toplevel)" status -s
git --git-dir=../repo/.git log -1
git config --global user.email
git config core.autocrlf false
git config --get-regexp '^alias'
git update-index --assume-unchanged config/local.yml
git rm --cached secrets.env
git rm -r old/
git mv a.py b.py
git commit --fixup HEAD~2
git commit -m "Fix: don't crash on 'quotes' and \"doubles\""
git commit -m 'Fix `parse()` for $vars'
git commit --author="A B <a@b.c>" -m x
git merge --abort || true
git cherry -v main
git range-diff main...feature
git notes list
git sparse-checkout list
git lfs ls-files | head
git tag --contains HEAD
git worktree remove ../hotfix
npm ls react --all
npm explain lodash
npm run
npm run build --workspace=packages/core
npm run test -- --coverage --reporter=json > cov.json
npm config get registry
npm cache verify
npm init -y
npm link ../lib
npm fund --json | jq length
npx -y @modelcontextprotocol/inspector --help
npx degit user/repo my-app
npx tsc --init
npx eslint --print-config src/app.ts | jq .rules
npx jest --listTests
npx playwright show-report --port 9000 &
npx husky init
npx changeset status
npx turbo run build --filter=web...
npx nx affected -t test
npx storybook build
npx sequelize-cli db:migrate:status
npx wrangler dev &
pnpm -C packages/core build
pnpm why react
yarn dedupe --check
bun x tsc --noEmit
deno task check
uv pip list
uv tool run ruff check
uvx ruff check .
pipx list
pip index versions requests
pip wheel . -w dist --no-deps
pip config list
poetry add --group dev pytest
poetry export -f requirements.txt -o req.txt
conda list | head
pyenv versions
tox -p auto
python -X importtime -c 'import app' 2>&1 | tail -5
python -W error -m pytest -q
python -m mypy --install-types --non-interactive src
python -m pip freeze | sort
python -m pip install --help | head
python -m zipfile -l x.whl
python -m http.server --directory dist 8080 &
python -m app.server --port 8000 > /tmp/server.log 2>&1 &
python -m cProfile -o p.out main.py && python -c "import pstats; pstats.Stats('p.out').sort_stats('cumtime').print_stats(10)"
cargo metadata --no-deps --format-version 1 | jq -r '.packages[].name'
cargo run -q -- parse input.txt | head
cargo test -- --test-threads=1 2>&1 | grep -E 'test result|FAILED'
cargo install --path . --root /tmp/x
cargo expand parser | head -50
cargo audit
rustfmt --check src/*.rs
go test ./... 2>&1 | grep -v '^ok'
go test -run '^TestX$' -count=5 ./pkg/x
go build -ldflags "-X main.version=$(git describe --tags)" ./cmd/app
go tool pprof -top cpu.out | head
go install golang.org/x/tools/cmd/goimports@latest
go list -f '{{.Dir}}' ./...
mvn -q dependency:tree -Dincludes=com.google.guava
./gradlew dependencies --configuration runtimeClasspath | head -40
dotnet list package --outdated
docker compose run --rm web pytest -q
docker compose up -d && docker compose logs --no-color | tail -20
docker compose exec db pg_dump -U app app > dump.sql
docker build --target test --progress=plain . 2>&1 | tail -30
docker history app:dev
docker buildx ls
docker rm -f test-db || true
docker volume inspect app_db
kubectl rollout restart deploy/web -n staging
kubectl get cm app -o jsonpath='{.data.config\.yml}'
kubectl auth can-i get pods
kubectl kustomize overlays/dev | head -50
helm get values web -n staging
terraform state list | head
terraform output -json | jq -r '.url.value'
terraform plan -var-file=dev.tfvars -no-color | tail -20
aws s3 cp s3://bucket/key - | head
aws ecs list-services --cluster x --query 'serviceArns[]' --output text
gcloud run services list --format='value(metadata.name)'
az webapp list -o table
ansible-playbook --check -i hosts site.yml
pre-commit run ruff --all-files
shellcheck -x scripts/*.sh || true
hadolint Dockerfile
actionlint
yamllint -d relaxed .
markdownlint '**/*.md' --ignore node_modules
vale docs
codespell src docs
cloc --exclude-dir=node_modules .
tokei src
scc .
watchman --version
tldr tar
bat -p src/app.py
eza -la --git
fzf --version
delta --version
http --check-status :3000/health
xh :3000/users
k6 run --vus 5 --duration 10s load.js
lighthouse http://localhost:3000 --output=json --quiet > lh.json
""",
}
