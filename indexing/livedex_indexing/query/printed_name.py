"""Recognises the name in what a program printed about it, in the command that runs the test of that name, or in markup
that refers to it, and writes it as people do.

Invariant: pure; whether the name is defined is for the index to say. What has a file and a line is a place instead.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_LONGEST: Final = 400  # characters
_NAME: Final = r"[^\W\d]\w*"
_DOTTED: Final = rf"{_NAME}(?:\.{_NAME})*"
_COLONS: Final = rf"{_NAME}(?:::{_NAME})+"
_ABOVE: Final = r"(?:[\w.~-]+/)*"
_GO: Final = rf"{_NAME}\.(?:\(\*?{_NAME}\)\.|{_NAME}\.)?{_NAME}"  # without the folders of the package
_CASE: Final = r"\$?/\^?(?P<case>\w(?:[^\s\"'$]|'(?=\S))*)"  # of a test of Go
_COMMAND: Final = r"(?:[$#>] )?(?:[A-Z_]\w*=\S+ )*(?:(?:sudo|time|poetry run|uv run) )?"  # what may be in front of one
_ROLE: Final = r"(?!:(?:std:)?(?:doc|envvar|numref|option|ref|term):):(?:\w+:)?\w+:"  # others refer to labels
_PRINTED: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # net/http.(*Server).Serve(0xc000012345, …)    main.run(...)    pkg.(*T).run.func1.2    created by pkg.run in …
        rf"{_ABOVE}({_GO})(?:\.(?:func\d+|gowrap\d+|\d+))*\((?:\.\.\.|(?:0x|\{{0x)[^)]*)\)?.{{0,40}}",
        rf"{_ABOVE}({_GO})(?:\.func\d+)(?:\.(?:func)?\d+)*",
        rf"created by {_ABOVE}({_GO})(?:\.func\d+)*(?: in goroutine \d+)?",
        # 12: tokio::sync::lock    a::b::{{closure}}    a::b::h0123456789abcdef    12: 0x55e0 - a::b
        rf"(?:\d+:\s+)?(?:0x[0-9a-f]+ - )?({_COLONS})(?:::\{{+[\w.#]+\}}+)*(?:::h[0-9a-f]{{16}})?",
        # ffffffff81a0b2c0 t name    ffffffff81a0b2c0 <name>:    ffffffff81a0b2c0 <name+0x12>
        rf"[0-9a-f]{{8,16}}\s+(?:[a-zA-Z]\s+|<)({_NAME})(?:\+0x[0-9a-f]+)?>?:?",
        # 3.21%  swapper  [kernel.kallsyms]  [k] name    0.50% name
        rf"\d+\.\d+%\s.*\[[k.]\]\s+({_NAME})",
        # bash-1234  [001] .... 123.456: name <-caller    1)  0.512 us  |  name();
        rf".*\[\d+\].*\s\d+\.\d+:\s+({_NAME})(?:\+0x\w+)?\s<-\w+",
        rf"\d+\)\s+.*\|\s+({_NAME})\(\)(?:;|\s\{{).*",
        # ==12==    by 0x4C2AB80: name (in /usr/lib/x.so)    #3  0x00007fff in name () from /lib/x.so
        rf"==\d+==\s+(?:at|by) 0x[0-9A-F]+: ({_NAME}(?:::{_NAME})*)\b.*\(in [^()]*\)",
        rf"#\d+\s+(?:0x[0-9a-f]+ in )?({_NAME}(?:::{_NAME})*) \([^)]*\)(?: from \S+)?",
        # 4  MyApp  0x0000000102a3 Name.run + 124
        rf"\d+\s+\S+\s+0x[0-9a-f]{{8,16}}\s+({_DOTTED})(?:\([^)]*\))? \+ \d+",
        # <function Foo.run at 0x7f2a>    <bound method Foo.run of <Foo object at 0x7f2a>>    <a.Foo object at 0x7f2a>
        rf"<(?:function|coroutine object|generator object|cyfunction) ({_DOTTED}) at 0x[0-9a-fA-F]+>",
        rf"<(?:bound )?method ({_DOTTED}) of .*>",
        rf"<({_DOTTED}) (?:object|instance) at 0x[0-9a-fA-F]+>",
        # #4 [internal function]: Foo\Bar->run(Array)
        rf"#\d+ \[internal function\]: ({_NAME}(?:(?:\\|->|::){_NAME})*)\(.*\)",
        # /package.Service/Method of gRPC
        rf"/(?:{_NAME}\.)+({_NAME}/{_NAME})",
        # fun lists:map/2    lists:map/2    :lists.map/2    Enum.map/2    #Fun<lists.map.2>    name_of/1
        rf"(?:fun |[&:])?({_NAME}(?:[.:]{_NAME})+[!?]?)/\d{{1,2}}",
        rf"(?:fun |&)?({_NAME}_\w*[!?]?)/\d{{1,2}}",
        rf"#Fun<({_DOTTED})\.\d.*>",
        # Error in name(x) : …    Error in `name()`:    4. ├─pkg::name(x)    3: name(x)
        rf"Error in `?({_DOTTED})\(.*\)`? ?:.*",
        rf"\d+\. +[│ ]*[├└]─({_NAME}:::?{_DOTTED})\(.*\)?",
        # ERROR: modpost: "name" [drivers/x.ko] undefined!
        rf".*\bmodpost: \"({_NAME})\" \[\S+\.ko\] undefined!?",
        # --- FAIL: TestName/case (0.01s)    === RUN   TestName    [  FAILED  ] Suite.Name (3 ms)
        rf"(?:--- (?:FAIL|PASS|SKIP): |=== (?:CONT|PAUSE|RUN) +)({_NAME})(?:{_CASE}|/\S*)?(?: \(.*\))?",
        rf"\[ +(?:FAILED|OK|RUN) +\] ({_DOTTED})(?:[/,]\S*)?(?: \(.*\))?",
        # test a::b::name ... FAILED    FAIL: test_name (a.b.Case)    FAIL: test_name (a.b.Case.test_name)
        rf"test ({_COLONS}) \.\.\. \w+",
        rf"(?:ERROR|FAIL): ({_NAME}) \({_DOTTED}\)",
        # go test -run '^TestName$' ./a    cargo test a::name -- --nocapture    pytest -k name    ctest -R Name
        rf"{_COMMAND}go test (?:.* )?-(?:run|bench)[ =][\"'^(]*({_NAME})(?:{_CASE}[\"'$]*|[\"'$)/]\S*)(?: .*)?",
        rf"{_COMMAND}go test (?:.* )?-(?:run|bench)[ =]({_NAME})(?: .*)?",
        rf"{_COMMAND}cargo (?:test|nextest run) (?:.* )?({_NAME}(?:::{_NAME})*)(?: -- .*)?",
        rf"{_COMMAND}(?:python3? -m )?(?:pytest|py\.test) (?:.* )?-k[ =][\"']?({_NAME})[\"']?(?: .*)?",
        rf"{_COMMAND}python3? -m unittest (?:.* )?({_DOTTED})",
        rf"{_COMMAND}(?:mvn|\./mvnw) (?:.* )?-Dtest=({_NAME}(?:#{_NAME})?)(?: .*)?",
        rf"{_COMMAND}(?:gradle|\./gradlew) (?:.* )?--tests[ =][\"']?({_DOTTED})[\"']?(?: .*)?",
        rf"{_COMMAND}ctest (?:.* )?-R[ =]?[\"'^]*({_NAME})[\"'$]*(?: .*)?",
        # foo.c:(.text+0x1a): undefined reference to `name'
        rf".*\(\.text[\w.]*\+0x[0-9a-f]+\): undefined reference to [`'\"‘]({_NAME}(?:::{_NAME})*)\b.*",
    )
)
_REFERRED: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # :func:`~a.b`    :py:meth:`text <a.b>`
        rf"{_ROLE}`[~!]?({_DOTTED})(?:\(\))?`",
        rf"{_ROLE}`[^`<]+ <({_DOTTED})(?:\(\))?>`",
        # {@link Foo#run(int)}    @see Foo#run
        rf"(?:\{{@(?:link|linkplain|see|code)\s+|@see\s+)((?:{_DOTTED})?#?{_NAME})(?:\([^)]*\))?\}}?",
        # Foo::class    Foo::class.java
        rf"(?:{_NAME}\\)*({_NAME})::class(?:\.java)?",
        # [Foo.run]    [Foo.run()]
        rf"\[({_NAME}\.{_DOTTED})(?:\(\))?\]",
        # [`Foo::run`]    in a comment of Rust
        rf"\[`({_COLONS})(?:\(\))?`\]",
    )
)
_SIGNS_OF_NAME: Final = re.compile(r"\(\*?(\w+)\)|::h[0-9a-f]{16}\Z")  # a type of Go, the hash of Rust
_COLON: Final = re.compile(r"(?<!:):(?!:)")  # of Erlang
_MANGLED: Final = re.compile(r"_{1,2}(?:ZN?[A-Z]*(?=\d)|R[A-Za-z]*?C(?:s[0-9a-zA-Z]*_)?(?=\d))")
_LENGTH: Final = re.compile(r"(\d+)_?")
_HASH: Final = re.compile(r"h[0-9a-f]{16}")


class PrintedName(NamedTuple):
    """A name as people write it, with its owner. ``is_reference``: from markup, which texts have as it was typed.
    ``case``: of the test of that name."""

    text: str
    is_reference: bool = False
    case: str = ""


def printed_name(text: str) -> PrintedName | None:
    """Return the name in a text that is one line of a debugger, a profiler, a linker or a language's own output, or a
    mangled symbol, or a reference to the name; None for any other."""
    line = text.strip()
    if len(line) > _LONGEST or "\n" in line:
        return None
    mangled = _demangled(line)
    if mangled:
        return PrintedName(mangled)
    for pattern in _PRINTED:
        found = pattern.fullmatch(line)
        name = "" if found is None else _COLON.sub(".", _SIGNS_OF_NAME.sub(r"\1", found[1]))
        if found is not None and name not in ("", line):
            return PrintedName(name, case=found.groupdict().get("case") or "")
    found = next((match for pattern in _REFERRED if (match := pattern.fullmatch(line)) is not None), None)
    return None if found is None else PrintedName(found[1].lstrip("#"), is_reference=True)


def _demangled(symbol: str) -> str:
    """Return the name of a symbol of C++ or Rust, without its types; empty for any other text."""
    found = _MANGLED.match(symbol)
    if found is None or len(symbol.split()) > 1:
        return ""
    rest, parts = symbol[found.end() :], list[str]()
    while (length := _LENGTH.match(rest)) is not None and len(parts) < _LONGEST:
        end = length.end() + int(length[1])
        part, rest = rest[length.end() : end], rest[end:]
        if not part.isidentifier() or "$" in part:
            return ""
        if not _HASH.fullmatch(part):
            parts.append(part)
        if rest[:1] == "s" and "_" in rest:  # the disambiguator of Rust
            rest = rest.partition("_")[2]
    return "::".join(parts)
