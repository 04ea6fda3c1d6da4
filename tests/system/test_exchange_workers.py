"""`livedex exchange run`: plugins with every behaviour."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helpers.exchange_file import Queue
from helpers.exchange_workers import nothing_runs, run, script, started, words_of
from helpers.support import LIVEDEX, Daemon, Home, end_process, is_alive, wait_until

MOST_KIB = 200 * 1024  # of a worker whose plugin prints a gigabyte

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")


@pytest.fixture
def queue(home: Home) -> Iterator[Queue]:
    home.data.mkdir(mode=0o700)
    with closing(Queue(home.data / "exchange.db", real=True)) as opened:
        yield opened


def last(queue: Queue, topic: str) -> Any:
    return queue.read(topic, limit=1000)[-1]


def test_what_a_plugin_prints_follows_its_message(home: Home, queue: Queue) -> None:
    queue.publish("work", "żółw", conversation_id="talk")
    names = [f"LIVEDEX_{name}" for name in ("MESSAGE_ID", "TOPIC", "CONVERSATION_ID", "ATTEMPT")]
    printed = f"import os, sys; print(sys.stdin.read(), *[os.environ[name] for name in {names}])"
    (report,) = run(home, script(printed), "--group", "g")
    assert (report["message_id"], report["status"], report["exit_status"], report["follow_up_id"]) == (
        1, "completed", 0, 2,
    )  # fmt: skip
    message = last(queue, "work.completed")
    assert (message["body"], message["parent_id"], message["conversation_id"]) == ("żółw 1 work talk 1\n", 1, "talk")
    assert message["metadata"] == {
        "exit_status": 0,
        "stderr": "",
        "duration_ms": message["metadata"]["duration_ms"],
        "truncated": False,
    }
    assert queue.inspect(id=1)["claims"][0]["worker_group"] == "g"


def test_an_exit_other_than_zero_is_an_answer(home: Home, queue: Queue) -> None:
    queue.publish("work", "")
    queue.publish("work", "")
    text = "import sys; print('out'); print('why', file=sys.stderr); sys.exit(1)"
    assert [report["status"] for report in run(home, script(text), "--failure", "elsewhere")] == ["failed"] * 2
    message = last(queue, "elsewhere")
    assert (message["body"], message["metadata"]["exit_status"], message["metadata"]["stderr"]) == ("out\n", 1, "why\n")
    queue.publish("work", "")
    run(home, script("import os; os.kill(os.getpid(), 11)"))
    assert last(queue, "work.failed")["metadata"]["exit_status"] == -11
    assert home.run(*words_of("false", "--drain")).returncode == 0
    queue.publish("work", "")
    assert home.run(*words_of("false", "--once")).returncode == 4


# Runs a command and prints its peak memory. A process inherits the peak of the one that started it, and that of the
# tests themselves may be higher than any bound.
MEASURED = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_gigabyte_of_output_is_bounded(home: Home, queue: Queue) -> None:
    queue.publish("work", "")
    text = "import os\nfor _ in range(1000): os.write(1, b'0123456789' * 100_000), os.write(2, b'e' * 10_000)"
    command = [sys.executable, "-c", MEASURED, str(LIVEDEX), "--json", *words_of(script(text), "--once")]
    done = subprocess.run(command, env=home.env, capture_output=True, text=True, timeout=100, check=False)
    (report,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, report["status"]) == (0, "completed")
    assert int(done.stderr.splitlines()[-1]) * (1 if sys.platform == "linux" else 1 / 1024) < MOST_KIB
    message = last(queue, "work.completed")
    assert (len(message["body"]), message["metadata"]["truncated"]) == (4 << 20, True)
    assert message["metadata"]["stderr"] == "e" * 8192


def test_a_plugin_need_not_read(home: Home, queue: Queue) -> None:
    for _ in range(2):
        queue.publish("work", "x" * 3_000_000)
    assert [report["status"] for report in run(home, "true")] == ["completed"] * 2
    queue.publish("work", "x" * 3_000_000)
    (report,) = run(home, "sleep 30", "--timeout", "0.2")
    assert report["status"] == "timed_out"


@pytest.mark.parametrize("output", [b"\xff\xfe\x00ok\x80", b"\xe2\x82"])
def test_output_that_is_not_utf_8_is_replaced_and_said(home: Home, queue: Queue, output: bytes) -> None:
    queue.publish("work", "")
    run(home, script(f"import os; os.write(1, {output!r}); os.write(2, {output!r})"))
    message = last(queue, "work.completed")
    assert message["body"] == output.decode("utf-8", "replace")
    assert message["metadata"]["lossy"] is True
    assert "�" in message["metadata"]["stderr"]


def test_a_character_that_is_cut_off_is_dropped(home: Home, queue: Queue) -> None:
    home.config.write_text("[exchange]\nmax_body = 1024\n")
    for text in ("'a' + 'ż' * 600", "b'\\xff' * 2000"):
        queue.publish("work", text)
    plugin = (
        "import os, sys; text = eval(sys.stdin.read()); os.write(1, text.encode() if isinstance(text, str) else text)"
    )
    run(home, script(plugin))
    first, second = queue.read("work.completed")
    assert (first["body"], first["metadata"].get("lossy")) == ("a" + "ż" * 511, None)
    assert (second["body"], second["metadata"]["lossy"]) == ("\ufffd" * 341, True)


@needs_proc
def test_a_plugin_that_ignores_its_end_and_forks_is_ended(home: Home, queue: Queue) -> None:
    queue.publish("work", "")
    text = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()  # out of the group
    else:
        memory = b"x" * 200_000_000  # it takes its time to die
        print("began", flush=True)
    time.sleep(30)
time.sleep(30)
"""
    (report,) = run(home, script(text), "--timeout", "3")
    assert (report["status"], report["exit_status"]) == ("timed_out", -signal.SIGKILL)
    assert last(queue, "work.timed_out")["body"] == "began\n"
    nothing_runs(home)


