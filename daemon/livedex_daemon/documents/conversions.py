"""What is to be converted, and what came of it, until the index has it.

Invariant: a path waits for at most one content, that of its last reading. A result is kept until each path that waits
for it is settled, and no longer.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from livedex_daemon.watch.backlog import Key, Scope, meeting
from livedex_daemon.watch.root_table import Root
from livedex_indexing.model import DocumentText

KEPT_BYTES: Final = 64 << 20  # of converted text that is not stored yet; no further document is converted meanwhile

Content = tuple[bytes, bytes]  # the hash of a document's bytes, and the signature of the plan: parser, versions, chunks


class ParseFailed(NamedTuple):
    """``stage``: ``parse``, or ``quarantined`` for a document that used up its worker twice."""

    stage: str
    message: str


Result = DocumentText | ParseFailed


class Document(NamedTuple):
    """What a lane needs to convert a content: one path that has it, its parser and its suffix.

    ``force``: a client asked to index the path again, whatever is known of it.
    """

    root: Root
    path: bytes
    parser: str
    suffix: str
    force: bool

    @property
    def key(self) -> Key:
        return self.root.id, self.path


class Conversions:
    """Call from any thread."""

    def __init__(self) -> None:
        self.files_parsed = 0
        self.changed = threading.Condition()
        self.version = 0  # grows with what may give a lane something to do
        self._content_of: dict[Key, Content] = {}
        self._waiting: dict[Content, dict[Key, Document]] = {}
        self._results: dict[Content, Result] = {}
        self.published = 0  # grows when a message for a content may have been published
        self._unpublished: deque[Content] = deque()
        self._with_message: set[Content] = set()  # a message asks for it, or is about to be published
        self._being_published: set[Content] = set()
        self._under_way: set[Content] = set()

    # -- for the writing thread and the readers of files

    def result(self, content: Content) -> Result | None:
        return self._results.get(content)

    def request(self, content: Content, document: Document) -> bool:
        """Have the content converted: a path with it is stored as pending. Return True if it was converted meanwhile:
        then the caller has the path read again, since no lane will."""
        with self.changed:
            self._leave(document.key)
            self._content_of[document.key] = content
            self._waiting.setdefault(content, {})[document.key] = document
            if content not in self._with_message:
                self._enqueue([content])
            self._notify()
            return content in self._results

    def settled(self, key: Key) -> None:
        """Note that the path waits for nothing any more: it is indexed, failed, or other bytes than before."""
        if key in self._content_of:
            with self.changed:
                self._leave(key)
                self._notify()

    def _enqueue(self, contents: Iterable[Content]) -> None:
        for content in contents:
            self._with_message.add(content)
            self._unpublished.append(content)

    def _notify(self) -> None:
        self.version += 1
        self.changed.notify_all()

    def forget_gone(self, is_gone: Callable[[Key], bool]) -> None:
        for key in [key for key in self._content_of if is_gone(key)]:
            self.settled(key)

    def _leave(self, key: Key) -> None:
        content = self._content_of.pop(key, None)
        if content is None:
            return
        waiting = self._waiting[content]
        del waiting[key]
        if not waiting:
            del self._waiting[content]
            self._results.pop(content, None)
            self._with_message.discard(content)

    # -- for answers

    def waits(self, key: Key) -> bool:
        return key in self._content_of

    def pending(self, scope: Scope = None) -> int:
        """Return the number of documents inside ``scope`` that are not converted and stored yet."""
        if scope is None:
            return len(self._content_of)
        return sum(map(meeting(scope), list(self._content_of)))

    def pending_keys(self) -> set[Key]:
        return set(self._content_of.copy())

    # -- for the lanes

    def unpublished(self) -> Iterator[tuple[Content, str]]:
        """Yield the contents that no message asks for yet, each once, with the name of the parser.

        The caller publishes a message for each before it takes the next one, or calls ``publish_again`` for it.
        """
        while True:
            with self.changed:
                if not self._unpublished:
                    return
                content = self._unpublished.popleft()
                waiting = self._waiting.get(content)
                parser = next(iter(waiting.values())).parser if waiting else None
                if parser is not None:
                    self._being_published.add(content)
            if parser is not None:
                try:
                    yield content, parser
                finally:
                    with self.changed:
                        self._being_published.discard(content)
                        self.published += 1

    def publish_again(self, failed: Content | None = None, *, unless_since: int | None = None) -> None:
        """Have a message for each content that waits and that no lane has in hand: the former ones are lost.

        ``failed``: one that could not be published. ``unless_since``: what ``published`` was when the topic was found
        empty; a message that came since is not lost.
        """
        with self.changed:
            if failed is not None:
                self._being_published.discard(failed)
            if unless_since is not None and unless_since != self.published:
                return
            left = self._waiting.keys() - self._results.keys() - self._under_way - self._being_published
            self._enqueue(left.difference(self._unpublished))

    def begin(self, content: Content) -> list[Document]:
        """Return the paths that wait for the content's conversion, and keep other lanes from it; none: leave it."""
        with self.changed:
            if content in self._under_way or content in self._results:
                return []
            waiting = list(self._waiting.get(content, {}).values())
            if waiting:
                self._under_way.add(content)
            return waiting

    def next_without_message(self) -> Content | None:
        """Return a content to convert where there is no exchange to ask; None: none waits."""
        with self.changed:
            left = (each for each in self._waiting if each not in self._results and each not in self._under_way)
            return next(left, None)

    def end(self, content: Content, result: Result | None, *, again: bool = False) -> list[Document]:
        """Keep the result, if there is one, and return the paths that wait for it. ``again``: another message asks for
        the content; else a path that is read again and waits again needs one, if there is no result."""
        with self.changed:
            self._under_way.discard(content)
            if result is None and not again:
                self._with_message.discard(content)
            waiting = list(self._waiting.get(content, {}).values())
            if result is not None and waiting:
                self._results[content] = result
                self.files_parsed += isinstance(result, DocumentText)
            return waiting

    def may_begin(self) -> bool:
        with self.changed:
            kept = sum(len(each.text) for each in self._results.values() if isinstance(each, DocumentText))
            return kept < KEPT_BYTES

    def needs_lane(self) -> bool:
        """Whether a content waits that has no result and that no lane has in hand."""
        with self.changed:
            return len(self._waiting.keys() - self._results.keys() - self._under_way) > 0
