"""The configuration as a user writes it: its meaning, and every fault with its position."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_daemon.config import setting_values, settings_schema
from livedex_daemon.config import settings as config_settings
from livedex_daemon.config.config_template import template
from livedex_daemon.config.settings import Config
from livedex_ipc.errors import ConfigInvalid


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def faults_of(text: str | bytes) -> list[dict[str, Any]]:
    with pytest.raises(ConfigInvalid) as raised:
        config_settings.parse(text)
    assert raised.value.data is not None
    faults: list[dict[str, Any]] = raised.value.data["faults"]
    assert all(set(fault) == {"key", "line", "column", "message", "nearest"} for fault in faults)
    return faults


def fault_of(text: str | bytes) -> dict[str, Any]:
    (fault,) = faults_of(text)
    return fault


def test_defaults_are_the_contracts(file: Path) -> None:
    found = config_settings.load(str(file))
    assert found == config_settings.parse("")
    assert found.roots == ()
    assert (found.index.backend, found.index.max_file_size) == ("sqlite", 8 << 20)
    assert (found.chunking.tokenizer, found.chunking.chunk_size, found.chunking.overlap) == ("character", 2048, 128)
    assert found.chunking.pipelines == {}
    assert (found.watch.observer, found.watch.poll_every_s, found.watch.reconcile_every_s) == ("auto", 2.0, 600.0)
    assert (found.power.wait_on_battery, found.power.yield_to_load) == (True, True)
    assert found.log.level == "info"


def test_a_whole_configuration(tmp_path: Path, user: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    found = config_settings.parse(f"""
        [[roots]]
        path = "~/notes"
        ignore = ["*.tmp", "!.env"]
        [[roots]]
        path = "{tmp_path}/x/../link/"
        [index]
        max_file_size = "1.5 MiB"
        [chunking]
        chunk_size = 512
        overlap = 0
        pipelines = {{ ".ORG" = "markdown", ".d.ts" = "plain" }}
        [watch]
        observer = "polling"
        poll_every = "500ms"
        reconcile_every = "1h"
        [power]
        wait_on_battery = false
        [log]
        level = "debug"
    """)
    notes, source = found.roots
    assert (notes.path, notes.configured, notes.ignore, notes.line) == (
        f"{user}/notes",
        "~/notes",
        ("*.tmp", "!.env"),
        3,
    )
    assert (source.path, source.line) == (str(folder.resolve()), 6)
    assert found.index.max_file_size == 3 << 19
    assert dict(found.chunking.pipelines) == {".org": "markdown", ".d.ts": "plain"}
    assert (found.watch.poll_every_s, found.watch.reconcile_every_s) == (0.5, 3600.0)


def test_lines_do_not_make_a_difference() -> None:
    text = '[[roots]]\npath = "/nowhere/at/all"\n'
    assert config_settings.parse(text) == config_settings.parse("\n# moved\n" + text)
    assert config_settings.parse(text) != config_settings.parse(text + 'ignore = ["x"]')


def test_all_faults_at_once_in_the_order_of_the_file() -> None:
    faults = faults_of("""\
