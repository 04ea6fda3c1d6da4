"""A typed name finds its definition, a typed line its chunk, a pasted text its file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.indexed_folder import LINES, Indexed

USES = "\n".join(f"    url_for({number})  # url for a view" for number in range(LINES - 1)) + "\n"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("app")) as made:
        filler = "".join(f"    step = {number}\n" for number in range(6 * LINES))
        made.write("root/routing.py", f"import os\n{filler}def url_for(endpoint):\n{filler}")
        for number in range(8):
            made.write(f"root/views{number}.py", f"def view{number}():\n{USES}")
            made.write(f"root/tests/test_views{number}.py", f"def test_url_for():\n{USES}")
        made.write("root/pool.py", f"class Pool:\n    def start(self):\n        pass\n{filler}")
        made.write("root/lamp.py", f"class Lamp:\n    def start(self):\n        pass\n{filler}")
        made.write(
            "root/crane.py",
            f"class Crane:\n    def lower(self):\n        pass\n    def lift(self):\n        pass\n{filler}",
        )
        made.write("root/yard.py", "Crane.lift(crane)\nCrane.lift(other)\n")
        made.write("root/folds.py", "def _refold(a):\n    return a\n\n# refold refold refold refold refold\n")
        made.write("root/notes.md", "The process worker starts. Each process worker ends.\n" * 3)
        made.write("root/spawn.py", f"{filler}def _process_worker(queue):\n    pass\n")
        made.write("root/match.py", f"{filler}def FuzzyMatchV2(text):\n    pass\n")
        made.write("root/gauge.py", f"{filler}def calibrateSensor(at):\n    pass\n")
        made.write("root/rtc.c", "#define RTC4_WAKEUP_EN 1\n#define RTC6_SLEEP_EN 1\n")
        made.write("root/upper.py", "class Proxy:\n    pass  # a proxy\n")
        made.write("root/lower.py", "def proxy():\n    return proxy, proxy\n")
        made.write("root/shelf.py", "# stored store stores\n" * 20)
        made.write("root/phases.py", f"# store store store\n{filler}# the phase of storing\n{filler}# stores\n")
        made.write("root/hints.py", f"{'# HINTS hints  ' * 20}\n{filler}# the Hints of a page\n")
        for number in range(12):
            made.write(f"root/serve{number}.py", f"def serve_{number}(serve):\n    serve()\n")
        made.write("root/served.md", "Call _serve: _serve begins, _serve ends.\n" * 4)
        made.write("root/sharer.py", "class Sharer:\n    def start(self): ...\n    def _serve(self): ...\n")
        made.write("root/tcp.c", "".join(f"int value{number};\n" for number in range(1, 200)))
        made.write("root/sub/README.md", "Nothing.\n")
        made.write("root/guide.md", "# README\n\nREADME: read the README.\n" * 3)
        made.write("root/call.py", f'{filler}    answer = fetch(-1, "the last", retry)\n')
        for number in range(170):
            made.write(
                f"root/sums/sum{number}.py", f"value = total\ntotal = value + {number}\nvalue, value = 0, total\n" * 3
            )
        made.write("root/zone.py", f"{filler}    value = total[0] + value\n{filler}")
        made.write("root/patch.py", "# once: import quilt as _quilt, here\n" * 3)
        made.write("root/sewing.py", f"{filler}import quilt as _quilt\n")
        made.write(
            "root/settings.js",
            f"{'// normalize all settings' * 3}\n" * 9 + "go();\n" * 150 + "normalizeAll(settings);\n",
        )
        yield made


MESSAGES = """# Common errors

