"""Detect the language of a file from its name or, if the name is not enough, from its first line.

Invariant: the answer depends only on the name and the first bytes. It is a lower-case Linguist name (``cpp`` for C++,
as people type it) or None.
"""

from __future__ import annotations

import re
from typing import Literal

Category = Literal["markdown", "code", "plain"]

# language: suffixes and, without a leading dot, whole names. Files of this table are cut by syntax (or as code).
_CODE = """
actionscript: .as
ada: .adb .ads .ada
agda: .agda
apex: .trigger
applescript: .applescript
arduino: .ino
asl: .asl .dsl
assembly: .s .asm .nasm .a51
astro: .astro
autohotkey: .ahk
awk: .awk .gawk .mawk
ballerina: .bal
basic: .bas
batchfile: .bat .cmd
beef: .bf
bicep: .bicep
bison: .y .yy
bitbake: .bb .bbappend .bbclass
c: .c .h .idc
c#: .cs .csx .cake
cairo: .cairo
ceylon: .ceylon
chapel: .chpl
clojure: .clj .cljs .cljc .edn .boot
cmake: .cmake CMakeLists.txt
cobol: .cob .cbl .cpy
coffeescript: .coffee Cakefile
common lisp: .lisp .lsp .asd .cl
cpp: .cpp .cc .cxx .c++ .hpp .hh .hxx .h++ .ipp .tpp .inl .cppm .ixx
crystal: .cr
css: .css
cuda: .cu .cuh
cue: .cue
cython: .pyx .pxd .pxi
d: .d .di
dart: .dart
devicetree: .dts .dtsi .dtso
dockerfile: .dockerfile Dockerfile Containerfile
dtrace: .dtrace
elixir: .ex .exs
elm: .elm
emacs lisp: .el .emacs
erlang: .erl .hrl .escript rebar.config
f#: .fs .fsx .fsi
factor: .factor
fennel: .fnl
fish: .fish
forth: .fth .4th
fortran: .f .for .f77 .f90 .f95 .f03 .f08 .fpp
gap: .gap
gdscript: .gd
gherkin: .feature
gleam: .gleam
glsl: .glsl .vert .frag .geom .comp .tesc .tese
gnuplot: .gp .gnuplot
go: .go
go module: go.mod
go checksums: go.sum
graphql: .graphql .gql .graphqls
groovy: .groovy .gvy .gradle Jenkinsfile
hack: .hack .hhi
handlebars: .handlebars .hbs
haskell: .hs .lhs .hsc
haxe: .hx
hcl: .hcl .tf .tfvars .nomad
hlsl: .hlsl .fx
html: .html .htm .xhtml
html+django: .jinja .jinja2 .j2
html+eex: .heex .leex .eex
html+erb: .erb .rhtml
html+php: .phtml
idris: .idr
java: .java .jav
java server pages: .jsp
javascript: .js .mjs .cjs .jsx .es6 .jsm
jsonnet: .jsonnet .libsonnet
julia: .jl
just: .just justfile Justfile
kconfig: Kconfig
kotlin: .kt .kts .ktm
lean: .lean
less: .less
lex: .l .lex
linker script: .ld .lds
liquid: .liquid
llvm: .ll
lua: .lua .rockspec .wlua
m4: .m4 .ac configure.ac
makefile: .mk .mak .make Makefile makefile GNUmakefile Kbuild
matlab: .matlab
meson: meson.build meson_options.txt meson.options
metal: .metal
mustache: .mustache
move: .move
nim: .nim .nims .nimble
nix: .nix
objective-c: .m
objective-c++: .mm
ocaml: .ml .mli .mll .mly
odin: .odin
openscad: .scad
pascal: .pas .dpr .lpr
perl: .pl .pm .perl .t .plx cpanfile
php: .php .php3 .php4 .php5 .phps .phpt
pkl: .pkl
plpgsql: .pgsql
plsql: .pls .plsql .pks .pkb
powershell: .ps1 .psm1 .psd1
prisma: .prisma
prolog: .prolog
protocol buffer: .proto
pug: .pug .jade
puppet: .pp
purescript: .purs
python: .py .pyi .pyw .pyt .gyp .gypi .wsgi SConstruct SConscript wscript
qml: .qml .qbs
qmake: .pri
r: .r .rd .rsx .Rprofile
racket: .rkt .rktd .rktl .scrbl
raku: .raku .rakumod .p6 .pm6
reason: .re .rei
rego: .rego
rescript: .res .resi
robotframework: .robot
roc: .roc
ruby: .rb .rbw .rake .gemspec .ru .podspec .rbi .jbuilder .thor Gemfile Rakefile Vagrantfile Brewfile Podfile Guardfile
rust: .rs
sass: .sass
scala: .scala .sc .sbt
scheme: .scm .ss .sld .sps
scss: .scss
shell: .sh .bash .zsh .ksh .dash .command .bats .ebuild .eclass .bashrc .zshrc .profile .bash_profile .bash_aliases PKGBUILD
smali: .smali
smalltalk: .st
sml: .sml .sig
solidity: .sol
sparql: .sparql .rq
sql: .sql .ddl .dml .prc .udf .viw
squirrel: .nut
starlark: .bzl .star .bazel BUILD WORKSPACE Tiltfile
stylus: .styl
svelte: .svelte
swift: .swift
systemverilog: .sv .svh
tcl: .tcl .tk .adp
thrift: .thrift
tla: .tla
tsx: .tsx
twig: .twig
typescript: .ts .mts .cts
vala: .vala .vapi
verilog: .v .vh .veo
vhdl: .vhd .vhdl .vho
vim script: .vim .vimrc .nvimrc _vimrc
visual basic .net: .vb .vbhtml
vue: .vue
webassembly: .wat .wast
wgsl: .wgsl
wit: .wit
wolfram language: .wl .wls .nb
xquery: .xq .xql .xqm .xquery .xqy
yacc: .yacc
zig: .zig .zon
# data and markup with a syntax of its own
json: .json .geojson .jsonl .ndjson .webmanifest .topojson .har .ipynb .avsc composer.lock Pipfile.lock .babelrc .eslintrc .prettierrc
json with comments: .jsonc .code-workspace .sublime-settings
json5: .json5
toml: .toml Cargo.lock poetry.lock uv.lock Pipfile pdm.lock
xml: .xml .xsd .xsl .xslt .rng .svg .plist .rdf .wsdl .rss .atom .csproj .vcxproj .props .targets .ui .glade .qrc .kml .gpx .dbk .xmi .xaml .nuspec .resx .jelly .launch .iml .tmx .xlf .xliff
yaml: .yml .yaml .clang-format .clang-tidy .clangd .cff .sublime-syntax
"""  # noqa: E501 - a table reads better unwrapped

