"""Decide from a file's name and first bytes how to cut it, and give the decision a short signature.

Invariant: two files with the same bytes and the same signature have the same chunks. The signature of a pipeline covers
only the settings and libraries it uses, so that a change to any other re-chunks nothing there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import msgspec

from livedex_indexing.child.installed_versions import version_of
from livedex_indexing.chunk import language_detection, line_definitions
from livedex_indexing.chunk.grammars import DISTRIBUTIONS
from livedex_indexing.parse import parsers
from livedex_indexing.text import decoder

HEAD_BYTES = decoder.BINARY_HEAD  # the first bytes of a file, which ``choose`` reads
PIPELINES = ("markdown", "code", "plain")

# Increase by one whenever a livedex component changes the way it cuts, names or describes chunks.
COMPONENTS = {"markdown": 2, "code": 4, "plain": 2}
_LIBRARIES = {
    "markdown": ("chonkie", "chonkie-core", "pyyaml", "charset-normalizer"),
    "code": ("chonkie", "chonkie-core", "charset-normalizer"),
    "plain": ("chonkie", "chonkie-core", "charset-normalizer"),
}


class PluginPipeline(msgspec.Struct, frozen=True):
    """All that a chunk process needs to make a pipeline that is not built in.

    ``owner`` is the plugin, ``folders`` where modules lie, ``settings`` the JSON of the configuration for the factory,
    ``version`` changes with the plugin's code and settings.
    """

    name: str
    owner: str
    folders: tuple[str, ...]
    settings: bytes
    version: str


class ChunkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The ``[chunking]`` table. Sizes are in characters; ``pipelines`` maps a suffix, with its dot, to a pipeline.

    ``plugins`` has the pipelines that are not built in, by name; a name that is in neither changes nothing.
    ``parsers`` maps the suffix of a document to the identity of the parser that makes Markdown of it. ``encoding`` is
    that of text which is neither UTF-8 nor marked, "" if it is to be found out. ``encodings`` are the rules by which
    each file gets its ``encoding``: two settings are equal if these are, too.
    """

    tokenizer: str = "character"
    chunk_size: int = 2048
    overlap: int = 128
    pipelines: dict[str, str] = {}
    plugins: dict[str, PluginPipeline] = {}
    parsers: Mapping[str, str] = {}
    encoding: str = ""
    encodings: tuple[tuple[str, str], ...] = ()


class Plan(NamedTuple):
    """The way to cut a file. ``language`` is None if it is unknown. ``signature`` is 16 bytes.

    ``plugin`` is the pipeline that cuts the text, None: ``pipeline`` does. ``pipeline`` describes the chunks, and cuts
    the text where the plugin fails.
    ``parser`` is the name of what converts it to Markdown first; None: its own text is cut. ``encoding`` is as in the
    settings.
    """

    pipeline: str
    language: str | None
    signature: bytes
    plugin: PluginPipeline | None = None
    parser: str | None = None
    encoding: str = ""


def choose(name: bytes, head: bytes, settings: ChunkSettings) -> Plan:
    """Return the plan for a file ``name``. ``head`` is its first ``HEAD_BYTES`` bytes, or the whole file."""
    suffix, identity = _parser(name, settings)
    if identity is not None and parsers.is_document(suffix, head[:HEAD_BYTES], decoder.is_binary):
        return document_plan(name, identity, settings)
    language, pipeline = _kind(name, head[:HEAD_BYTES])
    return _plan(_override(name, settings), pipeline, language, settings)


def document_plan(name: bytes, identity: str, settings: ChunkSettings) -> Plan:
    """Return the plan of a document called ``name`` that the parser of this identity converts."""
    language, _category = language_detection.by_name(name) or (None, "plain")
    if language == "json":  # of a notebook it is the form, and no language of its text
        language = None
    plan = _plan(None, "markdown", language, msgspec.structs.replace(settings, encoding=""))  # its Markdown is UTF-8
    signature = hashlib.blake2b(plan.signature + identity.encode(), digest_size=16).digest()
    return plan._replace(signature=signature, parser=parsers.name_of(identity))


def suffix_of(name: bytes, settings: ChunkSettings) -> str:
    """Return the suffix for which a file of this name has a parser, in lower case; "" if it has none."""
    return _parser(name, settings)[0]


