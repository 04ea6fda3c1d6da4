"""What a search answers that meets the moment in which a new index takes the place of the former one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from helpers.fault_injection import TICKS_OFTEN, with_code
from helpers.support import Daemon, Home, Tree, add_root, found, wait_until

# In the daemon: a search that has waited for earlier changes begins to read as a new file is at the path, and before
# the readers of the former one are replaced. Nothing keeps that one open, as after a rest.
READ_AS_A_REBUILD_BEGINS = """
import os, sys, time
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.index_file.index_readers import IndexReaders
    from livedex_indexing.search.searcher import Searcher
    folder = os.environ["MOMENTS"]
    renew, search = IndexReaders.renew, Searcher.search

    def reach(moment, following):
        open(os.path.join(folder, moment), "w").close()
        while not os.path.exists(os.path.join(folder, following)):
            time.sleep(0.01)

    def renew_later(self):
        self.release_memory()
        reach("reopened", "answered")
        renew(self)

    def search_later(self, request, *words, **more):
        if request.query == "words" and not os.path.exists(os.path.join(folder, "waited")):
            reach("waited", "reopened")
        return search(self, request, *words, **more)

    IndexReaders.renew, Searcher.search = renew_later, search_later
"""


def test_an_answer_from_a_new_index_is_not_fresh_as_the_rebuild_begins(
    start_daemon: Callable[..., Daemon], tree: Tree, home: Home, tmp_path: Path
) -> None:
    moments = tmp_path / "moments"
    moments.mkdir()
    seam = with_code(tmp_path / "seam", READ_AS_A_REBUILD_BEGINS + TICKS_OFTEN)
    with start_daemon(MOMENTS=str(moments), **seam).client() as client, ThreadPoolExecutor() as threads:
        tree.write("a.txt", "words\n")
        add_root(client, tree)
        try:
            search = threads.submit(client.call, "search", {"query": "words", "timeout_ms": 60_000})
            wait_until((moments / "waited").exists, what="the wait for earlier changes")
            (home.data / "index.db").unlink()
            answer = search.result(60)
        finally:
            for moment in ("reopened", "answered"):
                (moments / moment).touch()
        assert (answer["fresh"], answer.get("reason")) == (False, "rebuilding")
        wait_until(lambda: client.call("status")["state"] == "ready", what="a whole index")
        assert found(client, "words") == ["a.txt"]