@needs_proc
def test_what_a_plugin_leaves_behind_is_ended(home: Home, queue: Queue) -> None:
    queue.publish("work", "")
    text = """
import os, time
for out_of_the_group in (False, True):
    if os.fork() == 0:
        if out_of_the_group:
            os.setsid()
            if os.fork():
                os._exit(0)
        time.sleep(30)  # with stdout open
import subprocess
print(subprocess.Popen(["sleep", "30"], env={}).pid)
"""
    (report,) = run(home, script(text))
    assert report["status"] == "completed"
    nothing_runs(home)
    assert not is_alive(int(last(queue, "work.completed")["body"])), "one that nothing but its group tells of"


@needs_proc
def test_what_plugins_leave_behind_fills_no_process_table(home: Home, queue: Queue) -> None:
    for _ in range(3):
        queue.publish("work", "")
    process = started(home, "sh -c 'sleep 30 & (true &) ; exit 0'")
    assert process.stdout is not None
    for _ in range(3):
        assert json.loads(process.stdout.readline())["status"] == "completed"
    children = [
        int(pid) for path in Path(f"/proc/{process.pid}/task").glob("*/children") for pid in path.read_text().split()
    ]
    ended = [pid for pid in children if not is_alive(pid)]
    process.terminate()
    process.communicate(timeout=30)
    assert ended == []


def test_exit_75_gives_the_message_back(home: Home, queue: Queue) -> None:
    queue.publish("work", "body")
    text = "import os, sys; sys.exit(75 if os.environ['LIVEDEX_ATTEMPT'] == '1' else 0)"
    (report,) = [json.loads(home.run("--json", *words_of(script(text), "--once")).stdout)]
    assert report["status"] == "given_back"
    (report,) = [json.loads(home.run("--json", *words_of(script(text), "--once")).stdout)]
    assert (report["status"], report["attempt"]) == ("completed", 2)


def test_a_drained_topic_has_no_message_that_was_given_back(home: Home, queue: Queue) -> None:
    for body in ("first", "second", "never"):
        queue.publish("work", body)
    home.config.write_text("[exchange]\nmax_attempts = 2\n")
    text = (
        "import os, sys; body = sys.stdin.read(); first = os.environ['LIVEDEX_ATTEMPT'] == '1';"
        "sys.exit(75 if body == 'never' or body == 'first' and first else 0)"
    )
    ends = [(report["message_id"], report["status"]) for report in run(home, script(text), "--concurrency", "2")]
    assert sorted(ends) == [
        (1, "completed"), (1, "given_back"), (2, "completed"), (3, "given_back"), (3, "given_back"),
    ]  # fmt: skip
    assert [message["body"] for message in queue.read(topic="work.dead")] == ["never"]


