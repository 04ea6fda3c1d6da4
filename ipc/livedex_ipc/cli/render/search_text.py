"""Formats hits as text: a numbered line that names the place of each, then the lines that say why it was found.

Invariant: the hits keep their order, and nothing of a file but its text and paths, escaped, is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from livedex_ipc.cli.render.hit_lines import Line, all_lines, cut_line, telling
from livedex_ipc.cli.render.hyperlinks import linked
from livedex_ipc.cli.render.shown_paths import path_text, relative
from livedex_ipc.cli.render.terminal_text import Style, display_width, visible

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Literal

    from livedex_ipc.wire_results import HitFields, SearchResult

    Form = Literal["short", "normal", "long"]


TELLING_LINES = 2  # of a hit, below the line that names its place
_LEAST_COLUMNS = 20  # columns for a line, however narrow the terminal
_WHITE = 2  # columns between a number and a path, and between a path and its breadcrumb


class View:
    """How hits are shown. ``short``: a line each; ``normal``: at most three; ``long``: all that the answer has.

    ``around``: how many lines to show around each matching line; ``width``: columns to cut lines to, None to
    leave them whole; ``links``: a `link_form`; ``folder``: paths below it are relative, "" for none.
    """

    __slots__ = ("around", "colour", "folder", "form", "links", "width")

    def __init__(
        self,
        form: Form = "normal",
        *,
        colour: bool = False,
        around: int = 0,
        width: int | None = None,
        links: str = "",
        folder: str = "",
    ) -> None:
        self.form = form
        self.colour = colour
        self.around = around
        self.width = width
        self.links = links
        self.folder = folder


class Blocks:
    """The short form as grep prints it, from page to page: hits of one file whose lines touch are one block.

    Each line of a block comes once, a matching one marked so; ``--`` is between two blocks with lines around matches.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._hit: HitFields | None = None  # the last one
        self._first = self._done = 0  # lines of the block: the first, and the last of those that were printed
        self._after: list[Line] = []  # those after it, which the next hit may have too

    def text(self, hit: HitFields) -> str:
        """Format the lines that no further hit can change."""
        lines = telling(all_lines(hit), 1, self._view.around)
        end = lines[-1].number if lines else 0
        matched = max((line.number for line in lines if line.matched), default=end)
        text = ""
        if self._goes_on(hit, lines, matched):
            numbered = {line.number: line for line in (*self._after, *lines) if line.number > self._done}
            lines = list(numbered.values())
        else:
            text = self.rest() + ("--\n" if self._hit is not None and self._view.around else "")
            self._first = lines[0].number if lines else 0
        self._hit, self._done = hit, matched
        self._after = [line for line in lines if line.number > matched]
        return text + self._printed(line for line in lines if line.number <= matched)

    def rest(self) -> str:
        """Format the lines that are left, once no hit follows."""
        after, self._after = self._after, []
        return self._printed(after)

    def _goes_on(self, hit: HitFields, lines: Sequence[Line], matched: int) -> bool:
        if self._hit is None or not lines or path_text(hit) != path_text(self._hit):
            return False
        last = self._after[-1].number if self._after else self._done
        return self._first <= lines[0].number <= last + 1 and self._done < matched

    def _printed(self, lines: Iterable[Line]) -> str:
        return "".join(_grep_line(self._hit, line, self._view) + "\n" for line in lines) if self._hit else ""


def hits_text(hits: Sequence[HitFields], view: View, first: int = 1, blocks: Blocks | None = None) -> str:
    """Format hits; the first has the number ``first``. ``blocks``: of the pages before, and their rest comes later."""
    if view.form == "short":
        shown = blocks or Blocks(view)
        return "".join(map(shown.text, hits)) + (shown.rest() if blocks is None else "")
    margin = len(str(first + len(hits) - 1))
    lines: list[str] = []
    for number, hit in enumerate(hits, first):
        lines += _hit_lines(hit, view, f"{number:>{margin}}" + " " * _WHITE)
    return "".join(line + "\n" for line in lines)


def hit_text(hit: HitFields, view: View, sign: str) -> str:
    """Format one hit, with ``sign`` in the place of its number."""
    label = sign + " "
    if view.form == "short":
        lines = telling(all_lines(hit), 1, view.around)
        return "".join(f"{label}{_grep_line(hit, line, view, len(label))}\n" for line in lines)
    return "".join(line + "\n" for line in _hit_lines(hit, view, label))


def _hit_lines(hit: HitFields, view: View, label: str) -> Iterator[str]:
    style = Style(view.colour)
    indent = " " * len(label)
    lines = all_lines(hit)
    if view.form == "normal":
        lines = telling(lines, TELLING_LINES, view.around)
    at = next((line.number for line in lines if line.matched), lines[0].number if lines else 0)
    place = _place(hit, at, view)
    yield label + place + _breadcrumb(hit, view, len(label) + display_width(_plain_place(hit, at, view)))
    for line in lines:
        yield indent + _numbered(line, view, len(indent))
    if hit.get("also_at") and view.form == "long":
        total = hit.get("also_at_total", len(hit["also_at"]))
        rest = f" and {total - 1} more" if total > 1 else ""
        yield style.dim(f"{indent}also at {visible(relative(_first_copy(hit), view.folder))}{rest}")
    if "explain" in hit:
        parts = " + ".join(f"{part['name']} {part['value']:.4g}" for part in hit["explain"]["parts"])
        yield style.dim(f"{indent}score {hit['explain']['total']:.4g} = {parts}")


