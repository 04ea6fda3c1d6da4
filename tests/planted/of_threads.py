"""Defects of threads that die, a shutdown that waits, versions that differ, work that is put off."""

from __future__ import annotations

from planted.defect import Defect

DEFECTS: tuple[Defect, ...] = ()
