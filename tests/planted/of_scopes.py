"""Defects of what lies outside a path and decides about it: rule files, marks, roots, mounts, hard links."""

from __future__ import annotations

from planted.defect import Defect

DEFECTS: tuple[Defect, ...] = ()
