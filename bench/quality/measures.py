"""Measures of an order of files: nDCG@10, MRR@10 and Recall@100, with bootstrap intervals.

Invariant: pure; a query counts the same whatever the others are, and the same seed gives the same interval.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

FIRST: Final = 10  # places that nDCG and MRR look at
DEEP: Final = 100  # and Recall
RESAMPLES: Final = 1_000
SEED: Final = 5


class Scores(NamedTuple):
    """One number a query, each between 0 and 1."""

    ndcg: list[float]
    mrr: list[float]
    recall: list[float]


class Interval(NamedTuple):
    """A mean, and between what it lies with a probability of .95."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def judge(ranked: Sequence[Sequence[str]], wanted: Sequence[Mapping[str, int]]) -> Scores:
    """``ranked``: the paths that each query found, best first. ``wanted``: the grades of those that are right."""
    pairs = list(zip(ranked, wanted, strict=True))
    return Scores(
        [ndcg(paths, grades) for paths, grades in pairs],
        [reciprocal_rank(paths, grades) for paths, grades in pairs],
        [recall(paths, grades) for paths, grades in pairs],
    )


def ndcg(paths: Sequence[str], grades: Mapping[str, int]) -> float:
    """Järvelin and Kekäläinen's, with 2^grade - 1 gained at each place and log2 of the place + 1 to divide by."""
    best = _gained(sorted(grades.values(), reverse=True))
    return _gained([grades.get(path, 0) for path in paths]) / best if best else 0.0


def reciprocal_rank(paths: Sequence[str], grades: Mapping[str, int]) -> float:
    return next((1 / place for place, path in enumerate(paths[:FIRST], 1) if grades.get(path)), 0.0)


def recall(paths: Sequence[str], grades: Mapping[str, int]) -> float:
    return sum(path in grades for path in set(paths[:DEEP])) / len(grades) if grades else 0.0


def interval(values: Sequence[float]) -> Interval:
    """The mean with the .025 and .975 quantiles of the means of as many values drawn again and again."""
    chosen = random.Random(SEED)
    count = len(values)
    means = sorted(math.fsum(chosen.choices(values, k=count)) / count for _ in range(RESAMPLES))
    return Interval(statistics.fmean(values), means[round(0.025 * RESAMPLES)], means[round(0.975 * RESAMPLES) - 1])


def _gained(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(place + 1) for place, grade in enumerate(grades[:FIRST], 1))
