"""The error tree: codes, exit codes, and the round trip over the wire."""

from __future__ import annotations

import pytest

from livedex_ipc import errors
from livedex_ipc.errors import ConfigInvalid, InternalError, LivedexError, from_wire

CODES = {
    "ParseError": (-32700, 4),
    "InvalidRequest": (-32600, 4),
    "MethodNotFound": (-32601, 4),
    "InvalidParams": (-32602, 2),
    "InternalError": (-32603, 4),
    "Cancelled": (-32800, 4),
    "NotFound": (1, 1),
    "OutsideRoots": (2, 2),
    "TimedOut": (3, 4),
    "Unavailable": (4, 4),
    "Conflict": (5, 4),
}


@pytest.mark.parametrize("name", CODES)
def test_an_error_comes_back_from_the_wire_as_itself(name: str) -> None:
    kind: type[LivedexError] = getattr(errors, name)
    error = kind("what happened", {"field": "x"})
    back = from_wire(error.to_wire())
    assert type(back) is kind
    assert (back.message, back.data, str(back)) == ("what happened", {"field": "x"}, "what happened")
    assert (back.code, back.exit_code) == CODES[name]


def test_data_is_left_out_where_there_is_none() -> None:
    assert LivedexError("x").to_wire() == {"code": -32603, "message": "x"}


def test_faults_of_a_configuration_come_back_as_such() -> None:
    back = from_wire(ConfigInvalid("2 faults", {"faults": [{"key": "a"}]}).to_wire())
    assert isinstance(back, ConfigInvalid) and back.exit_code == 2


def test_no_daemon_has_an_exit_code_of_its_own() -> None:
    assert (errors.NoDaemon("x").code, errors.NoDaemon("x").exit_code) == (4, 3)


def test_an_unknown_code_is_kept() -> None:
    assert from_wire({"code": 77, "message": "from a newer daemon"}).code == 77
    assert isinstance(from_wire({"message": "no code"}), InternalError)
