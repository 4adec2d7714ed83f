"""What the API answers: pages, marks, problems; what agents wrote is data, and nothing of it is believed."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

import pytest

from remit import errors
from remit.errors import RemitError, UsageError
from remit.server import openapi, run_routes
from remit.server.endpoint import ApiAnswer, find_handler, make_etag, parse_query
from remit.server.idempotency import KEPT_S, Kept
from remit.server.operations import BASE, OPERATIONS
from remit.server.problems import ProblemError
from remit.validation import list_fields
from remit.views.render import HTTP_STATUSES, get_http_status
from tests.support.http_server import API, JSON, Served, add_rows, happen, run_server
from tests.support.markup_payloads import PAYLOADS
from tests.support.paths import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a longer list."""
    root = tmp_path_factory.mktemp("many")
    add_rows(root, 25)
    with run_server(root) as found:
        yield found


# --- lists -----------------------------------------------------------------------------------------------------------


def test_pages_follow_one_another_and_miss_nothing(many: Served) -> None:
    found: list[str] = []
    cursor = ""
    while cursor is not None:
        page = many.get(f"/runs?limit=10{f'&cursor={cursor}' if cursor else ''}").value
        if not found:  # what comes meanwhile moves nothing
            add_rows(many.root, 1, begin=900)
        found += [each["session_id"] for each in page["items"]]
        cursor = page["next_cursor"]
    assert found == [f"sess_1794826{at:04}_abcdef" for at in reversed(range(25))]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=501", "limit=x", "limit=", "limit=1&limit=2", "cursor=%00", "cursor=x", "state=none", "roots=1",
     "nothing=1", "task=0", "task=-1", "task=99999999999999999999", "q=%ff", "agent="],
)  # fmt: skip
def test_a_query_that_does_not_fit_is_told(many: Served, query: str) -> None:
    problem = many.get(f"/runs?{query}").problem
    assert (problem["status"], problem["code"]) == (400, "USAGE")
    assert problem["detail"]


def test_a_query_is_typed_as_the_table_says() -> None:
    takes = next(each for each in OPERATIONS if each.name == "list_runs").takes
    assert parse_query(b"limit=5&roots=true&q=%C3%A9+x", takes) == {"limit": 5, "roots": True, "q": "é x"}
    assert parse_query(b"q=", takes) == {"q": ""}
    with pytest.raises(UsageError):
        parse_query(b"&".join(b"a%d=1" % number for number in range(100)), takes)


# --- marks -----------------------------------------------------------------------------------------------------------


_MARKED = ("/runs", "/runs/{id}", "/runs/{id}/tree", "/status")


@pytest.mark.parametrize("path", _MARKED)
def test_what_has_not_changed_is_not_sent_again(served: Served, path: str) -> None:
    (session_id,) = add_rows(served.root, 1, begin=_MARKED.index(path) + 200)
    full = path.replace("{id}", session_id)
    first = served.get(full)
    tag = first.headers["etag"]
    assert tag.startswith(f'W/"e{first.value["event"]}-')
    again = served.get(full, If_None_Match=f'"other", {tag}')
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    happen(served.root, "something")
    changed = served.get(full, If_None_Match=tag)
    assert changed.status == 200
    assert changed.headers["etag"] != tag


def test_time_alone_changes_no_mark() -> None:
    given = ((5, "a"), (10**6, "a"), (5, "b"))
    one, two, three = (json.dumps({"left_ms": left_ms, "idle_s": 0, "x": text}) for left_ms, text in given)
    assert make_etag(one, 7) == make_etag(two, 7)
    assert make_etag(one, 7) != make_etag(three, 7)
    assert make_etag(one, 7) != make_etag(one, 8)
    inside = json.dumps({"x": '"left_ms": 5'}), json.dumps({"x": '"left_ms": 6'})
    assert make_etag(inside[0], 7) != make_etag(inside[1], 7)


