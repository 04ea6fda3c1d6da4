"""Which folders have a watch: the same as in a plain list of them, after any history."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from watchdog.observers.inotify_c import WatchDescriptor

from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.watched_folders import WatchedFolders
from livedex_indexing.relpath import is_within

PATHS = [b"", b"a", b"a/b", b"a/b/c", b"a/bc", b"ab", b"d/e/f", b"d/e/f/g"]
KEYS = st.tuples(st.sampled_from([1, 2]), st.sampled_from(PATHS))
STEPS = st.one_of(
    st.tuples(st.just("add"), KEYS, st.integers(1, 6)),
    st.tuples(st.just("remove"), KEYS, st.just(0)),
    st.tuples(st.just("deleted"), KEYS, st.just(0)),
    st.tuples(st.just("remove below"), KEYS, st.just(0)),
    st.tuples(st.just("ended"), st.just((0, b"")), st.integers(1, 6)),
)


def step(folders: WatchedFolders, model: dict[Key, int], what: str, key: Key, number: int) -> None:
    """Take one step, in the folders and in the model."""
    root_id, path = key
    if what == "add":
        folders.add(WatchDescriptor(number), key)
        model[key] = number
    elif what in ("remove", "deleted"):
        folders.remove(key) if what == "remove" else folders.deleted(key)
        model.pop(key, None)
    elif what == "remove below":
        folders.remove_below(root_id, frozenset((path,)))
        for other in [other for other in model if other[0] == root_id and is_within(other[1], path)]:
            del model[other]
    else:
        folders.ended(WatchDescriptor(number))
        for other in [other for other, wd in model.items() if wd == number]:
            del model[other]


@given(st.lists(STEPS, max_size=30))
def test_after_any_history_the_same_folders_are_watched(steps: list[tuple[str, Key, int]]) -> None:
    folders, model = WatchedFolders(lambda _wd: None), dict[Key, int]()
    for what, key, number in steps:
        step(folders, model, what, key, number)
        for root_id in (1, 2):
            assert folders.watched_of(root_id, PATHS) == [path for path in PATHS if (root_id, path) in model]
    for root_id in (1, 2):
        folders.remove_below(root_id, frozenset((b"",)))
        assert folders.count(root_id) == 0


def test_a_deleted_folder_has_its_name_until_its_watch_ends() -> None:
    folders = WatchedFolders(lambda _wd: None)
    folders.add(WatchDescriptor(1), (1, b"a/b"))
    folders.deleted((1, b"a/b"))
    folders.add(WatchDescriptor(2), (1, b"a/b"))
    for number in (1, 2):
        folder = folders.get(WatchDescriptor(number))
        assert folder is not None and folder.names == ((1, b"a/b"),)
    folders.ended(WatchDescriptor(1))
    assert folders.watched_of(1, [b"a/b"]) == [b"a/b"]


def test_what_is_not_below_a_folder_is_not_looked_at_to_remove_it() -> None:
    """A folder of a tree with very many watches is moved: each move would cost a pass through all of them."""
    looked_at: list[bytes] = []

    class Path(bytes):
        def rpartition(self, separator: object) -> tuple[bytes, bytes, bytes]:
            looked_at.append(self)
            return super().rpartition(separator)  # type: ignore[arg-type]

        def startswith(self, *words: object) -> bool:
            looked_at.append(self)
            return super().startswith(*words)  # type: ignore[arg-type]

    folders = WatchedFolders(lambda _wd: None)
    for number in range(100):
        folders.add(WatchDescriptor(number), (1, Path(b"other/%d" % number)))
    folders.add(WatchDescriptor(200), (1, b"moved"))
    folders.add(WatchDescriptor(201), (1, b"moved/below"))
    looked_at.clear()
    folders.remove_below(1, frozenset((b"moved",)))
    assert folders.count(1) == 100
    assert looked_at == []
