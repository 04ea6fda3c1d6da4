"""The `livedex` command as programs use it: real processes, a real socket, JSON, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers.canned_daemon import HIT, CannedDaemon, hit, search_result, status_result
from helpers.support import LIVEDEX, Home, error_of, wait_until
from livedex_ipc.errors import Conflict, InternalError, InvalidParams, NotFound, OutsideRoots, TimedOut


def test_a_result_is_printed_unchanged(home: Home, canned: CannedDaemon) -> None:
    result = search_result(hit("/r/é\u202e.md", "ü\x1b", [[0, 1]], score=0.1 + 0.2), big=2**60, none=None)
    canned.answers["search"] = result
    done = home.run("search", "x", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.endswith("}\n")
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout) == result


def test_every_option_of_search_reaches_the_daemon(home: Home, canned: CannedDaemon) -> None:
    words = "search two words -n 3 --offset 2 --mode keyword --path /r/a --in /r/b -g *.md -g !b --kind code"
    words += " --lang c --lang go"
    words += " --root /r --root /q --since 2026-01-01T00:00:00Z --before 2026-02-01T01:00:00+01:00 -C 2 --group file"
    words += " --max-snippet-chars 80 --max-chars 900 --facet kinds --facet roots --no-fresh --timeout 2.5 --explain"
    assert home.run(*words.split()).returncode == 0
    assert canned.sent("search") == [
        {
            "query": "two words",
            "limit": 3,
            "offset": 2,
            "mode": "keyword",
            "paths": ["/r/a", "/r/b"],
            "globs": ["*.md", "!b"],
            "languages": ["c", "go"],
            "kinds": ["code"],
            "roots": ["/r", "/q"],
            "modified_after": "2026-01-01T00:00:00.000Z",
            "modified_before": "2026-02-01T00:00:00.000Z",
            "group": "file",
            "context_lines": 2,
            "max_snippet_chars": 80,
            "max_chars": 900,
            "facets": ["kinds", "roots"],
            "fresh": False,
            "timeout_ms": 2500,
            "explain": True,
            "total": True,
        }
    ]


def test_a_param_that_is_refused_is_named_as_it_was_typed(home: Home, canned: CannedDaemon) -> None:
    done = home.run("search", "x", "-n", "0")
    assert done.returncode == 2
    assert "--limit must be an integer from 1 to 1000, not 0" in done.stderr
    canned.answers["search"] = InvalidParams("globs: '{': never closed", {"field": "globs"})
    assert "--glob: '{': never closed" in home.run("search", "x", "-g", "{").stderr
    reported = json.loads(home.run("search", "x", "-g", "{", "--json").stderr)["error"]
    assert reported["data"] == {"field": "globs", "option": "--glob"}


def test_a_path_that_is_not_utf8_arrives_as_its_bytes(home: Home, canned: CannedDaemon, tmp_path: Path) -> None:
    command = [os.fsencode(LIVEDEX), b"search", b"cafe", b"--path", b"caf\xe9", b"--root", b"/r/\xff"]
    done = subprocess.run(command, env=home.env, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0
    [params] = canned.sent("search")
    from livedex_ipc.methods import paths_bytes

    assert paths_bytes(params) == [os.fsencode(tmp_path.resolve()) + b"/caf\xe9"]
    assert paths_bytes(params, "roots") == [b"/r/\xff"]


@pytest.mark.parametrize(
    "words",
    [
        (b"search", b"caf\xe9"),
        (b"search", b"x", b"-g", b"caf\xe9"),
        (b"watch", b"caf\xe9"),
        (b"files", b"caf\xe9"),
        (b"exchange", b"publish", b"topic", b"caf\xe9"),
        (b"exchange", b"publish", b"caf\xe9", b"body"),
        (b"exchange", b"publish", b"topic", b"body", b"--metadata", b'{"a": "\xe9"}'),
        (b"exchange", b"request", b"topic", b"caf\xe9"),
        (b"knowledge", b"add", b"caf\xe9"),
        (b"knowledge", b"search", b"caf\xe9"),
    ],
)
def test_text_that_is_not_utf8_is_refused(home: Home, canned: CannedDaemon, words: tuple[bytes, ...]) -> None:
    done = subprocess.run([os.fsencode(LIVEDEX), *words], env=home.env, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"must be UTF-8 text" in done.stderr
    assert canned.calls == []


def test_what_is_printed_is_text_unless_json_is_asked_for(home: Home, canned: CannedDaemon) -> None:
    assert home.run("search", "two", "--vimgrep").stdout == "/r/notes/a.md:1:5:one two\n/r/notes/a.md:2:7:three two\n"
    assert home.run("search", "two", "--files").stdout == "/r/notes/a.md\n"
    assert [call.get("group") for call in canned.sent("search")] == [None, "file"]
    assert [call.get("max_snippet_chars") for call in canned.sent("search")] == [1_000_000, None]
    for form in ([], ["--files"], ["--vimgrep"]):
        assert json.loads(home.run("search", "two", "--json", *form).stdout) == search_result(HIT)
    assert home.run("search", "two").stdout == "1  /r/notes/a.md:1\n   1:one two\n   2:three two\n1 hit\n"
    assert home.run("search", "two", "--short").stdout == "/r/notes/a.md:1:one two\n"
    assert home.run("search", "two", "--full").returncode == 0
    assert canned.calls[-1][1]["max_snippet_chars"] == 1_000_000


def test_all_hits_are_counted_only_where_their_count_is_printed(home: Home, canned: CannedDaemon) -> None:
    counts = {"": True, "--full": True, "--short": False, "--typing": False, "--typing --total": True, "-l": False}
    for words in counts:
        assert home.run("search", "two", *words.split()).returncode == 0
    assert [call.get("total", False) for call in canned.sent("search")] == list(counts.values())


def test_forms_that_grep_has(home: Home, canned: CannedDaemon) -> None:
    canned.answers["search"] = search_result(hit("/r/a\nb", "x", [[0, 1]], matches=3), hit("/r/c", "x", [[0, 1]]))
    assert home.run("search", "x", "-l").stdout == "/r/a\\nb\n/r/c\n"
    assert home.run("search", "x", "-l0").stdout == "/r/a\nb\0/r/c\0"
    assert home.run("search", "x", "-c").stdout == "/r/a\\nb:3\n/r/c:1\n"
    assert home.run("search", "x", "-c", "--null").stdout == "/r/a\nb\x003\n/r/c\x001\n"
    assert home.run("search", "x", "--vimgrep", "-0").stdout == "/r/a\nb\x001:1:x\n/r/c\x001:1:x\n"
    assert {call.get("group") for call in canned.sent("search")[:4]} == {"file"}
    refused = home.run("search", "x", "-0")
    assert (refused.returncode, "-l, -c or --vimgrep" in refused.stderr) == (2, True)


def test_all_hits_are_printed_page_after_page(home: Home, canned: CannedDaemon) -> None:
    files = [hit(f"/r/{number}", "x", [[0, 1]]) for number in range(2500)]

    def page(params: dict[str, Any]) -> dict[str, Any]:
        start = int(params["cursor"] or params["offset"])
        end = start + params["limit"]
        more = end if end < len(files) else None
        counted = {"total": {"hits": 2500, "files": 2500}} if params["total"] else {}
        cursor = {"next_cursor": str(end)} if more and params["mode"] == "exact" else {}
        return search_result(*files[start:end], next_offset=more, mode=params["mode"], **counted, **cursor)

    canned.answers["search"] = page
    paths = [f"/r/{number}" for number in range(2500)]
    assert home.run("search", "x", "-l", "--all").stdout.split() == paths
    assert home.run("search", "-F", "x").stdout == "".join(f"{path}:1:x\n" for path in paths), "as grep does"
    assert home.run("search", "-F", "x", "-n", "3").stdout.count("\n") == 3
    text = home.run("search", "x", "--all").stdout.splitlines()
    assert (text[0], text[-2:]) == ("   1  /r/0:1", ["      1:x", "2,500 hits in 2,500 files"])
    assert home.run_json("search", "x", "--all") == search_result(*files, mode="auto", generation=1, next_offset=None)
    assert len(home.run_json("search", "-F", "x")["hits"]) == 10, "as the method answers"


def test_memory_is_listed_answer_after_answer_up_to_the_limit(home: Home, canned: CannedDaemon) -> None:
    """An answer has few entries where they are large."""
    entry: dict[str, Any] = {
        "domain": "d",
        "heading": None,
        "kind": "chunk",
        "source": None,
        "score": 0.0,
        "created_at": None,
    }
    entry |= {"used_at": None, "uses": 0, "metadata": {}, "content": "x"}

    def listed(params: dict[str, Any]) -> dict[str, Any]:
        last = min(7, params["offset"] + min(3, params["limit"]))
        return {"entries": [{**entry, "id": number} for number in range(params["offset"], last)], "total": 7}

    canned.answers["knowledge/list"] = listed
    for words, ids in (([], range(7)), (["-n", "5"], range(5)), (["--offset", "6"], [6])):
        assert [each["id"] for each in home.run_json("knowledge", "list", *words)["entries"]] == list(ids)
    assert home.run("knowledge", "list").stdout.count("\nx\n") == 7


def test_here_is_the_working_folder(home: Home, canned: CannedDaemon, tmp_path: Path) -> None:
    for words in (["search", "x"], ["watch", "x"]):
        command = [str(LIVEDEX), *words, "--here", "--in", "/r"]
        with subprocess.Popen(command, env=home.env, cwd=tmp_path, stderr=subprocess.DEVNULL) as child:
            method = "search/subscribe" if words[0] == "watch" else "search"
            wait_until(lambda method=method: canned.sent(method), what="the call")  # type: ignore[misc]
            child.terminate()
        assert canned.sent(method)[0]["paths"] == ["/r", str(tmp_path)]


@pytest.mark.parametrize("command", ["search", "watch"])
def test_here_needs_a_working_folder(home: Home, tmp_path: Path, command: str) -> None:
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    words = ["sh", "-c", script, "sh", str(LIVEDEX), command, "--here", "x"]
    done = subprocess.run(words, env=home.env, cwd=tmp_path, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("livedex: --here: '.' is relative, and the working folder is gone")


@pytest.mark.parametrize(("applied", "said"), [(True, 'no "tow"; showing "two"'), (False, "did you mean: two")])
def test_a_correction_comes_before_the_hits(home: Home, canned: CannedDaemon, applied: bool, said: str) -> None:
    canned.answers["search"] = search_result(HIT, did_you_mean={"query": "two", "applied": applied})
    shown = home.run("search", "tow")
    assert (shown.stdout.splitlines()[0], shown.stderr) == (said, "")
    for form in ("--files", "--vimgrep"):
        for_program = home.run("search", "tow", form)
        assert for_program.stderr == f"livedex: {said}\n"
        assert said not in for_program.stdout
    done = home.run("search", "tow", "--json")
    assert json.loads(done.stdout)["did_you_mean"] == {"query": "two", "applied": applied}
    assert done.stderr == ""


def test_while_typing_nothing_found_is_no_fault(home: Home, canned: CannedDaemon) -> None:
    canned.answers["search"] = search_result()
    done = home.run("search", "--typing", "noth", "--vimgrep")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    canned.answers["search"] = search_result(hit("/r/a.md", "one\ntwo", []))
    assert home.run("search", "--typing", "", "--vimgrep").stdout == "/r/a.md:1:1:one\n", "what changed last"
    assert [asked["typing"] for asked in canned.sent("search")] == [True, True]


@pytest.mark.parametrize("form", [[], ["--files"], ["--vimgrep"], ["--json"]])
def test_nothing_found_is_exit_code_1(home: Home, canned: CannedDaemon, form: list[str]) -> None:
    canned.answers["search"] = search_result()
    done = home.run("search", "nothing", *form)
    assert done.returncode == 1
    as_json = form == ["--json"]
    assert done.stdout == (json.dumps(search_result(), separators=(",", ":")) + "\n" if as_json else "")
    assert done.stderr == ""


def test_a_search_without_an_index_says_how_to_begin(home: Home, canned: CannedDaemon) -> None:
    canned.answers["search"] = search_result(generation=0)
    done = home.run("search", "nothing")
    assert done.returncode == 1
    assert done.stderr == "livedex: nothing found: nothing is indexed yet, run `livedex up FOLDER`\n"
    assert home.run("search", "nothing", "--json").stderr == ""


@pytest.mark.parametrize("form", [[], ["--no-fresh"]])
def test_a_search_that_waits_for_the_index_does_not_say_that_there_is_none(
    form: list[str], home: Home, canned: CannedDaemon
) -> None:
    late = {"fresh": False, "reason": "recovering", "pending": 3}
    canned.answers["search"] = search_result(generation=0, **late)
    if form:
        canned.answers["search"] = {key: value for key, value in search_result(generation=0).items() if key != "fresh"}
    done = home.run("search", "nothing", *form)
    assert "nothing is indexed" not in done.stderr


@pytest.mark.parametrize("form", [[], ["--files"], ["--json"], ["-F"], ["--all"]])
def test_nothing_found_so_far_is_no_answer(home: Home, canned: CannedDaemon, form: list[str]) -> None:
    late = {"code": "query_deadline", "message": "late", "remedy": "raise timeout_ms or narrow the search"}
    for fields in ({"fresh": False, "reason": "deadline", "pending": 3}, {"warnings": [late]}):
        canned.answers["search"] = search_result(**fields)
        assert home.run("search", "nothing", *form).returncode == 4
        canned.answers["search"] = search_result(HIT, **fields)
        assert home.run("search", "nothing", *form).returncode == 0
    canned.answers["search"] = search_result(fresh=False)
    assert home.run("search", "nothing", "--no-fresh", *form).returncode == 1, "freshness was not asked for"


def test_messages_name_options(home: Home, canned: CannedDaemon) -> None:
    late = {"code": "query_deadline", "message": "late", "remedy": "raise timeout_ms or narrow the search"}
    canned.answers["search"] = search_result(HIT, warnings=[late])
    assert home.run("search", "x").stderr == "livedex: query_deadline: late (raise --timeout or narrow the search)\n"
    page = "offset plus limit must be at most 10000: narrow the query instead"
    canned.answers["search"] = InvalidParams(page, {"field": "offset"})
    refused = home.run("search", "x", "--offset", "9999").stderr
    assert refused.startswith("livedex: --offset plus --limit must be at most 10000")


def test_lines_are_waited_for_longer(home: Home, canned: CannedDaemon) -> None:
    for words, waited in (
        (["x"], None),
        (["-F", "x"], 60_000),
        (["-F", "x", "--json"], None),
        (["-F", "x", "--json", "--all"], 60_000),
        (["-F", "x", "--timeout", "2"], 2000),
        (["x", "--all"], 60_000),
        (["x", "--json", "--all"], 60_000),
    ):
        home.run("search", *words)
        assert canned.calls[-1][1].get("timeout_ms") == waited, words


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidParams("no"), 2),
        (OutsideRoots("no"), 2),
        (NotFound("no"), 1),
        (TimedOut("no"), 4),
        (Conflict("no"), 4),
        (InternalError("no"), 4),
    ],
)
def test_an_error_of_the_daemon_is_printed_with_its_exit_code(
    home: Home, canned: CannedDaemon, error: Any, code: int
) -> None:
    error.data = {"remedy": "do that"}
    canned.answers["files/retrieve"] = error
    done = home.run("retrieve", "/r/a", "--json")
    assert done.returncode == code
    assert error_of(done) == error.to_wire()
    said = home.run("retrieve", "/r/a")
    assert (said.returncode, said.stderr) == (code, "livedex: no\n  try: do that\n")


def test_without_a_daemon_and_without_leave_to_start_one(home: Home) -> None:
    for done in (
        home.run("--json", "search", "x", "--no-spawn"),
        home.run("search", "x", "--json", env={"LIVEDEX_NO_SPAWN": "1"}),
    ):
        assert done.returncode == 3
        assert str(home.socket) in error_of(done)["message"]
    assert "livedex up" in home.run("status", "--no-spawn").stderr
    assert not home.socket.exists()


@pytest.mark.parametrize("words", [["serach"], ["search", "--explian", "x"], ["search"], ["service"], ["why"]])
def test_wrong_usage_is_exit_code_2(home: Home, words: list[str]) -> None:
    for given in (["--json", *words], [*words, "--json"]):
        done = home.run(*given)
        assert done.returncode == 2
        assert error_of(done)["code"] == -32602
    said = home.run(*words)
    assert said.returncode == 2
    assert said.stderr.startswith("livedex: ")
    assert "--help" in said.stderr


def test_help_and_version_need_nothing(home: Home) -> None:
    for words in ([], ["--help"], ["search", "-h"], ["roots", "--help"], ["roots", "add", "-h"]):
        done = home.run(*words)
        assert (done.returncode, done.stderr) == (0, "")
        assert "usage: livedex" in done.stdout
    assert home.run("help").stdout == home.run("--help").stdout
    assert home.run("help", "roots", "add").stdout == home.run("roots", "add", "-h").stdout
    unknown = home.run("help", "roots", "ad")
    assert (unknown.returncode, "did you mean add?" in unknown.stderr) == (2, True)
    assert home.run("-V").stdout == home.run("version").stdout == "livedex 0.1.0\n"
    assert home.run("--version").stdout == home.run("search", "--version").stdout == "livedex 0.1.0\n"
    assert home.run_json("version") == home.run_json("-V") == {"version": "0.1.0"}
    module = subprocess.run([sys.executable, "-m", "livedex_ipc", "--version"], capture_output=True, check=True)
    assert module.stdout == b"livedex 0.1.0\n"


def test_ctrl_c_ends_a_waiting_command_at_once(home: Home, canned: CannedDaemon) -> None:
    states = iter([status_result(state="starting")] * 10_000)
    canned.answers["status"] = lambda _: next(states)
    with subprocess.Popen([LIVEDEX, "up"], env=home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        wait_until(lambda: canned.sent("status"), what="the first poll")
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=10)
    assert (child.returncode, out, err) == (130, b"", b"")


def test_a_reader_that_went_away_is_no_error(home: Home, canned: CannedDaemon) -> None:
    canned.answers["search"] = search_result(*[hit("/r/a", "x" * 300, [[0, 1]])] * 1000)
    read, write = os.pipe()
    os.close(read)
    for words in (["search", "x"], ["search", "x", "--vimgrep"], ["--help"], ["search", "x", "--json"]):
        done = subprocess.run([LIVEDEX, *words], env=home.env, stdout=write, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
    os.close(write)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_output_that_takes_no_more_is_an_error(home: Home, canned: CannedDaemon) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([LIVEDEX, "search", "x"], env=home.env, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 4
    assert "stdout" in done.stderr.decode()


def test_closed_streams_are_no_reason_for_a_traceback(home: Home, canned: CannedDaemon) -> None:
    for closing in (">&-", "2>&-", "<&-", ">&- 2>&-"):
        done = subprocess.run(
            f"'{LIVEDEX}' search x {closing}", shell=True, env=home.env, capture_output=True, check=False
        )
        assert b"Traceback" not in done.stderr, closing
        assert done.returncode == (4 if closing.startswith(">") else 0), closing


def test_a_program_is_sent_only_what_changes_the_answer(home: Home, canned: CannedDaemon) -> None:
    codes = ("watch_limit", "files_failed", "query_deadline")
    warnings = [{"code": code, "message": f"of {code}", "remedy": "do that"} for code in codes]
    canned.answers["search"] = search_result(
        HIT, fresh=False, reason="deadline", pending=2, warnings=warnings, next_offset=10
    )
    assert home.run("search", "x", "--json").stderr == ""
    for form in ([], ["--vimgrep"]):
        said = home.run("search", "x", *form).stderr
        assert "not fresh: the time ran out" in said
        assert said.splitlines()[1:] == ["livedex: query_deadline: of query_deadline (do that)"]
