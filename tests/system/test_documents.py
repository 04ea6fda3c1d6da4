"""Documents: dropped into a root, found by what is in them, with the parser and the page; the bad ones are listed."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.acting_parser import ACTIONS
from helpers.daemon_health import rss_kib
from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, Tree, add_root, codes, examples, wait_converted, wait_until
from livedex_ipc.client import Client

documents = pytest.importorskip("helpers.documents", reason="the parsers and writers of documents are not installed")


def hits(client: Client, query: str, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.call("search", {"query": query, "timeout_ms": 30_000, **params})["hits"]
    return found


def record(client: Client, path: Path) -> tuple[str, str | None]:
    (found,) = client.call("files/list", {"path": str(path), "timeout_ms": 30_000})["files"]
    return found["status"], found.get("reason")


@pytest.fixture
def shelf(client: Client, tree: Tree) -> Iterator[Path]:
    add_root(client, tree)
    yield tree.path


def test_a_dropped_document_is_found_with_its_parser_and_its_page(client: Client, shelf: Path) -> None:
    documents.write_pdf(shelf / "Animals.PDF", ["aardvark", "pangolin"])
    documents.write_docx(shelf / "report.docx", ["okapi"])
    wait_converted(client)
    (pdf,) = hits(client, "pangolin")
    assert (pdf["relative_path"], pdf["metadata"]) == ("Animals.PDF", {"parsed_by": "pypdfium2", "page": 2})
    (table,) = hits(client, "okapicell")
    assert (table["kind"], table["metadata"]) == ("markdown_table", {"parsed_by": "markitdown"})
    (line,) = hits(client, "about the pangolin", mode="exact")
    assert (line["snippet"], line["metadata"]["page"]) == ("This page is about the pangolin.", 2)
    assert [hit["relative_path"] for hit in hits(client, r"ok[a]pi\.$", mode="regex")] == ["report.docx"]
    chunks = client.call("files/retrieve", {"path": str(shelf / "Animals.PDF")})["chunks"]
    text = "".join(chunk["text"] for chunk in chunks).encode()
    assert text[line["start_byte"] : line["end_byte"]].decode() == line["snippet"]
    assert chunks[0]["metadata"]["parsed_by"] == "pypdfium2"
    audit = client.call("index/audit", {}, timeout_s=60)
    assert audit["differences"] == []


def test_a_changed_document_is_never_served_as_it_was(client: Client, shelf: Path) -> None:
    path = shelf / "a.pdf"
    documents.write_pdf(path, ["aardvark"])
    wait_converted(client)
    assert hits(client, "aardvark")
    documents.write_pdf(path, ["pangolin"])
    assert hits(client, "aardvark") == []
    wait_converted(client)
    assert [hit["metadata"]["page"] for hit in hits(client, "pangolin")] == [1]
    before = client.call("status")["work"]["files_parsed"]
    path.rename(shelf / "b.pdf")
    os.utime(shelf / "b.pdf")
    assert [hit["relative_path"] for hit in hits(client, "pangolin")] == ["b.pdf"]
    assert client.call("status")["work"]["files_parsed"] == before
    (shelf / "b.pdf").unlink()
    assert hits(client, "pangolin") == []


def test_each_kind_of_document_is_found_by_its_content(client: Client, shelf: Path) -> None:
    count = examples(1)
    for suffix, write in documents.WRITERS.items():
        for number in range(count):
            write(shelf / f"d{number}{suffix}", [f"w{suffix[1:]}{number}x", f"v{suffix[1:]}{number}x"])
    wait_converted(client)
    assert client.call("status")["failed"] == 0
    for suffix in documents.WRITERS:
        for number in range(count):
            found = hits(client, f"w{suffix[1:]}{number}x")
            assert {hit["relative_path"] for hit in found} == {f"d{number}{suffix}"}, suffix
    assert {hit["kind"] for hit in hits(client, "wxlsx0x")} == {"markdown_table"}
    assert {hit["kind"] for hit in hits(client, "whtml0xcell")} == {"markdown_table"}
    assert {hit["relative_path"] for hit in hits(client, "whtml0x lang:html")} == {"d0.html"}
    assert {hit["language"] for hit in hits(client, "keep_wipynb0x")} == {"python"}
    for suffix in ("epub", "html", "ipynb"):
        assert "markdown_code" in {hit["kind"] for hit in hits(client, f"keep_w{suffix}0x")}, suffix
    assert [hit["metadata"]["page"] for hit in hits(client, "vpptx0x", group="file")] == [2]


def test_bad_documents_are_listed_with_a_reason_and_plain_files_stay_fresh(client: Client, shelf: Path) -> None:
    documents.write_docx(shelf / "whole.docx", ["okapi"])
    whole = (shelf / "whole.docx").read_bytes()
    (shelf / "cut.docx").write_bytes(whole[: len(whole) // 2])
    documents.write_locked_pdf(shelf / "locked.pdf", ["hidden"])
    (shelf / "broken.pdf").write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 8)
    documents.write_bomb(shelf / "bomb.docx")
    documents.write_bomb(shelf / "liar.docx", says=1000)
    (shelf / "plain.txt").write_text("platypus\n")
    (shelf / "text.pdf").write_text("only words, and no capybara document\n")
    (shelf / "empty.docx").write_bytes(b"")
    assert [hit["relative_path"] for hit in hits(client, "platypus")] == ["plain.txt"]
    wait_converted(client)
    assert record(client, shelf / "cut.docx") == ("failed", "parse: damaged (BadZipFile)")
    assert record(client, shelf / "locked.pdf") == ("failed", "parse: the document is encrypted")
    assert record(client, shelf / "broken.pdf")[1].startswith("parse: damaged (")  # type: ignore[union-attr]
    assert record(client, shelf / "bomb.docx") == ("failed", "parse: too large: it unpacks to more than 200 MiB")
    assert record(client, shelf / "liar.docx") == ("failed", "parse: damaged (BadZipFile)")
    assert record(client, shelf / "whole.docx") == ("indexed", None)
    assert record(client, shelf / "empty.docx") == ("indexed", None)
    assert [hit["relative_path"] for hit in hits(client, "capybara")] == ["text.pdf"]


def test_bombs_of_entities_are_refused(daemon: Daemon, client: Client, shelf: Path) -> None:
    before = rss_kib(daemon.pid)
    bombs = [shelf / f"bomb{suffix}" for suffix in (".docx", ".pptx", ".xlsx", ".epub")]
    for bomb in bombs:
        documents.write_entity_bomb(bomb, bomb.suffix)
    (shelf / "plain.txt").write_text("platypus\n")
    assert [hit["relative_path"] for hit in hits(client, "platypus")] == ["plain.txt"]
    wait_converted(client)
    listed = {Path(each["path"]): each for each in client.call("files/list", {})["files"]}
    for bomb in bombs:
        found = listed[bomb]  # a parser that expands no entity indexes the few lines that there are
        assert (
            found["reason"].startswith(("parse: ", "quarantined: "))
            if found["status"] == "failed"
            else found["chunks"] < 5
        ), found
    assert rss_kib(daemon.pid) < before + (96 << 10)


def test_mutated_documents_are_indexed_or_listed_and_cost_no_memory(
    daemon: Daemon, client: Client, shelf: Path, tmp_path: Path
) -> None:
    """LIVEDEX_EXAMPLES mutants of each kind: 1,050 with 150."""
    chance = random.Random(21)
    before = rss_kib(daemon.pid)
    mutants = []
    for suffix, write in documents.WRITERS.items():
        write(tmp_path / f"whole{suffix}", ["okapi", "lynx"])
        whole = (tmp_path / f"whole{suffix}").read_bytes()
        for number in range(examples(1)):
            mutants.append(shelf / f"m{number}{suffix}")
            mutants[-1].write_bytes(documents.mutant(whole, chance))
            (shelf / "plain.txt").write_text(f"platypus number{number}{suffix[1:]}\n")
            assert len(hits(client, f"number{number}{suffix[1:]}")) == 1
    wait_converted(client, timeout=120 + 3 * len(mutants))
    outcomes = Counter[str]()
    for mutant_path in mutants:
        status, reason = record(client, mutant_path)
        outcomes[f"{mutant_path.suffix} {reason or status}"] += 1
        assert status == "indexed" or (reason or "").startswith(("parse: ", "quarantined: parse: ", "binary")), (
            mutant_path
        )
    after, peak = rss_kib(daemon.pid), rss_kib(daemon.pid, "VmHWM")
    print(f"{len(mutants)} mutants: {before} KiB before, {after} after, {peak} at most")
    print("\n".join(f"{count:5} {outcome}" for outcome, count in sorted(outcomes.items())))
    assert after < before + (96 << 10)


@pytest.fixture
def acting(start_daemon: Callable[..., Daemon], tmp_path: Path) -> Daemon:
    """A daemon whose parser does what the document says."""
    return start_daemon("[parsing]\ntimeout = 2\n", **with_code(tmp_path / "seam", ACTIONS))


def test_one_that_uses_up_its_worker_twice_is_set_aside_until_it_changes(acting: Daemon, tree: Tree) -> None:
    bad = {"hang.ipynb": "timed out after 2 s", "crash.ipynb": "killed by signal 11", "eat.ipynb": "out of memory"}
    with acting.client() as client:
        add_root(client, tree)
        tree.write_all({name: name.partition(".")[0] + " " for name in bad})
        tree.write_all({f"good{number}.ipynb": f"say word{number}x" for number in range(4)})
        wait_converted(client)
        for name, reason in bad.items():
            assert record(client, tree / name) == ("failed", f"quarantined: parse: {reason}, twice")
        for number in range(4):
            assert [hit["relative_path"] for hit in hits(client, f"word{number}x")] == [f"good{number}.ipynb"]
        tries = [json.loads(each["body"])["tries"] for each in messages(client)]
        assert (tries.count(0), tries.count(1), len(tries)) == (7, 3, 10)
        assert tries.index(1) > 1, "a second try waits behind the others"
    acting.restart()
    with acting.client() as client:
        client.call("index/run", {}, timeout_s=60)
        wait_converted(client)
        assert record(client, tree / "crash.ipynb")[0] == "failed"
        assert len(messages(client)) == 10, "nothing was tried again"
        tree.write("crash.ipynb", "say tamed")
        wait_converted(client)
        assert [hit["relative_path"] for hit in hits(client, "tamed")] == ["crash.ipynb"]


def messages(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.call("exchange/read", {"topic": "livedex.parse"})["messages"]
    return found


def test_an_unknown_parser_is_named_and_other_documents_go_on(client: Client, shelf: Path, home: Home) -> None:
    documents.write_pdf(shelf / "a.pdf", ["aardvark"])
    documents.write_html(shelf / "b.html", ["bison"])
    wait_converted(client)
    root = f'[[roots]]\npath = "{shelf}"\n'
    home.config.write_text(root + '[parsing]\noverrides = { ".pdf" = "nosuch" }\n')
    client.call("server/reload")
    warnings = client.call("status")["warnings"]
    assert [each["code"] for each in warnings] == ["parser_missing"]
    assert "nosuch" in warnings[0]["message"]
    assert client.call("status")["state"] in ("ready", "indexing")
    wait_converted(client)
    assert [hit["relative_path"] for hit in hits(client, "bison", group="file")] == ["b.html"]
    home.config.write_text(root + '[chunking]\npipelines = { ".html" = "code" }\n')
    client.call("server/reload")
    wait_converted(client)
    (hit,) = hits(client, "bison", group="file")
    assert (hit["kind"], hit["metadata"]) == ("code", {})
    assert record(client, shelf / "a.pdf") == ("indexed", None)
    assert [hit["metadata"]["page"] for hit in hits(client, "aardvark")] == [1]


# While the file that it names is there, no child can load its parser.
UNLOADABLE = """
import os, sys
if "livedex_indexing.parse.parse_child" in sys.orig_argv and os.path.exists({flag!r}):
    os._exit(5)
