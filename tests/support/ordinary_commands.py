r"""Commands that agents run all day and that a deny list must not get in the way of.

They are written as they come up in work on a repository, the awkward ones among them: loops, here-documents, one-liners
in other languages, variables, pipelines. `␤` is a line end and `␉` a tab.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.support.ordinary_steps import STEPS

DENIED = (
    "rm", "rm -rf", "sudo", "curl", "git push", "dd", "chmod +x", "npm publish", "pip install", "kubectl delete",
    "docker run", "shutdown", "terraform destroy", "wget",
)  # fmt: skip
"""What a deny list names."""
_SIGNS = {"␤": "\n", "␉": "\t", "␍": "\r"}


class Ordinary(NamedTuple):
    """A command, and what may be denied while it is run."""

    kind: str
    command: str
    deny: tuple[str, ...]


def list_ordinary() -> list[Ordinary]:
    """Every command with the deny list, less what it uses itself."""
    found: dict[str, Ordinary] = {}
    for kind, text in (*ORDINARY.items(), *STEPS.items()):
        for line in filter(None, text.split("\n")):
            command = line
            for sign, char in _SIGNS.items():
                command = command.replace(sign, char)
            deny = tuple(each for each in DENIED if kind == MENTIONS or not uses(command, each))
            found.setdefault(command, Ordinary(kind, command, deny))
    return list(found.values())


def uses(command: str, pattern: str) -> bool:
    """Whether a command has the words of a pattern, the first of them somewhere before the others."""
    if pattern == "rm -rf":
        pattern = "rm"
    words = (rf"(?<![\w./-]){re.escape(word)}\b" for word in pattern.split())
    return re.search(".*?".join(words), command) is not None


MENTIONS = "only mentioned"
"""Here the denied words stand where nothing is started by them: the whole list applies."""

ORDINARY = {
    "git": r"""
git status
git status --short
git status --porcelain=v1 -b
git diff
git diff --stat
git diff HEAD~1 -- src/
git diff --cached --name-only
git diff main...HEAD --stat
git diff --no-color HEAD -- '*.py' | head -200
git --no-pager diff
git --no-pager log --oneline -20
git log --oneline -10
git log --oneline --graph --all | head -30
git log -p -1 -- src/app.py
git log --since='2 weeks ago' --pretty=format:'%h %an %s'
git log --format='%H %s' origin/main..HEAD
git log -S'parse_config' --oneline -- src
git log --follow --oneline -- docs/intro.md
git log -1 --format=%cd --date=iso
git show HEAD
git show HEAD:src/app.py | head -50
git show --stat HEAD~2
git show abc1234 -- src/server/router.ts
git blame -L 10,40 src/app.py
git branch
git branch -a
git branch --show-current
git branch -vv
git branch -D old-feature
git checkout -b fix/issue-123
git checkout main
git checkout -- src/app.py
git checkout HEAD~1 -- package-lock.json
git switch -c feature/login
git switch main && git pull --ff-only
git restore --staged .
git restore src/app.py
git add -A
git add src tests
git add -A && git commit -m "Fix the parser"
git add . && git commit -m 'feat: add login' && git log -1 --stat
git commit -am "Update docs"
git commit --amend --no-edit
git commit -m "$(cat <<'EOF'␤Fix the race in the worker pool␤␤The lock was taken after the check.␤EOF␤)"
git commit -q -F - <<'EOF'␤Refactor settings␤␤No change in behaviour.␤EOF
git commit -m "Release $(cat VERSION)"
git stash
git stash list
git stash pop
git stash push -m wip -- src/
git fetch
git fetch origin --prune
git fetch origin main:main
git pull
git pull --rebase origin main
git rebase origin/main
git rebase --continue
git rebase --abort
git merge --no-ff feature/login
git merge-base HEAD origin/main
git cherry-pick abc1234
git cherry-pick -x abc1234..def5678
git reset HEAD~1
git reset --hard origin/main
git reset --soft HEAD~3
git revert --no-edit HEAD
git tag -l 'v*' --sort=-v:refname | head -5
git tag -a v1.2.3 -m "v1.2.3"
git describe --tags --always --dirty
git remote -v
git remote get-url origin
git rev-parse HEAD
git rev-parse --show-toplevel
git rev-parse --abbrev-ref HEAD
git rev-list --count HEAD
git ls-files
git ls-files '*.ts' | wc -l
git ls-files -m -o --exclude-standard
git ls-files | xargs wc -l | sort -n | tail -20
git ls-tree -r HEAD --name-only | grep test
git grep -n "TODO"
git grep -n -w parse_args -- '*.py'
git config user.name
git config --get remote.origin.url
git config --list --show-origin | head
git worktree list
git worktree add ../hotfix main
git submodule update --init --recursive
git submodule status
git clean -nd
git clean -fd build/
git bisect start HEAD v1.0.0
git bisect good
git shortlog -sn --no-merges | head
git reflog -10
git apply --check fix.patch
git apply fix.patch
git format-patch -1 HEAD --stdout > fix.patch
git archive --format=tar.gz -o src.tar.gz HEAD
git cat-file -p HEAD
git diff --name-only HEAD~1 | xargs -r ruff check
git diff --name-only --diff-filter=ACM main | grep '\.py$' | xargs black --check
git -C ../other status
git -C "$REPO" log -1
git -c color.ui=always diff | less -R
git -c core.quotepath=false ls-files
git -c user.name=ci -c user.email=ci@example.com commit -m "Generated"
GIT_PAGER=cat git log -3
GIT_EDITOR=true git rebase --continue
git log --oneline | wc -l
git status && git diff --stat && git log -1
cd /tmp && git clone --depth 1 https://github.com/pallets/click.git
git clone git@github.com:org/repo.git ../repo
git init -q && git add -A && git commit -qm init
git check-ignore -v node_modules
git for-each-ref --sort=-committerdate --count=5 --format='%(refname:short)' refs/heads/
git log --author="$(git config user.name)" --oneline -5
BASE=$(git merge-base origin/main HEAD); git diff "$BASE" --stat
git diff "$BASE"..HEAD -- src
git show "$(git rev-list -1 HEAD)" --stat
for f in $(git diff --name-only); do echo "== $f"; git diff -- "$f" | head -20; done
""",
    "npm and node": r"""
