"""Sets of questions made of what every Python brings: its functions and the pages of `help()`.

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

from bench.quality.pages import pages
from bench.quality.sets import Question, QuestionSet, half_of, write
from bench.quality.sources import first_sentence, modules

_LIBRARY: Final = Path(sysconfig.get_path("stdlib"))
_LEAST_LINES: Final = 4  # of a function without its docstring
_UNDERLINED: Final = re.compile(r"^(\S[^\n]*)\n([*=\-])\2{2,}\n", re.MULTILINE)
_LEVELS: Final = "*=-"  # of headings, the highest first


def functions(folder: Path) -> QuestionSet:
    """The standard library's functions, a file each: the first sentence of its docstring finds the function."""
    corpus = folder / "corpus"
    questions: list[Question] = []
    for relative, source, module in modules(_LIBRARY):
        for name, asked, body in _described(source, module):
            path = relative.with_suffix("") / f"{name}.py"
            (corpus / path).parent.mkdir(parents=True, exist_ok=True)
            (corpus / path).write_text(body, encoding="utf-8")
            if asked is not None:
                questions.append(Question(asked, half_of(asked), {path.as_posix(): 1}))
    return write(folder, _told_once(questions))


def manual(folder: Path) -> QuestionSet:
    """The pages of `help()`: its topics without their headings, each of which finds every page that holds its section;
    and those of modules and classes without the first sentence, which finds its page where no other says the same."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    texts: dict[str, str] = {}
    sections: dict[str, set[str]] = defaultdict(set)
    for number, (_label, text) in enumerate(sorted(topics.items())):
        texts[f"topic{number:03}.rst"] = _UNDERLINED.sub("", text)
        for heading, section in _sections(text):
            sections[heading].add(section)
    sentences: dict[str, str] = {}
    for number, (asked, text) in enumerate(pages(_LIBRARY)):
        page = f"page{number:04}.rst"
        texts[page] = text
        if asked is not None:
            sentences[page] = asked
    reported = {page: " ".join(text.split()) for page, text in texts.items()}
    wanted = [
        (heading, {page: 1 for page, text in reported.items() if section in text})
        for heading, found in sections.items()
        for section in found
        if section and len(found) == 1
    ]
    wanted += [
        (asked, {page: 1}) for page, asked in sentences.items() if not any(asked in text for text in reported.values())
    ]
    for page, text in texts.items():
        (corpus / page).write_text(text, encoding="utf-8")
    return write(folder, _told_once([Question(asked, half_of(asked), answers) for asked, answers in wanted]))


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Each heading and the words of its section, those of the sections below it among them and their headings not."""
    headings = list(_UNDERLINED.finditer(text))
    for number, heading in enumerate(headings):
        level = _LEVELS.index(heading[2])
        after = (other.start() for other in headings[number + 1 :] if _LEVELS.index(other[2]) <= level)
        section = _UNDERLINED.sub("", text[heading.end() : next(after, len(text))])
        yield heading[1].replace('"', ""), " ".join(section.split())


def _described(source: str, module: ast.Module) -> Iterator[tuple[str, str | None, str]]:
    """Qualified name, first sentence and source without docstring of each function of a module."""
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
                    asked, _rest = first_sentence(docstring or "")
                    yield f"{scope}{child.name}", asked, "".join(text)


def _told_once(questions: list[Question]) -> list[Question]:
    """Those whose text asks for one file alone."""
    times = Counter(question.text for question in questions)
    return [question for question in questions if times[question.text] == 1]
