"""Ask the machine whether bulk work must wait: it waits on battery if the configuration says so.

Invariant: a machine that does not report its power source counts as being on mains.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time

SUPPLIES = "/sys/class/power_supply"
CHECK_EVERY_S = 30.0


def on_battery(supplies: str = SUPPLIES) -> bool:
    """Return True when a battery discharges and no mains supply is online."""
    if sys.platform == "darwin":
        return _on_battery_macos()
    discharging = False
    try:
        names = os.listdir(supplies)
    except OSError:
        return False
    for name in names:
        kind = _read(f"{supplies}/{name}/type")
        if kind in ("Mains", "USB") and _read(f"{supplies}/{name}/online") == "1":
            return False
        if kind == "Battery" and _read(f"{supplies}/{name}/scope") != "Device":  # a mouse's battery does not count
            discharging = discharging or _read(f"{supplies}/{name}/status") == "Discharging"
    return discharging


def _read(path: str) -> str:
    with contextlib.suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
        return file.read(64).strip()
    return ""


def _on_battery_macos() -> bool:
    try:
        answer = subprocess.run(
            ["/usr/bin/pmset", "-g", "batt"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return "'Battery Power'" in answer.stdout


class PowerGate:
    """Remember the answer for half a minute, so that asking costs nothing while bulk work runs."""

    def __init__(self, supplies: str = SUPPLIES) -> None:
        self.wait_on_battery = True
        self._supplies = supplies
        self._checked_at = -CHECK_EVERY_S
        self._answer = False

    def bulk_may_run(self) -> bool:
        if not self.wait_on_battery:
            return True
        now = time.monotonic()
        if now - self._checked_at >= CHECK_EVERY_S:
            self._checked_at, self._answer = now, on_battery(self._supplies)
        return not self._answer
