"""The limit of open files, and how many clients it leaves room for."""

from __future__ import annotations

import resource

import pytest

from livedex_daemon.process import descriptors
from livedex_ipc.limits import Limits


class Machine:
    """A limit of open files as a system keeps it; more than ``most`` is refused."""

    def __init__(self, soft: int, hard: int, most: int = 1 << 30) -> None:
        self.soft, self.hard, self.most = soft, hard, most

    def getrlimit(self, _which: int) -> tuple[int, int]:
        return self.soft, self.hard

    def setrlimit(self, _which: int, limits: tuple[int, int]) -> None:
        if limits[0] > self.most:
            raise ValueError("current limit exceeds maximum limit")
        assert limits[1] == self.hard, "only the soft limit is ours"
        self.soft = limits[0]


@pytest.mark.parametrize(
    ("machine", "limit"),
    [
        (Machine(1024, 20_000), 20_000),
        (Machine(1024, 1_000_000), descriptors.MOST),
        (Machine(256, resource.RLIM_INFINITY, most=10_240), 8_192),  # macOS
        (Machine(300, 300), 300),
        (Machine(20, 200), 200),
        (Machine(16, 24), 24),
        (Machine(100_000, 200_000), descriptors.MOST),
        (Machine(resource.RLIM_INFINITY, resource.RLIM_INFINITY), descriptors.MOST),
    ],
)
def test_the_limit_is_raised_as_far_as_the_system_lets_it(
    machine: Machine, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = machine.soft
    monkeypatch.setattr(resource, "getrlimit", machine.getrlimit)
    monkeypatch.setattr(resource, "setrlimit", machine.setrlimit)
    assert descriptors.raise_limit() == limit
    assert before == resource.RLIM_INFINITY or machine.soft >= before, "never lowered"


@pytest.mark.parametrize(
    ("open_files", "clients", "refused"),
    [(65_536, 1000, 64), (1024, 832, 64), (300, 108, 64), (160, 8, 24), (64, 8, 0)],
)
def test_clients_leave_room_for_the_work(open_files: int, clients: int, refused: int) -> None:
    assert descriptors.limits_for(open_files) == Limits(connections=clients, refused=refused)
