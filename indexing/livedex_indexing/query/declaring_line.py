"""Recognises the line that declares a name where no grammar says so: a variable of a style sheet, a key of a
configuration, a constant, a label, a target.

Invariant: pure; a line is judged by itself, by what is in front of the name and behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_QUOTE: Final = r"[\"'`]?"
_SIGNS: Final = r"[.$@%#&\\]{0,2}"  # of a name: $width, .tabs, #main, @gap, \foo
# key: value    "key": value    key = value    - key: value    .tabs {    $width: 1px
_ALONE: Final = re.compile(rf"[ \t]*(?:- )?{_SIGNS}{_QUOTE}\Z")
_SET: Final = re.compile(rf"{_QUOTE}[ \t]*(?::(?![:=])|[:?+]?=(?!=)|\{{)")
_MATCHED: Final = re.compile(r"[ \t]*=>")  # Walk => 1: of a type, where `walk => 1` and `"Walk" => 1` set a key
# const key =    static int key[] =    export key=
_BEHIND_WORDS: Final = re.compile(r"[ \t]*(?!(?:case|return)\b)(?:[\w-]+(?:<[^<>]*>)?[ \t*&]+){1,5}[$\\]?\Z")
_ASSIGNED: Final = re.compile(r"(?:\[[^\[\]]*\])*[ \t]*(?::[ \t]*[\w<>\[\], ]+)?=(?!=)")
# private val key: Int    let mut key;
_VARIABLE: Final = re.compile(r"[ \t]*(?:[\w@]+[ \t]+){0,4}(?:let|val|var)[ \t]+(?:mut[ \t]+)?\Z")
_OF_VARIABLE: Final = re.compile(r"[ \t]*(?:[:=;?!]|\Z)")
# .tabs,
_SELECTOR: Final = re.compile(r"[ \t]*[.#]\Z")
_LISTED: Final = re.compile(r"[ \t]*,?[ \t]*\Z")
MACRO: Final = r"(?:(?:[A-Z][A-Z\d]*_[A-Z_\d]+|__\w+)[ \t]+)?"  # class LAMP_EXPORT Walk    struct __packed walk
# config KEY    @mixin name    #define KEY    \label{name}    .. option:: --name    CREATE TABLE name    @book{name,
# .. _name:    [.. name]    [[name]]    [#name]    :CUSTOM_ID: name    #+name: name    {#name}    id="name"
_KEYWORDS: Final = (
    r"alias|class|config|const|create (?:index|table|type|view)|def|define|enum|fn|func|function|interface|key|macro|"
    r"menuconfig|mixin|module|namespace|newcommand|newenvironment|option|package|placeholder|proc|property|providecommand|"
    r"renewcommand|set|struct|sub|target|trait|type|var"
)
_DECLARED: Final = re.compile(
    rf"(?:[ \t]*[@#\\]?[ \t]*(?:export[ \t]+|local[ \t]+)?(?:{_KEYWORDS})\*?[ \t{{]+(?-i:{MACRO})|"
    r".*\\(?:label|bibitem(?:\[[^\[\]]*\])?|hypertarget)\{|[ \t]*\.\.[ \t]+(?:[\w:-]+::[ \t]*|_`?|\[)|"
    rf"[ \t]*(?:@\w+\{{[ \t]*|\[\[|\[#|:CUSTOM_ID:[ \t]+|#\+name:[ \t]*)|.*(?:\{{#|\bid=)){_SIGNS}{_QUOTE}\Z",
    re.IGNORECASE,
)
# has_many :walks    t.string "walk"    field(:walk, :string)
_OF_FIELDS: Final = re.compile(
    r"[ \t]*(?:argument|attribute|belongs_to|embeds_(?:many|one)|enum|field|has_(?:and_belongs_to_many|many|one)|"
    r"property|scope|t\.[a-z]\w*)[ \t(]+[:\"']\Z"
)
# attr_reader :tree, :walk    exports.walk =    Tree.prototype.walk =
_OF_RUBY: Final = re.compile(r"[ \t]*(?:private[ \t]+)?(?:[a-z]+_)*[a-z]*attr(?:_[a-z]+)?[ \t(]+(?::\w+,[ \t]*)*:\Z")
_EXPORTED: Final = re.compile(r"[ \t]*(?:(?:module\.)?exports|\w+\.prototype)\.\Z")
# os.environ["WALK"]    getenv("WALK")    process.env.WALK    ENV["WALK"]: nothing else declares a variable that is read
_READ: Final = re.compile(
    r"(?:environ(?:\.get|\.setdefault)?|[gG]etenv|LookupEnv|ENV(?:\.fetch)?|process\.env|env::var(?:_os)?)"
    r"(?:\.|[\[(][\"'])\Z"
)
# class Walk    def walk    func (t *Tree) walk    const walk    typedef struct walk
_KEYWORD: Final = re.compile(
    r"\b(?:class|config|const|def(?:delegate|exception|guardp?|macrop?|module|p|protocol)?|define|enum|fn|func|function|"
    r"interface|macro(?:_rules!)?|module|namespace|object|proc|record|struct|sub|trait|type|typedef|union)"
    r"(?:\s*\([^()]*\))?[ \t*&]+"
    rf"{MACRO}(?:\w+(?:<[^<>]*>)?(?:\.|::?))*\Z"
)  # also def self.walk    function M.walk    class LAMP_EXPORT Walk
_NO_CODE: Final = re.compile(r"[ \t]*(?:friend\b|/?\*|//|--)")  # friend class Walk;    * enum walk - how to walk
# struct walk *step;    const Walk step =
_OF_C: Final = re.compile(r"\b(?:class|const|enum|struct|union)[ \t]+\Z")
_TYPE_USED: Final = re.compile(r"[ \t]*[*&]|[ \t]+[A-Za-z_]\w*[ \t]*[;=,)\[]")
# typedef struct tree walk;    } walk;
_TYPEDEF: Final = re.compile(r"[ \t]*(?:typedef\b(?!.*\().*[\w \t*&>]|\}[ \t]*)\Z")
_TYPEDEF_OF_FUNCTION: Final = re.compile(r"[ \t]*typedef\b[^;]*\([ \t]*\*[ \t]*\Z")  # typedef int (*walk)(int);
_NOTHING: Final = re.compile(r"(?:[ \t]*\[[^\[\]]*\])*[ \t]*;")
_OF_OTHER: Final = re.compile(r"(?:<[^<>]*>)?(?:::|\.)\w")  # class Walk::Step    fun Walk.step
# message Walk    data Walk    function(walk    (defun walk    (define (walk
_AT_START: Final = re.compile(
    r"[ \t]*(?:(?:data|message|newtype|rpc|service)[ \t]+|(?i:function|macro)[ \t]*\([ \t]*|"
    r"\((?:cl-)?def\S*[ \t]+\(?)\Z"
)
# walk <- function(x)    walk = function(x)    walk :: Tree -> Int
_TYPED: Final = re.compile(r"[ \t]*(?:<-|=)[ \t]*function\b|[ \t]+::[ \t]")
# static int *walk(struct tree *t)    public void walk() {    void Tree::walk() {    walk(t) {
_RETURNED: Final = re.compile(
    r"(?![ \t]*(?:else|new|return|throw|yield)\b)[\w \t*&:<>,\[\]]*[\w*&>\]][ \t*&]+(?:\w+(?:<[^<>]*>)?::)*~?\Z"
)
_HEADER: Final = re.compile(r"[ \t]*\((?!.*;[ \t]*\Z)")
_FIELD: Final = re.compile(r"(?:[ \t]*\[[^\[\]]*\])*[ \t]*(?::[ \t]*\d+)?;")  # u32 walk[4];
_BODY: Final = re.compile(r"[ \t]*\([^()]*\)[^;]*\{[ \t]*\Z")
_WORD: Final = re.compile(r"\w+")
_PLACES: Final = 400  # of a name that are looked at in one text
_NEAR: Final = 400  # characters of a line before the name, and behind it
_CUT: Final = "\0"
_PROSE: Final = re.compile(r"[ \t]+[a-z]+[ \t]+[a-z]")


def declares(text: str, name: str) -> bool:
    """Whether a line of the text declares the name, given in its case."""
    return declared_at(text, name) is not None


def declared_at(text: str, name: str) -> int | None:
    """Return where a line of the text declares the name, given in its case; None where no line does."""
    return next((at for at, before, after in lines_with(text, name) if _is_declared(before, after, name)), None)


def introduced_at(text: str, name: str) -> int | None:
    """Return where a line of the text declares the name by a keyword or with its type, rather than that it only sets
    the name; None where no line does."""
    return next((at for at, before, after in lines_with(text, name) if _is_introduced(before, after, name)), None)


def labels(text: str, name: str) -> bool:
    """Whether a line of the text makes the name a label, or a name of something else that a keyword tells."""
    return any(_is_labelled(before, after) for _, before, after in lines_with(text, name))


def defines(text: str, name: str, *, is_member: bool) -> bool:
    """Whether a line of the text likely defines the name, given in its case, as a type or a function; ``is_member``: or
    as a field."""
    return any(_is_defined(before, after, is_member=is_member) for _, before, after in lines_with(text, name))


def defined_at(text: str, name: str, owner: str = "") -> int | None:
    """Return where a line of the text likely defines the name, given in its case, as a type or a function; None where
    no line does. Of several lines, that with the ``owner`` in front of the name counts, else the first one behind the
    definition of that, else the first one."""
    lines = lines_with(text, name)
    defining = ((at, before) for at, before, after in lines if _is_defined(before, after, is_member=False))
    first = next(defining, None)
    if first is None or not owner:
        return None if first is None else first[0]
    found = [first, *defining]
    of_owner = defined_at(text, owner) if len(found) > 1 else None
    in_front = [at for at, before in found if owner in _WORD.findall(before)]
    behind = [at for at, _ in found if of_owner is not None and at > of_owner]
    return (in_front or behind or [first[0]])[0]


def _is_defined(before: str, after: str, *, is_member: bool) -> bool:
    if _OF_OTHER.match(after) or _NO_CODE.match(before) or (_OF_C.search(before) and _TYPE_USED.match(after)):
        return False
    if (
        _KEYWORD.search(before)
        or _AT_START.match(before)
        or (not before.strip() and (_BODY.match(after) or _TYPED.match(after)))
    ):
        return True
    if (_NOTHING.match(after) and _TYPEDEF.match(before)) or (after[:1] == ")" and _TYPEDEF_OF_FUNCTION.match(before)):
        return True
    is_behind_type = _RETURNED.match(before) is not None
    return is_behind_type and bool(_HEADER.match(after) or (is_member and _FIELD.match(after)))


def lines_with(text: str, name: str) -> Iterator[tuple[int, str, str]]:
    """Yield where a text has a name, not as a part of a longer one, and what is before and behind it in its line: of
    the first places, and in a long line what is near, with a sign for the rest that no line begins or ends with."""
    left, at = _PLACES, text.find(name)
    while at >= 0 and left > 0:
        left -= 1
        end = at + len(name)
        is_label = text.endswith(".. _", 0, at)  # of reStructuredText
        if not ((not is_label and _continues(text[at - 1 : at], name[0])) or _continues(text[end : end + 1], name[-1])):
            near, far = max(0, at - _NEAR), end + _NEAR
            before, after = text[near:at].rpartition("\n"), text[end:far].partition("\n")
            is_whole = before[1] or not near
            is_ended = after[1] or far >= len(text)
            yield at, before[2] if is_whole else _CUT + before[2], after[0] if is_ended else after[0] + _CUT
        at = text.find(name, end)


def is_in_section(text: str, section: str, key: str) -> bool:
    """Whether a line of a text sets the key below the heading ``[section]``, before any other one."""
    at = text.find(f"[{section}]")
    while at >= 0:
        end = text.find("\n[", at)
        if declares(text[at : None if end < 0 else end], key):
            return True
        at = text.find(f"[{section}]", at + 1)
    return False


def _is_declared(before: str, after: str, name: str) -> bool:
    if _ALONE.match(before):
        if _SET.match(after):
            return not (name[0].isupper() and _MATCHED.match(after))
        return (name[0] in ".#" or _SELECTOR.match(before) is not None) and _LISTED.match(after) is not None
    return _READ.search(before) is not None or _is_introduced(before, after, name)


def _is_introduced(before: str, after: str, name: str) -> bool:
    if _VARIABLE.match(before) and _OF_VARIABLE.match(after):
        return True
    is_set = _BEHIND_WORDS.match(before) and _ASSIGNED.match(after)
    if is_set or _OF_RUBY.match(before) or _OF_FIELDS.match(before):
        return True
    if _EXPORTED.match(before) and _ASSIGNED.match(after):
        return not after.lstrip("= \t").startswith(name)  # else it is declared elsewhere
    return _is_labelled(before, after)


def _is_labelled(before: str, after: str) -> bool:
    return _DECLARED.match(before) is not None and _PROSE.match(after) is None


def _continues(character: str, edge: str) -> bool:
    """Whether a character beside the edge of a name belongs to a longer one."""
    return (edge.isalnum() or edge == "_") and (character.isalnum() or (character != "" and character in "_-"))
