"""A server that has no file descriptor for one more client."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack

from helpers.support import Home
from helpers.threaded_server import Raw, code_of, request
from livedex_ipc.server.listener import SLICE

STARVED = """
import asyncio, os, resource, socket, sys, time
from livedex_ipc.server.rpc_server import Server, bind

class Counting(socket.socket):
    failed = []

    def accept(self):
        try:
            return super().accept()
        except BlockingIOError:
            raise
        except OSError:
            Counting.failed.append(time.monotonic())
            raise

async def ping(call, params):
    return {}

async def main():
    server = Server({"server/ping": ping})
    await server.start(Counting(fileno=bind(sys.argv[1]).detach()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 4, 100))
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await server.close(0)
    pauses = [end - begin for begin, end in zip(Counting.failed[::2], Counting.failed[1::2])]
    print(len(pauses), sum(pause > 0.2 for pause in pauses))

asyncio.run(main())
"""


def test_a_server_without_descriptors_backs_off_and_recovers(home: Home) -> None:
    path = home.path / "starved.sock"
    command = [sys.executable, "-c", STARVED, str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        with ExitStack() as stack:
            clients = [stack.enter_context(Raw(path)) for _ in range(40)]
            for raw in clients:
                raw.line(request("server/ping"))
            assert clients[0].read()["result"] == {}
            answers = [raw.read() for raw in clients[1:]]
            late = []
            for turns in (1000, 2):  # of the loop; in each it could try again
                for _ in range(turns):
                    assert clients[0].ask("server/ping")["result"] == {}
                late.append(stack.enter_context(Raw(path)))
                late[-1].line(request("server/ping"))
            answers += [raw.read() for raw in late]
            refused = [answer["error"]["message"] for answer in answers if code_of(answer) == 4]
            assert len(refused) > 30 and all("no free file descriptor" in message for message in refused)
            assert all(raw.ended() for raw in late)
            for raw in clients[:8]:
                raw.close()
            assert stack.enter_context(Raw(path)).ask("server/ping")["result"] == {}
        process.stdin.close()
        pauses, whole = map(int, process.stdout.readline().split())
        # Those who came at once had one in common, and each of the late ones had a whole one, in which a descriptor
        # could have become free.
        assert 3 <= whole == pauses < 20


CROWD = 300
MOST = 10

CROWDED = f"""
import asyncio, os, socket, sys
from livedex_ipc.limits import Limits
from livedex_ipc.server.rpc_server import Server, bind

async def count(most):
    while True:
        most.append(len(os.listdir("/dev/fd")))
        await asyncio.sleep(0)

async def main():
    server = Server({{}}, limits=Limits(connections={MOST}, refused={MOST}, linger_s=0.1))
    sock, before = bind(sys.argv[1]), len(os.listdir("/dev/fd"))
    print("ready", flush=True)
    sys.stdin.readline()
    most = []
    counting = asyncio.create_task(count(most))
    await server.start(sock)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(max(most) - before, flush=True)
    counting.cancel()
    await server.close(0)

asyncio.run(main())
"""


def test_a_crowd_of_clients_does_not_use_up_the_descriptors(home: Home) -> None:
    """Those that are accepted to be refused count too, until they are closed."""
    path = home.path / "crowded.sock"
    command = [sys.executable, "-c", CROWDED, str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process, ExitStack() as stack:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        clients = [stack.enter_context(Raw(path)) for _ in range(CROWD)]
        process.stdin.write("\n")
        process.stdin.flush()
        refused = [raw.read()["error"] for raw in clients[MOST:]]
        assert {error["code"] for error in refused} == {4}
        process.stdin.close()
        reserve = 1
        assert int(process.stdout.readline()) <= 2 * MOST + SLICE + reserve
