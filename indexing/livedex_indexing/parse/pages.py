"""Web pages to Markdown, with nothing escaped.

Invariant: a page that has text has it here, too, however deeply it is nested. Runs in the child only.
"""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from typing import Final

from html_to_markdown import ConversionError, ConversionOptions, PreprocessingOptions, convert

_OPTIONS: Final = ConversionOptions(
    autolinks=True,  # else an address that is the text of its own link stands there twice
    bullets="*",
    compact_tables=True,
    expand_abbreviations=False,
    extract_metadata=False,  # it would be put before the text as YAML
    hidden_content="all",
    highlight_style="none",
    include_blockquote_citations=False,
    inline_data_media="alt_text_only",
    preprocessing=PreprocessingOptions(enabled=False),  # it leaves out what looks like a menu or a form
    strip_tags=["b", "strong", "i", "em", "cite", "dfn", "var"],  # their marks, not their text
)
_UNSEEN: Final = frozenset(("script", "style"))
_TITLE: Final = re.compile(r"<title(?:\s[^<>]*)?>", re.IGNORECASE)
_TITLE_END: Final = re.compile(r"</title", re.IGNORECASE)
_PRE_OR_LINK: Final = re.compile(r"<(?P<end>/?)(?P<name>pre|a)(?:\s[^<>]*)?>", re.IGNORECASE)
_BLOCK: Final = r"^[ >*\d.)+-]*(?P<fence>`{3,})[^`\n]*\n(?s:.*?)\n[ >]*(?P=fence)$"
_SPAN: Final = r"(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
_ESCAPED: Final = re.compile(rf"{_BLOCK}|{_SPAN}|\\(?P<mark>[!-/:-@\[-`{{-~])", re.MULTILINE)


def page_text(text: str) -> str:
    """Return a page as Markdown, with its title, which is outside of its body."""
    found = _converted(text)
    title = _title(text)
    return found if title in found else f"# {title}\n\n{found}"


def _converted(text: str) -> str:
    try:
        found = convert(_without_links_in_code(text), _OPTIONS)
    except BaseException as error:  # a panic of the library is no Exception
        if isinstance(error, ConversionError) or type(error).__name__ == "PanicException":
            return _bare(text)
        raise
    content = (found.content or "").strip()
    if not content or any(str(warning.kind) == "depth_limit_exceeded" for warning in found.warnings):
        return _bare(text)
    return _ESCAPED.sub(_as_typed, content) if "\\" in content else content


def _without_links_in_code(text: str) -> str:
    """Return a page whose preformatted text has no links: they would stand in the midst of code."""
    is_code = False

    def kept(tag: re.Match[str]) -> str:
        nonlocal is_code
        if tag["name"].lower() == "pre":
            is_code = not tag["end"]
        elif is_code:
            return ""
        return tag[0]

    return _PRE_OR_LINK.sub(kept, text)


def _as_typed(found: re.Match[str]) -> str:
    """Return what was escaped as it was in the page. In code only the bars of a table's cells are escaped."""
    if found["mark"]:
        return found["mark"]
    text = found.string
    row = found["ticks"] and text.startswith("|", text.rfind("\n", 0, found.start()) + 1)
    return found[0].replace("\\|", "|") if row else found[0]


def _title(text: str) -> str:
    start = _TITLE.search(text)
    end = start and _TITLE_END.search(text, start.end())
    return " ".join(html.unescape(text[start.end() : end.start()]).split()) if start and end else ""


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._unseen = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _UNSEEN:
            self._unseen = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._unseen:
            self._unseen = ""

    def handle_data(self, data: str) -> None:
        if not self._unseen and data.strip():
            self.found.append(data.strip())


def _bare(text: str) -> str:
    """Return the bare texts of a page that is nested too deeply for anything else, or is damaged."""
    texts = _Texts()
    texts.feed(text)
    texts.close()
    return "\n".join(texts.found)