@pytest.mark.parametrize("plugin", ["no-such-program", "/etc/passwd", "'unclosed", ""])
def test_a_plugin_that_cannot_run_claims_nothing(home: Home, queue: Queue, plugin: str) -> None:
    queue.publish("work", "")
    done = home.run(*words_of(plugin, "--drain"))
    assert done.returncode == (2 if plugin in ("'unclosed", "") else 4)
    assert "plugin" in done.stderr
    assert queue.inspect(id=1)["claims"] == []


def test_a_plugin_that_cannot_start_costs_no_attempt(home: Home, queue: Queue, tmp_path: Path) -> None:
    queue.publish("work", "")
    plugin = tmp_path / "no-interpreter"
    plugin.write_text("#!/no/such/interpreter\n")
    plugin.chmod(0o700)
    done = home.run(*words_of(str(plugin), "--drain"))
    assert (done.returncode, str(plugin) in done.stderr) == (4, True)
    assert queue.claim("work").claim["attempt"] == 1


def test_a_name_that_no_environment_can_have_is_left_out(home: Home, queue: Queue) -> None:
    queue.publish("work", "", conversation_id="a\0b")
    text = "import os; print(os.environ.get('LIVEDEX_CONVERSATION_ID'), os.environ['LIVEDEX_TOPIC'])"
    assert [report["status"] for report in run(home, script(text))] == ["completed"]
    assert last(queue, "work.completed")["body"] == "None work\n"


def test_a_chain_that_is_too_long_fails_without_a_follow_up(home: Home, queue: Queue) -> None:
    home.config.write_text("[exchange]\nmax_hops = 3\n")
    queue.publish("work", "")
    reports = run(home, "cat", "--success", "work")
    assert [report["status"] for report in reports] == ["completed"] * 3 + ["failed"]
    assert reports[-1]["follow_up_id"] is None


def test_a_lease_is_renewed_while_the_plugin_runs(home: Home, queue: Queue) -> None:
    queue.publish("work", "")
    (report,) = run(home, "sleep 2.5", "--lease", "1", "--concurrency", "2")
    assert (report["status"], report["attempt"]) == ("completed", 1)


def test_programs_run_at_the_same_time(home: Home, queue: Queue, tmp_path: Path) -> None:
    for _ in range(3):
        queue.publish("work", "")
    text = f"""
import os, time
open(os.path.join({str(tmp_path)!r}, os.environ["LIVEDEX_MESSAGE_ID"]), "w").close()
while len(os.listdir({str(tmp_path)!r})) < 3:
    time.sleep(0.01)
"""
    reports = run(home, script(text), "--concurrency", "3", "--timeout", "60")
    assert sorted(report["message_id"] for report in reports) == [1, 2, 3]
    assert {report["status"] for report in reports} == {"completed"}


@pytest.mark.parametrize("has_daemon", [True, False])
def test_a_request_is_answered_by_a_waiting_worker(
    home: Home, start_daemon: Callable[..., Daemon], has_daemon: bool
) -> None:
    if has_daemon:
        start_daemon()
    worker = started(home, "tr a-z A-Z")
    try:
        for text in ("one", "two"):
            done = home.run("exchange", "request", "work", text, "--timeout", "60")
            assert (done.returncode, done.stdout) == (0, text.upper() + "\n")
        assert home.run("exchange", "notify").stdout == ""
    finally:
        worker.terminate()
        out, err = worker.communicate(timeout=30)
    assert (worker.returncode, err) == (0, "")
    assert [json.loads(line)["status"] for line in out.splitlines()] == ["completed"] * 2


def test_a_worker_outlives_daemons(home: Home, queue: Queue) -> None:
    worker = started(home, "cat")
    try:
        for number in range(3):
            daemon = Daemon(home).start() if number == 1 else None
            queue.publish("work", str(number))
            wait_until(lambda: len(queue.read("work.completed")) == number + 1, what="the answer")  # noqa: B023
            if daemon is not None:
                daemon.kill()
    finally:
        end_process(worker.pid)
        worker.communicate(timeout=30)
