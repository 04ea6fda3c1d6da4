"""The pages of the contract and the code have the same names; a name that only one of them has is a failure."""

from __future__ import annotations

import ast
import re

import pytest

from helpers import contract_text
from helpers.support import CHECKOUT
from livedex_daemon.config.settings_schema import SETTINGS, known_keys
from livedex_ipc import errors, methods
from livedex_ipc.cli import arguments

# Options of every command, described once above the table of commands.
COMMON_OPTIONS = {"--json", "--color", "--no-spawn", "-h", "--help", "-V", "--version"}


def every_command() -> dict[str, arguments.Command]:
    found: dict[str, arguments.Command] = {}
    for command in arguments.ROOT.subcommands:
        if command.subcommands:
            found.update({f"{command.name} {leaf.name}": leaf for leaf in command.subcommands})
        else:
            found[command.name] = command
    return found


def every_error() -> list[type[errors.LivedexError]]:
    def below(kind: type[errors.LivedexError]) -> list[type[errors.LivedexError]]:
        return [kind, *(deeper for child in kind.__subclasses__() for deeper in below(child))]

    return [kind for kind in below(errors.LivedexError) if kind.__module__ == errors.__name__]


def test_methods_are_those_documented() -> None:
    assert set(contract_text.methods()) == set(methods.METHODS)


@pytest.mark.parametrize("name", sorted(methods.METHODS))
def test_params_are_those_documented(name: str) -> None:
    built = set(methods.METHODS[name].params)
    as_bytes = {f"{param}_b64" for param in ("path", "paths", "root", "roots") if param in built}
    assert contract_text.methods()[name] | as_bytes == built


@pytest.mark.parametrize("name", sorted(methods.METHODS))
def test_results_are_those_documented(name: str) -> None:
    assert {field.name for field in methods.METHODS[name].fields} == contract_text.fields()[name]


def test_hits_are_those_documented() -> None:
    assert {field.name for field in methods.HIT} == contract_text.hit_fields() | {"path_b64"}


def test_commands_are_those_documented() -> None:
    assert set(contract_text.commands()) == set(every_command())


@pytest.mark.parametrize("name", sorted(every_command()))
def test_options_are_those_documented(name: str) -> None:
    documented = contract_text.commands()[name]
    built = {flag for option in every_command()[name].options for flag in option.flags}
    assert documented <= built | COMMON_OPTIONS, "documented, not built"
    by_rule = {"--" + param.replace("_", "-") for method in methods.METHODS.values() for param in method.params}
    by_rule |= {"--glob", "--lang", "--root"}
    assert built <= documented | by_rule, "built, neither in the table nor the name of a param"


def test_settings_are_those_documented() -> None:
    assert set(contract_text.settings()) == set(known_keys())


def test_defaults_are_those_documented() -> None:
    example_only = {
        "index.encodings",
        "chunking.pipelines",
        "parsing.overrides",
    }  # empty by default, and an empty example explains nothing
    documented = contract_text.settings()
    for key, setting in SETTINGS.items():
        if key not in example_only:
            assert documented[key] == setting.default, key


def limits_of(key: str) -> tuple[str, str] | None:
    """Return the limits that the refusal of a value below all limits names; None if there are none."""
    for value in (-1, "0ms"):
        try:
            SETTINGS[key].read(value)
        except ValueError as fault:
            named = re.match(r"must be (?:between|from) (\S+) (?:and|to) ([^\s,]+)", str(fault))
            if named:
                return named[1], named[2]
    return None


def test_limits_of_settings_are_those_documented() -> None:
    rows = re.findall(r"^\| `(\w+\.\w+)` \| (\S+) \| ([^\s,|]+)", contract_text.page("configuration"), re.MULTILINE)
    documented = {key: (least, most) for key, least, most in rows}
    assert documented == {key: limits for key in SETTINGS if (limits := limits_of(key))}


def test_error_codes_are_those_documented() -> None:
    assert set(contract_text.errors()) == {kind.code for kind in every_error()}


def test_exit_codes_are_those_documented() -> None:
    documented = contract_text.errors()
    for kind in every_error():
        if kind is not errors.NoDaemon:
            assert documented[kind.code] == kind.exit_code, kind.__name__
    assert errors.NoDaemon.exit_code == 3


def warning_codes() -> set[str]:
    """The first argument of every call ``warning("code", …)``; the doctor has another function of that name."""
    found: set[object] = set()
    for folder in ("daemon", "indexing"):
        for path in (CHECKOUT / folder).rglob("*.py"):
            if path.parent.name == "doctor":
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "warning":
                    found.update(code.value for code in node.args[:1] if isinstance(code, ast.Constant))
    return {code for code in found if isinstance(code, str)}


def test_warning_codes_are_those_documented() -> None:
    assert warning_codes() == contract_text.warnings()


def test_commands_that_messages_name_are_those_documented() -> None:
    """A remedy is typed as it is read, so it names no former name."""
    top = {command.name: {leaf.name for leaf in command.subcommands} for command in arguments.ROOT.subcommands}
    for folder in ("daemon", "indexing", "ipc", "service"):
        for path in (CHECKOUT / folder).rglob("*.py"):
            for name, second in re.findall(r"`livedex ([a-z]+)(?: ([a-z]+)\b)?[^`]*`", path.read_text()):
                assert name in top, f"{path}: livedex {name}"
                assert not top[name] or not second or second in top[name], f"{path}: livedex {name} {second}"


def test_planned_names_are_not_built() -> None:
    named = re.findall(r"^- \*\*`(?:livedex )?([a-z.]+(?:/[a-z]+)?)", contract_text.planned(), re.MULTILINE)
    assert not set(named) & {*methods.METHODS, *every_command()}
