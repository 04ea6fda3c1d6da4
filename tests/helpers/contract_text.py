"""Reads docs/contract.md as data: its tables, its example configuration, its names.

Invariant: only what stands above the heading "Planned" counts; what is below it is not built yet.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from helpers.support import CHECKOUT

PLANNED = "\n## Planned\n"


def today() -> str:
    """The contract's text without its Planned part."""
    text, heading, _planned = (CHECKOUT / "docs" / "contract.md").read_text().partition(PLANNED)
    assert heading, "docs/contract.md has no heading Planned"
    return text


def table(first_heading: str) -> list[list[str]]:
    """The rows of the table whose first column is called ``first_heading``; each a list of its cells' Markdown."""
    lines = iter(today().splitlines())
    for line in lines:
        if line.startswith(f"| {first_heading} |"):
            break
    else:
        raise AssertionError(f"docs/contract.md has no table that begins with | {first_heading} |")
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows


def code_spans(markdown: str) -> list[str]:
    """What stands between backticks, in order."""
    return re.findall(r"`([^`]+)`", markdown)


def methods() -> dict[str, set[str]]:
    """Each documented method with the names of its params."""
    found: dict[str, set[str]] = {}
    for name_cell, meaning in table("method"):
        shared, _arrow, _result = meaning.partition("→")
        for span in code_spans(name_cell):
            name, _space, own = span.partition(" ")
            found[name] = _names(own) or _names("".join(code_spans(shared)))
    found["search"] = _search_params()
    found["search/subscribe"] = _search_params() - _refused_standing()
    return found


def _names(braced: str) -> set[str]:
    """``{path, limit? (1,000; at most 10,000)}`` → its names."""
    plain = re.sub(r"\([^)]*\)", "", braced)
    return {name.strip(" ?{}") for name in plain.split(",") if name.strip(" ?{}")}


def fields() -> dict[str, set[str]]:
    """Each documented method with the names at the top level of its result, none where words describe it."""
    found: dict[str, set[str]] = {}
    for name_cell, meaning in table("method"):
        _params, _arrow, result = meaning.partition("→")
        braced = next((span for span in code_spans(result) if span.startswith("{")), "{}")
        found.update({span.partition(" ")[0]: _names(_flat(braced)) for span in code_spans(name_cell)})
    found["search"] = _braced_after("The result is ") | _search_extras()
    return found


def _search_extras() -> set[str]:
    """The fields of a search's result that only apply at times: each with its meaning in brackets behind it."""
    said = today()[today().index("The result is ") :].partition("where they apply ")[2].partition("The pages of")[0]
    while (shorter := re.sub(r"\([^()]*\)", "", said)) != said:
        said = shorter
    return set(code_spans(said))


def hit_fields() -> set[str]:
    """The names in the paragraph about a hit, those that only apply at times among them."""
    start = today().index("A hit: `{")
    where_they_apply = today()[start:].partition("they apply ")[2].partition("`start_*`")[0]
    return _braced_after("A hit: ") | {span for span in code_spans(where_they_apply) if re.fullmatch(r"[a-z_]+", span)}


def _braced_after(words: str) -> set[str]:
    start = today().index(words + "`{")
    return _names(_flat(code_spans(today()[start:])[0]))


def _flat(braced: str) -> str:
    """``{a, b: {c, d}, e: [f]}`` → ``{a, b: , e: }``, then without what follows a colon."""
    inner = braced.strip()[1:-1]
    while re.search(r"\{[^{}]*\}|\[[^\[\]]*\]", inner):
        inner = re.sub(r"\{[^{}]*\}|\[[^\[\]]*\]", "", inner)
    return re.sub(r":[^,]*", "", inner)


def _search_params() -> set[str]:
    """The names in the paragraph that begins with **search** takes."""
    start = today().index("**search** takes")
    paragraph = today()[start:].partition("\n\n")[0].partition("takes")[2]
    explained = re.sub(r"\([^)]*\)", "", paragraph)
    return set(code_spans(explained))


def _refused_standing() -> set[str]:
    """The params of a search that a standing query does not take."""
    sentence = next(part for part in today().split(". ") if part.endswith(" are refused there"))
    return set(code_spans(sentence))


def commands() -> dict[str, set[str]]:
    """Each documented command (``roots add``) with the options its row names (``--limit``, ``-n``)."""
    found: dict[str, set[str]] = {}
    for row in table("command"):
        (usage, *_more) = code_spans(row[0])
        options = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", usage))
        for name in _command_names(usage):
            found[name] = options
    return found


def _command_names(usage: str) -> list[str]:
    words = usage.split()
    assert words[0] == "livedex", usage
    group, variants = words[1], " ".join(words[2:])
    if "/" not in variants:
        return [group]
    return [f"{group} {variant.split()[0]}" for variant in variants.split("/")]


def settings() -> dict[str, Any]:
    """The example configuration, flattened: ``{"index.max_file_size": "8MiB", …}``; a root's keys as ``roots.path``."""
    match = re.search(r"```toml\n(.*?)```", today(), re.DOTALL)
    assert match, "docs/contract.md has no TOML block"
    found: dict[str, Any] = {}
    for name, content in tomllib.loads(match[1]).items():
        for entry in content if isinstance(content, list) else [content]:
            found.update({f"{name}.{key}": value for key, value in entry.items()})
    return found


def errors() -> dict[int, int]:
    """Each documented error code with the exit code of a command that meets it."""
    return {int(code_spans(code)[0]): int(exit_code) for code, _meaning, exit_code in table("error")}


def warnings() -> set[str]:
    """The documented warning codes."""
    return {code_spans(row[0])[0] for row in table("warning")}
