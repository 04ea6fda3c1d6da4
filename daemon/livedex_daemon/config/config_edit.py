"""Changes the configuration file for the user: adds a root, removes one, or replaces the text with an edited one.

Invariant: at every instant the file is either the complete old one or the complete new one. The new text is checked
first: an edit that would leave a fault changes nothing. Comments, order and layout stay. A link to the file (as
dotfile managers create) stays a link: its target is replaced.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence

from livedex_daemon.config import root_folders, toml_splice
from livedex_daemon.config.config_check import Fault, check, read_toml
from livedex_daemon.config.config_file import ConfigFileError, read, read_open
from livedex_daemon.config.config_template import template
from livedex_daemon.config.setting_values import patterns
from livedex_daemon.config.settings import RootConfig, document_of, parse
from livedex_daemon.process.locations import locate
from livedex_ipc.errors import Conflict, InvalidParams, NotFound, Unavailable
from livedex_ipc.paths import make_missing

LOCK_WAIT_S = 5.0  # edits take milliseconds
_LOCK_RETRY_S = 0.02
_TEMPORARY = ".config.toml.livedex-"  # how the names of new texts begin


def add_root(config: str, root: str, ignore: Sequence[str] = ()) -> bool:
    """Add ``root`` (absolute, or with ``~``) to the file at ``config``, which is created if it is missing.

    A folder that is a root already gets those patterns of ``ignore`` that it lacks. Return False if nothing was
    written. Raises InvalidParams if the path is not a folder or cannot be a root, ConfigInvalid if the file has a
    fault, Unavailable if it cannot be written.
    """
    try:
        root.encode()
        real = root_folders.resolve(root, locate().own_folders).path
    except UnicodeEncodeError:
        shown = os.fsencode(root).decode(errors="backslashreplace")
        raise InvalidParams(f"{shown} is not UTF-8: a configuration cannot name it", {"field": "path"}) from None
    except ValueError as fault:
        raise InvalidParams(f"{root} cannot be a root: {fault}", {"field": "path"}) from None
    try:
        patterns(list(ignore))
    except ValueError as fault:
        raise InvalidParams(f"ignore {fault}", {"field": "ignore"}) from None
    if not root_folders.is_folder(real):
        raise InvalidParams(f"{root} is not a folder", {"field": "path"})
    written = root_folders.expand(root)
    written = root_folders.from_home(real if ".." in written.split("/") else os.path.normpath(written))

    def edit(content: bytes | None) -> bytes:
        text = template() if content is None else document_of(content, config).layout.text
        roots = parse(text, path=config).roots
        there = _root_at(roots, real)
        if there is None:
            return toml_splice.with_root(text, written, ignore).encode()
        added = [pattern for pattern in dict.fromkeys(ignore) if pattern not in there.ignore]
        return (toml_splice.with_ignore(text, roots.index(there), added) if added else text).encode()

    return _edit(config, edit)


def remove_root(config: str, root: str) -> None:
    """Remove ``root``, by any spelling of its path, from the file.

    A root whose folder is gone, or has become a file, is found too. Raises NotFound if it is not a root,
    ConfigInvalid if the rest of the file has a fault, Unavailable if it cannot be written.
    """

    def edit(content: bytes | None) -> bytes:
        document = document_of(content or b"", config)
        entries = check(document).roots
        for spellings in (_as_written, _as_resolved):  # a link to another root must not remove that one
            wanted = spellings(root)
            for entry in entries:
                if wanted & spellings(entry.path):
                    return _never_empty(toml_splice.without_root(document.layout.text, entry.number)).encode()
        parse(content or b"", path=config)  # a fault in the file may have hidden the root
        shown = os.fsencode(root).decode("utf-8", "replace")
        raise NotFound(f"{shown} is not a root; `livedex roots list` lists the roots", {"path": shown})

    _edit(config, edit)


def replace(config: str, old: bytes | None, new: bytes) -> bool:
    """Replace the file with ``new`` if its content still is ``old`` (None: if there still is no file).

    Return False if the two are equal. Raises Conflict if another process changed the file since, ConfigInvalid if
    ``new`` has a fault, Unavailable if the file cannot be written.
    """

    def edit(content: bytes | None) -> bytes:
        if content != old:
            raise Conflict(f"{config} was changed by another program in the meantime", {"path": config})
        return new

    return _edit(config, edit)


def set_text(config: str, table: str, name: str, value: str) -> bool:
    """Set one text in the file, which is created if it is missing. Return True if the file changed.

    Raises ConfigInvalid if the file has a fault, Unavailable if it cannot be written.
    """

    def edit(content: bytes | None) -> bytes:
        text = template() if content is None else document_of(content, config).layout.text
        return toml_splice.with_text(text, table, name, value).encode()

    return _edit(config, edit)


def roots_in(content: bytes) -> frozenset[str]:
    """Return the roots as written: none if the content is not TOML."""
    document = read_toml(content)
    return frozenset() if isinstance(document, Fault) else frozenset(entry.path for entry in check(document).roots)


def _never_empty(text: str) -> str:
    """Let a text without any setting say that there are no roots: else it looks as if it had been damaged."""
    if tomllib.loads(text):
        return text
    newline = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{newline}roots = []\n"


def _root_at(roots: Sequence[RootConfig], real: str) -> RootConfig | None:
    index = root_folders.same_as(real, [root.path for root in roots])
    return None if index is None else roots[index]


def _as_written(path: str) -> set[str]:
    """Return the path as written and, if it means anything, as an absolute path."""
    with contextlib.suppress(ValueError):
        return {path, os.path.normpath(root_folders.expand(path))}
    return {path}


def _as_resolved(path: str) -> set[str]:
    """Return the real path, if the path means anything."""
    with contextlib.suppress(ValueError):
        return {root_folders.real_path(root_folders.expand(path)).path}
    return set()


def _edit(config: str, edit: Callable[[bytes | None], bytes]) -> bool:
    """Apply ``edit`` to the file's bytes (None: there is no file) under its lock. Return True if the file changed."""
    try:
        target = os.path.realpath(config)
        while read(config) is None:
            new = _checked(edit(None), b"", config)
            make_missing(os.path.dirname(target))
            if _written(target, new, 0o600, _claim):
                return True
        with _locked(target) as fd:
            old = read_open(config, fd)
            new = edit(old)
            if new == old:
                return False
            _remove_leftovers(os.path.dirname(target))
            return _written(target, _checked(new, old, config), stat.S_IMODE(os.fstat(fd).st_mode), os.replace)
    except ConfigFileError as fault:
        raise Unavailable(str(fault), {"path": config}) from None
    except OSError as fault:
        remedy = "make it and its folder writable, or edit it by hand"
        raise Unavailable(f"{config} cannot be written: {fault.strerror}; {remedy}", {"path": config}) from None


