"""Launchers: programs after one of whose subcommands a command stands, as after `poetry run` or `docker exec`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.commands import base_name
from remit.policy.bash.names import read_names, read_table
from remit.policy.bash.opened import note_handed
from remit.policy.bash.options import parse_options
from remit.policy.bash.programs.scripts import STARTERS, join, read_given
from remit.policy.bash.words import SPLIT, Word

if TYPE_CHECKING:
    from remit.policy.bash.reading import Handler, Reader, Stdin

_AFTER = read_table(
    """
poetry run
pipenv run
pdm run
rye run
hatch run
bundle exec
conda run
mamba run
micromamba run
lake env
opam exec
stack exec
cabal exec
mise exec x
asdf exec
pyenv exec
rbenv exec
nodenv exec
volta run
nvm exec run
fnm exec
uv run
yarn exec dlx node run
pnpm exec dlx
npm exec x explore
bun x run exec
lerna exec
foreman run
op run
doppler run
aws-vault exec
chamber exec
infisical run
kubectl exec run debug
oc exec run
docker exec run create
podman exec run create
nerdctl exec run
docker-compose exec run
lxc exec
flatpak run
toolbox run
distrobox enter
perf stat record trace
rr record
cmake env time chdir
nix run shell develop
direnv exec
go run
cargo run
heroku run
mvn
gradle
dotenv run
turbo run
nx run exec
ip exec
vagrant ssh
tsh ssh
gcloud ssh
pipx run
guix environment shell
rustup run
sdk
jbang
mill
meson devenv
"""
)
"""Programs after one of whose subcommands a command stands."""
_EXACT = read_names(
    """
poetry pipenv pdm rye bundle opam stack cabal pyenv rbenv nodenv mise asdf lake uv pipx volta fnm
"""
)


def _take_after(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:  # noqa: C901, PLR0912 - one walk
    """The command after a subcommand: after `--` where there is one, else after its options."""
    name = base_name(words[0].text)
    _check_scripts(reader, name, words)
    if name in ("bun", "go") and any(
        word.text.startswith(("-e", "-p", "--eval", "--print", "-exec")) for word in words
    ):
        reader.doubt("code is run that cannot be looked at")
    marks = _AFTER.get(name, "").split()
    at = next((number for number, word in enumerate(words[1:], 1) if word.text in marks), 0)
    if at or name not in _CLIENTS:
        reader.add(Hint(join(words[1:])))
    if not at:
        return
    rest = words[at + 1 :]
    if reader.is_tainted and any(not word.is_sure for word in rest):
        reader.doubt(f"what '{name}' starts is not written out")
    dashes = next((number for number, word in enumerate(rest) if word.text == "--"), -1)
    if dashes >= 0:
        rest = rest[dashes + 1 :]
    elif name in _EXACT:
        rest = list(
            parse_options(
                rest,
                "p: n: w: --with: --python: --package: --from: --project: --directory: --extra: --group: --env-file:",
            ).operands
        )
    else:
        note_handed(reader, rest)
        for number, word in enumerate(rest):
            if not word.is_sure and word.kind == SPLIT:
                reader.doubt(f"what '{name}' starts is not written out")
            if word.is_sure and base_name(word.text) in STARTERS:
                reader.run(rest[number:], None)
                break
        for number, word in enumerate(rest):
            own = ("--entrypoint",) if name in ("docker", "podman") else ("-c", "--call", "--command", "--shell")
            if word.text in own and number + 1 < len(rest) and name in _TEXTUAL:
                read_given(reader, rest[number + 1].text)
        return
    if rest:
        reader.run(rest, None)


_CLIENTS = read_names("npm pnpm yarn bun docker podman kubectl oc conda uv heroku gcloud ip nix")
"""Programs whose other subcommands start nothing that they are given."""
_TEXTUAL = frozenset({"npm", "nix", "vagrant", "gcloud", "docker", "podman"})


def _check_scripts(reader: Reader, name: str, words: list[Word]) -> None:
    """Settings of package managers that are commands."""
    if name not in ("npm", "pnpm", "yarn", "bun"):
        return
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if "script-shell" in text or text.startswith("--node-options") or text == "set-script":
            reader.doubt("it sets what scripts are run by")
        elif text.startswith("scripts."):
            read_given(reader, text.partition("=")[2] or (words[at + 1].text if at + 1 < len(words) else ""))


def _take_npx(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    found = parse_options(words[1:], "p: c: w: --package: --call: --workspace: --python: --with: --from: --spec:")
    if not found.is_certain:
        reader.add(Hint(join(words[1:])))
    for name, value in found.options:
        if name in ("-c", "--call"):
            read_given(reader, value.text)
    if found.operands:
        reader.run(list(found.operands), None)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_AFTER, _take_after),
    **dict.fromkeys(("npx", "bunx", "pnpx", "uvx"), _take_npx),
}
