"""Only the backend in use gets vectors: two that are kept at once may fill the same tables."""

from __future__ import annotations

import time

from helpers.backend_world import MODEL, World
from helpers.support import wait_until
from livedex_daemon.backend.backend_calls import BackendLost
from livedex_daemon.backend.backend_switch import BackendSwitch
from livedex_daemon.backend.mirror import PROBE, Mirror, Stored

SEARCH_S = 60.0


class Use:
    """Whether a mirror is in use; ``was_asked``: it asked for that."""

    def __init__(self) -> None:
        self.is_used = False
        self.was_asked = False

    def __call__(self) -> bool:
        self.was_asked = True
        return self.is_used


def test_one_that_is_not_in_use_gets_documents_alone(world: World) -> None:
    use, kept = Use(), world.first
    mirror = Mirror("first", world.host, world.origin, Stored(lambda: None, lambda _plan: None), use)

    def has_looked() -> bool:  # whether it is in use, or else what the backend lacks
        return use.was_asked or kept.asked > 0

    mirror.start()
    wait_until(has_looked, what="all documents sent")
    assert (kept.names(), kept.asked) == (["a.txt"], 0)
    use.was_asked = False
    mirror.vectors_changed()
    wait_until(has_looked, what="a look at the new vectors")
    assert kept.asked == 0

    use.is_used = True
    mirror.vectors_changed()
    wait_until(lambda: kept.names_with_vectors() == ["a.txt"] and mirror.feed.has(MODEL), what="the vectors sent")

    use.is_used = use.was_asked = False
    asked = kept.asked
    mirror.changed(*world.write("b.txt"))
    wait_until(lambda: kept.names() == ["a.txt", "b.txt"] and use.was_asked, what="the new document sent")
    assert (kept.asked, kept.names_with_vectors()) == (asked, ["a.txt"])
    mirror.stop()


def answers(mirror: Mirror) -> bool:
    try:
        mirror.search(PROBE, time.monotonic() + SEARCH_S)
    except BackendLost:
        return False
    return True


def test_the_next_backend_gets_vectors_once_the_former_gets_nothing_more(world: World) -> None:
    switch = BackendSwitch(world.host, world.origin, str(world.indexed.folder / "mark"))
    former = switch.begin("first")
    wait_until(lambda: world.first.names_with_vectors() == ["a.txt"], what="vectors for the first backend")
    assert switch.name == "first"

    world.second.takes.clear()
    switch.begin("second")
    switch.changed(*world.write("b.txt"))
    wait_until(lambda: world.first.names_with_vectors() == ["a.txt", "b.txt"], what="vectors for the one in use")
    switch.vectors_changed()
    assert world.second.asked == 0 and switch.name == "first"

    former_answers: list[bool] = []
    world.second.on_asked = lambda: former_answers.append(answers(former))
    world.second.takes.set()
    wait_until(lambda: world.second.names_with_vectors() == ["a.txt", "b.txt"], what="vectors for the next backend")
    assert not any(former_answers) and switch.name == "second"
    switch.stop()