def test_files_are_packed_and_known_again(served: Served) -> None:
    plain = served.ask("GET", "/web/api.js", served.bearer)
    packed = served.ask("GET", "/web/api.js", served.bearer | {"Accept-Encoding": "gzip, br"})
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.body) < len(plain.body) / 2
    assert plain.headers["etag"] == packed.headers["etag"]
    again = served.ask("GET", "/web/api.js", served.bearer | {"If-None-Match": plain.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    page = served.ask("GET", "/runs/sess_1/whatever", served.bearer)
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.body == served.ask("GET", "/", served.bearer).body
    for path in ("/web/..%2f__init__.py", "/web/%2e%2e/__init__.py", "/web/%00.js", "/web/", "/web/.gitignore",
                 "/index.html", "/web//etc/passwd", "/runsx"):  # fmt: skip
        assert served.ask("GET", path, served.bearer).status == 404, path


# --- what agents wrote -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_texts_of_agents_stay_texts(tmp_path: Path) -> None:
    """What would be a program in a page is JSON here, of a kind that no browser takes for a page."""
    for at, payload in enumerate(PAYLOADS):
        add_rows(tmp_path, 1, begin=at, work=payload, agent=payload)
    with run_server(tmp_path) as served:
        reply = served.get("/runs?limit=500")
        assert reply.headers["content-type"] == JSON
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert [each["work"] for each in reply.value["items"]] == [*PAYLOADS[::-1]]
        assert [each["agent"] for each in reply.value["items"]] == [*PAYLOADS[::-1]]
        for payload in PAYLOADS:
            path = f"/no-page/{''.join(f'%{byte:02x}' for byte in payload.encode())}"
            page = served.ask("GET", path, served.bearer)
            assert (page.status, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
            assert page.body.count(b"<") == page.body.count(b">") == 14, "no tag but ours"
            told = served.ask("GET", f"{API}{path}", served.bearer)
            assert told.problem["code"] == "NOT_FOUND"


def test_secrets_are_taken_out_of_problems(served: Served) -> None:
    key = f"ghp_{'a' * 36}"
    problem = served.get(f"/runs/{key}").problem
    assert key not in json.dumps(problem)


# --- problems --------------------------------------------------------------------------------------------------------


def test_every_error_has_a_status() -> None:
    known = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, RemitError)]
    assert {*known} <= {*HTTP_STATUSES}
    assert get_http_status(KeyError("x")) == 500
    assert get_http_status(UsageError("x")) == 400


def test_a_bug_is_told_by_a_reference_and_nothing_else(
    served: Served, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(_: Any) -> None:  # noqa: ANN401 - whatever it is given
        raise KeyError("a secret of ours")

    monkeypatch.setattr(run_routes, "list_runs", fail)
    quiet = served.get("/runs").problem
    assert (quiet["status"], quiet["code"]) == (500, "UNKNOWN_ERROR")
    assert "secret" not in json.dumps(quiet)
    told = capfd.readouterr().err
    assert told == f"remit: bug {quiet['data']['reference']}: KeyError\n"
    monkeypatch.setenv("REMIT_DEBUG", "1")
    loud = served.get("/runs").problem
    told = capfd.readouterr().err
    assert f"remit: bug {loud['data']['reference']}: KeyError\nTraceback" in told
    assert "a secret of ours" in told
    assert "secret" not in json.dumps(loud)


def test_what_is_not_there_is_missing(served: Served) -> None:
    for path in ("/runs/none", "/runs/none/tree", "/runs/none/log", "/runs/x/answers/1",
                 "/runs/none/prompt", "/runs/none/diff?path=a", "/runs/none/log/stream",
                 "/manifest/none", "/none", "/runs/"):  # fmt: skip
        reply = served.get(path)
        codes = ("NOT_FOUND",) if path in ("/none", "/runs/") else ("USAGE", "INPUT_UNREADABLE")
        assert reply.status == 404, path
        assert reply.problem["code"] in codes, path
    for path in ("/runs/none/cancel", "/runs/none/retry"):
        reply = served.post(path, {})
        assert (reply.status, reply.problem["code"]) == (404, "USAGE")


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{", '"x"', "null", "nul", '{"agent": "a", "agent": "b", "prompt": "x"}', '{"agent": NaN}', "{}",
     '{"agent": "a"}', '{"agent": "a", "prompt": ""}', '{"agent": "a", "prompt": "x", "more": 1}', "[" * 5000,
     '{"agent": "a", "prompt": "x", "timeout": -1}', '{"agent": "a", "prompt": "x", "max_tokens": 0}',
     '{"agent": "a", "prompt": "x", "inputs": {"a": 1}}', '{"agent": "\\ud800", "prompt": "x"}', "\xff", "{}{}"],
)  # fmt: skip
def test_a_body_that_does_not_fit_is_told(served: Served, body: str) -> None:
    headers = served.bearer | {"Content-Type": JSON}
    reply = served.ask("POST", f"{API}/runs", headers, body.encode("latin-1"))
    assert reply.status == 400, reply.body
    assert reply.problem["detail"]


def test_another_method_is_told_which_there_are(served: Served) -> None:
    reply = served.ask("DELETE", f"{API}/runs", served.bearer)
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, POST")
    assert served.ask("HEAD", f"{API}/runs", served.bearer)[::2] == (200, b"")


# --- the table -------------------------------------------------------------------------------------------------------


def test_every_operation_has_a_function_and_a_place_of_its_own() -> None:
    assert len({each.name for each in OPERATIONS}) == len(OPERATIONS)
    assert len({(each.method, each.path) for each in OPERATIONS}) == len(OPERATIONS)
    for each in OPERATIONS:
        assert callable(find_handler(each)), each
        assert {*list_fields(each.names)} == {part[1:-1] for part in each.path.split("/") if part.startswith("{")}


def test_the_description_names_every_operation(served: Served) -> None:
    told = served.get("/openapi.json").value
    assert told == json.loads(json.dumps(openapi.describe()))
    described = {(method.upper(), path) for path, each in told["paths"].items() for method in each}
    assert described == {(each.method, f"{BASE}{each.path}") for each in OPERATIONS}


def test_only_the_door_knows_the_libraries() -> None:
    """Who else imported them would make every start wait for them, and fail where they are not installed."""
    libraries, found = ("starlette", "uvicorn", "h11"), set()
    for file in SOURCE.rglob("*.py"):
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if any(name in text for name in libraries) else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            if any(name.partition(".")[0] in libraries for name in names):
                found.add(file.parent.relative_to(SOURCE).as_posix())
    assert found == {"remit/server"}


# --- once ------------------------------------------------------------------------------------------------------------


def test_what_is_sent_twice_is_done_once() -> None:
    now = [0.0]
    kept, done = Kept(clock=lambda: now[0]), []

    def act() -> ApiAnswer:
        done.append(1)
        return ApiAnswer({"number": len(done)}, 201)

    assert kept.answer_once(None, "x", act) != kept.answer_once(None, "x", act)
    first = kept.answer_once("key", "x", act)
    assert kept.answer_once("key", "x", act) is first
    with pytest.raises(ProblemError, match="another request"):
        kept.answer_once("key", "y", act)
    with pytest.raises(ProblemError, match="is in progress"):
        kept.answer_once("inner", "x", lambda: kept.answer_once("inner", "x", act))
    now[0] += KEPT_S
    assert kept.answer_once("key", "x", act) is not first

    def fail() -> ApiAnswer:
        raise UsageError("no")

    with pytest.raises(UsageError):
        kept.answer_once("failed", "x", fail)
    assert kept.answer_once("failed", "x", act).status == 201
    for key in ("", "x" * 201):
        with pytest.raises(ProblemError):
            kept.answer_once(key, "x", act)


def test_keys_do_not_pile_up() -> None:
    kept = Kept()
    first = kept.answer_once("first", "x", lambda: ApiAnswer({"n": 1}))
    for number in range(600):
        kept.answer_once(f"key {number}", "x", lambda: ApiAnswer({}))
    assert kept.answer_once("first", "x", lambda: ApiAnswer({"n": 2})) != first