max_file_size = 5
[index]
backend = "tan tivy"
max_file_sise = "8MiB"
[chunking]
chunk_size = true
[shipping]
default = "x"
[[roots]]
pth = "/nowhere"
[[roots]]
path = 5
ignore = ["a", 7]
""")
    assert [(fault["key"], fault["line"], fault["column"], fault["nearest"]) for fault in faults] == [
        ("max_file_size", 1, 1, "index.max_file_size"),
        ("index.backend", 3, 11, None),
        ("index.max_file_sise", 4, 1, "index.max_file_size"),
        ("chunking.chunk_size", 6, 14, None),
        ("shipping", 7, 2, None),
        ("roots[0]", 9, 3, None),
        ("roots[0].pth", 10, 1, "roots.path"),
        ("roots[1].path", 12, 8, None),
        ("roots[1].ignore[1]", 13, 16, None),
    ]


EMPTY_LIST_IS_RIGHT = ("plugins.paths",)
# What plugins may provide: any text is right.
NAMES = ("index.backend", "knowledge.backend", "embedding.embedder", "embedding.model", "parsing.default")
RIGHT = {  # by key
    "embedding.api_base": ("''",),
    "embedding.api_key_env": ("''", '"nonsense"'),
    "embedding.weight": ("1.5",),
}
WRONG = ("[]", "{ x = 1 }", "1979-05-27", "1.5", "nan", '"nonsense"', "-1", "''")


def test_a_table_that_nothing_knows_is_unknown() -> None:
    fault = fault_of("[shipping]")
    assert fault["message"] == "unknown key"
    assert fault["line"] == 1


@pytest.mark.parametrize(
    "address", ["http://a..b/v1", "http://localhost:99999", "http://h/a b", "http://h/é", "http://[::1"]
)
def test_an_address_that_no_request_can_name_is_a_fault(address: str) -> None:
    fault = fault_of(f'embedding.api_base = "{address}"')
    assert fault["message"] == 'must be an address such as "http://localhost:11434"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plugin = 5", "must be tables, each written [plugin.NAME]"),
        ("[plugin]\nx = 5", "must be a table, not a number"),
        ('[plugins]\npaths = ["here"]', 'must be an absolute path, or one that begins with "~"'),
        ('[plugins]\npath = ["/x"]', "unknown key"),
    ],
)
def test_wrong_tables_of_plugins(text: str, message: str) -> None:
    assert fault_of(text)["message"] == message


def test_the_settings_of_a_plugin_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[plugin."a.b"]\nsince = 2026-05-01\n')
    shown = config_settings.settings(str(path))["plugin.a.b"]
    assert shown == {"value": {"since": "2026-05-01"}, "origin": "file", "line": 1}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (key, value)
        for key in settings_schema.SETTINGS
        for value in WRONG
        if key not in EMPTY_LIST_IS_RIGHT
        and not (key in NAMES and value[0] in "\"'")
        and value not in RIGHT.get(key, ())
    ],
)
def test_wrong_values_are_faults_of_their_key(key: str, value: str) -> None:
    table, name = key.split(".")
    fault = fault_of(f"[{table}]\n{name} = {value}")
    assert fault["key"].startswith(key)
    assert fault["line"] == 2
    assert "must" in fault["message"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("chunking.chunk_size", "true"),
        ("chunking.chunk_size", "63"),
        ("chunking.chunk_size", "32769"),
        ("chunking.overlap", "false"),
        ("chunking.overlap", "2048"),
        ("index.max_file_size", '"1023B"'),
        ("index.max_file_size", '"1.1GiB"'),
        ("index.max_file_size", "true"),
        ("index.max_file_size", '"99999999999999999999999999"'),
        ("watch.poll_every", '"99ms"'),
        ("watch.poll_every", "2"),
        ("watch.poll_every", '"1M"'),
        ("watch.reconcile_every", '"900ms"'),
        ("watch.reconcile_every", '"31d"'),
        ("power.wait_on_battery", "1"),
        ("log.level", '"INFO"'),
        ("chunking.pipelines", '{ org = "markdown" }'),
        ("chunking.pipelines", '{ ".org" = "mark down" }'),
        ("chunking.pipelines", '{ ".a/b" = "code" }'),
        ("chunking.pipelines", '{ ".org" = "code", ".ORG" = "plain" }'),
        ("index.backend", "'''\n" + "x" * 5000 + "'''"),
    ],
)
def test_out_of_range(key: str, value: str) -> None:
    table, name = key.split(".")
    fault = fault_of(f"[{table}]\n{name} = {value}")
    assert fault["key"].startswith(key)
    assert len(fault["message"]) < 200


def test_overlap_is_held_against_the_chunk_size() -> None:
    assert fault_of("[chunking]\nchunk_size = 100")["line"] == 2
    assert fault_of("[chunking]\noverlap = 512\nchunk_size = 512")["key"] == "chunking.overlap"
    assert config_settings.parse("[chunking]\nchunk_size = 129").chunking.overlap == 128


@given(st.integers(1 << 10, 1 << 30))
def test_sizes_round_trip(count: int) -> None:
    read = setting_values.size(1 << 10, 1 << 30)
    assert read(count) == read(f"{count}B") == read(f"{count} b") == count
    assert read(f"{count // 1024}KiB") == count // 1024 * 1024
    if count < 10**9:
        assert read(f"{max(count // 1000, 2)}KB") == max(count // 1000, 2) * 1000


@given(st.integers(1, 24), st.sampled_from(sorted(setting_values.SECONDS)))
def test_durations_round_trip(number: int, unit: str) -> None:
    read = setting_values.duration(0, 86400.0 * 30)
    assert read(f"{number}{unit}") == pytest.approx(number * setting_values.SECONDS[unit])


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[index\n", 1, 7),
        ("a = 1\nb = \n", 2, 5),
        ("a = 1\na = 2\n", 2, 6),
        ('x = "é" y', 1, 10),
        ("a = [1,\n", 2, 1),
        ("a = 1\rb = 2", 1, 6),
    ],
)
def test_no_toml(text: str, line: int, column: int) -> None:
    fault = fault_of(text)
    assert (fault["key"], fault["line"], fault["column"]) == (None, line, column)
    assert fault["message"].startswith("not valid TOML: ")


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("[[roots]]\npath = ~/notes\n", 'invalid value: write path = "~/notes"'),
        ("[power]\nwait_on_battery = True  # why\n", "invalid value: write wait_on_battery = true"),
        ("[log]\nlevel = info\n", 'write level = "info"'),
        ('[[roots]]\npath = "a"\n[[roots]]\npath = "b"\npath = "c"\n', "path is there twice (lines 4, 5): keep one"),
        ('[[roots]]\npath = "~/notes\n', "close the quote in its line"),
        ("a = 1\n\ufeff[index]\n", "delete the character U+FEFF, which cannot be seen"),
        ('path = "a\x01b"\n', "delete the character U+0001, which cannot be seen"),
        ("roots:\n  - path: ~/notes\n", "write a table, as [index], or a setting"),
        ('{"roots": []}', "write a table, as [index], or a setting"),
        ("a = [1,\n", "not valid TOML: invalid value"),
    ],
)
def test_a_syntax_error_says_what_helps(text: str, remedy: str) -> None:
    assert remedy in fault_of(text)["message"]


def test_bytes_that_are_no_text() -> None:
    fault = fault_of(b"a = 1\nb = '\xff'\n")
    assert (fault["line"], fault["column"]) == (2, 6)
    assert "UTF-8" in fault["message"]
    assert "byte order mark" in fault_of(b"\xef\xbb\xbf[index]\n")["message"]
    assert fault_of(b"a = 1\0")["line"] == 1


def test_texts_that_exhaust_a_parser() -> None:
    assert faults_of("a = " + "[" * 100_000)
    assert faults_of("a = " + "{x=" * 100_000)
    assert fault_of("a = " + "9" * 100_000)["message"] == "a number has thousands of digits"


@given(st.text())
def test_any_text_is_a_configuration_or_has_faults(text: str) -> None:
    try:
        assert isinstance(config_settings.parse(text), Config)
    except ConfigInvalid as fault:
        assert fault.data is not None
        assert fault.data["faults"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('roots = "/a"', "roots"),
        ("[roots]\npath = '/a'", "roots"),
        ('roots = ["/a"]', "roots[0]"),
        ("index = 5", "index"),
        ("[[index]]", "index"),
        ("[[roots]]\npath = '/a'\nignore = 'x'", "roots[0].ignore"),
        ("[[roots]]\npath = '/a'\nignore = ['']", "roots[0].ignore[0]"),
        ("[[roots]]\npath = '/a'\nignore = [\"a\\nb\"]", "roots[0].ignore[0]"),
    ],
)
def test_wrong_shapes(text: str, key: str) -> None:
    assert fault_of(text)["key"] == key


def test_roots_in_an_array(tmp_path: Path) -> None:
    found = config_settings.parse(
        f'roots = [\n  {{ path = "{tmp_path}" }},\n  {{ path = "/nowhere", ignore = ["x"] }},\n]'
    )
    assert [(root.path, root.line) for root in found.roots] == [(str(tmp_path.resolve()), 2), ("/nowhere", 3)]


def test_standing_queries() -> None:
    found = config_settings.parse("""
        [[standing]]
        query = "TODO lang:python"
        topic = "todo.found"
        [[standing]]
        query = "-draft"
        topic = "todo.found"
    """)
    assert [(each.query, each.topic, each.line) for each in found.standing] == [
        ("TODO lang:python", "todo.found", 3),
        ("-draft", "todo.found", 6),
    ]


STANDING = "[[standing]]\n"


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ('standing = "a"', "standing", "a list of tables, each written [[standing]]"),
        ('[standing]\nquery = "a"', "standing", "a list of tables, each written [[standing]]"),
        ('standing = ["a"]', "standing[0]", "must be a table such as"),
        (f'{STANDING}topic = "t"', "standing[0]", "needs a query"),
        (f'{STANDING}query = "a"', "standing[0]", "needs a topic"),
        (f'{STANDING}query = 5\ntopic = "t"', "standing[0].query", "must be a text in quotes, not a number"),
        (f'{STANDING}query = " "\ntopic = "t"', "standing[0].query", "must not be empty"),
        (f'{STANDING}query = "\'->\'"\ntopic = "t"', "standing[0].query", "a letter or a digit"),
        (f'{STANDING}query = "{"word " * 1000}"\ntopic = "t"', "standing[0].query", "at most 4096 bytes"),
        (f'{STANDING}query = "a"\ntopic = "ä"', "standing[0].topic", "one to 200 letters"),
        (f'{STANDING}query = "a"\ntopic = "livedex.parse"', "standing[0].topic", "livedex's own"),
        (2 * f'{STANDING}query = "a"\ntopic = "t"\n', "standing[1]", "is the same as the standing query in line 2"),
        ("".join(f'{STANDING}query = "a{n}"\ntopic = "t"\n' for n in range(101)), "standing[100]", "at most 100"),
    ],
)
def test_a_standing_query_that_cannot_be(text: str, key: str, said: str) -> None:
    fault = fault_of(text)
    assert fault["key"] == key and said in fault["message"]
    assert fault["line"] is not None


def test_an_unknown_key_of_a_standing_query_is_named() -> None:
    fault = fault_of(f'{STANDING}query = "a"\ntopic = "t"\ntopics = "t"')
    assert (fault["key"], fault["nearest"]) == ("standing[0].topics", "standing.topic")


def test_settings_say_where_they_come_from(file: Path) -> None:
    file.write_text('[chunking]\n# a comment\nchunk_size = 512\n[index]\nmax_file_size = "1 MiB"\n')
    file.chmod(0o600)
    found = config_settings.settings(str(file))
    assert found["chunking.chunk_size"] == {"value": 512, "origin": "file", "line": 3}
    assert found["index.max_file_size"] == {"value": "1 MiB", "origin": "file", "line": 5}
    assert found["log.level"] == {"value": "info", "origin": "default", "line": None}
    assert found["roots"] == {"value": [], "origin": "default", "line": None}
    assert found["standing"] == {"value": [], "origin": "default", "line": None}
    assert set(found) == {"roots", "standing", *settings_schema.SETTINGS}
    assert config_settings.settings(str(file.with_name("none")))["chunking.chunk_size"]["origin"] == "default"


def test_settings_of_a_broken_file_are_its_faults(file: Path) -> None:
    file.write_text("[chunkng]\n")
    file.chmod(0o600)
    with pytest.raises(ConfigInvalid, match="line 1: chunkng: unknown key"):
        config_settings.settings(str(file))


def test_template_means_the_defaults_also_uncommented() -> None:
    assert config_settings.parse(template()) == config_settings.parse("")
    lines = template().split("\n")
    settings = [line.removeprefix("# ") if line.startswith("# ") and " = " in line else line for line in lines]
    text = "\n".join(settings[: settings.index("# [[roots]]")])
    assert config_settings.parse(text) == config_settings.parse("")
    assert all(f"\n{key.split('.')[1]} = " in text for key in settings_schema.SETTINGS)