# Prose and records: cut at paragraphs and lines.
_PLAIN = """
asciidoc: .adoc .asciidoc .asc
bibtex: .bib .bibtex
csv: .csv
desktop: .desktop .service .socket .timer .mount .target
diff: .diff .patch
dotenv: .env.example .env.sample .env.template
editorconfig: .editorconfig
fluent: .ftl
gettext catalog: .po .pot
git attributes: .gitattributes
git config: .gitconfig .gitmodules
ini: .ini .cfg .cnf .prefs .inf
java properties: .properties
mbox: .mbox .eml
nginx: .nginxconf nginx.conf
org: .org
pod: .pod
restructuredtext: .rst .rest
rich text format: .rtf
roff: .man .roff .1 .2 .3 .4 .5 .6 .7 .8 .9 .me .ms .mdoc
subrip text: .srt
tex: .tex .cls .sty .latex .ltx .dtx .ins .bbx .cbx
texinfo: .texi .texinfo .txi
text: .txt .text .log .nfo LICENSE LICENCE COPYING README CHANGELOG CHANGES NEWS AUTHORS CREDITS MAINTAINERS TODO INSTALL NOTICE
textile: .textile
tsv: .tsv .tab
webvtt: .vtt
wikitext: .mediawiki .wiki .wikitext
"""  # noqa: E501

_MARKDOWN = """
markdown: .md .markdown .mdown .mdwn .mkd .mkdn .mkdown .ronn .livemd .scd .mdc
mdx: .mdx
quarto: .qmd
rmarkdown: .rmd
"""