npm install
npm ci
npm i -D typescript @types/node
npm install --save-dev jest@29
npm uninstall lodash
npm test
npm test -- --watchAll=false
npm run build
npm run lint -- --fix
npm run test:unit -- src/utils/date.test.ts
npm run dev &
npm start > server.log 2>&1 &
npm ls --depth=0
npm outdated || true
npm audit --production
npm audit fix
npm view react version
npm pack --dry-run
npm version patch --no-git-tag-version
npm --prefix frontend install
npm --prefix frontend run build
npm run --silent typecheck
npm exec -- tsc --noEmit
npx tsc --noEmit
npx tsc -p tsconfig.build.json
npx eslint . --ext .ts,.tsx --max-warnings 0
npx eslint src/app.ts --fix
npx prettier --check "src/**/*.{ts,tsx}"
npx prettier --write src/index.ts
npx jest --coverage
npx jest src/auth -t "logs in"
npx vitest run
npx vitest run --reporter=verbose src/lib
npx playwright test --project=chromium
npx playwright install --with-deps chromium
npx prisma generate
npx prisma migrate dev --name add_user
npx next build
npx vite build
npx --yes create-vite@latest demo --template react-ts
npx -y ts-node scripts/seed.ts
npx tsx scripts/check.ts
npx knip
node --version
node server.js
node --test
node dist/index.js --help
node scripts/build.mjs --watch=false
node --check src/index.js
node -v && npm -v
node -e "console.log(require('./package.json').version)"
node -p "process.version"
node -p "require('./package.json').scripts"
node -e "console.log(JSON.stringify(require('./tsconfig.json').compilerOptions, null, 2))"
node -e 'const p=require("./package.json"); console.log(Object.keys(p.dependencies||{}).join("\n"))'
node -e "console.log([1,2,3].map(x => x * 2))"
yarn
yarn install --frozen-lockfile
yarn test --ci
yarn build
yarn workspace web build
yarn add -D vitest
yarn why lodash
pnpm install --frozen-lockfile
pnpm -r build
pnpm --filter web test
pnpm exec tsc --noEmit
pnpm add zod
pnpm dlx create-next-app@latest app --ts
bun install
bun test
bun run build
deno test --allow-read
NODE_ENV=production npm run build
NODE_ENV=test npx jest --runInBand
CI=true npm test
CI=1 npx vitest run 2>&1 | tail -40
NODE_OPTIONS=--max-old-space-size=4096 npm run build
DEBUG=app:* node server.js
PORT=3001 npm start
cd frontend && npm ci && npm run build
cd web && npx tsc --noEmit 2>&1 | head -50
(cd client && npm test -- --run)
npm run build 2>&1 | tee build.log
npm run build 2>&1 | grep -E "error|warning" | head -20
npm test 2>&1 | tail -n 60
npm run lint --if-present && npm test
npx tsc --noEmit | grep -c "error TS"
ls node_modules | wc -l
ls node_modules/.bin | grep jest
cat package.json | jq '.scripts'
jq -r '.dependencies | keys[]' package.json
jq '.version = "1.2.3"' package.json > tmp.json && mv tmp.json package.json
test -d node_modules || npm ci
[ -f package-lock.json ] && npm ci || npm install
corepack enable && corepack prepare pnpm@9 --activate
nvm use 20
""",
    "python": r"""
python --version
python3 --version
python -m pytest
pytest
pytest -q
pytest -x -vv tests/runs/test_check_message.py
pytest tests/runs/test_check_message.py::TestLogin::test_ok
pytest -k "parse and not slow" --maxfail=1
pytest -n auto --dist loadfile
pytest --cov=src --cov-report=term-missing
pytest --collect-only -q | tail -5
pytest -q 2>&1 | tail -20
pytest -q tests/ || echo "tests failed"
python -m pytest -q -p no:cacheprovider tests
python3 -m pytest tests/unit -x --tb=short
python -m unittest discover -s tests
python -m unittest tests.runs.test_check_message.TestApp.test_x -v
python manage.py migrate
python manage.py makemigrations --check --dry-run
python manage.py test app.tests
python manage.py shell -c "from app.models import User; print(User.objects.count())"
python manage.py runserver 0.0.0.0:8000 &
python setup.py --version
python -m build
python -m venv .venv
python3 -m venv .venv && . .venv/bin/activate && pip list
source .venv/bin/activate
source .venv/bin/activate && pytest -q
. .venv/bin/activate; python -m mypy src
.venv/bin/python -m pytest -q
.venv/bin/pytest -q tests/test_cli.py
./.venv/bin/ruff check .
.venv/bin/pip list --outdated
pip list
pip show requests
pip freeze | grep -i django
pip freeze > requirements.lock
pip check
pip --version
pip download --no-deps -d /tmp/wheels requests
python3 -m pip --version
python -m pip list --format=json
uv sync
uv run pytest -q
uv run python -m app --help
uv add httpx
uv lock --check
poetry install
poetry run pytest -q
poetry show --tree | head -30
tox -e py311
nox -s tests
hatch run test
black --check .
black src tests
isort --check-only .
ruff check .
ruff check --fix src
ruff format --diff
mypy src
mypy --strict src/app.py
pyright src
pylint src --disable=C,R
flake8 src --max-line-length=120 --statistics
bandit -r src -q
coverage run -m pytest && coverage report -m
coverage html
pre-commit run --all-files
pre-commit run --files $(git diff --name-only)
python -c "print(1 + 1)"
python -c "import sys; print(sys.version)"
python3 -c 'import sys; print(sys.path)'
python3 -c "import json; print(json.load(open('package.json'))['version'])"
python3 -c "import requests; print(requests.__version__)"
python -c "import app; print(app.__version__)"
python -c "from app.config import Settings; print(Settings())"
python3 -c "import platform; print(platform.python_version())"
python3 -c "␤import json␤with open('data.json') as f:␤    data = json.load(f)␤print(len(data), list(data)[:5])␤"
python3 -c "import yaml,sys; yaml.safe_load(open('.github/workflows/ci.yml')); print('ok')"
python3 -c "import ast,sys; ast.parse(open('src/app.py').read()); print('syntax ok')"
python3 -c "import tomllib; print(tomllib.load(open('pyproject.toml','rb'))['project']['name'])"
python3 -c "from datetime import datetime; print(datetime.utcnow().isoformat())"
python3 -c "import re; print(re.findall(r'\d+', 'a1b22'))"
python3 -c "from pathlib import Path; print(sum(1 for _ in Path('src').rglob('*.py')))"
python3 -c "import secrets; print(secrets.token_hex(16))"
python3 -c "import numpy as np; print(np.__version__); print(np.zeros((2, 2)))"
python3 -c "import math; print(math.sqrt(2))"
python3 -c "import collections; print(collections.Counter(open('log.txt').read().split()).most_common(10))"
python3 -c 'import sys,json; d=json.load(sys.stdin); print(d["name"])' < package.json
curl -s localhost:8000/health | python3 -m json.tool
cat data.json | python3 -m json.tool | head -40
python3 -m json.tool data.json > /dev/null && echo valid
python3 -m http.server 8000 &
python -m compileall -q src
python -m py_compile src/app.py
python3 -m timeit "sum(range(100))"
python3 -m cProfile -s cumtime scripts/run.py | head -30
python -m pdb -c continue scripts/run.py
python -m site
python -m app.cli --help
python scripts/generate.py --out build/schema.json
python3 scripts/migrate.py --dry-run 2>&1 | tee migrate.log
python3 - <<'EOF'␤import json␤data = json.load(open("data.json"))␤for key, value in data.items():␤    print(key, len(value))␤EOF
python3 <<'EOF'␤import re␤text = open("README.md").read()␤print(re.findall(r"^## (.*)$", text, re.M))␤EOF
python - <<'PY'␤from app.models import User␤print(User.__table__.columns.keys())␤PY
PYTHONPATH=src python -m app
PYTHONPATH=. pytest -q tests
PYTHONPATH=src:tests python3 scripts/check.py
DJANGO_SETTINGS_MODULE=app.settings python -m pytest -q
FLASK_APP=app flask run --port 5001 &
FLASK_ENV=development flask routes
LOG_LEVEL=debug python main.py
PYTHONDONTWRITEBYTECODE=1 pytest -q
PYTHONWARNINGS=error python -c "import app"
uvicorn app.main:app --reload --port 8000 &
gunicorn app.wsgi -b 127.0.0.1:8000 --daemon
celery -A app inspect active
alembic upgrade head
alembic revision --autogenerate -m "add users"
jupyter nbconvert --to script analysis.ipynb
ipython -c "print(1)"
timeout 300 pytest -q
timeout 60 python scripts/slow.py || echo "timed out"
time pytest -q tests/test_perf.py
which python python3
python -c 'import site; print(site.getsitepackages())'
find . -name '__pycache__' -prune -o -name '*.py' -print | xargs python -m py_compile
for f in tests/test_*.py; do pytest -q "$f" || break; done
for v in 3.10 3.11 3.12; do python$v --version; done
""",
    "cargo, go, make and the like": r"""
