"""Defects of what a system call that fails must not mean: an absence, a lost file, an answer that lies."""

from __future__ import annotations

from planted.defect import Defect

DEFECTS: tuple[Defect, ...] = ()