| name | meaning |
| `EBUSY` (Device or resource is busy): | try again later |
| `ENOENT` (No such file or directory): | a part of the path is wrong |
"""


def first(index: Indexed, query: str, **params: Any) -> tuple[str, str]:
    """Return the path of the first hit, and its snippet."""
    hit = index.search(query, **params)[0]
    return hit["relative_path"], hit["snippet"]


@pytest.mark.parametrize("query", ["url_for", "url_for()", "routing.url_for"])
def test_a_definition_comes_before_its_uses_and_tests(app: Indexed, query: str) -> None:
    path, snippet = first(app, query)
    assert path == "routing.py"
    assert "def url_for(endpoint)" in snippet


def test_a_pasted_line_of_common_words_is_found(app: Indexed) -> None:
    answer = app.ask("value = total[0] + value")
    assert (answer.mode, answer.hits[0]["relative_path"]) == ("keyword", "zone.py")
    assert "value = total[0] + value" in answer.hits[0]["snippet"]


def test_a_whole_line_comes_before_a_part_of_one(app: Indexed) -> None:
    assert first(app, "import quilt as _quilt")[0] == "sewing.py"


@pytest.mark.parametrize("group", ["chunk", "file"])
@pytest.mark.parametrize(
    "query", ['"url_for" import', '"FuzzyMatchV2" step', "Pool.for", "Crane.for", "process worker"]
)
def test_the_total_has_the_chunks_that_only_a_name_brought(app: Indexed, query: str, group: str) -> None:
    answer = app.ask(query, group=group, limit=100, total=True)
    assert answer.next_offset is None and answer.extras["total"]["hits"] == len(answer.hits)
    assert app.ask(query, group=group, limit=1, total=True).extras["total"] == answer.extras["total"]


def test_two_words_with_signs_are_a_pasted_line(app: Indexed) -> None:
    path, snippet = first(app, "normalizeAll(settings);")
    assert path == "settings.js"
    assert "normalizeAll(settings);" in snippet


@pytest.mark.parametrize("query", ["Lamp.start", "Lamp::start", "Lamp.start()", "Lamp->start", "@Lamp#start"])
def test_the_owner_of_a_name_counts(app: Indexed, query: str) -> None:
    assert first(app, query)[0] == "lamp.py"
    assert first(app, query.replace("Lamp", "Pool"))[0] == "pool.py"


def test_the_definition_of_a_method_comes_before_its_calls(app: Indexed) -> None:
    hits = app.search("Crane.lift", group="file")
    assert [hit["relative_path"] for hit in hits[:2]] == ["crane.py", "yard.py"]
    assert app.ask("Crane.lift", total=True, limit=100).extras["total"]["files"] == len(hits)


def test_a_name_is_in_the_snippet(app: Indexed) -> None:
    hit = app.search("_refold", max_snippet_chars=60)[0]
    assert hit["relative_path"] == "folds.py"
    assert "def _refold(" in hit["snippet"]


@pytest.mark.parametrize(("query", "path"), [("storing", "phases.py"), ("Hints", "hints.py")])
def test_a_word_as_typed_comes_before_its_other_forms(app: Indexed, query: str, path: str) -> None:
    found, snippet = first(app, query)
    assert (found, query in snippet) == (path, True)


def test_a_definition_is_found_among_many_of_the_same_words(app: Indexed) -> None:
    path, snippet = first(app, "_serve")
    assert (path, "def _serve(self)" in snippet) == ("sharer.py", True)


def test_a_name_typed_as_words(app: Indexed) -> None:
    assert first(app, "process worker")[0] == "spawn.py"


def test_a_piece_of_a_name(app: Indexed) -> None:
    assert first(app, "fuzzyMatch")[0] == "match.py"


def test_a_misspelt_name(app: Indexed) -> None:
    answer = app.ask("calibrateSenosr")
    assert answer.hits[0]["relative_path"] == "gauge.py"
    assert answer.extras["did_you_mean"]["query"] == "calibrateSensor"


@pytest.mark.parametrize(
    ("typed", "meant"), [("RTC4_WAKEP_EN", "RTC4_WAKEUP_EN"), ("rtc4_waekup_en", "rtc4_wakeup_en")]
)
def test_a_misspelt_name_with_numbers(app: Indexed, typed: str, meant: str) -> None:
    answer = app.ask(typed)
    assert answer.hits[0]["relative_path"] == "rtc.c"
    assert answer.extras["did_you_mean"]["query"].lower() == meant.lower()
    assert app.ask("RTC5_WAKEP_EN").hits == [], "no name is like this one but for its number"


def test_the_case_of_a_name_counts(app: Indexed) -> None:
    assert first(app, "Proxy")[0] == "upper.py"
    assert first(app, "proxy")[0] == "lower.py"


def test_a_file_with_the_very_name_comes_first(app: Indexed) -> None:
    assert first(app, "README")[0] == "sub/README.md"
    assert first(app, "sub/README.md")[0] == "sub/README.md"


@pytest.mark.parametrize("query", ["tcp.c:123", "tcp.c:123:4", 'File "/elsewhere/tcp.c", line 123, in main'])
def test_a_line_of_a_file(app: Indexed, query: str) -> None:
    hit = app.search(query)[0]
    assert hit["relative_path"] == "tcp.c"
    assert hit["start_line"] <= 123 <= hit["end_line"]
    assert (hit["line"], hit["text"]) == (123, "int value123;")
    start, end = hit["highlights"][0]
    assert hit["snippet"][start:end] == "int value123;"
    assert "tcp.c" not in app.found(query, kinds=["markdown_text"])


@pytest.mark.parametrize(
    "query",
    [
        "src/tcp.c:123:9: error: 'elsewhere' undeclared (first use in this function)",
        "process_worker at tcp.c:123",
        "kernel BUG at net/ipv4/tcp.c:123!",
        "https://example.com/ada/app/blob/main/tcp.c#L123-L130",
        "net\\ipv4\\tcp.c(123)",
    ],
)
def test_a_line_of_a_file_among_other_words(app: Indexed, query: str) -> None:
    steps = "".join(f"make: step {number}\n" for number in range(1, 122))
    app.write("root/build.log", f"{steps}{query}\nmake: leaving\n")
    app.write("root/other/tcp.txt", "tcp.c has an error\n")
    first, *others = app.search(query)
    assert (first["relative_path"], first["line"], first["text"]) == ("tcp.c", 123, "int value123;")
    logged = next(hit for hit in others if hit["relative_path"] == "build.log")
    assert logged["line"] == 122, "the typed number is a line of the named file alone"
    assert "tcp.c" not in app.found(query, globs=["*.log"])
    assert "tcp.c" not in app.found(query, globs=["other/**"])


def test_a_place_is_not_meant_otherwise(app: Indexed) -> None:
    """The folders of a link are no words that may be respelt."""
    answer = app.ask("https://example.com/wroker/blob/main/tcp.c#L123")
    assert answer.hits[0]["line"] == 123
    assert "did_you_mean" not in answer.extras


def test_a_path_among_other_words(app: Indexed) -> None:
    app.write("root/lib/near/flow.c", "".join(f"int flow{number};\n" for number in range(30)))
    app.write("root/lib/far/flow.c", "/* it works near here */\n" * 9)
    assert first(app, "how does lib/near/flow.c work")[0] == "lib/near/flow.c"
    assert first(app, "see lib/far/flow.c.")[0] == "lib/far/flow.c"
    assert first(app, "see near/flow.c for how")[0] == "lib/near/flow.c", "a part of the path, from any folder on"
    hit = app.search("lib/near/flow.c FuzzyMatchV2")[0]
    assert "FuzzyMatchV2" in hit["snippet"], "the name beside a path"
    app.write("root/lib/near/flow.c", "/* include lib near flow c: lib/near/flow.c */\n" * 3)
    app.write("root/include.c", '#include "lib/near/flow.c"\n' + f"int a; /* {'and much more text ' * 9} */\n" * 8)
    assert first(app, '#include "lib/near/flow.c"')[0] == "include.c", "a file has the text as typed"


def test_a_line_beyond_the_end_is_near_it(app: Indexed) -> None:
    hit = app.search("at tcp.c:99999: not there")[0]
    assert hit["relative_path"] == "tcp.c"
    assert hit["end_line"] == 199


def test_the_folders_of_a_place_count(app: Indexed) -> None:
    app.write("root/include/uapi/linux/msg.h", "".join(f"int other{number};\n" for number in range(40)))
    app.write("root/include/linux/msg.h", "/* include uapi linux msg h: include/uapi/linux/msg.h */\n" * 40)
    assert first(app, "/usr/src/include/uapi/linux/msg.h:12")[0] == "include/uapi/linux/msg.h"
    assert first(app, "/usr/src/include/linux/msg.h:12")[0] == "include/linux/msg.h"


@pytest.mark.parametrize("query", ["url_for()->", "[]url_for", "url_for{}", "<url_for />", "url_for!()"])
def test_a_name_in_signs_of_code(app: Indexed, query: str) -> None:
    assert first(app, query)[0] == "routing.py"


def test_a_link_to_a_heading(app: Indexed) -> None:
    filler = "Masts and sails of old ships.\n" * (LINES - 1)
    parts = "".join(f"## {title}\n{filler}" for title in ("Part 1", "Part 2", "Masts & Sails", "Rope", "Oars"))
    app.write("root/sea/Old Ships.md", parts)
    app.write("root/land/old.md", "Old Ships have masts and sails: Old Ships, Masts and Sails.\n" * 9)
    for query in (
        "[[Old Ships#Masts & Sails]]",
        "![[sea/Old Ships#Rope#Masts & Sails|here]]",
        "[them](../sea/Old%20Ships.md#masts--sails)",
    ):
        hit = app.search(query)[0]
        assert (hit["relative_path"], hit["heading"]) == ("sea/Old Ships.md", "Masts & Sails")
    for query in ("[[Old Ships]]", "[[Old Ships#Nothing such]]", "obsidian://open?vault=v&file=sea%2FOld%20Ships"):
        assert first(app, query)[0] == "sea/Old Ships.md"
    app.write("root/land/link.md", "https://example.com/sub/README.html https://example.com/land/README.html\n")
    assert first(app, "https://example.com/sub/README.html#nothing")[0] == "sub/README.md", "the text of the page"
    assert first(app, "https://example.com/land/README.html")[0] == "land/link.md", "another page has the name"


def test_a_name_that_a_word_joins_is_found(app: Indexed) -> None:
    """A name with a number is searched for as a whole: so ``self.`` in front of it must not hide it."""
    app.write("root/ext.c", "int ext4_link(void)\n{\n    return 0;\n}\n")
    for query in ("self.ext4_link", "ext4_link.nothing_like_it", "no-ext4_link"):
        assert first(app, query)[0] == "ext.c"
    assert app.ask("12.34.507").hits == []


def test_the_owner_of_a_name_that_nothing_has_is_found(app: Indexed) -> None:
    app.write("root/fuzz.py", "calibrateSensor(calibrateSensor)\n" * 9)
    assert first(app, "calibrateSensor.hoistings")[0] == "gauge.py"
    app.write("root/hoist.py", "value = 1  # hoistings\n")
    assert first(app, "calibrateSensor.hoistings")[0] == "hoist.py", "where the name itself is, that counts"


@pytest.mark.parametrize("query", ["use_value(7, 9)", "use_value[40]", "use_value<T>", "use_value+0x1a/0x30"])
def test_the_use_of_a_name_finds_its_definition(app: Indexed, query: str) -> None:
    app.write("root/uses.py", "".join(f"a{number} = use_value({number})\n" for number in range(30)))
    app.write("root/value.py", f"# use value {'x' * 2000}\ndef use_value(a):\n    return a\n")
    hit = app.search(query)[0]
    assert (hit["relative_path"], hit["line"]) == ("value.py", 2)
    assert first(app, "use_value(29)")[0] == "uses.py", "unless a file has it as typed"


def test_a_number_after_another_name_is_no_line(app: Indexed) -> None:
    app.write("root/hosts.txt", "example.com port 8080\n")
    app.write("root/other.txt", "example.com\n")
    assert app.found("example.com:8080")[0] == "hosts.txt"


def test_dashes_and_quotes_of_a_pasted_line_are_punctuation(app: Indexed) -> None:
    query = 'answer = fetch( -1 , "the last"'
    app.write("root/spaced.py", f"x = 1\n{query} )\n")
    answer = app.ask(query)
    assert answer.hits[0]["relative_path"] == "spaced.py"
    assert answer.extras["did_you_mean"] == {"query": "answer = fetch( 1 , the last", "applied": True}


def test_a_text_that_finds_nothing_is_read_plainly(app: Indexed) -> None:
    query = 'why does the "worker process" of -spawn never end'
    answer = app.ask(query)
    assert {"spawn.py", "notes.md"} <= {hit["relative_path"] for hit in answer.hits}
    assert answer.extras["did_you_mean"]["query"] == "why does the worker process of spawn never end"
    assert app.ask('"worker process" -spawn').hits == [], "a short query of signs alone means what it says"
    assert app.found("worker -notes") == ["spawn.py"]
    assert app.found('Re: "Worker:Ends"')[0] == "notes.md"
    assert app.found(': -"the process worker')[0] == "notes.md"
    assert app.found("when each process worker of tag:none ends or starts")[0] == "notes.md"
    assert app.found("when each process worker ends or starts tag:none") == []
    assert app.found('worker "ends every process"')[0] == "notes.md", "one with a word beside them may be a title"
    pages = [app.ask(query, limit=2, offset=offset, group="file") for offset in (0, 2, 4)]
    whole = app.ask(query, limit=6, group="file")
    assert [hit["path"] for page in pages for hit in page.hits] == [hit["path"] for hit in whole.hits]


def test_a_sentence_is_read_plainly(app: Indexed) -> None:
    query = 'the process worker -notes starts and ends when each "process worker" has no work'
    answer = app.ask(query)
    assert answer.hits[0]["relative_path"] == "notes.md"
    assert "-" not in answer.extras["did_you_mean"]["query"]


def test_a_changed_file_is_not_proposed_by_its_old_text(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        for name in ("a", "b"):
            index.write(f"root/{name}.py", f"def launchRocket():\n    return {name!r}\n")
        path = tmp_path / "root/a.py"
        found = path.stat()
        path.write_text("def launchBottle():\n    return 'c'\n")
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
        hits = index.search("launchRocket", explain=True)
        assert [hit["relative_path"] for hit in hits] == ["b.py"]


def test_news_come_after_what_they_are_about(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        for name in ("CHANGELOG.md", "guide.md"):
            index.write(f"root/{name}", f"# {name}\n\nRetry the upload of large files.\n")
        assert index.found("retry upload")[0] == "guide.md"
        assert index.found("changelog retry upload")[0] == "CHANGELOG.md"
        assert index.found("retry upload", globs=["*.md"])[0] == "CHANGELOG.md", "the name says who is meant"


def test_documents_come_after_code_where_code_answers(tmp_path: Path) -> None:
    text = "the lantern is dimmed by a relay\n"
    with Indexed(tmp_path) as index:
        index.write("root/a.txt", text)
        for name in ("signalling_x.c", "signalling_y.c", "signalling_z.c"):
            index.write(f"root/{name}", f"// {name} {text}")
        assert index.found("dim lantern relays")[-1] == "a.txt"
        assert index.found("dim lantern relays", globs=["*.txt"]) == ["a.txt"]


def test_a_message_is_found_with_other_signs_where_code_answers(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/errors.md", MESSAGES + "See the manual of the system for the other errors.\n" * 30)
        for number in range(10):
            index.write(f"root/open{number}.py", f"# ENOENT: a file or directory, ENOENT\nfile, directory = {number}\n")
        assert first(index, "ENOENT: no such file or directory")[0] == "errors.md"


@pytest.mark.parametrize(
    ("title", "line"), [("Huge Pages", "Pages of memory are mapped.\n"), ("Page use", "Nothing else is here.\n")]
)
def test_a_title_as_typed_comes_before_code_with_its_words(tmp_path: Path, title: str, line: str) -> None:
    with Indexed(tmp_path) as index:
        text = 40 * line
        index.write("root/concepts.md", f"# Concepts\n\n{text}\n## {title}\n\n{text}")
        for number in range(160):
            index.write(f"root/page{number}.c", "int page(int huge) {\n  // the huge page, the page in use\n}\n")
        assert first(index, title)[0] == "concepts.md"


def test_words_typed_twice_count_more(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/a.txt", "walrus\n")
        index.write("root/b.txt", "ivory\n")
        assert index.found("ivory walrus walrus")[0] == "a.txt"
        assert index.found("ivory ivory walrus")[0] == "b.txt"


def test_a_hit_names_the_shortest_copy_whichever_was_read_first(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        for path in ("root/deep/folder/a.py", "root/a.py"):
            index.write(path, "def launchRocket():\n    pass\n")
        assert first(index, "launchRocket")[0] == "a.py"


@pytest.mark.parametrize("typing", [False, True])
def test_only_files_with_the_words_are_hits(index: Indexed, typing: bool) -> None:
    index.write("root/a.py", "def wait():\n    pass\n")
    index.write("root/b.txt", "item2.wait\n")
    answer = index.ask("item2.wait", typing=typing, total=True)
    assert answer.extras["total"]["hits"] == len(answer.hits) == (1 if typing else 2)