cargo build
cargo build --release
cargo check --all-targets
cargo test
cargo test --workspace -- --nocapture
cargo test parser::tests::empty -- --exact
cargo clippy --all-targets -- -D warnings
cargo fmt --check
cargo fmt --all
cargo run -- --help
cargo run --bin server --release &
cargo run --example demo
cargo doc --no-deps
cargo add serde --features derive
cargo tree -i openssl
cargo bench
cargo update -p tokio
cargo nextest run
RUST_BACKTRACE=1 cargo test
RUST_LOG=debug cargo run
RUSTFLAGS="-D warnings" cargo check
rustc --version
rustup show
rustup component add clippy
go build ./...
go test ./...
go test -race -count=1 ./pkg/...
go test -run TestParse -v ./internal/parser
go test -bench=. -benchmem ./...
go test -coverprofile=c.out ./... && go tool cover -func=c.out | tail -1
go vet ./...
go mod tidy
go mod download
go mod why -m golang.org/x/net
go run ./cmd/server
go run main.go --port 8080 &
go generate ./...
go fmt ./...
gofmt -l .
go get github.com/stretchr/testify@latest
go list -m all | head
go env GOPATH
go version
golangci-lint run ./...
CGO_ENABLED=0 GOOS=linux go build -o bin/app ./cmd/app
GOFLAGS=-mod=mod go build ./...
make
make test
make -j4
make -j"$(nproc)" all
make clean all
make -C docs html
make lint V=1
make test ARGS="-k login"
make -n deploy
make help | head -20
make build 2>&1 | tail -20
make PREFIX=/usr/local install DESTDIR=/tmp/pkg
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release
cmake --build build -j 4
ctest --test-dir build --output-on-failure
mkdir -p build && cd build && cmake .. && make -j4
ninja -C build
meson setup build && meson compile -C build
gcc -Wall -O2 -o hello hello.c && ./hello
g++ -std=c++20 -o app main.cpp
clang-format -i src/*.c
clang-tidy src/main.cpp -- -std=c++20
./gradlew build
./gradlew test --tests '*LoginTest*'
./gradlew :app:assembleDebug --stacktrace
./mvnw -q test
mvn -q -DskipTests package
mvn test -Dtest=UserServiceTest
mvn dependency:tree | grep jackson
java -version
java -jar target/app.jar --server.port=8081 &
javac -d out src/Main.java && java -cp out Main
dotnet build
dotnet test --filter "FullyQualifiedName~Login"
dotnet run --project src/Api
bundle install
bundle exec rspec spec/models
bundle exec rubocop -a
rake test
rails db:migrate
bin/rails test
RAILS_ENV=test bin/rails db:prepare
ruby -v
ruby script/import.rb --dry-run
composer install
php artisan migrate --pretend
php -l src/index.php
vendor/bin/phpunit --filter LoginTest
mix deps.get && mix test
swift build
swift test --filter ParserTests
flutter test
bazel build //...
bazel test //pkg:all --test_output=errors
terraform fmt -check -recursive
terraform init -backend=false
terraform validate
terraform plan -out=tfplan
just test
task build
./configure --prefix=/usr && make
./scripts/test.sh
./scripts/dev.sh --fast
bash scripts/build.sh
bash -x scripts/build.sh 2>&1 | tail -50
sh ./install.sh --dry-run
bash -n scripts/deploy.sh
shellcheck scripts/*.sh
shfmt -d scripts
./bin/app --version
./target/release/app --config config.toml
./build/tests/unit_tests --gtest_filter='Parser.*'
""",
    "containers and services": r"""
docker ps
docker ps -a --format '{{.Names}}\t{{.Status}}'
docker compose up -d
docker compose up -d --build web
docker compose down
docker compose ps
docker compose logs -f --tail=100 web
docker compose logs web | grep -i error | tail
docker compose exec web pytest -q
docker compose exec -T db psql -U postgres -c 'select 1'
docker compose build --no-cache
docker compose config --services
docker compose -f docker-compose.dev.yml up -d
docker-compose up -d
docker build -t app:dev .
docker build -f docker/Dockerfile.prod -t app:prod --build-arg VERSION=1.2 .
docker images
docker image ls -q | wc -l
docker logs app --tail 50
docker logs -f app 2>&1 | grep --line-buffered ERROR
docker inspect app | jq '.[0].State'
docker inspect -f '{{.State.Health.Status}}' app
docker stats --no-stream
docker network ls
docker volume ls
docker pull postgres:16
docker exec app ls -la /app
docker exec -it app python manage.py migrate
docker exec app env
docker cp app:/app/log.txt .
docker tag app:dev registry.local/app:dev
docker system df
docker stop app && docker start app
docker version --format '{{.Server.Version}}'
podman ps
kubectl get pods
kubectl get pods -n staging -o wide
kubectl get pods -A | grep -v Running
kubectl get deploy,svc,ing -n staging
kubectl get pod web-0 -o yaml
kubectl get secret db -o jsonpath='{.data.password}' | base64 -d
kubectl describe pod web-0
kubectl logs -f deploy/web --tail=100
kubectl logs web-0 -c app --previous
kubectl apply -f k8s/ --dry-run=client
kubectl diff -f k8s/
kubectl rollout status deploy/web
kubectl top pods
kubectl config current-context
kubectl config get-contexts
kubectl port-forward svc/web 8080:80 &
kubectl exec -it web-0 -- ls /app
kubectl --context staging -n web get events --sort-by=.lastTimestamp
kubectl explain deployment.spec
helm list -A
helm template ./chart -f values.yaml | head -100
helm lint ./chart
helm upgrade --install web ./chart --dry-run
minikube status
aws s3 ls s3://bucket/path/
aws sts get-caller-identity
aws logs tail /aws/lambda/fn --since 1h
gcloud config list
az account show
gh pr view
gh pr view 123 --json title,body,files
gh pr list --state open --limit 10
gh pr diff 123
gh pr checks 123 --watch
gh pr create --title "Fix parser" --body "Closes #12"
gh pr create --fill --draft
gh issue list --label bug
gh issue view 45 --comments
gh run list --limit 5
gh run view 1234 --log-failed | tail -100
gh api repos/org/repo/pulls/1/comments --jq '.[].body'
gh api repos/{owner}/{repo}/actions/runs -q '.workflow_runs[0].conclusion'
gh release list
gh repo view --web=false
psql -c 'select count(*) from users'
psql "$DATABASE_URL" -c '\dt'
psql -h localhost -U app -d app -Atc "select id from users limit 5"
psql -U postgres -f schema.sql
psql "$DATABASE_URL" <<'SQL'␤select name, count(*) from events group by name;␤SQL
pg_isready -h localhost -p 5432
pg_dump -s app > schema.sql
createdb test_app
mysql -u root -e 'show databases'
mysql -uroot app < dump.sql
sqlite3 app.db '.tables'
sqlite3 app.db 'select * from users limit 5;'
sqlite3 -header -column app.db "select name, sql from sqlite_master"
sqlite3 app.db .schema
redis-cli ping
redis-cli -h localhost get key
mongosh --eval 'db.users.countDocuments()'
systemctl status nginx --no-pager
systemctl --user list-units --failed
journalctl -u app -n 50 --no-pager
service postgresql status
nginx -t
""",
    "reading and searching": r"""
ls
ls -la
ls -la src/ tests/
ls -lah ~/.config
ls -R src | head -50
ls *.md
ls -t | head -5
ls -1 | wc -l
tree -L 2 -I node_modules
pwd
cat README.md
cat src/app.py | head -100
cat -n src/app.py | sed -n '10,40p'
cat package.json tsconfig.json
cat .env.example
cat /etc/os-release
cat < input.txt
head -50 src/app.py
head -c 1000 data.bin | xxd
tail -100 app.log
tail -f app.log &
tail -n +10 data.csv | head
sed -n '1,80p' src/app.py
sed -n '/def main/,/^def /p' src/app.py
sed -n '100,200p;200q' src/big.c
awk '{print $1}' access.log | sort | uniq -c | sort -rn | head
awk -F, 'NR>1 {sum += $3} END {print sum}' data.csv
awk -F: '{print $1, $3}' /etc/passwd
awk 'NR>=10 && NR<=20' src/app.py
awk '/BEGIN/,/END/' notes.txt
awk '{ if ($9 >= 500) print $7 }' access.log | sort | uniq -c
awk 'length($0) > 120 {print FILENAME": "FNR}' src/*.py
awk -v n=5 '{print $n}' file.txt
awk '!seen[$0]++' names.txt
awk '{a[$1]+=$2} END {for (k in a) printf "%s %d\n", k, a[k]}' data.txt
awk 'BEGIN{FS="\t"; OFS=","} {print $1,$2}' data.tsv
grep -rn "TODO" src
grep -rn --include='*.py' "def parse" .
grep -rIl "old_name" --exclude-dir=node_modules .
grep -E "^(import|from) " -r src | sort -u
grep -c "" data.csv
grep -v '^#' .env | cut -d= -f1
grep -oP '(?<=version = ")[^"]+' pyproject.toml
grep -A5 -B5 "Traceback" app.log | tail -50
grep -q "ready" server.log && echo up
grep -rn "foo(" src | grep -v test | wc -l
grep -n "class \|def " src/app.py
grep -i error app.log | cut -d' ' -f1-3 | sort | uniq -c
grep -rn 'console\.log' src --include=*.{ts,tsx}
rg -n "parse_config" -g '*.py'
rg --files | head -50
rg -l 'useEffect' src | xargs wc -l
rg "TODO|FIXME" -t py -C 2
rg -U 'fn main\(\) \{\n' src
ag --python "import os"
find . -name '*.py'
find . -type f -name '*.ts' -not -path './node_modules/*'
find . -name '*.py' | xargs grep -l "import os"
find . -name '*.py' -print0 | xargs -0 wc -l | tail -1
find src -name '*.tsx' -exec grep -l "useState" {} +
find . -name '*.json' -exec jq empty {} \;
find . -type f -size +1M -exec ls -lh {} \;
find . -newer package.json -type f | head
find . -mtime -1 -name '*.log'
find . -maxdepth 2 -type d | sort
find . -name node_modules -prune -o -name '*.js' -print
find . -path ./vendor -prune -o -type f -print | wc -l
find src -name '*.py' -exec wc -l {} + | sort -n | tail
find . -type f -name '*.py' -exec sh -c 'wc -l "$1"' _ {} \;
find . -empty -type d
find tests -name 'test_*.py' -printf '%f\n' | sort
fd -e py
fd test src -x wc -l
wc -l src/*.py
wc -l $(git ls-files '*.py') | tail -1
diff -u a.txt b.txt
diff -r dist1 dist2 | head
diff <(sort a.txt) <(sort b.txt)
comm -12 <(sort a.txt) <(sort b.txt)
diff <(git show HEAD:package.json | jq -S .) <(jq -S . package.json)
sort -u names.txt
sort -t, -k3 -nr data.csv | head
cut -d, -f1,3 data.csv | head
tr ',' '\n' < list.txt | sort | uniq -c
tr -d '\r' < win.txt > unix.txt
uniq -c sorted.txt
column -t -s, data.csv | head
paste -d, a.txt b.txt
nl -ba src/app.py | sed -n '1,20p'
xxd file.bin | head
hexdump -C file.bin | head -5
od -c notes.txt | head
file build/app
stat -c '%s %n' build/*
du -sh .
du -sh * | sort -h | tail
df -h .
md5sum dist/*.js
sha256sum -c SHA256SUMS
strings bin/app | grep -i version
jq . data.json
jq '.users[] | select(.active) | .name' data.json
jq -r '.[] | [.id, .name] | @csv' data.json
jq -s 'add' a.json b.json
jq --arg v "$VERSION" '.version = $v' package.json
jq -e '.errors | length == 0' result.json
yq '.services.web.image' docker-compose.yml
yq -i '.version = "2"' config.yml
xmllint --format pom.xml | head
xargs -n1 echo < list.txt
xargs -a files.txt wc -l
cat files.txt | xargs -I{} head -1 {}
cat list.txt | xargs -P4 -n1 ./scripts/check.sh
cat urls.txt | while read -r url; do echo "$url"; done
seq 1 10
seq 1 5 | paste -sd+ | bc
echo "scale=2; 10/3" | bc
less README.md
more README.md
view -R README.md
man git-log | head -50
which node
which -a python3
type ls
command -v rg
readlink -f .venv/bin/python
realpath ../other
basename "$PWD"
dirname "$(pwd)"
locale
env | sort
env | grep -i proxy
printenv PATH
echo $PATH | tr ':' '\n'
whoami
id -un
hostname
uname -a
uptime
ps aux | grep node
ps aux | grep '[p]ython' | awk '{print $2}'
ps -ef | head
pgrep -fl "node server"
lsof -i :3000
lsof -ti:3000
ss -ltnp | grep 8080
netstat -tlnp 2>/dev/null | grep 3000
top -bn1 | head -20
free -m
nproc
history | tail -20
date
date -u +%Y-%m-%dT%H:%M:%SZ
date -d '2 days ago' +%F
date -d "@$(stat -c %Y notes.txt)"
cal
""",
    "changing files": r"""
mkdir -p src/components
mkdir -p {src,tests,docs}/api
touch src/__init__.py
touch tests/{__init__,conftest}.py
cp .env.example .env
cp -r templates/base new-project
cp src/a.py{,.bak}
mv old.py new.py
mv src/{foo,bar}.ts
mv *.log logs/
ln -s ../shared/config.json config.json
ln -sf "$PWD/bin/app" ~/.local/bin/app
rm -f build.log
rm -rf dist build
rm -rf node_modules && npm ci
rm -r /tmp/test-output
rm tests/old_test.py
rmdir empty
find . -name '*.pyc' -delete
find . -name '__pycache__' -type d -exec rm -rf {} +
find . -name '*.orig' | xargs rm -f
chmod 644 config.json
chmod +x scripts/*.sh
chmod -R u+w vendor
truncate -s 0 app.log
> app.log
: > app.log
echo "hello" > hello.txt
echo "export default {}" > src/index.js
echo 'node_modules/' >> .gitignore
echo "VERSION=1.2.3" >> .env
printf 'a\nb\nc\n' > list.txt
printf '%s\n' "$PWD" | tee path.txt
cat a.txt b.txt > c.txt
cat > src/hello.py <<'EOF'␤def hello(name):␤    return f"Hello, {name}!"␤EOF
cat > config.json << 'EOF'␤{␤  "port": 3000,␤  "debug": true␤}␤EOF
cat > .github/workflows/ci.yml <<'EOF'␤name: CI␤on: [push]␤jobs:␤  test:␤    runs-on: ubuntu-latest␤    steps:␤      - uses: actions/checkout@v4␤      - run: npm ci && npm test␤EOF
cat > Dockerfile <<'EOF'␤FROM python:3.12-slim␤WORKDIR /app␤COPY . .␤CMD ["python", "app.py"]␤EOF
cat > src/App.tsx <<'EOF'␤export function App() {␤  return <div className="app">{`Hello ${name}`}</div>;␤}␤EOF
cat > notes.md <<EOF␤# Notes␤Written on $(date +%F) in $PWD␤EOF
cat >> README.md <<'EOF'␤␤## Usage␤␤    npm start␤EOF
cat > test.sql <<SQL␤select 1;␤SQL
cat <<'EOF' | tee docs/api.md␤# API␤- `GET /users`␤- $PATH is not expanded here␤EOF
cat <<-EOF > out.txt␤␉indented␤␉EOF
tee -a CHANGELOG.md <<'EOF'␤- Fixed it's bug "quoted"␤EOF
sed -i 's/foo/bar/g' src/app.py
sed -i 's/"version": ".*"/"version": "1.2.3"/' package.json
sed -i '/^$/d' list.txt
sed -i '10,20d' src/app.py
sed -i '1i # -*- coding: utf-8 -*-' src/app.py
sed -i "s/VERSION/$VERSION/" Dockerfile
sed -i.bak -e 's/a/b/' -e '/c/d' file.txt
sed -i -E 's/(foo)_(bar)/\2_\1/g' src/*.py
sed -e 's/^/  /' notes.txt
sed 's|http://|https://|g' urls.txt > secure.txt
sed '/start/,/end/{s/x/y/;p}' -n file.txt
sed -i '' 's/old/new/' file.txt
perl -pi -e 's/foo/bar/g' src/*.c
perl -0777 -pi -e 's/\n{3,}/\n\n/g' README.md
perl -ne 'print if /error/i' app.log
perl -lane 'print $F[1]' data.txt
find src -name '*.ts' -exec sed -i 's/foo/bar/g' {} +
find . -name '*.py' | xargs sed -i 's/old_name/new_name/g'
grep -rl old_name src | xargs sed -i 's/old_name/new_name/g'
grep -rlZ old_name src | xargs -0 perl -pi -e 's/old_name/new_name/g'
rg -l old_name | xargs sed -i 's/old_name/new_name/g'
git ls-files -z '*.md' | xargs -0 sed -i 's/  *$//'
awk '{gsub(/foo/,"bar")}1' in.txt > out.txt && mv out.txt in.txt
sort -o names.txt names.txt
tar czf backup.tar.gz src
tar xzf release.tar.gz -C /tmp
tar tf release.tar.gz | head
tar --exclude=node_modules -czf src.tgz .
zip -r site.zip dist
unzip -l archive.zip
unzip -q archive.zip -d /tmp/archive
gzip -k big.log
gunzip -c big.log.gz | head
zcat logs/*.gz | grep ERROR | wc -l
rsync -av --delete src/ backup/
rsync -az --exclude node_modules ./ /tmp/copy/
patch -p1 < fix.patch
patch -p0 --dry-run < fix.patch
split -l 1000 big.csv part_
install -m 644 config.json build/
openssl rand -hex 32
openssl x509 -in cert.pem -noout -dates
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj "/CN=localhost"
base64 -w0 logo.png > logo.b64
base64 -d payload.b64 > payload.bin
echo "aGVsbG8=" | base64 -d
echo -n secret | sha256sum | cut -d' ' -f1
iconv -f latin1 -t utf-8 in.txt > out.txt
dos2unix scripts/*.sh
convert logo.png -resize 50% small.png
ffmpeg -i in.mp4 -ss 0 -t 5 out.gif
pandoc README.md -o README.html
TMP=$(mktemp) && echo data > "$TMP" && cat "$TMP"
tmp=$(mktemp -d); cp -r src "$tmp"; ls "$tmp"
dir=$(mktemp -d) && cd "$dir" && npm init -y
tmpdir="$(mktemp -d)"; trap 'rm -rf "$tmpdir"' EXIT; cp a "$tmpdir"
pushd frontend > /dev/null && npm test; popd > /dev/null
umask 022; mkdir -p out
exec > >(tee run.log) 2>&1; echo started
""",
    "network": r"""
curl http://localhost:3000
curl -s http://localhost:8000/api/users | jq .
curl -i localhost:8080/health
curl -sf http://localhost:3000/health || echo down
curl -X POST http://localhost:3000/api/login -H 'Content-Type: application/json' -d '{"user":"a","pass":"b"}'
curl -s -o /dev/null -w '%{http_code}\n' http://localhost:3000/
curl -s -X POST localhost:8000/items -H "Authorization: Bearer $TOKEN" --data @item.json
curl -fsSL https://example.com/data.json -o data.json
curl -sS --max-time 5 --retry 3 localhost:9200/_cluster/health?pretty
curl -s "localhost:8000/search?q=a&limit=5" | jq '.items | length'
for i in 1 2 3; do curl -s -o /dev/null -w "%{time_total}\n" localhost:3000; done
until curl -sf localhost:3000/health; do sleep 1; done
for i in $(seq 1 30); do curl -sf localhost:8080 && break; sleep 1; done
TOKEN=$(curl -s -X POST localhost:3000/login -d '{}' | jq -r .token); curl -H "Authorization: Bearer $TOKEN" localhost:3000/me
wget -q https://example.com/file.tar.gz
wget -qO- localhost:8080/metrics | grep http_requests
http GET localhost:8000/api/users
ping -c 1 localhost
nc -z localhost 5432 && echo open
dig +short example.com
nslookup example.com
host example.com
ssh -V
ssh build@ci.local 'uptime'
scp dist/app.tar.gz build@ci.local:/tmp/
ssh-keygen -lf ~/.ssh/id_ed25519.pub
telnet localhost 25
traceroute example.com
ip addr show
ifconfig
websocat ws://localhost:3000/ws
grpcurl -plaintext localhost:50051 list
ab -n 100 -c 10 http://localhost:3000/
hey -n 200 http://localhost:3000/
""",
    "shell": r"""
echo hello
echo "$HOME"
echo "Current branch: $(git branch --show-current)"
echo $((1 + 2))
echo "done: $?"
echo "${PWD##*/}"
echo -e "a\tb"
printf "%-10s %s\n" name value
true
false || true
sleep 2
sleep 1; echo ok
cd src && ls
cd .. && pwd
cd "$(git rev-parse --show-toplevel)" && ls
cd /tmp; pwd; cd -
export NODE_ENV=test
export PATH="$HOME/.local/bin:$PATH"
export PATH=$PATH:/usr/local/go/bin && go version
unset DEBUG
set -euo pipefail; make test
set -x; ls; set +x
set -o pipefail; npm test 2>&1 | tee out.log
alias ll='ls -la'
ulimit -n
jobs
wait
kill %1
kill $(lsof -ti:3000)
kill -9 12345
pkill -f "node server.js" || true
kill "$(cat server.pid)"
test -f .env && echo yes || echo no
[ -d dist ] && ls dist
[ -z "$CI" ] && echo local
[[ "$OSTYPE" == linux* ]] && echo linux
[[ $(git status --porcelain) ]] && echo dirty
if [ -f package.json ]; then npm test; else pytest; fi
if grep -q foo bar.txt; then echo found; fi
if ! command -v jq >/dev/null 2>&1; then echo "jq is missing"; fi
if [ "$(uname)" = Darwin ]; then echo mac; else echo other; fi
for f in *.py; do wc -l "$f"; done
for f in src/*.ts; do echo "--- $f"; head -5 "$f"; done
for i in {1..5}; do echo $i; done
for i in $(seq 1 3); do echo "run $i"; pytest -q || break; done
for d in */; do (cd "$d" && git status --short); done
for d in packages/*/; do echo "$d"; (cd "$d" && npm test); done
for f in $(find . -name '*.sh'); do bash -n "$f" || echo "bad: $f"; done
for name in alpha beta; do mkdir -p "out/$name"; done
for pkg in requests flask; do pip show "$pkg" | head -2; done
for ((i=0; i<3; i++)); do echo "$i"; done
for f in tests/*.json; do jq empty "$f" && echo "ok $f"; done
for file in $(git diff --name-only main); do [ -f "$file" ] && wc -l "$file"; done
for s in web api; do docker compose logs --tail=5 $s; done
for ext in js ts tsx; do echo "$ext: $(find src -name "*.$ext" | wc -l)"; done
for f in *.jpeg; do mv "$f" "${f%.jpeg}.jpg"; done
for f in *.txt; do cp "$f" "backup/${f}.bak"; done
while read -r line; do echo "> $line"; done < notes.txt
while IFS=, read -r id name; do echo "$name ($id)"; done < users.csv
while ! nc -z localhost 5432; do sleep 1; done
find . -name '*.md' | while read -r f; do echo "$f: $(wc -l < "$f")"; done
git ls-files | while read -r f; do grep -Hn 'TODO' "$f"; done
until [ -f ready ]; do sleep 1; done
case "$1" in start) echo starting;; stop) echo stopping;; *) echo usage;; esac
case $(uname -m) in x86_64) arch=amd64;; aarch64) arch=arm64;; esac; echo $arch
VERSION=$(jq -r .version package.json); echo "v$VERSION"
VERSION=$(git describe --tags --abbrev=0) && echo "Releasing ${VERSION#v}"
count=$(grep -c TODO src/app.py); echo "There are $count"
FILES=$(git diff --name-only); echo "$FILES" | wc -l
files=(src/*.py); echo "${#files[@]} files"
files=(a.txt b.txt); for f in "${files[@]}"; do cat "$f"; done
declare -A m=([a]=1 [b]=2); for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done
total=0; for n in 1 2 3; do total=$((total + n)); done; echo $total
x=5; y=$((x * 2)); echo $y
i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done
start=$(date +%s); npm run build; end=$(date +%s); echo "$((end - start)) s"
a=1; ((a++)); echo $a
name="world"; echo "Hello ${name^}"
path=/a/b/c.txt; echo "${path%/*} ${path##*.}"
read -r first rest <<< "one two three"; echo "$first"
IFS=: read -ra parts <<< "$PATH"; printf '%s\n' "${parts[@]}"
mapfile -t lines < notes.txt; echo "${#lines[@]}"
greet() { echo "Hello $1"; }; greet world
log() { echo "[$(date +%T)] $*"; }; log start; make; log end
check() { grep -q "$1" "$2" && echo ok; }; check foo bar.txt
(cd frontend && npm run build) && (cd backend && pytest -q)
{ echo header; cat data.csv; } > out.csv
{ date; uname -a; df -h; } >> report.txt 2>&1
ls /nonexistent 2>/dev/null || echo missing
make test > out.log 2>&1; echo "exit $?"; tail -20 out.log
npm test; status=$?; echo "status=$status"; exit $status
pytest -q > /tmp/out.txt 2>&1 || tail -30 /tmp/out.txt
cmd1=$(which node || true); echo "${cmd1:-none}"
echo "$PATH" | tr : '\n' | nl
echo '{"a": 1}' | jq .a
echo "a b c" | awk '{print $2}'
echo "foo bar" | sed 's/foo/baz/'
echo "hello" | tee a.txt b.txt
echo "hello world" | wc -w
echo "text" | xclip -selection clipboard
yes | head -3
yes '' | npm init
nohup npm start > server.log 2>&1 &
nohup python server.py > server.log 2>&1 & echo $! > server.pid
(npm start > server.log 2>&1 &) ; sleep 3; curl -s localhost:3000
setsid python server.py > /dev/null 2>&1 &
npm start & PID=$!; sleep 5; curl -s localhost:3000; kill $PID
timeout 30 npm start || true
timeout -k 5 60 make test
nice -n 10 make -j8
time make
time (npm ci && npm run build)
env NODE_ENV=test npm test
env -u DEBUG npm start
env FOO=bar BAZ=qux python app.py
stdbuf -oL python app.py | tee app.log
watch -n 5 kubectl get pods
xargs -n 1 -P 4 -I {} sh -c 'echo {}; sleep 1' < list.txt
bash -c 'echo hello'
bash -c 'cd src && ls'
bash -lc 'node --version'
sh -c 'echo "$0"' test
bash -c "source .venv/bin/activate && pytest -q"
source ~/.nvm/nvm.sh && nvm use 20 && npm test
source .env && echo "$DB_HOST"
set -a; source .env; set +a; npm start
eval "$(ssh-agent -s)"
eval "$(pyenv init -)" && python --version
tmux new-session -d -s dev 'npm start'
screen -ls
script -q -c 'npm test' /dev/null | tail
strace -c ls
exec bash scripts/run.sh
trap 'echo interrupted' INT; sleep 1
echo "PID $$"; ps -p $$
echo "a" && echo "b" || echo "c"
! grep -q error app.log
test "$(cat a)" = "$(cat b)"
printf '%s\0' *.txt | xargs -0 -n1 echo
ls | sort | head -5 | nl
ls -la | awk '{print $5, $9}' | sort -n | tail -5
cat <<< "here string"
wc -c <<< "$TEXT"
tr a-z A-Z <<< "shout"
grep foo <<< "$OUTPUT"
diff <(echo a) <(echo b)
echo "multi␤line␤string"
echo 'single $HOME `not run`'
echo "It's \"quoted\""
echo "cost: \$5"
""",
    "multi-line scripts": r"""
set -e␤npm ci␤npm run lint␤npm test
#!/bin/bash␤set -euo pipefail␤␤for dir in services/*/; do␤  echo "Testing $dir"␤  (cd "$dir" && make test)␤done
cd backend␤source .venv/bin/activate␤pytest -q --maxfail=1␤cd ../frontend␤npm test
# first the types␤npx tsc --noEmit␤␤# then the tests␤npx vitest run
echo "== versions =="␤node -v␤npm -v␤python3 --version␤git --version
mkdir -p out␤for f in data/*.csv; do␤  name=$(basename "$f" .csv)␤  sort -u "$f" > "out/$name.txt"␤  echo "$name: $(wc -l < "out/$name.txt")"␤done
if [ ! -d .venv ]; then␤  python3 -m venv .venv␤fi␤.venv/bin/python -m pytest -q
npm start > server.log 2>&1 &␤SERVER_PID=$!␤sleep 3␤curl -s localhost:3000/health␤kill $SERVER_PID
count=0␤while read -r file; do␤  if grep -q "deprecated" "$file"; then␤    count=$((count + 1))␤    echo "$file"␤  fi␤done < <(find src -name '*.py')␤echo "$count files"
for i in 1 2 3 4 5; do␤  if pytest -q tests/test_flaky.py; then␤    echo "pass $i"␤  else␤    echo "fail $i"; break␤  fi␤done
cat > /tmp/request.json <<'EOF'␤{"query": "{ users { id name } }"}␤EOF␤curl -s -X POST localhost:4000/graphql -H 'Content-Type: application/json' -d @/tmp/request.json | jq .
BASE=$(git merge-base HEAD origin/main)␤for f in $(git diff --name-only "$BASE" -- '*.py'); do␤  ruff check "$f"␤done
old=$(jq -r .version package.json)␤IFS=. read -r major minor patch <<< "$old"␤new="$major.$minor.$((patch + 1))"␤echo "$old -> $new"␤jq --arg v "$new" '.version = $v' package.json > p.tmp && mv p.tmp package.json
case "$(uname -s)" in␤  Linux*)  os=linux;;␤  Darwin*) os=mac;;␤  *)       os=other;;␤esac␤echo "$os"
function build() {␤  local target="$1"␤  echo "Building $target"␤  make "$target" || return 1␤}␤build debug␤build release
log() { printf '%s %s\n' "$(date +%T)" "$*"; }␤log "start"␤make build > build.log 2>&1 || { log "failed"; tail -20 build.log; exit 1; }␤log "done"
export DATABASE_URL=postgres://localhost/test␤python manage.py migrate --noinput␤python manage.py test
docker compose up -d db␤until docker compose exec -T db pg_isready; do sleep 1; done␤npm run migrate␤npm test␤docker compose down
python3 - <<'EOF'␤import csv␤from collections import defaultdict␤␤totals = defaultdict(float)␤with open("sales.csv") as f:␤    for row in csv.DictReader(f):␤        totals[row["region"]] += float(row["amount"])␤for region, total in sorted(totals.items()):␤    print(f"{region}: {total:.2f}")␤EOF
python3 << 'EOF'␤from pathlib import Path␤p = Path("src/app.py")␤s = p.read_text()␤s = s.replace("old_name", "new_name")␤p.write_text(s)␤print("changed")␤EOF
cat > tests/test_new.py <<'EOF'␤import pytest␤from app import add␤␤␤@pytest.mark.parametrize("a,b,c", [(1, 2, 3), (0, 0, 0)])␤def test_add(a, b, c):␤    assert add(a, b) == c␤EOF␤pytest -q tests/test_new.py
cat > scratch.py <<'EOF'␤from app.parser import parse␤print(parse("a = 1"))␤EOF␤python scratch.py
cat > /tmp/t.js <<'EOF'␤const { add } = require('./src/math');␤console.log(add(1, 2));␤EOF␤node /tmp/t.js
cat > main.c <<'EOF'␤#include <stdio.h>␤int main(void) { puts("hi"); return 0; }␤EOF␤gcc -o main main.c && ./main
cat > run.sh <<'EOF'␤#!/bin/bash␤echo "running"␤EOF␤bash run.sh
tmp=$(mktemp -d)␤cp -r src "$tmp"␤(cd "$tmp/src" && python -m compileall -q .)␤ls "$tmp"
files=$(git ls-files '*.ts' '*.tsx')␤total=$(echo "$files" | wc -l)␤echo "total: $total"␤echo "$files" | xargs grep -l 'any' | wc -l
for branch in $(git branch --format='%(refname:short)'); do␤  ahead=$(git rev-list --count main.."$branch")␤  echo "$branch $ahead"␤done
start=$SECONDS␤make test␤echo "took $((SECONDS - start)) s"
{␤  echo "# Report"␤  echo␤  git log --oneline -5␤  echo␤  pytest -q 2>&1 | tail -3␤} > report.md
set -o pipefail␤npm test 2>&1 | tee test.log␤code=${PIPESTATUS[0]}␤grep -E "Tests:|Suites:" test.log␤exit "$code"
if ! npx tsc --noEmit; then␤  echo "types are broken"␤  npx tsc --noEmit | head -20␤  exit 1␤fi
ls -la dist/ 2>/dev/null \␤  || npm run build
grep -rn "useState" src \␤  --include='*.tsx' \␤  | grep -v test \␤  | wc -l
curl -s -X POST http://localhost:8000/items \␤  -H 'Content-Type: application/json' \␤  -d '{"name": "x"}' | jq .
find . -type f \( -name '*.js' -o -name '*.ts' \) \␤  -not -path '*/node_modules/*' \␤  -exec grep -l 'fetch(' {} +
while IFS='=' read -r key value; do␤  [[ $key == \#* || -z $key ]] && continue␤  echo "$key is set"␤done < .env.example
arr=()␤while IFS= read -r line; do arr+=("$line"); done < names.txt␤printf '%s\n' "${arr[@]}" | sort | uniq -d
n=0␤for f in **/*.md; do␤  n=$((n + $(wc -l < "$f")))␤done␤echo $n
pids=()␤for s in api web; do␤  npm --prefix "$s" test > "$s.log" 2>&1 &␤  pids+=($!)␤done␤for p in "${pids[@]}"; do wait "$p" || echo "failed: $p"; done
""",
    MENTIONS: r"""
