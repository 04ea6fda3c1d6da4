"""Recognises the line that makes a name a member of the type around it: of an enumeration, a structure, a class.

Invariant: pure; a line is judged by itself, in time linear in its length.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from livedex_indexing.query.declaring_line import lines_with

_KINDS: Final = r"(?:class|enum|extension|interface|message|object|protocol|record|struct|trait|type|union)"
_ENDED: Final = r"[ \t]*(?:[=,;:{}?!]|$|//|/\*|#|\()(?!=)"
# RED,    RED = 1,    Red(u8),    red: u8,    case red    val red: Int
_ALONE: Final = re.compile(r"[ \t]*+(?:(?:case|const|let|val|var|va[lr])[ \t]+|[|@-][ \t]*)?\Z")
_CALLED: Final = re.compile(r"[ \t]*\(.*;[ \t]*\Z")  # walk(tree);
# private final int red;    struct list_head *red, *green;    pub red: u8,    readonly red?: string
_TYPED: Final = re.compile(
    r"[ \t]*+(?!(?:assert|await|case|del|elif|else|except|for|from|goto|if|import|in|new|not|raise|return|throw|while|"
    r"with|yield)\b)(?:[\w.:<>\[\],?*&@]++(?:\(\w*+\))?[ \t*&]++)++[*&]*\Z"
)
_SET: Final = re.compile(r"(?:[ \t]*+\[[^\[\]]*\])*+[ \t]*(?:=(?!=)|;|,|:|\?:|!:|\Z)")
# self.red = 1    this.red = 1    @red = 1
_OF_SELF: Final = re.compile(r"[ \t]*+(?:self\.|this\.|@)\Z")
_ASSIGNED: Final = re.compile(r"[ \t]*(?::[^=]*)?=(?!=)")
# red, green map[string]int    red() error
_OF_GO: Final = re.compile(
    r"[ \t]+(?:map)?(?:\[[^\[\]]*\])*+\*?(?:\w+(?:\.\w+)?|func\(.*|struct \{|interface \{\}?)[ \t]*(?:`.*|//.*)?\Z"
)
# public enum Red {    typedef struct {    type Red struct {    pub union Red {    enum class Red(val code: Int) {
_TYPE: Final = re.compile(
    r"^[ \t]*(?:(?:@\w+(?:\([^()]*\))?|abstract|const|data|declare|default|export|extern|final|fileprivate|inner|"
    r"internal|open|partial|private|protected|pub(?:\([^()]*\))?|public|readonly|sealed|static|strictfp|typedef|unsafe|value|"
    rf"volatile|enum(?= class))[ \t]+)*(?P<kind>{_KINDS})\b(?![ \t]+\w+[ \t*]+\w+\()",  # enum red walk(
    re.MULTILINE,
)
_WITH_ARGUMENTS: Final = ("class", "enum", "object", "record")  # … that may be behind the name of the type
_EDGE: Final = re.compile(r"[;{}]")
_COMMENT: Final = re.compile(r"[ \t]*(?:/?\*|//|#)")
_STATEMENT: Final = re.compile(
    r"\b(?:break|case|do|else|for|goto|if|return|switch|while)\b|[\w)\]][ \t]*[-+|&]?=(?!=).*;|\w\(.*\);"
)
_LINES: Final = 24  # with the name in one text that are looked at
_LISTED: Final = re.compile(r"(?:[^{]*\{)?[ \t]*+(?:\w++[ \t]*(?:=[^,(){}]*)?,[ \t]*+)*+\Z")


def has_member(text: str, name: str) -> bool:
    """Whether a line of the text, which is a part of a type, likely makes the name a member of that."""
    return any(_is_member(before, after, name) for _, before, after in lines_with(text, name))


def member_at(text: str, name: str, *, surely: bool = False) -> int | None:
    """Return where a line of the text, which is any part of a file, makes the name a member of a type in braces; None
    where no line does. ``surely``: the braces begin in the text."""
    for at, before, after in islice(lines_with(text, name), _LINES):
        if _is_member(before, after, name) and _is_in_type(text[:at], after, surely=surely):
            return at
    return None


def first_set_at(text: str, name: str) -> int | None:
    """Return where the text first sets the name as a member of what a method is called for; None where it does not."""
    lines = lines_with(text, name)
    return next((at for at, before, after in lines if _OF_SELF.match(before) and _ASSIGNED.match(after)), None)


def _is_in_type(ahead: str, after: str, *, surely: bool) -> bool:
    """Whether what is next is in the braces of a type. Where they begin before the text ``ahead``, no line of that may
    be a statement, and something must be ``after`` the name; ``surely``: they must not."""
    depth, edges = 0, [*_EDGE.finditer(ahead)]
    while edges:
        brace = edges.pop()
        depth += {"}": 1, "{": -1, ";": 0}[brace[0]]
        if depth < 0:
            header = ahead[edges[-1].end() if edges else 0 : brace.start()].rstrip()
            found = None if header.endswith("=") else _TYPE.search(header)  # an initialiser has a type, too
            return found is not None and (not header.endswith(")") or found["kind"] in _WITH_ARGUMENTS)
    lines = (line for line in ahead.split("\n") if not _COMMENT.match(line))
    return not surely and bool(ahead.strip() and after.strip()) and not any(map(_STATEMENT.search, lines))


def is_type(text: str, name: str) -> bool:
    """Whether the text has a keyword of types in front of the name."""
    return re.search(rf"\b{_KINDS}[ \t]+{re.escape(name)}(?!\w)", text) is not None


def _is_member(before: str, after: str, name: str) -> bool:
    if _ALONE.match(before):
        is_ended = re.match(_ENDED, after) and not (_CALLED.match(after) and name.islower())
        return bool(is_ended or _OF_GO.match(after))
    if _OF_SELF.match(before):
        return _ASSIGNED.match(after) is not None
    if _TYPED.match(before) and _SET.match(after):
        return True
    return _LISTED.match(before) is not None and re.match(_ENDED, after) is not None
