"""The names of a language: the one that the index shows, and those that people and Markdown fences use besides.

Invariant: a name belongs to one language, and ``same_language`` of any of its names is the name that files have.
"""

from __future__ import annotations

from typing import Final

# The name that files have, and Linguist's aliases, interpreters and usual suffixes for it.
_NAMES: Final = """
batchfile: bat batch dosbatch winbatch cmd
c#: csharp cs cake
clojure: clj
common lisp: lisp
cpp: c++ cxx cc hpp
dockerfile: docker containerfile
elixir: ex exs
emacs lisp: elisp emacs
erlang: erl
f#: fsharp fs
fortran: f90 f95
go: golang
haskell: hs
hcl: terraform tf
ini: dosini
java properties: properties
javascript: js mjs cjs node jsx
json with comments: jsonc
julia: jl
kotlin: kt kts
makefile: make mk mf
markdown: md pandoc
objective-c: objc obj-c objectivec
objective-c++: objc++ obj-c++ objectivec++
ocaml: ml
perl: pl cperl
powershell: posh pwsh ps1
protocol buffer: protobuf proto
python: py py3 python3 pyi
r: rscript splus
raku: perl6 perl-6
restructuredtext: rst
ruby: rb jruby rake
rust: rs
shell: sh bash zsh ksh shell-script
starlark: bazel bzl
tex: latex
text: txt plaintext
typescript: ts mts cts
vim script: vim viml vimscript nvim
visual basic .net: vb.net vbnet
xml: xsd xsl
yaml: yml
"""
_SAME: Final = {
    alias: name
    for name, aliases in (line.split(": ") for line in _NAMES.strip().split("\n"))
    for alias in aliases.split()
}


def names_of(language: str) -> list[str]:
    """Return the usual name of a language and its other names."""
    return [language, *(alias for alias, name in _SAME.items() if name == language)]


def same_language(name: str) -> str:
    """Return the usual name of the language called ``name``, in lower case; an unknown name is its own."""
    folded = name.lower()
    return _SAME.get(folded, folded)
