"""Recognises the line that makes a name a member of the type around it: of an enumeration, a structure, a class.

Invariant: pure; a line is judged by itself, in time linear in its length.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from livedex_indexing.query.declaring_line import MACRO, lines_with

_KINDS: Final = r"(?:class|enum|extension|interface|message|object|protocol|record|struct|trait|type|union)"
_ENDED: Final = r"[ \t]*(?:[=,;{}?!]|:(?!:)|$|//|/\*|#|\()(?![=>])"
# RED,    RED = 1,    Red(u8),    red: u8,    case red    val red: Int
_ALONE: Final = re.compile(r"[ \t]*+(?:(?:case|const|let|val|var|va[lr])[ \t]+|[|@-][ \t]*)?\Z")
_CALLED: Final = re.compile(r"[ \t]*\(.*;[ \t]*\Z")  # walk(tree);
# private final int red;    struct list_head *red, *green;    pub red: u8,    readonly red?: string
_TYPED: Final = re.compile(
    rf"[ \t]*+(?!(?:friend[ \t]+)?{_KINDS}[ \t]+\Z)(?!(?:assert|await|case|del|elif|else|except|for|from|goto|if|"
    r"import|in|new|not|raise|return|throw|while|with|yield)\b)(?:(?:[\w.<>\[\],?*&@]|::)++(?:\(\w*+\))?[ \t*&]++)++"
    r"[*&$]*\Z"
)  # also protected $red;
# … red;    … red, green;    … red = 1    … red { get; set; }
_SET: Final = re.compile(
    r"(?:[ \t]*+\[[^\[\]]*\])*+[ \t]*(?:=(?!=)|(?:,[^()]*)?;[ \t]*(?://.*|/\*.*|#.*)?\Z|"
    r"\{[ \t]*(?:(?:internal|private|protected)[ \t]+)?(?:get|init|set)\b)"
)
_POINTED: Final = re.compile(r"\([ \t]*\*[ \t]*\Z")  # int (*red)(int hue);
# pub red: u8,    readonly red?: string    private static final int red
_MODIFIED: Final = re.compile(
    r"[ \t]*(?:const|final|internal|let|private|protected|pub(?:\([^()]*\))?|public|readonly|static|val|var|volatile)\b"
)
_OF_MODIFIED: Final = re.compile(r"[ \t]*(?:,|[?!]?:(?!:)|\Z)")
# self.red = 1    this.red = 1    $this->red = 1    @red = 1
_OF_SELF: Final = re.compile(r"[ \t]*+(?:self\.|this\.|\$this->|@)\Z")
_ASSIGNED: Final = re.compile(r"[ \t]*(?::[^=]*)?=(?!=)")
# | Red Int    = Red    data Hue = Green | Red
_OF_SUM: Final = re.compile(r"[ \t]*(?:(?:data|newtype|type)[ \t][^=|]*=|=|\|)(?:[^=|]*\|)*[ \t]*\Z")
_SUM: Final = re.compile(r"^[ \t]*(?:data|newtype|type)[ \t].*", re.MULTILINE)
_ALTERNATIVE: Final = re.compile(r"[ \t]*(?:[|=]|--|\{-|\(\*|\Z)")
_BRANCH: Final = re.compile(r".*(?:->|=|\|[ \t]*\Z)")  # | red -> 1    | red | green |
# const (    RED Hue = 1
_GROUP: Final = re.compile(r"^(?:(?P<begins>const|type|var)[ \t]*\([ \t]*|\))$", re.MULTILINE)
_OF_GROUP: Final = re.compile(r"(?:[ \t]+[\w.*\[\]]+)?[ \t]*(?:=(?!=).*|//.*)?\Z")
# red, green map[string]int    red() error
_OF_GO: Final = re.compile(
    r"[ \t]+(?:map|(?:<-)?chan(?:<-)?[ \t]+)?(?:\[[^\[\]]*\])*+\*?"
    r"(?:\w+(?:\.\w+)?|func\(.*|struct ?\{\}?|interface ?\{\}?)"
    r"[ \t]*(?:`.*|//.*)?\Z"
)
# public enum Red {    typedef struct {    type Red struct {    pub union Red {    enum class Red(val code: Int) {
_MODIFIERS: Final = (
    r"[ \t]*(?:(?:@\w+(?:\([^()]*\))?|abstract|const|data|declare|default|export|extern|final|fileprivate|inner|"
    r"internal|open|partial|private|protected|pub(?:\([^()]*\))?|public|readonly|sealed|static|strictfp|typedef|unsafe|value|"
    r"volatile|enum(?= class))[ \t]+)*"
)
_TYPE: Final = re.compile(
    rf"^{_MODIFIERS}(?P<kind>{_KINDS})\b(?![ \t]+\w+[ \t*]+\w+\()",  # enum red walk(
    re.MULTILINE,
)
_KEYWORD: Final = re.compile(rf"{_MODIFIERS}{_KINDS}[ \t]+{MACRO}")
_HEADER: Final = re.compile(r"[ \t]*(?:[<({=]|:(?!:)|\Z|(?:extends|final|implements|where)\b)")
_WITHOUT_BODY: Final = re.compile(r"[ \t]*;")  # struct Red;    of C, it is defined elsewhere
_WITH_ARGUMENTS: Final = ("class", "enum", "object", "record")  # … that may be behind the name of the type
_BRACE: Final = re.compile(r"[{}]")
_COMMENT: Final = re.compile(
    r"(?<![\w\"'])/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|//[^\n]*|^[ \t]*(?:\*(?!/)|#)[^\n]*", re.MULTILINE
)
# if (wet) {    hue = 1;    mix(hue);    … and not `private int hue = 1;`, `int mix(int);`, `NEEDS_LOCK(mutex);`
_STATEMENT: Final = re.compile(
    r"\b(?:break|case|do|else|for|goto|if|return|switch|while)\b|"
    r"^(?![ \t]*(?:constexpr|extern|final|internal|private|protected|pub|public|readonly|static)\b)"
    r"(?:[^=;\n]*[\w\]][ \t]*[-+|&]?=(?!=).*;|[ \t]*(?:\w+(?:\.|->|::))*(?![A-Z][A-Z\d_]*\()\w+\(.*\);)",
    re.MULTILINE,
)
_AHEAD: Final = 8_000  # characters in front of a name that are looked at: more than chunks of most files have
_LINES: Final = 24  # with the name in one text that are looked at
_LISTED: Final = re.compile(r"(?:[^{]*\{)?[ \t]*+(?:\w++[ \t]*(?:=[^,(){}]*)?,[ \t]*+)*+\Z")


def has_member(text: str, name: str) -> bool:
    """Whether a line of the text, which is a part of a type, likely makes the name a member of that."""
    return any(_is_member(before, after, name) for _, before, after in lines_with(text, name))


def member_at(text: str, name: str, owner: str = "", *, surely: bool = False) -> int | None:
    """Return where a line of the text, which is any part of a file, makes the name a member of a type in braces: of the
    ``owner`` if one is typed there, and with its own type if a line has it; None where no line does. ``surely``: the
    braces begin in the text."""
    found = _members(text, name, owner, surely=surely)
    return found[max(found)] if found else None


def is_member_of(text: str, name: str, owner: str) -> bool:
    """Whether a line of the text makes the name a member of the type ``owner`` whose braces begin in the text."""
    return any(is_of_owner for is_of_owner, _ in _members(text, name, owner, surely=True))


def _members(text: str, name: str, owner: str, *, surely: bool) -> dict[tuple[bool, bool], int]:
    """Return the first places where lines make the name a member of a type: of the ``owner`` or not, with its own type
    or not."""
    found: dict[tuple[bool, bool], int] = {}
    for at, before, after in islice(lines_with(text, name), _LINES):
        if _is_alternative(before, after, name):
            header = _sum_around(text[:at])
        elif _is_in_group(before, after, text[:at]):
            header = ""
        else:
            header = _type_around(text[:at], after, surely=surely) if _is_member(before, after, name) else None
        if header is not None:
            is_of_owner = owner != "" and re.search(rf"\b{re.escape(owner)}\b", header) is not None
            found.setdefault((is_of_owner, _is_typed(before, after)), at)
    return found


def typed_at(text: str, name: str) -> int | None:
    """Return where a line of the text, which is any part of a file, likely makes the name a member of a type and has
    the type of the member in front of it; None where no line does."""
    for at, before, after in islice(lines_with(text, name), _LINES):
        if _is_typed(before, after) and _type_around(text[:at], after) is not None:
            return at
    return None


def first_set_at(text: str, name: str) -> int | None:
    """Return where the text first sets the name as a member of what a method is called for; None where it does not."""
    lines = lines_with(text, name)
    return next((at for at, before, after in lines if _OF_SELF.match(before) and _ASSIGNED.match(after)), None)


def _type_around(ahead: str, after: str, *, surely: bool = False) -> str | None:
    """Return the header of the type in whose braces is what is next; None where it is in none. Where they begin before
    the text ``ahead``, the header is empty, no line of the text may be a statement, and something must be ``after`` the
    name, unless its type is in front of it; ``surely``: they must not."""
    is_likely = not surely and ahead.strip() and (after.strip() or _TYPED.match(ahead.rpartition("\n")[2]))
    ahead = _COMMENT.sub("", ahead[-_AHEAD:])
    part = _behind_edge(_POINTED.sub("", ahead))
    if part.count("(") > part.count(")"):  # a parameter, maybe of a type
        return part if _TYPE.search(part) else None
    depth, end, around = 0, len(ahead), list[str]()  # without what is in braces of its own
    for brace in reversed([*_BRACE.finditer(ahead)]):
        if brace[0] == "}":
            around += [] if depth else [ahead[brace.end() : end]]
            depth += 1
        elif depth:
            depth, end = depth - 1, brace.start()
        elif not ahead[: brace.start()].strip():  # its header is in the chunk before
            ahead, end = ahead[brace.end() : end], end - brace.end()
        else:
            header = _behind_edge(ahead[: brace.start()]).rstrip()
            found = None if header.endswith("=") else _TYPE.search(header)  # an initialiser has a type, too
            is_type = found is not None and (not header.endswith(")") or found["kind"] in _WITH_ARGUMENTS)
            return header if is_type else None
    around += [] if depth else [ahead[:end]]
    return "" if is_likely and not _STATEMENT.search("\n".join(around)) else None


def _behind_edge(text: str) -> str:
    """Return what is behind the last brace or semicolon of a text."""
    return text[max(map(text.rfind, ";{}")) + 1 :]


def _is_in_group(before: str, after: str, ahead: str) -> bool:
    """Whether a line is in the brackets that Go puts around declarations."""
    if before.strip() or not before or _OF_GROUP.match(after) is None:
        return False
    borders = [*_GROUP.finditer(ahead)][-1:]
    return bool(borders) and borders[0]["begins"] is not None


def _sum_around(ahead: str) -> str | None:
    """Return the line that begins the type of which what is next is an alternative; None where it is of none."""
    begins = [*_SUM.finditer(ahead)][-1:]
    if begins and all(map(_ALTERNATIVE.match, ahead[begins[0].end() :].split("\n"))):
        return begins[0][0]
    return None


def is_type(text: str, name: str) -> bool:
    """Whether the text has a keyword of types or namespaces in front of the name."""
    return re.search(rf"\b(?:{_KINDS}|mod|module|namespace)[ \t]+{re.escape(name)}(?!\w)", text) is not None


def begins_type(text: str, name: str) -> float:
    """Return 1 if a line of the text begins with a type of that name, less for one without a body, else 0."""
    found = [after for _, before, after in lines_with(text, name) if _KEYWORD.fullmatch(before)]
    return max(
        (1.0 if _HEADER.match(after) else 0.5 if _WITHOUT_BODY.match(after) else 0.0 for after in found), default=0.0
    )


def _is_alternative(before: str, after: str, name: str) -> bool:
    return name[0].isupper() and _OF_SUM.match(before) is not None and _BRANCH.match(after) is None


def _is_typed(before: str, after: str) -> bool:
    if _POINTED.search(before) and after[:1] == ")":
        before, after = _POINTED.sub("", before), ";"
    if _TYPED.match(before) is None:
        return False
    return bool(_SET.match(after) or (_MODIFIED.match(before) and _OF_MODIFIED.match(after)))


def _is_member(before: str, after: str, name: str) -> bool:
    if _is_alternative(before, after, name):
        return True
    if _ALONE.match(before):
        is_ended = re.match(_ENDED, after) and not (_CALLED.match(after) and name.islower())
        return bool(is_ended or _OF_GO.match(after))
    if _OF_SELF.match(before):
        return _ASSIGNED.match(after) is not None
    if _is_typed(before, after):
        return True
    return _LISTED.match(before) is not None and re.match(_ENDED, after) is not None
