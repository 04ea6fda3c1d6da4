"""Sets of questions made of what every Python brings: its functions and its manual's topics.

Invariant: what a question is made of (a docstring, a heading) is taken out of the file that answers it.
"""

from __future__ import annotations

import ast
import re
import sysconfig
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics
from typing import Final

from bench.quality.sets import Question, QuestionSet, half_of, write

_NOT_READ: Final = frozenset({"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "__pycache__"})
_SENTENCE: Final = re.compile(r"\s*(.+?)(?:\.\s|\.?\Z|\n\s*\n)", re.DOTALL)
_LEAST_WORDS: Final = 5
_LEAST_LINES: Final = 4  # of a function without its docstring
_UNDERLINED: Final = re.compile(r"^(\S[^\n]*)\n([*=\-])\2{2,}\n", re.MULTILINE)
_LEVELS: Final = "*=-"  # of headings, the highest first


def functions(folder: Path) -> QuestionSet:
    """The standard library's functions, a file each: the first sentence of its docstring finds the function."""
    corpus = folder / "corpus"
    questions: list[Question] = []
    library = Path(sysconfig.get_path("stdlib"))
    for file in sorted(library.rglob("*.py")):
        relative = file.relative_to(library)
        if _NOT_READ.isdisjoint(relative.parts):
            for name, sentence, body in _described(file.read_text(encoding="utf-8", errors="replace")):
                path = relative.with_suffix("") / f"{name}.py"
                (corpus / path).parent.mkdir(parents=True, exist_ok=True)
                (corpus / path).write_text(body, encoding="utf-8")
                if sentence is not None:
                    questions.append(Question(sentence, half_of(sentence), {path.as_posix(): 1}))
    return write(folder, _told_once(questions))


def manual(folder: Path) -> QuestionSet:
    """The topics of `help()`, a page each, without their headings: each finds every page that holds its section."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    pages: dict[str, str] = {}
    sections: dict[str, set[str]] = defaultdict(set)
    for number, (_label, text) in enumerate(sorted(topics.items())):
        page = f"topic{number:03}.rst"
        untitled = _UNDERLINED.sub("", text)
        (corpus / page).write_text(untitled, encoding="utf-8")
        pages[page] = " ".join(untitled.split())
        for heading, section in _sections(text):
            sections[heading].add(section)
    return write(
        folder,
        [
            Question(heading, half_of(heading), {page: 1 for page, text in pages.items() if section in text})
            for heading, told in sections.items()
            for section in told
            if section and len(told) == 1
        ],
    )


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Each heading and the words of its section, those of the sections below it among them and their headings not."""
    headings = list(_UNDERLINED.finditer(text))
    for number, heading in enumerate(headings):
        level = _LEVELS.index(heading[2])
        after = (other.start() for other in headings[number + 1 :] if _LEVELS.index(other[2]) <= level)
        section = _UNDERLINED.sub("", text[heading.end() : next(after, len(text))])
        yield heading[1].replace('"', ""), " ".join(section.split())


def _described(source: str) -> Iterator[tuple[str, str | None, str]]:
    """Qualified name, first sentence and source without docstring of each function of a module; None where the sentence
    says too little."""
    try:
        module = ast.parse(source)
    except SyntaxError:  # the library holds files that are wrong on purpose
        return
    lines = source.splitlines(keepends=True)
    todo: list[tuple[ast.AST, str]] = [(module, "")]
    while todo:
        node, scope = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                todo.append((child, f"{scope}{child.name}."))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                docstring = ast.get_docstring(child)
                first = child.body[0]
                text = lines[child.lineno - 1 : child.end_lineno]
                if docstring is not None:
                    del text[first.lineno - child.lineno : (first.end_lineno or first.lineno) - child.lineno + 1]
                if len(text) >= _LEAST_LINES:
                    yield f"{scope}{child.name}", _sentence(docstring or ""), "".join(text)


def _sentence(docstring: str) -> str | None:
    found = _SENTENCE.match(docstring)
    told = " ".join(found[1].split()) if found is not None else ""
    return told if len(told.split()) >= _LEAST_WORDS else None


def _told_once(questions: list[Question]) -> list[Question]:
    """Those whose text asks for one file alone."""
    times = Counter(question.text for question in questions)
    return [question for question in questions if times[question.text] == 1]
