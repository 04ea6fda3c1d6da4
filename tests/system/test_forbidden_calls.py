"""Daemons to which a filter of system calls forbids one for their whole life."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from helpers.forbidden_calls import forbidding, needs_filters
from helpers.support import Daemon, Tree, add_root, found, wait_converted

pytestmark = needs_filters


@pytest.mark.parametrize(("call", "error"), [("readlink", "EPERM"), ("prlimit64", "ENOSYS")])
def test_files_and_documents_are_indexed_without_it(
    call: str, error: str, tree: Tree, start_daemon: Callable[..., Daemon]
) -> None:
    documents = pytest.importorskip("helpers.documents", reason="the parsers and writers are not installed")
    tree.write("plain.txt", "platypus\n")
    documents.write_docx(tree / "report.docx", ["okapi"])
    documents.write_pdf(tree / "animals.pdf", ["pangolin"])
    daemon = start_daemon(wrap=forbidding(call, error=error))
    with daemon.client() as client:
        add_root(client, tree)
        wait_converted(client)
        for word, name in (("platypus", "plain.txt"), ("okapi", "report.docx"), ("pangolin", "animals.pdf")):
            answer = client.call("search", {"query": word, "group": "file"})
            assert ([hit["relative_path"] for hit in answer["hits"]], answer["fresh"]) == ([name], True)
        assert client.call("status")["warnings"] == []


@pytest.mark.parametrize("error", ["EPERM", "ENOSYS"])
def test_without_events_the_roots_are_polled_and_the_remedy_is_no_limit(
    error: str, tree: Tree, start_daemon: Callable[..., Daemon]
) -> None:
    tree.write("a.txt", "platypus\n")
    daemon = start_daemon(wrap=forbidding("inotify_init1", error=error))
    with daemon.client() as client:
        add_root(client, tree)
        assert found(client, "platypus") == ["a.txt"]
        tree.write("b.txt", "okapi\n")
        assert found(client, "okapi") == ["b.txt"]
        (said,) = client.call("status")["warnings"]
        assert said["code"] == "watch_limit" and str(tree) in said["message"]
        assert "inotify_init1" in said["remedy"] and "raise" not in said["remedy"]
