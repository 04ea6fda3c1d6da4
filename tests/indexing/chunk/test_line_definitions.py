"""Definitions of languages without a grammar: named by their lines, nested by their indentation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.chunk.chunk_plan import ChunkSettings, choose
from livedex_indexing.chunk.chunker import chunk_content
from livedex_indexing.chunk.components import SyntaxChunker
from livedex_indexing.chunk.line_definitions import LANGUAGES, definitions_by_line
from livedex_indexing.chunk.syntax_chunker import Limits

C_SHARP = """namespace Acme.Text
{
    // public class Commented
    [Serializable]
    public sealed class Reader<T> : IDisposable where T : new()
    {
        private readonly int _size;
        public string Name { get; set; }
        public Reader(int size) { _size = size; }
        [Obsolete("x")] public override string ToString() => Format(Name);
        protected static async Task<List<int>> ReadAsync(
            int most)
        {
            var read = Start(most);
            return Finish(read);
        }
        int Count { get; }
        void Close();
    }
}
"""
SAMPLES = {
    "c#": (
        C_SHARP,
        "Acme.Text Reader _size Name Reader ToString ReadAsync Count Close",
    ),
    "kotlin": (
        "data class Point(val x: Int)\ninterface Shape {\n  fun interface Maker {\n  }\n  @JvmStatic fun area(): Int\n"
        "  suspend fun <T> List<T>.drawAll(\n    on: Int,\n  ) {\n    val local = find(1)\n  }\n"
        "  private val size = 1\n}\n",
        "Point Shape Maker area drawAll size",
    ),
    "scala": (
        "sealed trait Shape[A] {\n  override def area(x: Int) = 1\n  private[this] val size = 1\n}\n"
        "case class Point(a: Int)\nobject Point {\n  def apply() = make(1)\n}\n",
        "Shape area size Point Point apply",
    ),
    "swift": (
        "public final class Shape: Base {\n  @objc public func area(x: Int) {\n    let local = 1\n  }\n"
        "  private(set) var size = 1\n}\nextension Shape {\n}\nprotocol Drawn {\n}\n",
        "Shape area size Shape Drawn",
    ),
    "elixir": (
        "defmodule Acme.Shape do\n  def area?(x), do: find(x)\n  defp size(x) when x > 1 do\n    x\n  end\n"
        "  defmacro made!(x) do\n  end\nend\n",
        "Acme.Shape area? size made!",
    ),
    "erlang": (
        "-module(tow_line).\n-record(line, {load}).\n-define(MOST, 3).\n-type load_limit() :: integer().\n"
        "-opaque rope(A) :: A.\n-callback hold(integer()) -> ok.\n-spec safe_load(x()) -> x().\n"
        "safe_load(X) when X > 1 ->\n    hold(X);\nsafe_load(_) ->\n    tow_line:find(1).\n",
        "tow_line line MOST load_limit rope hold safe_load safe_load",
    ),
    "julia": (
        "module Tow\nconst MOST = 3\nmutable struct Line\n  load::Int\nend\nhold(x::Int; y=3)::Bool = find(x)\n"
        "Base.show(io, x::T) where {T} = print(io)\n@inline function safe!(x)\n  y = find(1)\n  hold(x) == 2\nend\n"
        "end\n",
        "Tow MOST Line hold show safe!",
    ),
    "ocaml": (
        "type 'a line = Line of 'a\ntype ('a, +'b) rope = 'a * 'b\ntype nonrec load = int\nmodule rec Tow : S =\n"
        "  let hold x = find x\n  and safe y = y\nend\n",
        "line rope load Tow hold safe",
    ),
    "lua": (
        "local M = {}\nfunction M.area(x)\n  return find(x)\nend\n"
        "M.size = function(y)\nend\nlocal function made()\nend\n",
        "M.area M.size made",
    ),
    "zig": (
        "pub const Shape = struct {\n    pub fn area(a: u8) u8 {\n        const local = find(a);\n    }\n};\n"
        'extern "c" fn size() c_int;\n',
        "Shape area size",
    ),
    "objective-c": (
        "@protocol Drawn;\n@interface Shape : NSObject <Drawn>\n- (void)setArea:(int)a at:(CGPoint)p;\n@end\n"
        "@implementation Shape\n+ (NSArray<NSString *> *)names {\n  return [self find:1];\n}\n"
        "static int size(int a)\n{\n}\n@end\n",
        "Shape setArea Shape names size",
    ),
    "objective-c++": ("@implementation Shape\n- (void)draw\n{\n}\nvoid made(int a)\n{\n}\n@end\n", "Shape draw made"),
    "sql": (
        "CREATE TABLE `users` (\n  id int\n);\ncreate or replace view names as select 1;\nINSERT INTO log VALUES (1);\n"
        'CREATE UNIQUE INDEX IF NOT EXISTS "ix_users" ON users (id);\nCREATE TABLE [dbo].[orders] (\n'
        "create table if not exists public.items (\n",
        "users names ix_users orders items",
    ),
    "haskell": (
        "module Shape where\ndata Point = Point Int\nclass (Eq a) => Drawn a where\n  area' :: a -> Int\n"
        "size :: Int\nsize = 1\n",
        "Point Drawn area' size",
    ),
    "cmake": (
        'function(draw_shape name)\n  set(size 1)\nendfunction()\nMACRO (Made)\nENDMACRO ()\noption(WITH_AREA "x" ON)\n'
        "add_library(shape STATIC a.c)\nadd_executable(${name} b.c)\n",
        "draw_shape Made WITH_AREA shape",
    ),
    "emacs lisp": (
        "(defun shape-area (x)\n  (find x))\n(cl-defmethod shape-draw ((s shape)) s)\n(defvar shape--size 1)\n"
        "(defalias 'made #'shape-area)\n",
        "shape-area shape-draw shape--size made",
    ),
    "scheme": (
        "(define (area x)\n  (find x))\n(define-syntax made\n  (syntax-rules ()))\n(define size 1)\n",
        "area made size",
    ),
    "tcl": (
        "namespace eval shape {\n  proc area {x} {\n  }\n}\nproc ::made {} {\n}\nset size 1\n",
        "shape area ::made",
    ),
    "fortran": (
        "module shape\ncontains\n  pure real(8) function area(x)\n  end function area\n  SUBROUTINE made(x)\n"
        "  end subroutine\n  module procedure size\nend module shape\n",
        "shape area made",
    ),
    "ada": (
        "package body Acme.Shape is\n   procedure Draw (X : Integer) is\n   end Draw;\nend Acme.Shape;\n",
        "Acme.Shape Draw",
    ),
    "pascal": (
        "unit Shapes;\ntype\n  TShape = class(TObject)\n  end;\nprocedure TShape.Draw(X: Integer);\n",
        "Shapes TShape Draw",
    ),
    "awk": ("function area(x) {\n  return find(x)\n}\n/a/ { print area($1) }\n", "area"),
    "graphql": (
        "type Shape @key(x: 1) {\n  area: Int\n}\nextend type Query {\n  size: Int\n}\nscalar Made\n",
        "Shape Query Made",
    ),
    "hcl": (
        'resource "aws_vpc" "main" {\n  cidr = "10.0.0.0/16"\n}\nvariable "size" {\n  type = string\n}\n',
        "main size",
    ),
    "thrift": ("struct Shape {\n  1: i32 area\n}\nservice Made {\n  void draw()\n}\n", "Shape Made"),
    "starlark": ("def made(name):\n    native.rule(name = name)\n", "made"),
}


@pytest.mark.parametrize("language", SAMPLES)
def test_lines_give_the_definitions(language: str) -> None:
    text, wanted = SAMPLES[language]
    assert [one.own for one in definitions_by_line(language, text)] == wanted.split()


def test_indentation_shows_what_is_around_a_definition() -> None:
    names = [one.name for one in definitions_by_line("c#", C_SHARP)]
    assert names[1:3] == ["Acme.Text.Reader", "Acme.Text.Reader._size"]
    assert [one.name for one in definitions_by_line("elixir", SAMPLES["elixir"][0])][-1] == "Acme.Shape.made!"
    text = "class A {\n  fun a() {\n  }\n  companion {\n    fun b() {\n    }\n  }\n}\nfun c() {\n}\n"
    assert [one.name for one in definitions_by_line("kotlin", text)] == ["A", "A.a", "A.b", "c"]


def test_a_definition_ends_where_it_is_closed() -> None:
    text = "fun größe() {\n}\n\nfun b() {\n}\nmain()\n"
    data = text.encode()
    first, second = definitions_by_line("kotlin", text)
    assert data[first.start : first.end].decode() == "fun größe() {\n}\n"
    assert data[second.start : second.end].decode() == "fun b() {\n}\n"


def test_a_chunk_has_the_symbol_and_the_names_of_its_lines() -> None:
    filler = "".join(f"        Log({number});\n" for number in range(120))
    begin = "public class Reader\n{\n    public int Open()\n    {\n"
    text = f"{begin}{filler}    }}\n    public int Shut()\n    {{\n    }}\n}}\n"
    content = chunk_content(text.encode(), b"reader.cs", ChunkSettings())
    assert [chunk.symbol for chunk in content.chunks] == ["Reader", "Reader.Open"]
    assert content.terms[1].symbols.startswith("Reader Open Shut")


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("typescript", "export declare class Shape {\n}\ntype Size = 1;\nconst make = () => 1;\n", "Shape Size make"),
        (
            "python",
            "class Shape:\n    async def area(self):\n        size(1)\ndef made():\n    pass\n",
            "Shape area made",
        ),
        ("c", "#define SIZE 1\nstruct shape {\n};\nint *area(int x)\n{\n    return size(x);\n}\n", "SIZE shape area"),
        ("go", "type Shape struct {\n}\nfunc (s *Shape) Area(x int) int {\n}\n", "Shape Area"),
        ("rust", "pub(crate) struct Shape;\nimpl Shape {\n    pub async fn area(&self) {}\n}\n", "Shape area"),
        (
            "java",
            "public final class Shape {\n    public <T> List<T> area(int x) {\n        size(x);\n    }\n}\n",
            "Shape area",
        ),
        ("php", "abstract class Shape {\n    public static function &area($x) {\n    }\n}\n", "Shape area"),
        ("ruby", "module Acme\n  class Shape\n    def self.area?\n    end\n  end\nend\n", "Acme Shape area?"),
    ],
)
def test_a_file_that_is_too_large_for_its_grammar_has_names(language: str, text: str, names: str) -> None:
    chunks = SyntaxChunker(language, limits=Limits(max_bytes=10)).chunk(text)
    assert [chunk.metadata["fallback"] for chunk in chunks] == ["bytes"]
    assert chunks[0].metadata["names"] == names.split()


def test_only_languages_with_rules_depend_on_the_rules() -> None:
    plans = [choose(name, b"", ChunkSettings()) for name in (b"a.cs", b"a.kt", b"a.cob", b"a.css")]
    assert [plan.language in LANGUAGES for plan in plans] == [True, True, False, False]


@given(
    st.sampled_from(sorted(LANGUAGES)),
    st.text(alphabet="fun def class public <>(){}[]=:;@.\t\n\r\x0c\u2028éa", max_size=300),
)
def test_definitions_are_inside_the_text_and_nested(language: str, text: str) -> None:
    size = len(text.encode())
    around: list[int] = []
    begin = 0
    for one in definitions_by_line(language, text):
        assert begin <= one.start <= one.end <= size
        while around and around[-1] <= one.start:
            around.pop()
        assert not around or one.end <= around[-1]
        around.append(one.end)
        begin = one.start


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_lines_that_nearly_match_are_read_in_time(language: str) -> None:
    """Exponential time would run into the limit of a test."""
    lines = ["public " * 50, "a " * 190, "<" * 390, "public List<" + "a," * 180, "@a(b) " * 60, "def " * 90, "a," * 190]
    assert len(definitions_by_line(language, "\n".join(lines * 20))) <= 140
