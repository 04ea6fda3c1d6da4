"""Defects of files of livedex itself that are damaged, cut short, or folders."""

from __future__ import annotations

from planted.defect import Defect

DEFECTS: tuple[Defect, ...] = ()
