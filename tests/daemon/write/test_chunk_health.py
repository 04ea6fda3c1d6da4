"""When to try again after no child could be started: soon, then less often, but at least every 8 s."""

from __future__ import annotations

from livedex_daemon.write.chunk_health import FIRST_REST_S, REST_S, ChunkHealth, WorkerFault

FAULT = WorkerFault("exit status 1")


def test_each_failure_doubles_the_rest_up_to_a_limit() -> None:
    now = [100.0]
    health = ChunkHealth(lambda: now[0])
    rests = []
    for _ in range(6):
        health.failed(FAULT)
        rests.append(health.retry_at - now[0])
        assert health.resting() == FAULT
        now[0] = health.retry_at
        assert health.resting() is None
    assert rests == [1, 2, 4, 8, 8, 8]
    assert REST_S < 10, "every file is indexed within 10 s after the cause is gone"


def test_failures_during_a_rest_do_not_prolong_it() -> None:
    now = [100.0]
    health = ChunkHealth(lambda: now[0])
    for _ in range(5):
        health.failed(FAULT)
        now[0] += 0.1
    assert health.retry_at == 100.0 + FIRST_REST_S


def test_a_child_that_works_ends_the_rest() -> None:
    now = [100.0]
    health = ChunkHealth(lambda: now[0])
    for _ in range(4):
        health.failed(FAULT)
        now[0] = health.retry_at
    health.failed(FAULT)
    health.worked()
    assert (health.fault, health.resting()) == (None, None)
    assert health.retry_at == now[0] + FIRST_REST_S
    now[0] = health.retry_at
    health.failed(FAULT)
    assert health.retry_at == now[0] + FIRST_REST_S