def _parser(name: bytes, settings: ChunkSettings) -> tuple[str, str | None]:
    if settings.parsers:
        for suffix in language_detection.suffixes(name):
            text = suffix.decode("utf-8", "replace")
            identity = settings.parsers.get(text)
            if identity is not None:
                return text, identity
    return "", None


def possible(name: bytes, settings: ChunkSettings) -> frozenset[bytes]:
    """Return every signature that a file of this name can have, whatever its content.

    A caller can then tell, without reading the file, whether its stored chunks still match the settings. Of a name that
    has a parser, only the document's: text that is only named so is read again.
    """
    identity = _parser(name, settings)[1]
    if identity is not None:
        return frozenset((document_plan(name, identity, settings).signature,))
    by_name = language_detection.by_name(name)
    kinds: list[tuple[str, str | None]]
    override = _override(name, settings)
    if by_name is None:
        kinds = [("code", language) for language in language_detection.SHEBANG_LANGUAGES] + [("plain", None)]
    elif _may_be_cpp(name):
        kinds = [("code", "c"), ("code", "cpp")]
    else:
        kinds = [(by_name[1], by_name[0])]
    return frozenset(_plan(override, pipeline, language, settings).signature for pipeline, language in kinds)


def fingerprint(settings: ChunkSettings) -> int:
    """Return a number that changes with every setting and library version that any plan depends on."""
    plans = [_plan(None, pipeline, None, settings).signature for pipeline in PIPELINES]
    plans += [
        _plan(None, "code", language, settings).signature
        for language in sorted(DISTRIBUTIONS.keys() | line_definitions.LANGUAGES)
    ]
    versions = {name: plugin.version for name, plugin in settings.plugins.items()}
    parsers_of = sorted(settings.parsers.items())
    text = repr((sorted(settings.pipelines.items()), sorted(versions.items()), parsers_of, settings.encodings)).encode()
    return int.from_bytes(hashlib.blake2b(b"".join(plans) + text, digest_size=7).digest())


def _kind(name: bytes, head: bytes) -> tuple[str | None, str]:
    by_name = language_detection.by_name(name)
    if by_name is None:
        return language_detection.by_head(head)
    if _may_be_cpp(name) and language_detection.is_cpp_header(head):
        return "cpp", "code"
    return by_name


def _may_be_cpp(name: bytes) -> bool:
    return name.endswith((b".h", b".H"))


def _override(name: bytes, settings: ChunkSettings) -> str | PluginPipeline | None:
    if settings.pipelines:
        for suffix in language_detection.suffixes(name):
            pipeline = settings.pipelines.get(suffix.decode("utf-8", "replace"))
            if pipeline is not None:
                return pipeline if pipeline in PIPELINES else settings.plugins.get(pipeline)
    return None


def _plan(override: str | PluginPipeline | None, pipeline: str, language: str | None, settings: ChunkSettings) -> Plan:
    sizes = settings.tokenizer, settings.chunk_size, settings.overlap
    if isinstance(override, PluginPipeline):
        base = _cached_plan(pipeline, language, *sizes)
        plan = base._replace(plugin=override, signature=_signature(base.signature, override.name, override.version))
    else:
        plan = _cached_plan(override or pipeline, language, *sizes)
    encoding = settings.encoding
    return plan._replace(encoding=encoding, signature=_signature(plan.signature, encoding)) if encoding else plan


@cache
def _signature(signature: bytes, *parts: str) -> bytes:
    return hashlib.blake2b(b"\0".join((signature, *map(str.encode, parts))), digest_size=16).digest()


@cache
def _cached_plan(pipeline: str, language: str | None, tokenizer: str, chunk_size: int, overlap: int) -> Plan:
    libraries = list(_LIBRARIES[pipeline])
    grammar = DISTRIBUTIONS.get(language or "") if pipeline == "code" else None
    if grammar is not None:
        libraries += ["tree-sitter", grammar]
    parts = [
        pipeline,
        language or "",
        str(COMPONENTS[pipeline]),
        *(
            [f"lines={line_definitions.VERSION}"]
            if pipeline == "code" and language in line_definitions.LANGUAGES
            else []
        ),
        str(decoder.VERSION),
        tokenizer,
        str(chunk_size),
        str(overlap),
        *(f"{library}={version_of(library) or ''}" for library in libraries),
    ]
    return Plan(pipeline, language, hashlib.blake2b("\0".join(parts).encode(), digest_size=16).digest())