_INTERPRETERS = {
    "sh": "shell", "bash": "shell", "dash": "shell", "zsh": "shell", "ksh": "shell", "ash": "shell", "fish": "fish",
    "python": "python", "pypy": "python", "uv": "python", "node": "javascript", "nodejs": "javascript",
    "deno": "typescript", "bun": "typescript", "ts-node": "typescript", "tsx": "typescript", "ruby": "ruby",
    "perl": "perl", "php": "php", "lua": "lua", "luajit": "lua", "awk": "awk", "gawk": "awk", "mawk": "awk",
    "tclsh": "tcl", "wish": "tcl", "make": "makefile", "rscript": "r", "groovy": "groovy", "escript": "erlang",
    "elixir": "elixir", "julia": "julia", "osascript": "applescript", "runhaskell": "haskell", "racket": "racket",
    "guile": "scheme", "scala": "scala", "swift": "swift", "pwsh": "powershell", "nix-shell": "nix",
    "crystal": "crystal", "gnuplot": "gnuplot", "ocaml": "ocaml", "dart": "dart", "janet": "janet",
    "sbcl": "common lisp", "raku": "raku",
}  # fmt: skip

_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/)?([^\s/]+)([^\r\n]*)")
_VERSION = re.compile(r"[-.\d]+$")
# Headers of C and C++ share the suffix; a header is C++ if it uses a construct that C lacks. Search for the newline
# that ends the previous line: this is three times as fast as a test for the start of a line at each position.
_CPP_HEADER = re.compile(
    rb"\n[ \t]*(?:class[ \t]+\w+|namespace(?:[ \t]+[\w:]+)?[ \t]*\{?[ \t]*$|template[ \t]*<|using[ \t]+namespace\b"
    rb"|(?:public|private|protected):)",
    re.MULTILINE,
)


def _table(text: str) -> dict[bytes, str]:
    rows = (line.partition(": ") for line in text.splitlines() if line and not line.startswith("#"))
    return {key.encode(): language for language, _, keys in rows for key in keys.split()}


_TABLES: dict[Category, dict[bytes, str]] = {
    "plain": _table(_PLAIN),
    "markdown": _table(_MARKDOWN),
    "code": _table(_CODE),
}
_BY_KEY: dict[bytes, tuple[str, Category]] = {
    key: (language, category) for category, table in _TABLES.items() for key, language in table.items()
}
_FOLDED = {key.lower(): value for key, value in _BY_KEY.items()}
SHEBANG_LANGUAGES = frozenset(_INTERPRETERS.values())
_UNKNOWN: tuple[str | None, Category] = (None, "plain")


def suffixes(name: bytes) -> list[bytes]:
    """Return the suffixes of a file name, longest first and lower-case: ``a.d.ts`` gives ``.d.ts`` and ``.ts``.

    A leading dot begins a hidden name, not a suffix; but ``.bashrc`` is looked up like a suffix.
    """
    parts = name.lower().split(b".")
    return [b"." + b".".join(parts[i:]) for i in range(1, len(parts))]


def by_name(name: bytes) -> tuple[str | None, Category] | None:
    """Return the language and category for the name alone; None if the name is not enough."""
    found = _BY_KEY.get(name)
    if found is not None:
        return found
    # A capital C means C++ if file names have case; all other suffixes ignore case.
    if name.endswith(b".C"):
        return "cpp", "code"
    for suffix in suffixes(name):
        found = _FOLDED.get(suffix)
        if found is not None:
            return found
    stem = name.partition(b".")[0]
    if stem in (b"Makefile", b"Dockerfile", b"Containerfile", b"Kconfig", b"Jenkinsfile"):  # Dockerfile.dev
        return _BY_KEY[stem]
    return None


def by_head(head: bytes) -> tuple[str | None, Category]:
    """Return the language and category for the interpreter in the first line; plain text if there is none."""
    match = _SHEBANG.match(head)
    if match is None:
        return _UNKNOWN
    program = match[1].decode("utf-8", "replace")
    if program == "env":
        words = [w for w in match[2].decode("utf-8", "replace").split() if not w.startswith("-") and "=" not in w]
        program = words[0].rpartition("/")[2] if words else ""
    program = program.lower()
    language = _INTERPRETERS.get(program) or _INTERPRETERS.get(_VERSION.sub("", program))
    return (language, "code") if language else _UNKNOWN


def is_cpp_header(head: bytes) -> bool:
    """Tell whether the beginning of a ``.h`` file can only be C++."""
    return _CPP_HEADER.search(b"\n" + head) is not None
