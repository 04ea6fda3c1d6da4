"""Defects of the bounds of time, memory and bytes of each request."""

from __future__ import annotations

from planted.defect import Defect

DEFECTS: tuple[Defect, ...] = ()
