"""The steps of a random history that concern single files.

Invariant: each file has one word that is in no other file but its copies.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from helpers.daemon_histories import DaemonHistories
from helpers.folder_model import are_apart, new_word
from helpers.other_user import CAN_DENY

NAMES = st.sampled_from(["a.txt", "b.md", "c.py", "d e.txt", "é.rst", "F.txt"])
FOLDERS = st.sampled_from(["", "x", "x/y", "x/y/z", "x/target", "w", "w w"])
SAVES = ["write", "save", "vim", "emacs", "append", "slowly", "linked"]
# More than livedex reads of a file around one chunk, and many chunks.
AHEAD = st.sampled_from(["", "", "", ("lorem ipsum dolor sit amet, consetetur sadipscing elitr\n" * 40 + "\n") * 40])
AT_FDCWD, RENAME_EXCHANGE = -100, 2


def path_of(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def exchanged(one: Path, two: Path) -> None:
    """Call renameat2(2) with RENAME_EXCHANGE."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(two), RENAME_EXCHANGE):
        raise OSError(ctypes.get_errno(), "renameat2", one)


class FileHistories(DaemonHistories):
    outside: Path

    @property
    def known(self) -> list[str]:
        return sorted(self.model.files)

    @rule(folder=FOLDERS, name=NAMES, how=st.sampled_from(SAVES), ahead=AHEAD)
    def write(self, folder: str, name: str, how: str, ahead: str = "") -> None:
        path, word = path_of(folder, name), new_word()
        text = f"{ahead}text {word}\n"
        if path not in self.model.files:
            self.model.make_way(path)
        file = self.folder / path
        if how == "append" and file.exists():
            self.append(path, word)
            return
        if how == "save":
            self.folder.save(path, text)
        elif how in ("vim", "emacs") and file.exists():
            backup = file.rename(f"{file}~")
            self.folder.write(path, text)
            backup.unlink()
        elif how == "slowly":
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("w") as opened:
                for piece in (text[:6], text[6:]):
                    opened.write(piece)
                    opened.flush()
        elif how == "linked":
            (self.outside / "new").write_text(text)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)
            os.link(self.outside / "new", file)
            (self.outside / "new").unlink()
        else:
            self.folder.write(path, text)
        self.model.put(path, word, text)

    def append(self, path: str, word: str) -> None:  # the former word stays in the file and is not followed
        former = self.model.files.get(path)
        if former is not None and self.model.copies_of(path):  # it would be, for their sake
            self.folder.write(path, f"text {word}\n")
            self.model.put(path, word, f"text {word}\n")
            return
        if former is not None:
            del self.model.files[path]
            self.model.gone = [word for word in self.model.gone if word != former.word]
        text = (former.text if former else "") + f"\n{word}\n"
        with (self.folder / path).open("a") as file:
            file.write(f"\n{word}\n")
        self.model.put(path, word, text)

    @precondition(lambda self: self.model.files)
    @rule(data=st.data())
    def rewrite_with_the_same_size_and_time(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(self.known))
        file, word = self.folder / path, new_word()
        before = file.stat()
        text = f"text {word}".ljust(before.st_size, "\n")
        if len(text) == before.st_size:
            file.write_text(text)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
            self.model.put(path, word, text)

    @precondition(lambda self: self.model.files)
    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(self.known))
        os.truncate(self.folder / path, 0)
        self.model.drop(path)

    @precondition(lambda self: self.model.files)
    @rule(data=st.data(), folder=FOLDERS, name=NAMES)
    def rename_file(self, data: st.DataObject, folder: str, name: str) -> None:
        old, new = data.draw(st.sampled_from(self.known)), path_of(folder, name)
        if are_apart(old, new):
            self.model.make_way(new)
            self.folder.rename(old, new)
            self.model.move(old, new)

    @precondition(lambda self: self.model.files)
    @rule(data=st.data(), folder=FOLDERS, name=NAMES)
    def copy_file(self, data: st.DataObject, folder: str, name: str) -> None:
        old, new = data.draw(st.sampled_from(self.known)), path_of(folder, name)
        if are_apart(old, new):
            self.model.make_way(new)
            (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.folder / old, self.folder / new)
            self.model.put(new, *self.model.files[old])
            self.model.touched.append(old)

    @precondition(lambda self: self.model.files)
    @rule(data=st.data())
    def change_the_case(self, data: st.DataObject) -> None:
        old = data.draw(st.sampled_from(self.known))
        new = str(Path(old).with_name(Path(old).name.swapcase()))
        if not os.path.lexists(self.folder / new):
            self.folder.rename(old, new)
            self.model.move(old, new)

    @precondition(lambda self: len(self.model.files) > 1 and hasattr(ctypes.CDLL(None), "renameat2"))
    @rule(data=st.data())
    def exchange(self, data: st.DataObject) -> None:
        """Let two files take each other's names in one system call."""
        one, two = data.draw(st.lists(st.sampled_from(self.known), min_size=2, max_size=2, unique=True))
        exchanged(self.folder / one, self.folder / two)
        files = self.model.files
        files[one], files[two] = files[two], files[one]
        self.model.touched += [one, two]

    @precondition(lambda self: self.model.files)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.model.remove(data.draw(st.sampled_from(self.known)))

    @precondition(lambda self: self.model.files and CAN_DENY)
    @rule(data=st.data())
    def deny_and_allow(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(self.known))
        word = self.model.files[path].word
        (self.folder / path).chmod(0)
        others = self.model.let_in(self.model.copies_of(path))
        assert self.model.found(self.client, [word]) == dict.fromkeys(others, word)
        (self.folder / path).chmod(0o644)
        self.model.touched.append(path)

    @rule(folder=FOLDERS, name=NAMES)
    def pipe_in_its_place(self, folder: str, name: str) -> None:
        path = path_of(folder, name)
        self.model.make_way(path)
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(self.folder / path)

    @rule(name=NAMES)
    def link(self, name: str) -> None:
        target = self.folder / f"link-{name}"
        if not target.is_symlink():
            target.symlink_to(name)

    @rule(count=st.integers(1, 30))
    def burst(self, count: int) -> None:
        self.model.make_way("burst.txt")
        for _ in range(count):
            word = new_word()
            self.folder.write("burst.txt", f"text {word}\n")
            self.model.put("burst.txt", word, f"text {word}\n")
