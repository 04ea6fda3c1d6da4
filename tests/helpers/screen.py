"""The screen of a terminal that a test types into, and the wait for what it shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from helpers.support import wait_until


class Screen(ABC):
    @abstractmethod
    def rows(self) -> list[str]:
        """The rows of the screen as they are now, without blanks at their ends."""

    def text(self) -> str:
        return "\n".join(self.rows())

    def see(self, wanted: str | Callable[[str], object], timeout: float = 20) -> str:
        """Return the screen once it has this text, or the condition is true."""
        seen = ""

        def shown() -> bool:
            nonlocal seen
            seen = self.text()
            return bool(wanted in seen if isinstance(wanted, str) else wanted(seen))

        try:
            wait_until(shown, timeout, what=f"{wanted!r} on the screen")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{seen}") from None
        return seen
