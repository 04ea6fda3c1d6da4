"""Packages with a plugin, installed into a folder as pip would leave them, and removed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path


def install(site: Path, name: str, version: str, modules: Mapping[str, str], entry_point: str = "") -> None:
    """Install a version of the package in place of the former one. ``modules``: text by file name."""
    uninstall(site, name)
    package = site / name
    package.mkdir(mode=0o700)
    for file_name, text in modules.items():
        (package / file_name).write_text(text)
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(mode=0o700)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[livedex.plugins]\n{entry_point or f'{name} = {name}'}\n")


def uninstall(site: Path, name: str) -> None:
    for folder in (site / name, *site.glob(f"{name}-*.dist-info")):
        shutil.rmtree(folder, ignore_errors=True)
