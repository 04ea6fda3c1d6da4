"""The names of what plugins and livedex itself provide: a factory for each kind and name, and who registered it.

Invariant: a name of a kind has one owner. What ``create`` returns has all methods of its Protocol; every other outcome,
whatever the factory does, is one ``PluginUnavailable``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from livedex_indexing.plugins.protocols import Backend, Embedder, KnowledgeBackend, Parser, Pipeline

T = TypeVar("T")
Factory = Callable[[Mapping[str, object]], object]
Protocols = Backend | KnowledgeBackend | Embedder | Parser | Pipeline

BUILT_IN = "livedex"  # the owner of what comes with livedex
MOST_NAME_CHARS = 100  # a name is typed into the configuration, and shown in warnings


@dataclass(frozen=True, slots=True)
class PluginKind(Generic[T]):
    """A kind of object that a plugin may provide; ``T`` is its Protocol."""

    name: str
    protocol: type[Protocols]
    without_plugin: tuple[str, ...] = ()  # names that no plugin provides

    @property
    def shown(self) -> str:
        """The name as messages have it."""
        return shown(self.name)


BACKEND: PluginKind[Backend] = PluginKind("backend", Backend, ("sqlite",))
KNOWLEDGE_STORE: PluginKind[KnowledgeBackend] = PluginKind("knowledge_store", KnowledgeBackend)
EMBEDDER: PluginKind[Embedder] = PluginKind("embedder", Embedder)
PARSER: PluginKind[Parser] = PluginKind("parser", Parser)
PIPELINE: PluginKind[Pipeline] = PluginKind("pipeline", Pipeline)


def shown(kind: str) -> str:
    """Return the name of a kind as messages have it."""
    return kind.replace("_", " ")


class NameTaken(Exception):
    """A name was registered twice; the message names both owners."""


class PluginUnavailable(Exception):
    """There is no usable object of this kind and name; the message says why. Keep the built-in one and warn."""


class Provided(NamedTuple):
    """What one owner registered."""

    kind: str
    name: str
    owner: str
    factory: Factory


class Registry:
    """Factories by kind and name."""

    def __init__(self) -> None:
        self._provided: dict[tuple[str, str], Provided] = {}

    def owned_by(self, owner: str) -> Registrar:
        """Return the object with the five ``register_*`` calls, for this plugin or for ``BUILT_IN``."""
        return Registrar(self, owner)

    def add(self, provided: Provided) -> None:
        """Add one factory. Raises NameTaken, ValueError for a bad name, TypeError if the factory is not callable."""
        name = provided.name
        if not isinstance(name, str) or not 0 < len(name) <= MOST_NAME_CHARS or not name.isprintable():
            what = f"the name of a {shown(provided.kind)}"
            raise ValueError(f"{what} must be printable text of 1 to {MOST_NAME_CHARS} characters")
        if not callable(provided.factory):
            raise TypeError(f"the factory of the {shown(provided.kind)} {provided.name!r} is not callable")
        former = self._provided.get((provided.kind, provided.name))
        if former is not None:
            what = f"the {shown(provided.kind)} {provided.name!r} of {provided.owner!r}"
            raise NameTaken(f"{what} is already that of {former.owner!r}")
        self._provided[provided.kind, provided.name] = provided

    def copy(self) -> Registry:
        """Return a registry with the same names, for a change that no other thread sees half-way."""
        other = Registry()
        other._provided = dict(self._provided)
        return other

    def drop(self, owner: str) -> None:
        """Remove everything that this owner registered."""
        self._provided = {key: provided for key, provided in self._provided.items() if provided.owner != owner}

    def provided_by(self, owner: str) -> tuple[Provided, ...]:
        return tuple(provided for provided in self._provided.values() if provided.owner == owner)

    def names(self, kind: PluginKind[T]) -> tuple[str, ...]:
        """Return the names of this kind, sorted."""
        return tuple(sorted(name for kind_name, name in self._provided if kind_name == kind.name))

    def owner(self, kind: PluginKind[T], name: str) -> str | None:
        """Return the plugin that registered the name; None if there is none."""
        found = self._provided.get((kind.name, name))
        return found.owner if found is not None else None

    def unknown(self, kind: PluginKind[T], name: str) -> str:
        """Say that nobody registered the name, and which there are."""
        known = ", ".join(sorted((*kind.without_plugin, *self.names(kind)))) or "none"
        return f"there is no {kind.shown} {name!r} (known: {known})"

    def create(self, kind: PluginKind[T], name: str, config: Mapping[str, object]) -> T:
        """Return a new object. Raises PluginUnavailable if the name is unknown or the factory gives none.

        ``config`` is the effective configuration, with the plugin's own table as ``config["plugin"]``.
        """
        found = self._provided.get((kind.name, name))
        if found is None:
            raise PluginUnavailable(self.unknown(kind, name))
        where = f"the {kind.shown} {name!r} of {found.owner!r}"
        try:
            made = found.factory(config)
        except BaseException as fault:  # a plugin may raise anything
            raise PluginUnavailable(f"{where} cannot be made: {described(fault)}") from fault
        if made is None:
            raise PluginUnavailable(f"{where} is not available: its factory returned None")
        try:
            conforms = isinstance(made, kind.protocol)
            _read_properties(made, kind.protocol)
        except BaseException as fault:
            raise PluginUnavailable(f"{where} cannot be used: {described(fault)}") from fault
        if not conforms:
            raise PluginUnavailable(
                f"{where} is {type(made).__name__}, which lacks a method of {kind.protocol.__name__}"
            )
        return made  # type: ignore[return-value]  # the kind's Protocol is T


def _read_properties(made: object, protocol: type) -> None:
    """Read what the Protocol has as properties, if it is there: from Python 3.12 on `isinstance` does not."""
    for base in protocol.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, property):
                getattr(made, name, None)


class Registrar:
    """What a plugin's ``register(registry)`` gets. A ``factory(config)`` returns the object, or None."""

    def __init__(self, registry: Registry, owner: str) -> None:
        self._registry = registry
        self._owner = owner
        self._lock = threading.Lock()
        self._closed = False

    def register_backend(self, name: str, factory: Factory) -> None:
        self._add(BACKEND.name, name, factory)

    def register_knowledge_store(self, name: str, factory: Factory) -> None:
        self._add(KNOWLEDGE_STORE.name, name, factory)

    def register_embedder(self, name: str, factory: Factory) -> None:
        self._add(EMBEDDER.name, name, factory)

    def register_parser(self, name: str, factory: Factory) -> None:
        self._add(PARSER.name, name, factory)

    def register_pipeline(self, name: str, factory: Factory) -> None:
        self._add(PIPELINE.name, name, factory)

    def close(self) -> None:
        """Take nothing more: the plugin failed, and its code may still run."""
        with self._lock:
            self._closed = True

    def _add(self, kind: str, name: str, factory: Factory) -> None:
        with self._lock:
            if self._closed:
                raise PluginUnavailable(f"the plugin {self._owner!r} was given up")
            self._registry.add(Provided(kind, name, self._owner, factory))


def described(fault: BaseException) -> str:
    """Return an exception's type and text on one line of at most 300 characters, though its text cannot be had."""
    try:
        text = " ".join(str(fault).split())
    except BaseException:  # a plugin's exception may raise anything
        text = "its text cannot be had"
    return (f"{type(fault).__name__}: {text}" if text else type(fault).__name__)[:300]