@contextlib.contextmanager
def _locked(target: str) -> Iterator[int]:
    """Yield a descriptor of the file, locked against other edits of livedex. Raises Conflict if one does not end.

    The lock is on the file itself, so that no lock file is left. An edit replaces the file: a process that waited for
    the lock of the old file must open the new one.
    """
    give_up = time.monotonic() + LOCK_WAIT_S
    while True:
        descriptor = os.open(target, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            _lock(descriptor, target, give_up)
            if os.path.samestat(os.fstat(descriptor), os.stat(target)):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _lock(descriptor: int, target: str, give_up: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= give_up:
                raise Conflict(f"another process is editing {target}: try again", {"path": target}) from None
            time.sleep(_LOCK_RETRY_S)


def _checked(content: bytes, old: bytes, config: str) -> bytes:
    parse(content, path=config, accepted=roots_in(old))
    return content


def _written(target: str, content: bytes, mode: int, place: Callable[[str, str], None]) -> bool:
    """Write a temporary file next to ``target`` and rename it with ``place``. Return False if ``target`` exists."""
    folder = os.path.dirname(target)
    descriptor, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=folder)  # 0600
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        place(temporary, target)
    except FileExistsError:
        return False
    finally:
        with contextlib.suppress(FileNotFoundError):  # it was renamed
            os.unlink(temporary)
    _sync_folder(folder)
    return True


def _remove_leftovers(folder: str) -> None:
    """Remove what killed edits left. Call it with the lock, before a new text is begun: only `_claim` works without."""
    for name in os.listdir(folder):
        if name.startswith(_TEMPORARY):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def _claim(temporary: str, target: str) -> None:
    """Give a new file its name. Raises FileExistsError if the name is taken."""
    try:
        os.link(temporary, target)
    except FileNotFoundError:
        if os.path.lexists(target):  # and whoever made it has removed our text, as a leftover
            raise FileExistsError(target) from None
        raise
    except OSError as fault:
        if fault.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP):
            raise
        os.rename(temporary, target)  # no hard links on this file system


def _sync_folder(folder: str) -> None:
    """Make the new name durable. Some network file systems refuse this; the rename itself is done."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as fault:
        if fault.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
