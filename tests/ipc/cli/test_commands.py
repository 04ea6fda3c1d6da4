"""The requests of each command and its output: real processes, a real socket, answers written by the test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from helpers.canned_daemon import CannedDaemon, hit, info, root, search_result, status_result
from helpers.support import LIVEDEX, Home, error_of, wait_until
from livedex_ipc.errors import OutsideRoots


def test_down_needs_no_daemon_and_starts_none(home: Home) -> None:
    assert home.run_json("down") == {}
    assert home.run("down").stdout == "no daemon was running\n"
    assert not home.socket.exists()


def test_a_fifo_in_the_place_of_the_lock_delays_no_command(home: Home) -> None:
    home.data.mkdir()
    os.mkfifo(home.data / "daemon.lock")
    assert home.run("down").stdout == "no daemon was running\n"
    refused = home.run("status")
    assert (
        refused.returncode == 4 and "daemon.lock cannot be locked: Not a regular file; move it away" in refused.stderr
    )
    home.run("doctor")


def test_down_waits_for_the_end_of_the_process(home: Home, canned: CannedDaemon) -> None:
    with subprocess.Popen(["sleep", "60"]) as child:

        def end(_: object) -> dict[str, Any]:
            child.terminate()
            return {}

        canned.answers["server/info"] = {**info(), "pid": child.pid}
        canned.answers["server/shutdown"] = end
        # The child stays a zombie until we reap it: its end must be enough.
        assert home.run_json("down") == {}
        assert child.wait(10) == -signal.SIGTERM


def test_several_paths_are_one_object_in_their_order(home: Home, canned: CannedDaemon) -> None:
    def explain(params: dict[str, Any]) -> Any:
        if params["path"] == "/outside":
            return OutsideRoots("not inside a root")
        return {"path": params["path"], "status": "indexed", "reason": None, "rule": None}

    canned.answers["files/explain"] = explain
    [a, b] = [explain({"path": path}) for path in ("/r/a", "/r/b")]
    assert home.run_json("why", "/r/a") == a
    assert home.run_json("why", "/r/b", "/r/a") == {"results": [b, a]}
    done = home.run("why", "--json", "/r/b", "/outside", "/r/a")
    refusal = OutsideRoots("not inside a root").to_wire()
    assert done.returncode == 2
    assert json.loads(done.stdout) == {"results": [b, {"error": refusal}, a]}
    assert json.loads(done.stderr) == {"error": refusal}
    alone = home.run("why", "/outside", "--json")
    assert (alone.returncode, error_of(alone)) == (2, refusal)


@pytest.mark.parametrize("next_offset", [1, None])  # None: beyond the first 10,000 hits
def test_a_block_goes_on_from_page_to_page(home: Home, canned: CannedDaemon, next_offset: int | None) -> None:
    last = hit("/r/a", "m", [[0, 1]], snippet_line=1, context_after="m\r\n")
    first = hit("/r/a", "m", [[0, 1]], snippet_line=2, context_before="m\r\n", context_after="a\r\n")

    def page(params: dict[str, Any]) -> dict[str, Any]:
        if params["cursor"]:
            return search_result(first, mode="exact")
        return search_result(last, mode="exact", next_offset=next_offset, next_cursor="next")

    canned.answers["search"] = page
    assert home.run("search", "-F", "m", "-C1").stdout == "/r/a:1:m\n/r/a:2:m\n/r/a-3-a\n"


def test_a_path_that_may_have_changed_since_is_said_on_stderr(home: Home, canned: CannedDaemon) -> None:
    def explain(params: dict[str, Any]) -> Any:
        fresh = params["path"] != "/r/\x1b" and params["fresh"]
        return {"path": params["path"], "status": "indexed", "reason": None, "rule": None, "fresh": fresh}

    canned.answers["files/explain"] = explain
    done = home.run("why", "/r/a", "/r/\x1b")
    assert (done.returncode, done.stdout) == (0, "/r/a: indexed\n/r/\\e: indexed\n")
    assert done.stderr == "livedex: not fresh: /r/\\e may have changed since\n"
    assert home.run("why", "--no-fresh", "/r/a").stderr == "", "freshness was not requested"
    assert home.run("why", "--json", "/r/\x1b").stderr == ""


def test_list_fetches_all_pages(home: Home, canned: CannedDaemon) -> None:
    files = [{"path": f"/r/{number:05}", "status": "indexed"} for number in range(23_001)]

    def page(params: dict[str, Any]) -> dict[str, Any]:
        start = params["offset"]
        return {"files": files[start : start + params["limit"]], "total": len(files), "fresh": True}

    canned.answers["files/list"] = page
    assert home.run_json("list", "--status", "indexed") == {"files": files, "total": len(files), "fresh": True}
    assert [call.get("offset", 0) for call in canned.sent("files/list")] == [0, 10_000, 20_000]
    canned.answers["files/list"] = {"files": [], "total": 0, "fresh": True}
    assert home.run("list").returncode == 1


def test_sync_that_took_too_long_fails_and_prints_its_result(home: Home, canned: CannedDaemon) -> None:
    result = {"synced": False, "pending": 4, "generation": 9, "waited_ms": 50.0}
    canned.answers["sync"] = result
    done = home.run("sync", "--timeout", "0.05", "--json")
    assert done.returncode == 4
    assert json.loads(done.stdout) == result
    assert json.loads(done.stderr)["error"]["data"] == {"pending": 4}
    canned.answers["sync"] = {**result, "synced": True, "pending": 0}
    assert home.run("sync").returncode == 0


def test_audit_with_differences_is_exit_code_1(home: Home, canned: CannedDaemon, tmp_path: Path) -> None:
    result = {"checked": 3, "differences": [{"path": "/r/a", "what": "stale"}], "repaired": 0}
    canned.answers["index/audit"] = result
    done = home.run("audit", str(tmp_path), "--repair", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (1, result)
    [params] = canned.sent("index/audit")
    assert params.pop("progress_token")
    assert params == {"paths": [str(tmp_path)], "repair": True}
    canned.answers["index/audit"] = {**result, "differences": []}
    assert home.run("audit").returncode == 0


def test_index_takes_paths_and_does_not_fail_for_single_files(home: Home, canned: CannedDaemon) -> None:
    failed = [{"path": "/r/a", "stage": "read", "message": "denied"}]
    result = {
        "scanned": 2,
        "indexed": 1,
        "unchanged": 0,
        "skipped": 0,
        "removed": 0,
        "documents_pending": 0,
        "failed": failed,
        "took_ms": 3,
    }
    canned.answers["index/run"] = result
    assert home.run_json("index", "/r/a", "--force") == result
    [params] = canned.sent("index/run")
    assert params.pop("progress_token")
    assert params == {"paths": ["/r/a"], "force": True}
    assert "converted" not in home.run("index").stdout
    canned.answers["index/run"] = {**result, "documents_pending": 2}
    assert home.run("index").stdout.splitlines()[-1] == "2 documents still to be converted"


def test_up_adds_the_roots_and_waits_for_the_first_index(home: Home, canned: CannedDaemon) -> None:
    states = iter(
        [
            status_result(root("/r", state="indexing"), state="starting", pending=1),
            status_result(root("/r", state="indexing"), state="indexing", pending=5),
            status_result(root("/r"), pending=1),
            status_result(root("/r"), pending=2),
        ]
    )
    last = status_result(root("/r"))
    synced = iter([False, True, True])
    canned.answers["sync"] = lambda _: {"synced": next(synced), "pending": 1, "generation": 1, "waited_ms": 1.0}
    canned.answers["status"] = lambda _: next(states, last)
    assert home.run_json("up", "/r", "/q") == last
    assert home.run_json("up", "/s", "--ignore", "*.log") == last
    assert canned.sent("roots/add").pop() == {"path": "/s", "ignore": ["*.log"]}
    assert canned.sent("roots/add")[:2] == [{"path": "/r"}, {"path": "/q"}]
    assert len(canned.sent("status")) == 5 + 2


def test_roots_are_added_and_removed_one_call_each(home: Home, canned: CannedDaemon) -> None:
    answer = {"roots": [root("/r")]}
    for method in ("roots/add", "roots/remove", "roots/list"):
        canned.answers[method] = answer
    assert home.run_json("roots", "add", "/r", "--ignore", "*.tmp", "--ignore", "!x") == answer
    assert canned.sent("roots/add") == [{"path": "/r", "ignore": ["*.tmp", "!x"]}]
    assert home.run_json("roots", "remove", "/a", "/b") == {"results": [answer, answer]}
    assert home.run_json("roots", "list") == answer
    assert home.run("roots", "remove", "/a", "/b").stdout.count("/r\n") == 1


def test_status_is_watched_a_line_for_each_change(home: Home, canned: CannedDaemon) -> None:
    first, second = status_result(root("/r")), status_result(root("/r"), generation=2)
    with subprocess.Popen(
        [LIVEDEX, "status", "--watch", "--json"], env=home.env, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        canned.answers["status"] = first
        assert json.loads(child.stdout.readline())["generation"] == 1
        seen = len(canned.calls)
        canned.answers["status"] = {**first, "uptime_s": 99.0}
        wait_until(lambda: len(canned.calls) > seen + 1, what="two more polls")
        canned.answers["status"] = second
        assert json.loads(child.stdout.readline()) == second, "the uptime alone is no news"
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == 130


def test_config_doctor_and_daemon_are_handed_over_by_name(home: Home, tmp_path: Path) -> None:
    package = tmp_path / "livedex_daemon"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys; print(sys.argv[1:], sys.flags.safe_path)")
    for words, expected in (
        (["config", "show"], ["config", "show"]),
        (["--json", "doctor"], ["doctor", "--json"]),
        (["daemon", "--check-config", "--color", "always"], ["daemon", "--check-config", "--color=always"]),
    ):
        done = home.run(*words, env={"PYTHONPATH": str(tmp_path)})
        assert (done.stdout, done.stderr) == (f"{expected} True\n", "")


def test_a_module_in_the_working_folder_is_never_run(home: Home, tmp_path: Path) -> None:
    trap = tmp_path / "livedex_daemon"
    trap.mkdir()
    (trap / "__main__.py").write_text("print('trapped')")
    (tmp_path / "json.py").write_text("print('trapped')")
    for words in (["doctor"], ["search", "x", "--no-spawn"]):
        done = subprocess.run([LIVEDEX, *words], env=home.env, cwd=tmp_path, capture_output=True, check=False)
        assert b"trapped" not in done.stdout + done.stderr


def test_forgotten_files_can_be_had_again(home: Home, canned: CannedDaemon) -> None:
    canned.answers["files/delete"] = {"deleted": 1}
    canned.answers["index/run"] = {"indexed": 2}
    for name in ("forget", "delete"):
        done = home.run(name, "/r/a")
        assert (done.stdout, done.stderr) == ("1 file forgotten\n", "")
    assert home.run("forget", "--undo", "/r/a", "/r/b").stdout == "2 files indexed again\n"
    assert canned.sent("index/run") == [{"paths": ["/r/a", "/r/b"], "force": True}]


def test_a_sync_that_was_too_late_says_so_once(home: Home, canned: CannedDaemon) -> None:
    canned.answers["sync"] = {"synced": False, "pending": 0, "generation": 9, "waited_ms": 0.2}
    done = home.run("sync", "--timeout", "0")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == "livedex: the index is not up to date after 0 ms: 0 pending\n"


def test_paths_and_logs_need_no_daemon(home: Home) -> None:
    assert home.run_json("paths")["socket"] == str(home.socket)
    assert f"socket     {home.socket}\n" in home.run("paths").stdout
    assert "no log yet" in home.run("logs").stderr
    log = home.path / "log" / "livedex.log"
    log.parent.mkdir()
    log.write_text("one\n")
    assert home.run("logs").stdout == "one\n"
    with subprocess.Popen([LIVEDEX, "logs", "-f"], env=home.env, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "one\n"
        with log.open("a") as file:
            file.write("two\n")
        assert child.stdout.readline() == "two\n"
        log.rename(log.with_name("livedex.log.1"))
        log.write_text("three\n")
        assert child.stdout.readline() == "three\n", "a new log in its place"
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == 130
    assert not home.socket.exists()


def test_a_search_that_finds_nothing_says_that_documents_wait(home: Home, canned: CannedDaemon) -> None:
    canned.answers["search"] = search_result(documents_pending=1)
    assert home.run("search", "zither").stderr == "livedex: 1 document still to be converted\n"
    assert home.run("search", "zither", "--json").stderr == ""
    canned.answers["search"] = search_result(hit("/r/a.md", "zither", []), documents_pending=2)
    assert home.run("search", "zither").stderr == "", "a program reads what was found"


def test_a_warning_of_some_pages_is_printed_once(home: Home, canned: CannedDaemon) -> None:
    late = {"code": "query_deadline", "message": "late", "remedy": "wait"}
    cut = {"code": "hits_cut", "message": "more", "remedy": "narrow"}

    def page(params: dict[str, Any]) -> dict[str, Any]:
        warnings = [[], [late], [late, cut]][params["offset"] // 1000]
        return search_result(
            hit("/r/a", "x", [[0, 1]]),
            next_offset=None if params["offset"] == 2000 else params["offset"] + 1000,
            warnings=warnings,
        )

    canned.answers["search"] = page
    said = "livedex: query_deadline: late (wait)\nlivedex: hits_cut: more (narrow)\n"
    for form in ("--short", "--long", "-l", "--vimgrep"):
        assert home.run("search", "x", "--all", form).stderr == said, form
    assert home.run_json("search", "x", "--all")["warnings"] == [late, cut]