grep -rn "rm -rf" scripts/
grep -n 'sudo' Dockerfile
rg "curl|wget" -g '*.sh'
git log --grep='git push' --oneline
echo "Do not run rm -rf here"
echo 'run sudo make install yourself'
echo "Next: git push origin main"
git commit -m "Stop using curl in scripts"
git commit -m "rm unused files; pip install is gone"
printf '%s\n' 'npm publish is done by CI'
command -v curl
which docker kubectl terraform
type sudo
man dd | head
ls /usr/bin/wget
cat docs/shutdown.md
grep shutdown src/server.py
python -m pytest -k shutdown
pytest tests/test_rm.py
npm run curl-test
cat > docs/install.md <<'EOF'␤Run `pip install app`, then `sudo systemctl start app`.␤␤    curl -fsSL https://example.com | sh␤EOF
cat > deploy.md <<'EOF'␤1. git push origin main␤2. kubectl delete pod web␤3. rm -rf build␤EOF
sed -i 's/curl/wget/g' README.md
sed -n '/docker run/p' README.md
awk '/sudo/ {print FILENAME": "$0}' scripts/*.sh
find . -name 'rm*.py'
find . -name curl -type d
git grep -n "shutdown now"
git show HEAD:scripts/rm.sh
git diff -- scripts/curl.sh
npm view publish
npm run publish:dry
npm ls curl
pip show wget
pip list | grep install
kubectl get pods -l app=delete
docker ps --filter name=run
docker compose run web pytest
git log --oneline -- push.py
git checkout push
git branch -d push
jq '.scripts.publish' package.json
echo "$(git status) rm"
cd rm && ls
test -x /usr/bin/sudo && echo yes
[ -x "$(command -v docker)" ] && docker ps
VAR=rm; echo "$VAR"
for tool in git node jq; do command -v "$tool"; done
for tool in curl wget docker; do command -v "$tool" >/dev/null && echo "$tool"; done
echo "chmod +x is needed" >> notes.txt
chmod 644 notes.txt
chmod -x old.sh
cat scripts/rm.sh | head
wc -l curl.log
tail -f wget.log &
terraform plan
terraform show
ls dd
diff rm.py rm_old.py
mkdir -p tests/docker/run
""",
}
