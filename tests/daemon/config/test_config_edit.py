"""Edits of the configuration file: atomic, one after the other, and never into something invalid."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import pytest

from livedex_daemon.config import config_edit, settings
from livedex_daemon.config.config_template import template
from livedex_ipc.errors import ConfigInvalid, Conflict, InvalidParams, NotFound, Unavailable


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "livedex" / "config.toml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = (tmp_path / "notes").resolve()
    path.mkdir()
    return path


def write(file: Path, text: str, mode: int = 0o600) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(mode)


def names_beside(file: Path) -> list[str]:
    return sorted(os.listdir(file.parent))


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_the_file_is_made_from_the_template(file: Path, folder: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert config_edit.add_root(str(file), str(folder), ["*.o"])
    finally:
        os.umask(before)
    assert file.read_text() == template() + f'\n[[roots]]\npath = "{folder}"\nignore = ["*.o"]\n'
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert names_beside(file) == ["config.toml"]
    (root,) = settings.load(str(file)).roots
    assert (root.path, root.ignore) == (str(folder), ("*.o",))


def test_adding_twice_changes_nothing(file: Path, folder: Path, user: Path) -> None:
    assert config_edit.add_root(str(file), str(folder), ["*.o"])
    before = (file.read_bytes(), file.stat().st_ino)
    (user / "link").symlink_to(folder)
    for spelling in (str(folder), f"{folder}/", f"{folder}/../notes/.", str(user / "link"), "~/link"):
        assert not config_edit.add_root(str(file), spelling)
    assert not config_edit.add_root(str(file), str(folder), ["*.o"])
    assert (file.read_bytes(), file.stat().st_ino) == before
    assert config_edit.add_root(str(file), str(folder), ["*.a", "*.o"])
    assert settings.load(str(file)).roots[0].ignore == ("*.o", "*.a")


@pytest.mark.parametrize(
    ("written", "ignore"),
    [
        ('[[roots]]\npath = "{}" # here\n\n[log]\nlevel = "info"\n', ("*.a", "*.b")),
        ('[[roots]]\npath = "{}"', ("*.a", "*.b")),
        ('[[roots]]\nignore = []\npath = "{}"\n', ("*.a", "*.b")),
        ('[[roots]]\npath = "{}"\nignore = [\n  "x", # why\n]\n', ("x", "*.a", "*.b")),
        ('roots = [{{path = "{}"}}]\n', ("*.a", "*.b")),
        ('roots = [{{ignore = ["x", "*.b"], path = "{}"}}] # end\n', ("x", "*.b", "*.a")),
    ],
)
def test_patterns_are_added_to_a_root(file: Path, folder: Path, written: str, ignore: tuple[str, ...]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(written.format(folder))
    assert config_edit.add_root(str(file), str(folder), ["*.a", "*.b"])
    assert settings.load(str(file)).roots[0].ignore == ignore
    for comment in ("# here", "# why", "# end"):
        assert (comment in file.read_text()) == (comment in written)


def test_a_root_below_the_home_folder_is_written_with_a_tilde(file: Path, user: Path) -> None:
    (user / "notes").mkdir(exist_ok=True)
    config_edit.add_root(str(file), str(user / "notes"))
    assert tomllib.loads(file.read_text())["roots"] == [{"path": "~/notes"}]
    assert settings.load(str(file)).roots[0].path == str((user / "notes").resolve())


def test_paths_are_written_as_given_but_tidy(file: Path, folder: Path, user: Path) -> None:
    (user / "link").symlink_to(folder)
    config_edit.add_root(str(file), f"{user}//link/")
    config_edit.add_root(str(file), f"{user}/link/..")  # above the folder that the link points to
    written = [root["path"] for root in tomllib.loads(file.read_text())["roots"]]
    assert written == ["~/link", str(folder.parent)]


def test_a_file_in_the_place_of_one_root_leaves_the_others_editable(file: Path, folder: Path, user: Path) -> None:
    config_edit.add_root(str(file), str(folder))
    (user / "more").mkdir()
    folder.rmdir()
    folder.touch()
    assert config_edit.add_root(str(file), str(user / "more"))
    with pytest.raises(InvalidParams, match="is a file"):
        config_edit.add_root(str(file), str(folder), ["*.o"])
    old = file.read_bytes()
    assert config_edit.replace(str(file), old, old + b"# mine\n")
    with pytest.raises(ConfigInvalid, match="is a file"):
        config_edit.replace(str(file), file.read_bytes(), old + f'[[roots]]\npath = "{file}"\n'.encode())
    with pytest.raises(ConfigInvalid, match="contains no setting"):
        config_edit.replace(str(file), file.read_bytes(), b"# nothing\n")
    config_edit.remove_root(str(file), str(user / "more"))
    with pytest.raises(NotFound):
        config_edit.remove_root(str(file), str(user / "more"))


@pytest.mark.parametrize("path", ["notes", "/", "", "/nowhere/at/all", "/dev/null", "/proc", "a\0b"])
def test_what_cannot_be_a_root_is_refused_and_nothing_written(file: Path, path: str) -> None:
    with pytest.raises(InvalidParams) as raised:
        config_edit.add_root(str(file), path)
    assert raised.value.data == {"field": "path"}
    assert not file.exists()


def test_patterns_that_are_none_are_refused(file: Path, folder: Path) -> None:
    with pytest.raises(InvalidParams) as raised:
        config_edit.add_root(str(file), str(folder), ["a\nb"])
    assert raised.value.data == {"field": "ignore"}
    assert not file.exists()


def test_livedexs_own_folder_is_refused(file: Path) -> None:
    data = file.parent / "data"
    data.mkdir(parents=True)
    with pytest.raises(InvalidParams, match="own folder"):
        config_edit.add_root(str(file), str(data))


def test_a_path_that_is_not_utf8_is_refused(file: Path, folder: Path) -> None:
    path = os.fsencode(folder) + b"/caf\xe9"
    try:
        os.mkdir(path)
    except OSError:
        pytest.skip("this file system takes no such name")
    with pytest.raises(InvalidParams, match="UTF-8") as raised:
        config_edit.add_root(str(file), os.fsdecode(path))
    assert raised.value.message.startswith(f"{folder}/caf\\xe9 is not UTF-8")


def test_the_rest_of_the_file_stays(file: Path, folder: Path) -> None:
    text = "# mine\n[chunking] # c\nchunk_size = 512   # small\n\n# end\n"
    write(file, text, 0o640)
    config_edit.add_root(str(file), str(folder))
    assert file.read_text() == text + f'\n[[roots]]\npath = "{folder}"\n'
    assert file.stat().st_mode & 0o777 == 0o640
    config_edit.remove_root(str(file), f"{folder}/")
    assert file.read_text() == text


def test_a_linked_file_stays_a_link(file: Path, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "livedex.toml"
    target.parent.mkdir()
    write(target, "# kept\n")
    file.parent.mkdir()
    file.symlink_to("../dotfiles/livedex.toml")
    config_edit.add_root(str(file), str(folder))
    assert file.is_symlink()
    assert target.read_text().startswith("# kept\n")
    assert str(folder) in target.read_text()
    assert names_beside(target) == ["livedex.toml"]


def test_removing_by_any_spelling(file: Path, folder: Path, user: Path) -> None:
    (user / "link").symlink_to(folder)
    for spelling in (f"{folder}/", "~/link", str(user / "link")):
        write(file, '[[roots]]\npath = "~/link"\n')
        config_edit.remove_root(str(file), spelling)
        assert file.read_text() == "roots = []\n", "an empty file looks as if it had been damaged"


def test_removing_a_root_that_is_gone_or_no_folder_any_more(file: Path, folder: Path) -> None:
    config_edit.add_root(str(file), str(folder))
    folder.rmdir()
    config_edit.remove_root(str(file), str(folder))
    assert settings.load(str(file)).roots == ()
    write(file, f'[[roots]]\npath = "{folder}"\n')
    folder.touch()
    with pytest.raises(ConfigInvalid):
        settings.load(str(file), accepted=())
    config_edit.remove_root(str(file), str(folder))
    assert settings.load(str(file)).roots == ()


def test_removing_a_link_to_another_root_keeps_that_one(file: Path, folder: Path, user: Path) -> None:
    (user / "link").symlink_to(folder)
    roots = [f'[[roots]]\npath = "{folder}"\n', '[[roots]]\npath = "~/link"\n']
    for text in ("".join(roots), "".join(reversed(roots))):
        for spelling in ("~/link", f"{user}/./link/"):
            write(file, text)
            config_edit.remove_root(str(file), spelling)
            assert file.read_text() == roots[0]


def test_removing_what_is_no_root(file: Path, folder: Path) -> None:
    with pytest.raises(NotFound):
        config_edit.remove_root(str(file), str(folder))
    assert not file.exists()
    write(file, '[[roots]]\npath = "/other"\n')
    for path in (str(folder), "other", os.fsdecode(b"/caf\xe9")):
        with pytest.raises(NotFound) as raised:
            config_edit.remove_root(str(file), path)
        assert raised.value.message.encode()  # with a broken byte of the path it would be no JSON


@pytest.mark.parametrize(
    "text", ["[chunkng]\n", "[index\n", "roots = 5\n", '[[roots]]\npath = "relative"\n', "a = '\udcff'"]
)
def test_a_broken_file_is_left_alone(file: Path, folder: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_bytes(text.encode(errors="surrogateescape"))
    file.chmod(0o600)
    before = file.read_bytes()
    with pytest.raises(ConfigInvalid) as raised:
        config_edit.add_root(str(file), str(folder))
    assert raised.value.data is not None
    assert raised.value.data["faults"]
    with pytest.raises(ConfigInvalid):
        config_edit.remove_root(str(file), str(folder))
    assert file.read_bytes() == before


def test_files_that_cannot_be_edited(file: Path, folder: Path, tmp_path: Path) -> None:
    file.parent.mkdir()
    file.symlink_to("gone.toml")
    with pytest.raises(Unavailable, match=r"gone\.toml"):
        config_edit.add_root(str(file), str(folder))
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(Unavailable, match="FIFO"):
        config_edit.add_root(str(file), str(folder))
    with pytest.raises(Unavailable, match="cannot be"):
        config_edit.add_root(str(file / "below" / "config.toml"), str(folder))
    write(tmp_path / "open.toml", "", 0o666)
    with pytest.raises(Unavailable, match="chmod"):
        config_edit.add_root(str(tmp_path / "open.toml"), str(folder))


def test_replacing(file: Path) -> None:
    assert config_edit.replace(str(file), None, b"# new\n")
    assert not config_edit.replace(str(file), b"# new\n", b"# new\n")
    with pytest.raises(Conflict, match="another program"):
        config_edit.replace(str(file), None, b"# other\n")
    with pytest.raises(Conflict, match="another program"):
        config_edit.replace(str(file), b"# old\n", b"# other\n")
    with pytest.raises(ConfigInvalid):
        config_edit.replace(str(file), b"# new\n", b"[broken\n")
    assert file.read_bytes() == b"# new\n"
    write(file, "[broken\n")
    assert config_edit.replace(str(file), b"[broken\n", b"# mended\n")


ADD = "import sys; from livedex_daemon.config import config_edit; config_edit.add_root(sys.argv[1], sys.argv[2])"


def test_edits_at_the_same_instant_are_all_kept(file: Path, tmp_path: Path) -> None:
    folders = [tmp_path / f"root-{number}" for number in range(8)]
    for folder in folders:
        folder.mkdir()
    running = [subprocess.Popen([sys.executable, "-c", ADD, str(file), str(folder)]) for folder in folders]
    assert [process.wait(60) for process in running] == [0] * len(folders)
    found = {root.path for root in settings.load(str(file)).roots}
    assert found == {str(folder.resolve()) for folder in folders}
    assert names_beside(file) == ["config.toml"]


def test_a_file_that_another_process_makes_first_is_kept(
    file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made_meanwhile() -> str:
        write(file, "# theirs\n")
        return template()

    monkeypatch.setattr(config_edit, "template", made_meanwhile)
    assert config_edit.add_root(str(file), str(folder))
    assert file.read_text() == f'# theirs\n\n[[roots]]\npath = "{folder}"\n'


def test_a_reader_never_meets_half_a_file(file: Path, tmp_path: Path) -> None:
    names = [str((tmp_path / f"root-{number}").resolve()) for number in range(12)]
    for name in names:
        os.mkdir(name)
    config_edit.add_root(str(file), names[0])
    done = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not done.is_set():
            seen.append(len(settings.load(str(file)).roots))

    reader = threading.Thread(target=read)
    reader.start()
    for name in names[1:]:
        config_edit.add_root(str(file), name)
    for name in names[1:]:
        config_edit.remove_root(str(file), name)
    done.set()
    reader.join()
    assert seen
    assert min(seen) >= 1


def test_an_edit_that_does_not_end_is_a_conflict(file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(file, "# held\n")
    monkeypatch.setattr(config_edit, "LOCK_WAIT_S", 0.1)
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Conflict, match="another process"):
            config_edit.add_root(str(file), str(folder))
    config_edit.add_root(str(file), str(folder))


# An edit that is killed before the new text has the name of the file.
KILLED = f"import os, signal; os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL); {ADD}"


def test_the_next_edit_removes_what_a_killed_one_left(file: Path, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write(file.parent / ".config.toml.original", "mine\n")
    for root in (folder, other):  # the file is made, then edited
        done = subprocess.run([sys.executable, "-c", KILLED, str(file), str(root)], check=False)
        assert done.returncode == -signal.SIGKILL
        assert len(names_beside(file)) > 1, "it was killed too early or too late"
        config_edit.add_root(str(file), str(root))
    assert len(settings.load(str(file)).roots) == 2
    assert names_beside(file) == [".config.toml.original", "config.toml"]


def test_a_file_is_made_while_leftovers_are_removed(
    file: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process makes the file first, and then edits it."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    usual = os.link

    def link(source: str, target: str) -> None:
        monkeypatch.setattr(os, "link", usual)
        config_edit.add_root(str(file), str(theirs))
        config_edit.add_root(str(file), str(theirs), ["*.o"])
        usual(source, target)

    monkeypatch.setattr(os, "link", link)
    assert config_edit.add_root(str(file), str(folder))
    assert {root.path for root in settings.load(str(file)).roots} == {str(folder), str(theirs.resolve())}


def test_a_failed_write_leaves_the_old_file(file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(file, "# old\n")

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match="No space left"):
        config_edit.add_root(str(file), str(folder))
    assert file.read_text() == "# old\n"
    assert names_beside(file) == ["config.toml"]


@pytest.mark.parametrize("text", ["", "\n \n", "# [[roots]]\n# path = '/a'\n"])
def test_a_file_that_was_emptied_while_there_are_roots(file: Path, text: str) -> None:
    assert settings.load(str(file), accepted=["/a"]).roots == (), "a file that was removed means the defaults"
    write(file, text)
    with pytest.raises(ConfigInvalid, match="contains no setting"):
        settings.load(str(file), accepted=["/a"])
    assert settings.load(str(file), accepted=()).roots == ()
    write(file, text + "roots = []\n")
    assert settings.load(str(file), accepted=["/a"]).roots == ()
