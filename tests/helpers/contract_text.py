"""Reads the contract's pages as data: their tables, sections, example configuration and names.

Invariant: docs/planned.md does not count; what it names is not built yet.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from helpers.support import CHECKOUT

PAGES = ("promises", "commands", "configuration", "protocol")


def page(name: str) -> str:
    """The text of docs/``name``.md with each paragraph and list item on one line; code blocks as they are."""
    text = (CHECKOUT / "docs" / f"{name}.md").read_text()
    blocks = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(block if block.startswith("```") else _unwrapped(block) for block in blocks)


def _unwrapped(block: str) -> str:
    """The block with each continuation line joined to the line that it continues."""
    lines: list[str] = []
    for line in block.split("\n"):
        begins = not line.strip() or re.match(r"#|\||\s*[-*] |\s*\d+\. ", line)
        if begins or not lines or not lines[-1].strip() or lines[-1].startswith(("#", "|")):
            lines.append(line)
        else:
            lines[-1] += " " + line.strip()
    return "\n".join(lines)


def contract() -> str:
    """The text of all pages that describe what is built."""
    return "\n".join(page(name) for name in PAGES)


def planned() -> str:
    """The text of the page about what is not built."""
    return page("planned")


def sections(text: str, above: str) -> dict[str, str]:
    """The sections of level 3 below the heading ``## above``: title to text. A ``#`` in a code block is no heading."""
    found: dict[str, list[str]] = {}
    chapter = title = ""
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            chapter, title = line[3:], ""
        elif line.startswith("### ") and not fenced:
            title = line[4:]
        elif chapter == above and title:
            found.setdefault(title, []).append(line)
    assert found, f"no sections below {above}"
    return {title: "\n".join(lines) + "\n" for title, lines in found.items()}


def table(first_heading: str) -> list[list[str]]:
    """The rows of the table whose first column is called ``first_heading``; each a list of its cells' Markdown."""
    lines = iter(contract().splitlines())
    for line in lines:
        if line.startswith(f"| {first_heading} |"):
            break
    else:
        raise AssertionError(f"no page has a table that begins with | {first_heading} |")
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows


def code_spans(markdown: str) -> list[str]:
    """Return the texts between backticks, in order."""
    return re.findall(r"`([^`]+)`", markdown)


def methods() -> dict[str, set[str]]:
    """Each documented method with the names of its params."""
    found: dict[str, set[str]] = {}
    for name_cell, meaning in sections(page("protocol"), "Methods").items():
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
    """Return each documented method with the top-level names of its result; none if prose describes it."""
    found: dict[str, set[str]] = {}
    for name_cell, meaning in sections(page("protocol"), "Methods").items():
        _params, _arrow, result = meaning.partition("→")
        braced = next((span for span in code_spans(result) if span.startswith("{")), "{}")
        found.update({span.partition(" ")[0]: _names(_flat(braced)) for span in code_spans(name_cell)})
    found["search"] = _braced_after("The result is ") | _search_extras()
    return found


def _search_extras() -> set[str]:
    """Return the optional fields of a search's result; the meaning of each follows in parentheses."""
    said = (
        contract()[contract().index("The result is ") :].partition("where they apply ")[2].partition("The pages of")[0]
    )
    while (shorter := re.sub(r"\([^()]*\)", "", said)) != said:
        said = shorter
    return set(code_spans(said))


def hit_fields() -> set[str]:
    """Return the names in the paragraph about a hit, including the optional ones."""
    start = contract().index("A hit: `{")
    where_they_apply = contract()[start:].partition("they apply ")[2].partition("`start_*`")[0]
    return _braced_after("A hit: ") | {
        span for span in code_spans(where_they_apply) if re.fullmatch(r"[a-z][a-z_0-9]*", span)
    }


def _braced_after(words: str) -> set[str]:
    start = contract().index(words + "`{")
    return _names(_flat(code_spans(contract()[start:])[0]))


def _flat(braced: str) -> str:
    """Reduce ``{a, b: {c, d}, e: [f]}`` to ``{a, b: , e: }``, then remove what follows a colon."""
    inner = braced.strip()[1:-1]
    while re.search(r"\{[^{}]*\}|\[[^\[\]]*\]", inner):
        inner = re.sub(r"\{[^{}]*\}|\[[^\[\]]*\]", "", inner)
    return re.sub(r":[^,]*", "", inner)


def _search_params() -> set[str]:
    """Return the names in the paragraph that begins with **search** takes."""
    start = contract().index("**search** takes")
    paragraph = contract()[start:].partition("\n\n")[0].partition("takes")[2]
    explained = re.sub(r"\([^)]*\)", "", paragraph)
    return set(code_spans(explained))


def _refused_standing() -> set[str]:
    """The params of a search that a standing query does not take."""
    sentence = next(part for part in contract().split(". ") if part.endswith(" are refused there"))
    return set(code_spans(sentence))


def commands() -> dict[str, set[str]]:
    """Each documented command (``roots add``) with the options its row names (``--limit``, ``-n``)."""
    found: dict[str, set[str]] = {}
    for title, text in sections(page("commands"), "The subcommands").items():
        usages = [usage for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL) for usage in _usages(block)]
        assert usages and all(usage.split()[1] == title.strip("`") for usage in usages), title
        for usage in usages:
            name = re.match(r"livedex ([a-z]+(?: [a-z]+)?)", usage)
            assert name, usage
            found[name[1]] = set(re.findall(r"(?<![\w-])--?[A-Za-z0-9][\w-]*", usage))
    return found


def _usages(block: str) -> list[str]:
    """Each usage of a block on one line; its continuation lines are indented."""
    return re.sub(r"\n\s+", " ", block.strip()).split("\n")


def settings() -> dict[str, Any]:
    """The example configuration, flattened: ``{"index.max_file_size": "8MiB", …}``; a root's keys as ``roots.path``."""
    match = re.search(r"```toml\n(.*?)```", contract(), re.DOTALL)
    assert match, "docs/configuration.md has no TOML block"
    found: dict[str, Any] = {}
    for name, content in tomllib.loads(match[1]).items():
        for entry in content if isinstance(content, list) else [content]:
            found.update({f"{name}.{key}": value for key, value in entry.items()})
    return found


def errors() -> dict[int, int]:
    """Return each documented error code with the exit code of a command that gets it."""
    return {int(code_spans(code)[0]): int(exit_code) for code, _meaning, exit_code in table("error")}


def warnings() -> set[str]:
    """The documented warning codes."""
    part = re.split(r"^## ", page("protocol").partition("\n## Warnings\n")[2], flags=re.MULTILINE)[0]
    listed = re.findall(r"^- (`\w+`(?:, `\w+`)*): ", part, re.MULTILINE)
    return {code for codes in listed for code in code_spans(codes)}
