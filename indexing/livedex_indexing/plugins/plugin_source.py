"""Finds the plugins that may be loaded: modules in configured folders and installed entry points.

Invariant: finding a plugin runs none of its code, and a folder without a plugin costs a listing of it.
"""

from __future__ import annotations

import configparser
import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from livedex_indexing.plugins import owned_files
from livedex_ipc.file_stamp import Stamp, file_stamp

GROUP = "livedex.plugins"
SELECTION = "LIVEDEX_LOAD_PLUGINS"


class PluginSource(NamedTuple):
    """Where a plugin comes from. ``target`` is the module's file, or ``module:function`` of an entry point.

    ``stamp`` changes with its code: for a module a hash of its text, for an entry point the distribution's version.
    ``refused`` says why it must not be loaded, None if it may. ``installed`` changes with each installation of a
    package, also of the same version.
    """

    name: str
    place: Literal["folder", "entry_point"]
    target: str
    stamp: str
    refused: str | None = None
    installed: tuple[Stamp, ...] = ()


def selected(env: Mapping[str, str]) -> frozenset[str] | None:
    """Return the names that ``LIVEDEX_LOAD_PLUGINS`` admits; None if it is not set: all."""
    value = env.get(SELECTION)
    return None if value is None else frozenset(name.strip() for name in value.split(",") if name.strip())


def find(folders: Sequence[str], admitted: frozenset[str] | None = None) -> list[PluginSource]:
    """Return the sources in order: folders as configured, then entry points; each by name."""
    if admitted is not None and not admitted:
        return []
    found = [source for folder in folders for source in _in_folder(os.path.expanduser(folder))]
    found += sorted(_entry_points([folder for folder in sys.path if isinstance(folder, str)]))  # as an import does
    return [source for source in found if admitted is None or source.name in admitted or _is_folder(source)]


def _is_folder(source: PluginSource) -> bool:
    return source.place == "folder" and not source.target.endswith(".py")


def _in_folder(folder: str) -> Iterator[PluginSource]:
    try:
        owned_files.check_path(folder)
        names = sorted(os.listdir(folder))
    except (owned_files.Refused, OSError) as fault:
        yield PluginSource(os.path.basename(folder.rstrip("/")), "folder", folder, "", _reason(fault))
        return
    for file_name in names:
        name, suffix = os.path.splitext(file_name)
        if suffix != ".py" or name.startswith("."):
            continue
        if not name.isidentifier():
            yield _misnamed(folder, name)
        else:
            path = os.path.join(folder, file_name)
            try:
                source = owned_files.read(path)
            except (owned_files.Refused, OSError) as fault:
                yield PluginSource(name, "folder", path, "", _reason(fault))
            else:
                yield PluginSource(name, "folder", path, hashlib.blake2b(source, digest_size=8).hexdigest())


def _misnamed(folder: str, name: str) -> PluginSource:
    """Return a file that can be no module. ``name``: any file name, without its suffix."""
    shown = name if name.isprintable() else ascii(name)[1:-1]
    better = re.sub(r"\W", "_", shown, flags=re.ASCII)
    better = better if better.isidentifier() else f"_{better}"
    refused = f"{shown}.py is no name of a module: rename it, for example to {better}.py"
    return PluginSource(shown, "folder", os.path.join(folder, f"{shown}.py"), "", refused)


def _entry_points(folders: Sequence[str]) -> Iterator[PluginSource]:
    """Read the group from the metadata of installed distributions, without ``importlib.metadata``: where there is no
    plugin, in a thirtieth of its time."""
    seen: set[str] = set()
    for folder in folders:
        try:
            entries = sorted(os.listdir(folder or "."))
        except OSError:
            continue  # a zip file, or gone
        for entry in entries:
            distribution = entry.removesuffix(".dist-info")
            if distribution == entry or entry.startswith("~"):  # what pip has put aside
                continue
            if distribution.partition("-")[0] in seen:
                continue
            path = os.path.join(folder, entry, "entry_points.txt")
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except OSError:
                continue
            if GROUP.encode() in data:
                seen.add(distribution.partition("-")[0])
                yield from _of_distribution(data, path, distribution)


def _of_distribution(data: bytes, path: str, distribution: str) -> Iterator[PluginSource]:
    """``path``: of its ``entry_points.txt``, with these bytes."""
    folder = os.path.dirname(os.path.dirname(path))
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    try:
        parser.read_string(data.decode())
    except (UnicodeDecodeError, configparser.Error):
        name = distribution.partition("-")[0]
        damaged = f"{path} is damaged: install {name} again (`pip install --force-reinstall {name}`)"
        yield PluginSource(name, "entry_point", path, distribution, damaged)
        return
    if not parser.has_section(GROUP):
        return
    for name, target in parser.items(GROUP):
        package = os.path.join(folder, target.partition(":")[0].partition(".")[0].strip())
        refused = None
        try:
            owned_files.check_path(package if os.path.isdir(package) else folder)
        except (owned_files.Refused, OSError) as fault:
            refused = _reason(fault)
        installed = tuple(map(file_stamp, (path, f"{package}.py", os.path.join(package, "__init__.py"))))
        yield PluginSource(name, "entry_point", target.strip(), distribution, refused, installed)


def _reason(fault: Exception) -> str:
    if isinstance(fault, OSError):
        return f"{fault.filename} cannot be read: {fault.strerror}"
    return str(fault)
