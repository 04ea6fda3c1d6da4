"""Find the definitions of code that is cut without its syntax, line by line: no grammar, or a file too large for it.

Invariant: a line is read by itself, in time linear in its length, and the definitions are in the order of their
beginnings, a container before its content. Indentation shows what is around a definition.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from livedex_indexing.chunk.symbols import Definition

VERSION: Final = 4  # increase it when a rule changes
_LONGEST_LINE: Final = 400  # characters; a longer one is data
_MAX_PARTS: Final = 8  # of a qualified name

_C_SHARP: Final = (
    r"(?:(?:public|private|protected|internal|static|sealed|abstract|partial|readonly|unsafe|async|virtual|override|"
    r"extern|const|required|file)[ \t]+)"
)
_KOTLIN: Final = (
    r"(?:(?:public|private|protected|internal|open|abstract|final|sealed|data|inner|inline|value|enum|annotation|"
    r"companion|override|suspend|operator|infix|tailrec|external|expect|actual|lateinit|const|fun)[ \t]+)"
)
_SCALA: Final = (
    r"(?:(?:private|protected|public|override|final|sealed|abstract|implicit|lazy|case|inline|opaque|transparent|open|"
    r"given)(?:\[\w+\])?[ \t]+)"
)
_SWIFT: Final = (
    r"(?:(?:public|private|fileprivate|internal|open|package|static|class|final|override|mutating|nonmutating|"
    r"indirect|lazy|weak|unowned|convenience|required|dynamic|nonisolated|async)(?:\(set\))?[ \t]+)"
)
_DART: Final = r"(?:(?:abstract|base|final|sealed|interface|mixin|static|external|late|const|covariant)[ \t]+)"
_ATTRIBUTES: Final = r"(?:@[\w.:]+(?:\([^()]*\))?[ \t]+|\[[^\[\]]*\][ \t]*)*"
_CLOSED: Final = re.compile(r"(?:\}|end\b)[\]});,]*$")
_JAVA: Final = (
    r"(?:(?:public|private|protected|static|abstract|final|synchronized|native|default|sealed|strictfp)[ \t]+)"
)
_RUST: Final = r'(?:pub(?:\([^()]*\))?[ \t]+|unsafe[ \t]+|async[ \t]+|const[ \t]+|extern[ \t]+(?:"\w+"[ \t]+)?)'
_TYPE: Final = r"[A-Za-z_][\w.]*(?:<[^()=;]{0,80}>)?(?:\[[\],]*\])*\??"  # of a value, where a language has it in front
_OWN: Final = re.compile(r"[.:]")
_STATEMENT: Final = r"(?!(?:return|await|throw|else|new|yield|using|case|var|if|in|do|assert|import|export|part)\b)"

_SCRIPT: Final = (
    r"(?:(?:export|default|declare|abstract|async|const)[ \t]+)*"
    r"(?:function[ \t]*\*?|class|interface|enum|namespace|module|type)[ \t]+([A-Za-z_$][\w$]*)",
    r"(?:(?:export|declare)[ \t]+)*(?:const|let|var)[ \t]+([\w$]+)[ \t]*=[ \t]*(?:async[ \t]*)?"
    r"(?:function\b|class\b|\([^()]*\)[ \t]*=>|[\w$]+[ \t]*=>)",
)
_C: Final = (
    r"(?:typedef[ \t]+)?(?:struct|union|enum|class)(?:[ \t]+class)?[ \t]+(\w+)[^;()]*$",
    r"#[ \t]*define[ \t]+(\w+)",
    rf"{_STATEMENT}(?!goto\b|typedef\b|sizeof\b)(?:\w+[ \t*&]+){{1,6}}(?:\w+::)*(\w+)\([^;{{}}]*\{{?$",
)

_LISP: Final = (r"\((?:cl-)?def[\w-]*\*?[ \t]+\(?'?([^\s()\"';]+)",)
_OBJECTIVE_C: Final = (
    r"@(?:interface|implementation|protocol)[ \t]+(\w+)(?!.*;$)",
    r"[-+][ \t]*\([^;{}]*?\)[ \t]*(\w+)",
    *_C,
)

# Each pattern matches at the first character of a line that is not a blank; its last group is the name.
_RULES: Final = {
    "ada": (r"(?i:procedure|function|package(?:[ \t]+body)?|type|task(?:[ \t]+(?:type|body))?)[ \t]+([\w.]+)",),
    "awk": (r"func(?:tion)?[ \t]+(\w+)",),
    "c": _C,
    "cmake": (r"(?i:function|macro|option|add_(?:library|executable|custom_target))[ \t]*\([ \t]*([\w.:-]+)",),
    "common lisp": _LISP,
    "cpp": _C,
    "cuda": _C,
    "emacs lisp": _LISP,
    "fortran": (
        r"(?i:(?:(?:pure|elemental|recursive|integer|real|logical|complex|character|double[ \t]+precision)"
        r"(?:\*\d+|\([^()]*\))?[ \t]+)*"
        r"(?:subroutine|function|module(?![ \t]+procedure\b)|program|interface))[ \t]+(\w+)",
    ),
    "glsl": _C,
    "go": (r"func[ \t]+(?:\([^()]*\)[ \t]*)?(\w+)", r"type[ \t]+(\w+)"),
    "graphql": (
        r"(?:extend[ \t]+)?(?:type|input|interface|enum|union|scalar|directive|query|mutation|subscription|fragment)"
        r"[ \t]+@?(\w+)",
    ),
    "hcl": (
        r"(?:resource|data)[ \t]+\"[^\"]*\"[ \t]+\"([^\"]+)\"",
        r"(?:variable|output|module|provider|job|group|task)[ \t]+\"([^\"]+)\"",
    ),
    "java": (
        rf"{_JAVA}*(?:class|interface|@interface|enum|record)[ \t]+(\w+)",
        rf"{_JAVA}+(?:<[^<>]*>[ \t]*)?(?:{_TYPE}[ \t]+)?(\w+)[ \t]*\(",
    ),
    "javascript": _SCRIPT,
    "objective-c": _OBJECTIVE_C,
    "objective-c++": _OBJECTIVE_C,
    "sql": (
        r"(?i:create(?:[ \t]+(?:or[ \t]+replace|global|local|temp|temporary|unlogged|unique|virtual|materialized))*"
        r"[ \t]+(?:table|view|function|procedure|trigger|index|type|sequence|schema|domain)"
        r"(?:[ \t]+if[ \t]+not[ \t]+exists)?)[ \t]+(?:[\w\"`\[\]]+\.)?[\"`\[]?(\w+)",
    ),
    "php": (
        r"(?:(?:abstract|final|readonly)[ \t]+)*(?:class|interface|trait|enum)[ \t]+(\w+)",
        r"(?:(?:public|private|protected|static|abstract|final)[ \t]+)*function[ \t]+&?(\w+)",
    ),
    "python": (r"class[ \t]+(\w+)", r"(?:async[ \t]+)?def[ \t]+(\w+)"),
    "pascal": (
        r"(?i:(?:class[ \t]+)?(?:procedure|function|constructor|destructor|unit|program))[ \t]+(?:\w+\.)?(\w+)",
        r"(\w+)[ \t]*=[ \t]*(?i:packed[ \t]+)?(?i:class|record|interface|object)\b",
    ),
    "racket": _LISP,
    "ruby": (r"(?:class|module)[ \t]+([\w:]+)", r"def[ \t]+(?:self\.)?(\w+[!?=]?)"),
    "rust": (rf"{_RUST}*(?:fn|struct|enum|trait|union|mod|type)[ \t]+(\w+)", r"macro_rules![ \t]*(\w+)"),
    "scheme": _LISP,
    "starlark": (r"def[ \t]+(\w+)",),
    "tcl": (r"(?:proc|method|namespace[ \t]+eval|(?:\w+::)*class(?:[ \t]+create)?)[ \t]+([\w:.-]+)",),
    "thrift": (r"(?:struct|union|exception|enum|service)[ \t]+(\w+)",),
    "tsx": _SCRIPT,
    "typescript": _SCRIPT,
    "c#": (
        rf"{_C_SHARP}*(?:class|struct|interface|enum|record(?:[ \t]+(?:class|struct))?|namespace)[ \t]+([\w.]+)",
        rf"{_C_SHARP}+(?:new[ \t]+)?(?:delegate[ \t]+|event[ \t]+)?(?:{_TYPE}[ \t]+)?(\w+)[ \t]*(?:<[^<>]*>)?"
        r"[ \t]*(?:\(|\{|=|;|$)",
        rf"{_STATEMENT}{_TYPE}[ \t]+([A-Z]\w*)[ \t]*(?:<[^<>]*>)?(?:\([^;=]*\)[ \t]*;?|[ \t]*\{{[ \t]*get\b.*)$",
    ),
    "kotlin": (
        rf"{_KOTLIN}*(?:class|interface|object|typealias)[ \t]+(\w+)",
        rf"{_KOTLIN}*fun[ \t]+(?:<[^()]*>[ \t]*)?(?:{_TYPE}\.)?(`[^`]+`|\w+)[ \t]*\(",
        rf"{_KOTLIN}+(?:val|var)[ \t]+(?:{_TYPE}\.)?(\w+)",
    ),
    "scala": (
        rf"{_SCALA}*(?:class|trait|object|enum|type|package[ \t]+object)[ \t]+(\w+)",
        rf"{_SCALA}*def[ \t]+(\w+)",
        rf"{_SCALA}+(?:val|var)[ \t]+(\w+)",
    ),
    "swift": (
        rf"{_SWIFT}*(?:class|struct|enum|protocol|extension|actor|typealias|macro)[ \t]+([\w.]+)",
        rf"{_SWIFT}*func[ \t]+(\w+)",
        rf"{_SWIFT}+(?:let|var)[ \t]+(\w+)",
    ),
    "elixir": (
        r"(?:defmodule|defprotocol|defimpl)[ \t]+([\w.]+)",
        r"(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate|defcallback)[ \t]+(\w+[!?]?)",
    ),
    "lua": (
        r"(?:local[ \t]+)?function[ \t]+([\w.:]+)[ \t]*\(",
        r"(?:local[ \t]+)?([\w.]+)[ \t]*=[ \t]*function\b",
    ),
    "zig": (
        r"(?:pub[ \t]+|export[ \t]+|extern[ \t]+(?:\"\w+\"[ \t]+)?|inline[ \t]+|noinline[ \t]+)*fn[ \t]+(\w+)",
        r"(?:pub[ \t]+)?const[ \t]+(\w+)[ \t]*=[ \t]*(?:extern[ \t]+|packed[ \t]+)?"
        r"(?:struct|enum|union|opaque|error)\b",
    ),
    "haskell": (
        r"(?:data|newtype|type(?:[ \t]+family)?|class(?:[ \t]+[^=]*=>)?)[ \t]+([A-Z]\w*)",
        r"([a-z_][\w']*)(?:[ \t]*,[ \t]*[a-z_][\w']*)*[ \t]+::",
    ),
    "dart": (
        rf"{_DART}*(?:class|mixin|extension(?:[ \t]+type)?|enum|typedef)[ \t]+(\w+)",
        rf"{_STATEMENT}{_DART}*{_TYPE}[ \t]+(?:get[ \t]+|set[ \t]+|operator[ \t]*)?(\w+)[ \t]*(?:\([^;=]*\)?|=>.*)"
        r"[ \t]*(?:async[ \t]*)?(?:\{|=>.*|,)?$",
    ),
    "julia": (
        r"(?:mutable[ \t]+struct|struct|abstract[ \t]+type|primitive[ \t]+type|module|baremodule)[ \t]+(\w+)",
        r"(?:@inline[ \t]+)?(?:function|macro)[ \t]+(?:[\w.]+\.)?(\w+!?)",
        r"(?:[\w.]+\.)?(\w+!?)\((?:[^()]|\([^()]*\))*+\)(?:::[\w{}.]+)?(?:[ \t]*where[ \t][^=]*)?[ \t]*"
        r"=(?![=>])",
        r"const[ \t]+(\w+)",
    ),
    "perl": (r"package[ \t]+([\w:]+)", r"sub[ \t]+(\w+)"),
    "powershell": (r"(?i:function|filter|class|enum)[ \t]+([\w:-]+)",),
    "r": (r"([\w.]+)[ \t]*(?:<-|=)[ \t]*function\b",),
    "erlang": (
        r"([a-z]\w*)\([^)]*\)(?:[ \t]+when\b.*)?[ \t]*->",
        r"-(?:module|record|define)\((\w+)",
        r"-(?:type|opaque|callback)[ \t(]+(\w+)\(",
    ),
    "ocaml": (
        r"(?:let(?:[ \t]+rec)?|and|type(?:[ \t]+nonrec)?|module(?:[ \t]+(?:type|rec))?|class|exception|val|external)"
        r"[ \t]+(?:(?:[+-]?'\w+|\([+',\w \t-]*\))[ \t]+)?(\w+)",
    ),
    "f#": (r"(?:let|and|type|module|exception|member)[ \t]+(?:rec[ \t]+|inline[ \t]+|private[ \t]+)*(?:\w+\.)?(\w+)",),
    "clojure": (r"\(def[\w-]*[ \t]+(?:\^\S+[ \t]+)*([\w*+!?<>=.-]+)",),
    "groovy": (
        r"(?:(?:public|private|protected|static|abstract|final)[ \t]+)*(?:class|interface|trait|enum)[ \t]+(\w+)",
        r"(?:(?:public|private|protected|static|final|def)[ \t]+)+(?:[\w<>.]+[ \t]+)?(\w+)[ \t]*\(",
    ),
    "nim": (
        r"(?:proc|func|method|iterator|template|macro|converter)[ \t]+(\w+)",
        r"(\w+)\*?[ \t]*=[ \t]*(?:ref )?object",
    ),
    "crystal": (
        r"(?:abstract[ \t]+)?(?:class|module|struct|enum|lib|annotation)[ \t]+([\w:]+)",
        r"def[ \t]+([\w.]+[!?]?)",
    ),
    "vim script": (r"fu(?:n|nc|nct|ncti|nctio|nction)?!?[ \t]+([\w:#.]+)",),
    "protocol buffer": (r"(?:message|enum|service|rpc)[ \t]+(\w+)",),
    "solidity": (
        r"(?:abstract[ \t]+)?(?:contract|interface|library|struct|enum|function|event|modifier|error)[ \t]+(\w+)",
    ),
    "fish": (r"function[ \t]+([\w-]+)",),
    "gdscript": (r"(?:static[ \t]+)?(?:func|class|class_name|signal|enum)[ \t]+(\w+)",),
    "cython": (
        r"(?:def|class|cdef[ \t]+class)[ \t]+(\w+)",
        r"cp?def[ \t]+(?:inline[ \t]+)?(?:[\w*\[\]]+[ \t]+)*(\w+)[ \t]*\(",
    ),
}
LANGUAGES: Final = frozenset(_RULES)


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], ...]:
    """Compile the rules when the language is met: those of all languages take 11 ms of each start."""
    return tuple(re.compile(_ATTRIBUTES + rule) for rule in _RULES[language])


def name_defined(language: str, line: str) -> str:
    """Return the name that a line defines, without what is before it in a qualified one; empty where it defines none,
    and for a language without rules."""
    bare = line.strip()
    if language not in LANGUAGES or len(bare) > _LONGEST_LINE:
        return ""
    own = next((found[1] for pattern in _patterns(language) if (found := pattern.match(bare))), None)
    return "" if own is None else _OWN.split(own.strip("`"))[-1]


def definitions_by_line(language: str, text: str) -> list[Definition]:
    """Return the definitions in a text, with byte offsets into its UTF-8; none if the language has no rules.

    A definition ends at a line that only closes, or before the next definition, that is not indented more.
    """
    patterns = _patterns(language) if language in LANGUAGES else ()
    nesting = _Nesting()
    at = 0
    for line in text.splitlines(keepends=True) if patterns else ():
        bare = line.lstrip(" \t")
        indent, start = len(line) - len(bare), at
        at += len(line) if line.isascii() else len(line.encode())
        bare = bare.rstrip()
        if len(bare) > _LONGEST_LINE:
            continue
        own = next((found[1] for pattern in patterns if (found := pattern.match(bare))), None)
        if own:
            nesting.begin(start, indent, own.strip("`"))
        elif _CLOSED.match(bare):
            nesting.end(indent, at)
    nesting.end(0, at)
    return nesting.found


class _Nesting:
    """Definitions as they begin and end, and which of them are open."""

    def __init__(self) -> None:
        self.found: list[Definition] = []
        self._open: list[tuple[int, int]] = []  # indentation, and place in ``found``

    def begin(self, start: int, indent: int, own: str) -> None:
        self.end(indent, start)
        scope = self.found[self._open[-1][1]].name if self._open else ""
        name = f"{scope}.{own}" if scope and scope.count(".") < _MAX_PARTS else own
        self._open.append((indent, len(self.found)))
        self.found.append(Definition(start, start, name, own))

    def end(self, indent: int, at: int) -> None:
        """End those that are indented as much or more."""
        while self._open and self._open[-1][0] >= indent:
            _, place = self._open.pop()
            self.found[place] = self.found[place]._replace(end=at)
