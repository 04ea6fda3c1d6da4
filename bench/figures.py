"""A figure and how it is printed: the lowest, the median and the highest of its runs, and its ratio to a floor.

Invariant: a figure without a floor has no ratio; then its goal is meant in its own unit.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple


class Figure(NamedTuple):
    """``values`` and ``floor`` are in ``unit``, one for each run; ``goal`` is the highest admitted ratio, or value.

    ``over``: the goal bounds the difference to the floor, not the ratio. ``which``: ``median`` or ``p99`` is compared.
    """

    name: str
    unit: str
    values: Sequence[float]
    floor: Sequence[float] = ()
    goal: float | None = None
    over: bool = False
    which: str = "median"

    @property
    def value(self) -> float:
        return percentile(self.values, 99) if self.which == "p99" else statistics.median(self.values)

    @property
    def judged(self) -> float:
        """What the goal bounds: the ratio, the difference, or the value itself where there is no floor."""
        if not self.floor:
            return self.value
        floor = statistics.median(self.floor)
        return self.value - floor if self.over else self.value / floor

    def as_json(self) -> dict[str, Any]:
        ratio = None if not self.floor else round(self.value / statistics.median(self.floor), 3)
        return {
            "name": self.name,
            "unit": self.unit,
            "min": round(min(self.values), 4),
            self.which: round(self.value, 4),
            "max": round(max(self.values), 4),
            "runs": len(self.values),
            "floor": round(statistics.median(self.floor), 4) if self.floor else None,
            "ratio": ratio,
            "goal": self.goal,
            "met": None if self.goal is None else self.judged <= self.goal,
        }

    def as_line(self) -> str:
        low, high = min(self.values), max(self.values)
        spread = f"{self.name:<34} {low:>9.3f} {self.value:>9.3f} {high:>9.3f} {self.unit:<3}"
        if not self.floor:
            return f"{spread} {'':>20} {self._verdict()}"
        floor = statistics.median(self.floor)
        return f"{spread} {floor:>9.3f} × {self.value / floor:>8.2f} {self._verdict()}"

    def _verdict(self) -> str:
        if self.goal is None:
            return ""
        bound = f"{'+' if self.over else ''}{self.goal:g}{' ' + self.unit if self.over or not self.floor else ' ×'}"
        return f"goal ≤ {bound}" + ("" if self.judged <= self.goal else f"  MISSED: {self.judged:.3g}")


HEADER = f"{'':<34} {'min':>9} {'median':>9} {'max':>9} {'':<3} {'floor':>9}   {'ratio':>8}"


def percentile(values: Sequence[float], percent: int) -> float:
    """The value that ``percent`` of 100 are at most; the nearest rank, so that it is one that was seen."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(percent / 100 * len(ordered)))]