def _plain_place(hit: HitFields, line: int, view: View) -> str:
    path = visible(relative(path_text(hit), view.folder))
    return f"{path}:{line}" if line else path


def _place(hit: HitFields, line: int, view: View, sign: str = ":") -> str:
    style = Style(view.colour)
    path = style.path(visible(relative(path_text(hit), view.folder)))
    return linked(f"{path}{sign}{style.line(str(line))}" if line else path, path_text(hit), line, view.links)


def _breadcrumb(hit: HitFields, view: View, used: int) -> str:
    """Return the headings or the name of the definition, and how many copies or matches there are more."""
    parts = [visible(part) for part in (hit["heading"], hit["symbol"]) if part]
    if hit.get("matches", 1) > 1:
        parts.append(f"{hit['matches']:,} matches")
    copies = hit.get("also_at_total", len(hit.get("also_at", ())))
    if copies and view.form != "long":
        parts.append("1 copy" if copies == 1 else f"{copies:,} copies")
    if not parts:
        return ""
    text = " · ".join(parts)
    if view.width is not None:
        text = cut_line(Line(0, text), max(_LEAST_COLUMNS, view.width - used - _WHITE)).text
    return " " * _WHITE + Style(view.colour).dim(text)


def _numbered(line: Line, view: View, indent: int) -> str:
    number = str(line.number)
    return (
        f"{Style(view.colour).line(number)}{':' if line.matched else '-'}{_text(line, view, indent + len(number) + 1)}"
    )


def _grep_line(hit: HitFields, line: Line, view: View, indent: int = 0) -> str:
    """Return a matching line as ``path:line:text``, one around it as ``path-line-text``."""
    sign = ":" if line.matched or not view.around else "-"
    used = indent + display_width(_plain_place(hit, line.number, view)) + 1
    return f"{_place(hit, line.number, view, sign)}{sign}{_text(line, view, used)}"


def _text(line: Line, view: View, used: int) -> str:
    """Return the text of a line, escaped, with coloured matches, cut to the width that ``used`` columns leave."""
    style = Style(view.colour)
    if view.width is not None:
        line = cut_line(line, max(_LEAST_COLUMNS, view.width - used))
    pieces: list[str] = []
    position = 0
    for left, right in line.spans:
        pieces.append(visible(line.text[position:left], "\t"))
        pieces.append(style.match(visible(line.text[left:right], "\t")))
        position = right
    pieces.append(visible(line.text[position:], "\t"))
    return "".join(pieces)


def facets_text(facets: Mapping[str, Mapping[str, int]], *, colour: bool) -> str:
    """Format a line for each facet: each value and how many of all matching files have it."""
    lines = [
        f"{Style(colour).dim(name)}  {'  '.join(f'{visible(value)} {count}' for value, count in counts.items()) or '-'}"
        for name, counts in facets.items()
    ]
    return "".join(line + "\n" for line in ["", *lines]) if lines else ""


def total_text(result: SearchResult[HitFields], shown: int, offset: int) -> str:
    """Say that ``shown`` hits are how many of all, and how to see more; "" if there are none."""
    if not shown:
        return ""
    total = result.get("total")
    which = f"{shown:,}" if not offset else f"{offset + 1:,} to {offset + shown:,}"
    if total is None:
        hits = f"{which} {_plural(shown, 'hit')}" if not offset else f"hits {which}"
    elif not offset and shown >= total["hits"]:
        hits = f"{which} {_plural(shown, 'hit')} in {total['files']:,} {_plural(total['files'], 'file')}"
    else:
        hits = f"{which} of {total['hits']:,} hits in {total['files']:,} {_plural(total['files'], 'file')}"
    if result.get("omitted"):
        hits += f"; --max-chars left out {result['omitted']:,}"
    if result["next_offset"] is not None:
        hits += f"; more with --offset {result['next_offset']}"
    return hits + "\n"


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else noun + "s"


def correction_text(typed: str, meant: str) -> str:
    """Say which words of a query were replaced: ``no "zither"; showing "either"``."""
    words, others = typed.split(), meant.split()
    pairs = [(word, other) for word, other in zip(words, others, strict=False) if word != other]
    if len(words) != len(others) or any(word.strip("\"'-").casefold() == other.casefold() for word, other in pairs):
        return f"showing: {meant}"
    missing, shown = (", ".join(dict.fromkeys(f'"{pair[side]}"' for pair in pairs)) for side in (0, 1))
    return f"no {missing}; showing {shown}" if pairs else f"showing: {meant}"


def _first_copy(hit: HitFields) -> str:
    """Return the first path of ``also_at``."""
    encoded = hit.get("also_at_b64", [None])[0]
    path = hit["also_at"][0]
    return path_text({"path": path} if encoded is None else {"path": path, "path_b64": encoded})