"""


def test_parsers_that_cannot_be_loaded_are_said_and_blame_no_document(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    daemon = start_daemon(**with_code(tmp_path / "seam", UNLOADABLE.format(flag=str(flag))))
    with daemon.client() as client:
        add_root(client, tree)
        documents.write_html(tree / "a.html", ["bison"])
        wait_until(lambda: codes(client) == {"parse_worker"}, what="the warning")
        assert client.call("status")["state"] == "degraded"
        assert client.call("index/run")["documents_pending"] == 1
        assert client.call("index/run", {"paths": [str(tree.mkdir("other"))]})["documents_pending"] == 0
        assert record(client, tree / "a.html") == ("pending", "parse")
        flag.unlink()
        wait_converted(client)
        assert len(hits(client, "bison", group="file")) == 1
        assert codes(client) == set()


PLUGIN = """
class Shouts:
    suffixes = (".shout",)
    version = "1"

    def __init__(self, config):
        self.word = config["plugin"]["word"]

    def convert(self, path):
        with open(path) as file:
            return f"# {self.word}\\n\\n{file.read().lower()}"


def register(registry):
    registry.register_parser("shouts", Shouts)
"""


def test_a_plugins_parser_converts_by_its_name(start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o700)
    (plugins / "loud.py").write_text(PLUGIN)
    parsing = '[parsing]\noverrides = { ".shout" = "shouts" }\n'
    daemon = start_daemon(f'{parsing}[plugins]\npaths = ["{plugins}"]\n[plugin.loud]\nword = "heard"\n')
    with daemon.client() as client:
        add_root(client, tree)
        tree.write("a.SHOUT", "THE LYNX")
        wait_converted(client)
        (hit,) = hits(client, "lynx", mode="exact")
        assert (hit["snippet"], hit["heading"], hit["metadata"]) == ("the lynx", "heard", {"parsed_by": "shouts"})
        assert client.call("status")["warnings"] == []


def test_a_kill_at_any_time_costs_only_time(daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        add_root(client, tree)
        for number in range(4):
            documents.write_docx(tree / f"d{number}.docx", [f"word{number}x"])
        client.call("sync", {"timeout_ms": 30_000})
    daemon.kill()
    daemon.restart()
    with daemon.client() as client:
        wait_converted(client)
        for number in range(4):
            assert len(hits(client, f"word{number}x", group="file")) == 1
    left = [name for name in os.listdir(daemon.home.path / "data") if name.startswith("document-")]
    assert left == []
