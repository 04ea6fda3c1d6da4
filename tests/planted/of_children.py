"""Defects of the children that chunk files: their starts, their versions, their bounds, the pool's threads."""

from __future__ import annotations

from planted.defect import Defect

DEFECTS: tuple[Defect, ...] = ()
