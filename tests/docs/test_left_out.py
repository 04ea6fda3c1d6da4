"""The page of what is left out by default and the program have the same names."""

from __future__ import annotations

import re

from helpers.support import CHECKOUT
from livedex_indexing.ignore.defaults import (
    FILE_RULES,
    FOLDER_MARKERS,
    FOLDER_RULES,
    SUFFIX_RULES,
    Markers,
    builtin,
)
from livedex_indexing.ignore.secret_names import SECRET_FOLDERS, SECRET_NAMES, SECRET_SUFFIXES, SECRETS_INSIDE

PAGE = (CHECKOUT / "docs" / "left-out.md").read_text()
SECRETS = ("Files with these names", "Folders", "Suffixes")


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def names(text: str) -> set[bytes]:
    return {name.encode() for name in re.findall(r"`([^`]+)`", text)}


def listed(text: str) -> set[bytes]:
    """Return the names of the paragraphs that only list names."""
    paragraphs = [paragraph for paragraph in text.split("\n\n") if re.fullmatch(r"\s*(`[^`]+`\s*)+", paragraph)]
    return names("\n".join(paragraphs))


def items(text: str) -> dict[bytes, str]:
    """Return the items of a list: the first name in each, and the text after its colon."""
    found = re.findall(r"^- (?:in )?`([^`]+)`: (.*(?:\n  .*)*)", text, re.MULTILINE)
    return {name.encode(): rest for name, rest in found}


def test_folders() -> None:
    kinds = {"vcs": "Version control", "default": "What tools make"}
    for kind, title in kinds.items():
        assert listed(section(title)) == {name for name, rule in FOLDER_RULES.items() if rule.kind == kind}


def test_folders_with_markers() -> None:
    documented = {}
    for name, text in items(section("Folders with everyday names")).items():
        beside, _, inside = text.replace("\n", " ").partition("in it")
        documented[name] = Markers(*(tuple(sorted(names(part))) for part in (beside, inside)))
    assert documented == {
        name: Markers(tuple(sorted(markers.siblings)), tuple(sorted(markers.inside)))
        for name, markers in FOLDER_MARKERS.items()
    }


def test_files() -> None:
    suffixes = listed(section("Binary files")) | listed(section("Swap and backup files")) | {b".lock"}
    assert suffixes == set(SUFFIX_RULES)
    assert listed(section("Lock files, and files of the desktop")) == set(FILE_RULES)
    patterns = re.findall(r"`([^`]*\*[^`]*)`", section("Swap and backup files"))
    assert len(patterns) == 8
    for pattern in patterns:
        rule = builtin(pattern.replace("*", "x").encode(), False)
        assert rule is not None and rule.pattern == pattern


def test_secrets() -> None:
    text = section("Likely secrets")
    parts = [text.partition(f"{title}:\n\n")[2].partition("\n\n")[0] for title in SECRETS]
    assert [names(part) for part in parts] == [set(SECRET_NAMES), set(SECRET_FOLDERS), set(SECRET_SUFFIXES)]
    assert {folder: names(inside) for folder, inside in items(text).items()} == SECRETS_INSIDE
    for name in (b".env.x", b"id_ed25519_work", b"ssh_host_rsa_key", b"client_secret_1.json", b".env~"):
        rule = builtin(name, False)
        assert rule is not None and rule.kind == "secret"
    for name in (b".env.example", b".env.sample", b".env.template", b"id_rsa.pub"):
        assert builtin(name, False) is None
