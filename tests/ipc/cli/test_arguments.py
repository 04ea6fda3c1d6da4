"""The argument tree and the parsing of command lines: one option for each param, and one meaning for each line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_ipc.cli.argument_values import absolute_path, wire_path, wire_paths
from livedex_ipc.cli.arguments import GLOBAL_OPTIONS, ROOT, Command
from livedex_ipc.cli.command_parser import CommandLine, parse
from livedex_ipc.cli.help import help_text
from livedex_ipc.errors import InvalidParams
from livedex_ipc.methods import METHODS, path_bytes, paths_bytes

# The method that a command calls, and its params that do not apply to a command that calls once and prints all.
CALLS = {
    "search": ("search", {"supersedes", "path", "cursor"}),
    "watch": ("search/subscribe", {"mode", "supersedes", "path"}),
    "sync": ("sync", set()),
    "status": ("status", set()),
    "index": ("index/run", {"progress_token"}),
    "audit": ("index/audit", {"progress_token"}),
    "list": ("files/list", {"offset", "path"}),
    "files": ("files/find", {"offset", "supersedes"}),
    "retrieve": ("files/retrieve", set()),
    "why": ("files/explain", set()),
    "forget": ("files/delete", set()),
    "exchange publish": ("exchange/publish", set()),
    "exchange read": ("exchange/read", set()),
    "exchange check": ("exchange/check", set()),
    "exchange request": ("exchange/request", set()),
    "exchange notify": ("exchange/notify", set()),
    "exchange inspect": ("exchange/inspect", set()),
    "exchange stats": ("exchange/stats", set()),
    "plugins list": ("plugins/list", set()),
    "roots add": ("roots/add", set()),
    "roots remove": ("roots/remove", set()),
    "roots list": ("roots/list", set()),
}
# Options that choose the form of the output, and are not params.
FORMS = {"progress", "typing", "form", "watch", "all", "here", "null", "undo"}


def leaves(command: Command = ROOT, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Command]]:
    if command.run:
        yield " ".join(words), command
    for each in command.subcommands:
        yield from leaves(each, (*words, each.name))


COMMANDS = dict(leaves())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_an_option_names_only_options_of_its_command(name: str) -> None:
    options = COMMANDS[name].options
    known = {flag for option in (*options, *GLOBAL_OPTIONS) for flag in option.flags}
    named = {flag for option in options for flag in re.findall(r"(?<![\w'-])--?[a-zA-Z][\w-]*", option.help)}
    assert named <= known


def parsed(*words: str) -> CommandLine:
    line = CommandLine()
    parse(list(words), line)
    return line


def refused(*words: str) -> InvalidParams:
    with pytest.raises(InvalidParams) as caught:
        parsed(*words)
    return caught.value


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--files", "--vimgrep"], "--vimgrep and --files exclude each other"),
        (["--long", "--short"], "--short and --long exclude each other"),
        (["-F", "-e"], "--regexp and --fixed-strings exclude each other"),
        (["--mode", "regex", "-F"], "--fixed-strings and --regexp exclude each other"),
        (["-F", "--mode", "keyword"], "--mode and --fixed-strings exclude each other"),
    ],
)
def test_two_forms_exclude_each_other(words: list[str], said: str) -> None:
    assert refused("search", "x", *words).message == said
    assert parsed("search", "x", "-F", "--mode", "exact", "-F").values["mode"] == "exact"


def test_what_has_one_value_is_given_once_where_two_would_narrow() -> None:
    assert refused("list", "--root", "/a", "--root", "/b").message == "--root may be given once"
    assert parsed("list", "--root", "/a", "--root", "/a").values["root"] == b"/a"
    assert parsed("search", "x", "-n", "3", "-n", "5").values["limit"] == 5, "a shell's alias may be overruled"


def test_short_options_may_share_a_word() -> None:
    assert parsed("search", "x", "-Fl").values == {"query": ["x"], "mode": "exact", "form": "files"}
    assert parsed("search", "-lFn3", "x").values == {"query": ["x"], "mode": "exact", "form": "files", "limit": 3}
    assert refused("search", "x", "-lq").message.startswith("livedex search has no option -q")
    assert refused("search", "x", "-l=3").message == "-l takes no value"


@pytest.mark.parametrize("text", ["[1]", "{", '{"a": NaN}', '{"a": 1, "a": 2}', '{"a": ' + "9" * 30 + "}"])
def test_metadata_is_read_as_strictly_as_the_daemon_does(text: str) -> None:
    assert "is not a JSON object" in refused("exchange", "publish", "t", "b", "--metadata", text).message


def test_several_patterns_are_not_taken_for_one() -> None:
    assert (
        refused("search", "-e", "a", "-e", "b").message == "-e takes no pattern of its own; for one of several: 'a|b'"
    )
    assert parsed("search", "-e", "-e", "a", "b").values == {"query": ["a", "b"], "mode": "regex"}


def test_a_word_with_a_dash_is_said_to_need_two() -> None:
    said = refused("search", "-lease").message
    assert said == (
        "livedex search has no option -a (in -lease); if -lease is a word to search for: livedex search -- -lease"
    )
    assert parsed("search", "--", "-lease").values == {"query": ["-lease"]}
    assert refused("why", "-notes.md").message == (
        "livedex why has no option -notes.md; if -notes.md is a PATH: livedex why -- -notes.md"
    )


def test_the_last_option_of_case_counts_as_in_ripgrep() -> None:
    assert parsed("search", "-Fis", "x").values["letter_case"] == "sensitive"
    assert parsed("search", "-F", "-s", "--ignore-case", "x").values["letter_case"] == "ignore"


def test_a_wrong_order_is_answered_with_the_right_ones() -> None:
    assert refused("search", "x", "--sort", "date").message == ("--sort 'date' is none of: relevance, modified, path")


def test_signs_behind_a_dash_are_words() -> None:
    assert parsed("search", "->", "-", "-(x)").values["query"] == ["->", "-", "-(x)"]


def test_long_and_short_names_mean_the_same() -> None:
    short = ["search", "x", "-n", "3", "-g", "*.c", "-t", "c", "-C", "2", "-F", "-l", "-0"]
    long = ["search", "x", "--limit", "3", "--glob", "*.c", "--lang", "c", "--context", "2", "--fixed-strings"]
    long += ["--files-with-matches", "--null"]
    assert parsed(*short).values == parsed(*long).values
    assert parsed("search", "x", "--in", "/a", "--path", "/b").values["paths"] == [b"/a", b"/b"]
    assert parsed("search", "x", "--files").values == parsed("search", "x", "-l").values


def test_a_group_alone_means_one_of_its_commands() -> None:
    assert parsed("roots").title == "livedex roots list"
    assert parsed("--json", "config").title == "livedex config show"
    assert parsed("roots", "--json").json
    assert parsed("roots", "--help").title == "livedex roots"


@pytest.mark.parametrize("name", sorted(CALLS))
def test_every_param_of_a_command_has_exactly_one_option(name: str) -> None:
    method, meaningless = CALLS[name]
    command = COMMANDS[name]
    # -F means --mode exact: it is a shorter way to give a value.
    forms = FORMS - METHODS[method].params.keys()
    params = [each.param for each in command.options if each.param not in forms and not isinstance(each.const, str)]
    params += {each.param for each in command.options if each.overrules}  # each value of it has an option
    if command.operand is not None:
        # Several paths are several calls of a method that takes one.
        several = command.operand.param == "paths" and "paths" not in METHODS[method].params
        params.append("path" if several else command.operand.param)
    if command.second is not None:
        params.append(command.second.param)
    wanted = {param for param in METHODS[method].params if not param.endswith("_b64")} - meaningless
    assert sorted(params) == sorted(wanted)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_choices_are_those_of_the_method(name: str) -> None:
    params = METHODS[CALLS[name][0]].params
    for option in COMMANDS[name].options:
        if option.param in params and not isinstance(option.const, str):
            assert option.choices == (params[option.param].choices or ())


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_can_be_run_and_explains_itself(name: str) -> None:
    command = COMMANDS[name]
    module, _, function = command.run.partition(":")
    assert callable(getattr(import_module(f"livedex_ipc.cli.commands.{module}"), function))
    text = help_text(f"livedex {name}", command)
    for option in (*command.options, *GLOBAL_OPTIONS):
        assert option.help in text
        assert all(flag in text for flag in option.flags)
    flags = [flag for option in (*command.options, *GLOBAL_OPTIONS) for flag in option.flags]
    assert len(flags) == len(set(flags))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_examples_of_the_help_can_be_read(name: str) -> None:
    import shlex

    for example in COMMANDS[name].examples:
        if example.startswith("livedex"):
            words = shlex.split(example.partition(" > ")[0])
            assert parsed(*words[1:]).command is COMMANDS[name]


WORDS = st.lists(st.sampled_from(["alpha", "beta", "roots", "", "-", "é"]), min_size=1, max_size=4)
OPTIONS = st.lists(
    st.sampled_from([["-n", "5"], ["-n5"], ["--offset=7"], ["--explain"], ["--no-fresh"], ["-g", "!*.md"], ["--json"]]),
    max_size=4,
)


@given(WORDS, OPTIONS, st.randoms(use_true_random=False))
def test_options_may_come_anywhere(words: list[str], options: list[list[str]], random: Any) -> None:
    mixed = [[word] for word in words]
    for option in options:
        mixed.insert(random.randint(0, len(mixed)), option)
    ordered = parsed("search", *[word for option in options for word in option], "--", *words)
    line = parsed("search", *[word for part in mixed for word in part])
    assert line.values["query"] == words == ordered.values["query"]
    assert line.json is ordered.json is (["--json"] in options)
    assert set(line.values) == set(ordered.values)


def test_after_two_dashes_all_are_words() -> None:
    line = parsed("search", "-n", "3", "--", "--json", "-x", "--")
    assert line.values == {"limit": 3, "query": ["--json", "-x", "--"]}
    assert not line.json


@pytest.mark.parametrize(
    "words", [("--json", "roots", "list"), ("roots", "--json", "list"), ("roots", "list", "--json")]
)
def test_the_form_may_be_chosen_before_and_after_the_command(words: tuple[str, ...]) -> None:
    line = parsed(*words)
    assert (line.title, line.json) == ("livedex roots list", True)
    assert parsed(*[word.replace("json", "no-spawn") for word in words]).no_spawn


def test_colours_may_be_chosen_before_and_after_the_command() -> None:
    assert parsed("status").color == "auto"
    for words in (("--color", "never", "roots", "list"), ("roots", "--color=never", "list")):
        assert parsed(*words, "--color=always").color == "always", "the last counts"
        assert parsed(*words).color == "never"
    assert refused("status", "--color", "alway").data == {
        "field": "--color",
        "nearest": "always",
        "remedy": "livedex status --help",
    }


@pytest.mark.parametrize("words", [(), ("search",), ("roots",), ("roots", "add"), ("completion",)])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_needs_nothing_else(words: tuple[str, ...], flag: str) -> None:
    assert parsed(*words, flag).wants == "help"
    assert parsed(*words, "--version").wants == "version"


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["serach", "x"], "search"),
        (["roots", "ad"], "add"),
        (["search", "x", "--explian"], "--explain"),
        (["search", "x", "--limits", "3"], "--limit"),
        (["search", "x", "--contxt", "3"], "--context"),
        (["search", "x", "--language=c"], "--lang"),
        (["search", "x", "--mode", "keywrd"], "keyword"),
        (["--jsn", "status"], "--json"),
        (["list", "--status", "index"], "indexed"),
        (["find", "x"], "search"),
        (["add", "x"], "up"),
        (["rm", "x"], "roots remove"),
        (["roots", "rm", "x"], "remove"),
        (["ls"], "list"),
        (["stop"], "down"),
        (["search", "x", "--type", "py"], "--lang"),
        (["search", "x", "--exclude=y"], "--glob"),
        (["search", "x", "-A", "3"], "--context"),
    ],
)
def test_a_misspelt_or_foreign_name_gets_the_one_that_is_meant(words: list[str], nearest: str) -> None:
    error = refused(*words)
    assert error.data is not None
    assert error.data["nearest"] == nearest
    assert error.message.endswith(f"did you mean {nearest}?")


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["search"], "QUERY"),
        (["search", "x", "-n"], "-n"),
        (["search", "x", "-n", "many"], "-n"),
        (["search", "x", "-n", "1.5"], "-n"),
        (["search", "x", "--timeout", "-1"], "--timeout"),
        (["search", "x", "--timeout", "nan"], "--timeout"),
        (["search", "x", "--since", "soon"], "--since"),
        (["search", "x", "--explain=yes"], "--explain"),
        (["search", "x", "-without"], "-without"),
        (["search", "x", "--in", ""], "--in"),
        (["search", "x", "--limit=3x"], "--limit"),
        (["search", "x", "--all=3"], "--all"),
        (["status", "now"], "now"),
        (["retrieve"], "PATH"),
        (["retrieve", "a", "b"], "b"),
        (["roots", "add"], "PATH"),
        (["completion", "tcsh"], "SHELL"),
    ],
)
def test_wrong_usage_names_what_is_wrong(words: list[str], field: str) -> None:
    error = refused(*words)
    assert error.data is not None
    assert error.data["field"] == field
    assert error.data["remedy"].endswith("--help")


def test_a_number_of_too_many_digits_is_refused_for_what_it_is() -> None:
    assert "is not a whole number of at most 18 digits" in refused("search", "x", "-n", "9" * 20).message


def test_values_become_what_the_method_takes() -> None:
    values = parsed("search", "a", "--timeout", "0.25", "--no-fresh", "-g", "*.md", "-g", "!b", "--since", "2d").values
    assert values["timeout_ms"] == 250
    assert values["fresh"] is False
    assert values["globs"] == ["*.md", "!b"]
    assert values["modified_after"].endswith("Z")


@given(st.integers(0, 10**9))
def test_seconds_are_rounded_up_to_milliseconds(microseconds: int) -> None:
    text = f"{microseconds // 10**6}.{microseconds % 10**6:06}"
    assert parsed("sync", "--timeout", text).values["timeout_ms"] == -(-microseconds // 1000)


@given(st.lists(st.binary(min_size=1).filter(lambda name: not set(name) & {0, 47}), min_size=1, max_size=4))
def test_any_bytes_of_a_path_arrive(parts: list[bytes]) -> None:
    path = b"/" + b"/".join(part for part in parts if part not in (b".", b".."))
    sent = absolute_path(os.fsdecode(path))
    assert path_bytes(wire_path(sent)) == sent == os.path.normpath(path)
    assert sorted(paths_bytes(wire_paths([sent, b"/a", sent])) or ()) == sorted([sent, b"/a", sent])


def test_a_relative_path_is_taken_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "far" / "real"
    real.mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    monkeypatch.chdir(tmp_path)
    assert absolute_path("a/./b/") == os.fsencode(tmp_path / "a" / "b")
    assert absolute_path(".") == os.fsencode(tmp_path)
    assert absolute_path("link") == os.fsencode(tmp_path / "link"), "a link itself may be asked about"
    assert absolute_path("link/../b") == os.fsencode(tmp_path / "far" / "b"), "as the kernel would go"
    assert absolute_path("link/..") == os.fsencode(tmp_path / "far")
    assert absolute_path("//a//b") == b"/a/b"


def test_a_relative_path_needs_a_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert absolute_path("/a") == b"/a"
    assert "working folder is gone" in refused("why", "a").message


def test_a_former_name_still_works() -> None:
    assert parsed("delete", "/a").title == "livedex forget"
