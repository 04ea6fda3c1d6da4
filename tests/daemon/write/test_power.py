"""Whether bulk work waits, according to the system's power supplies."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from livedex_daemon.write.power import PowerGate, on_battery

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="macOS is asked by a command")

BATTERY = {"type": "Battery", "status": "Discharging", "scope": "System"}
MAINS = {"type": "Mains", "online": "1"}


def supplies(folder: Path, **found: dict[str, str]) -> str:
    for name, files in found.items():
        (folder / name).mkdir()
        for file, text in files.items():
            (folder / name / file).write_text(text + "\n")
    return str(folder)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({}, False),
        ({"BAT0": BATTERY}, True),
        ({"BAT0": BATTERY, "AC": MAINS}, False),
        ({"BAT0": BATTERY, "AC": {**MAINS, "online": "0"}}, True),
        ({"BAT0": {**BATTERY, "status": "Charging"}}, False),
        ({"mouse": {**BATTERY, "scope": "Device"}}, False),
        ({"BAT0": {"type": "Battery"}}, False),
    ],
)
def test_on_battery(tmp_path: Path, found: dict[str, dict[str, str]], expected: bool) -> None:
    assert on_battery(supplies(tmp_path, **found)) is expected


def test_a_machine_of_unknown_power_is_on_mains(tmp_path: Path) -> None:
    assert not on_battery(str(tmp_path / "none"))


def test_the_gate_follows_the_setting(tmp_path: Path) -> None:
    gate = PowerGate(supplies(tmp_path, BAT0=BATTERY))
    assert not gate.bulk_may_run()
    gate.wait_on_battery = False
    assert gate.bulk_may_run()
