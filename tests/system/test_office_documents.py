"""Documents of LibreOffice, pandoc and reportlab, found by their prose, their tables and their code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.packages import require
from helpers.support import Daemon, Tree, add_root, examples, share_of, wait_converted
from livedex_ipc.client import Client

office = pytest.importorskip(
    "helpers.office_documents", reason="the parsers and writers of documents are not installed"
)
require("markitdown", "xlrd")

COUNT = examples(1)  # of each kind and writer
PANDOC = (".docx", ".pptx", ".epub", ".html")
# What a table and code become; a PDF has neither, and not every writer says of a text that it is code.
KINDS = {
    ("libreoffice", ".pdf"): ("markdown_text", "markdown_text"),
    ("libreoffice", ".docx"): ("markdown_table", "markdown_text"),
    ("libreoffice", ".epub"): ("markdown_table", "markdown_text"),
    ("libreoffice", ".xlsx"): ("markdown_table", "markdown_table"),
    ("libreoffice", ".xls"): ("markdown_table", "markdown_table"),
    ("libreoffice", ".pptx"): ("markdown_text", "markdown_text"),
    ("pandoc", ".docx"): ("markdown_table", "markdown_text"),
    ("pandoc", ".pptx"): ("markdown_table", "markdown_text"),
    ("pandoc", ".epub"): ("markdown_table", "markdown_code"),
    ("pandoc", ".html"): ("markdown_table", "markdown_code"),
    ("reportlab", ".pdf"): ("markdown_text", "markdown_text"),
}

pytestmark = [pytest.mark.needs("soffice", "pandoc"), pytest.mark.timeout(1800)]


def hits(client: Client, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.call("search", {"query": query, "timeout_ms": 30_000, "limit": 100})["hits"]
    return found


def words_of(writer: str, suffix: str) -> list[str]:
    return [f"w{writer[0]}{suffix[1:]}{number}x" for number in range(COUNT)]


def test_documents_of_real_writers_are_found_with_their_kinds(client: Client, tree: Tree, tmp_path: Path) -> None:
    """LIVEDEX_EXAMPLES of each kind and writer; below 1, one of each kind, and some kinds of LibreOffice's."""
    add_root(client, tree)
    written = [each for suffix in PANDOC for each in office.by_pandoc(tree.path, suffix, words_of("pandoc", suffix))]
    written += office.by_reportlab(tree.path, words_of("reportlab", ".pdf"))
    for suffix in share_of((".xls", ".docx", ".pptx", ".pdf", ".epub", ".xlsx"), 0):
        written += office.by_libreoffice(tree.path, tmp_path, suffix, words_of("libreoffice", suffix))
    wait_converted(client, timeout=1200)
    assert client.call("status")["failed"] == 0, client.call("files/list", {"status": "failed"})
    for each in written:
        table, code = KINDS[each.writer, each.suffix]
        for query, kind in ((each.word, None), (f"{each.word}cell", table), (f"keep_{each.word}", code)):
            found = hits(client, query)
            assert {hit["relative_path"] for hit in found} == {each.name}, query
            if kind is not None:
                assert kind in {hit["kind"] for hit in found}, (each.name, query, [hit["kind"] for hit in found])
            parser = "pypdfium2" if each.suffix == ".pdf" else "markitdown"
            assert {hit["metadata"]["parsed_by"] for hit in found} == {parser}
    (code_page,) = {hit["metadata"]["page"] for hit in hits(client, f"keep_{words_of('reportlab', '.pdf')[0]}")}
    assert code_page == 2


def test_pandoc_converts_by_configuration(start_daemon: Callable[..., Daemon], tree: Tree) -> None:
    overrides = '{ ".docx" = "pandoc", ".odt" = "pandoc", ".epub" = "pandoc" }'
    daemon = start_daemon(f"[parsing]\noverrides = {overrides}\n")
    with daemon.client() as client:
        add_root(client, tree)
        written = [
            each
            for suffix in (".docx", ".odt", ".epub")
            for each in office.by_pandoc(tree.path, suffix, [f"w{suffix[1:]}x"])
        ]
        tree.write("text.docx", b"PK\x03\x04 and nothing that is a document \0")
        wait_converted(client)
        for each in written:
            code = "markdown_code" if each.suffix == ".epub" else "markdown_text"  # elsewhere it only looks like code
            for query, kind in (
                (each.word, "markdown_text"),
                (f"{each.word}cell", "markdown_table"),
                (f"keep_{each.word}", code),
            ):
                found = hits(client, query)
                assert {hit["relative_path"] for hit in found} == {each.name}, query
                assert kind in {hit["kind"] for hit in found}, (each.name, query, [hit["kind"] for hit in found])
                assert {hit["metadata"]["parsed_by"] for hit in found} == {"pandoc"}
        (bad,) = client.call("files/list", {"status": "failed"})["files"]
        assert (bad["path"], bad["reason"].partition(":")[0]) == (str(tree / "text.docx"), "parse")
        assert client.call("index/audit", {}, timeout_s=60)["differences"] == []
