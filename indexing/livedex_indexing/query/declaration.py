"""Recognises a reference, or a request, that is declared in another form: ``var.region`` of Terraform, ``svc/web`` of
Kubernetes, ``/users/42/edit`` of a web application, ``SELECT * FROM users``.

Invariant: pure; whether there is such a declaration is for the index to say. Time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from livedex_indexing.query.case_of_test import line_of_case
from livedex_indexing.query.derived_types import base_type, deriving
from livedex_indexing.query.routing_line import lines_of_route, words_of_route

_NAME: Final = r"[A-Za-z_][\w-]*"
_TYPE: Final = r"[a-z][a-z0-9]*_\w++"  # of a resource
_IN_MODULES: Final = rf"(?:module\.{_NAME}(?:\[[^\[\]]*\])?\.)*"
# var.region    module.vpc.id    data.aws_ami.ubuntu.id    aws_instance.web[0].id    module.vpc.aws_subnet.this["a"]
_TERRAFORM: Final = re.compile(
    rf"(?:\$\{{)?(?:(?P<kind>var|module|local|output)\.|(?:(?P<data>data)\.)?(?P<type>{_TYPE})\.)"
    rf"(?P<name>{_NAME})"
    r"(?:[.\[][^\s{}]*)?\}?"
)
_ADDRESS: Final = rf"{_IN_MODULES}(?:(?P<data>data)\.)?(?P<type>{_TYPE})\.(?P<name>{_NAME})(?:\[[^\[\]]*\])?(?:\.\w+)*"
# # module.vpc.aws_subnet.this[0] will be created    aws_subnet.this: Creating...    with aws_subnet.this,
_PLANNED: Final = re.compile(
    rf"(?:[#│|]\s*)*(?:with\s+)?{_ADDRESS}(?:,.*|:\s.*|\s(?:has|is|must|will)\b.*)?", re.DOTALL
)
_TOOL: Final = r"(?:\$ )?(?:terraform|tofu|terragrunt)\s"
# terraform state rm 'module.vpc.aws_subnet.this[0]'    terraform apply -target=aws_subnet.this
_COMMANDED: Final = re.compile(rf"{_TOOL}(?:.*[\s='\"])?{_ADDRESS}['\"]?")
# TF_VAR_region=x    terraform plan -var 'region=x'
_VARIABLE_SET: Final = re.compile(
    rf"(?:export )?TF_VAR_(?P<name>{_NAME})(?:=.*)?|{_TOOL}.*-var[ =]['\"]?(?P<given>{_NAME})=.*"
)
_KINDS: Final = (
    "clusterrole|clusterrolebinding|configmap|cronjob|daemonset|deployment|horizontalpodautoscaler|ingress|job|namespace|"
    "networkpolicy|persistentvolume|persistentvolumeclaim|pod|replicaset|replicationcontroller|role|rolebinding|secret|"
    "service|serviceaccount|statefulset|storageclass"
)
_SHORT: Final = {
    "cm": "configmap", "cj": "cronjob", "deploy": "deployment", "ds": "daemonset", "hpa": "horizontalpodautoscaler",
    "ing": "ingress", "netpol": "networkpolicy", "ns": "namespace", "po": "pod", "pv": "persistentvolume",
    "pvc": "persistentvolumeclaim", "rc": "replicationcontroller", "rs": "replicaset", "sa": "serviceaccount",
    "sc": "storageclass", "sts": "statefulset", "svc": "service",
}  # fmt: skip
_OBJECT: Final = re.compile(
    rf"(?P<kind>{_KINDS}|{'|'.join(_SHORT)})s?(?:/| +)(?P<name>[a-z0-9][\w.-]*)"
    rf"|(?P<before>[a-z0-9][\w.-]*) +(?P<behind>{_KINDS})",
    re.IGNORECASE,
)
_TABLE: Final = re.compile(
    r"(?:select +\* +from|(?:insert +)?into|delete +from|from|table|alter +table|describe) +[\"'`]?(?P<name>[a-z_]\w*)"
    r"[\"'`]?;?|(?P<before>[a-z_]\w*) +table",
    re.IGNORECASE,
)
# class="tabs wide"    className={'tabs'}    <ul id="main">
_ATTRIBUTE: Final = re.compile(
    r"(?:<[\w-]+ (?:[^<>]* )?)?(?P<of>class(?:Name)?|id)=\{?(?P<quote>[\"'])"
    r"(?P<names>[A-Za-z][\w-]*(?:\s[^\"'<>{}]*)?)(?P=quote)\}?(?:[ />][^<>]*>?)?"
)
# li.tabs    .tabs:hover    a tag that is a name in code, too, as in `input.value`, is none
_SELECTOR: Final = re.compile(
    r"(?:(?:article|aside|div|h[1-6]|li|nav|ol|span|svg|td|th|tr|ul)(?=\.)|(?=\.[\w-]+:[a-z:]))"
    r"\.(?P<name>[A-Za-z][\w-]*)(?:::?[\w-]+(?:\([^()]*\))?)*"
)
# var(--gap, 1px)    @include tabs(2px);
_VARIABLE: Final = re.compile(r"var\(\s*--(?P<name>[\w-]+)\s*(?:,[^()]*)?\)")
_MIXIN: Final = re.compile(r"@include\s+(?:\w+\.)?(?P<name>[\w-]+)(?:\(.*\))?;?")
# {% url 'walk:edit' walk.id %}    reverse("walk:edit", args=[1])    redirect('walk-list')
_NAMED_ROUTE: Final = re.compile(
    r"(?:\{%\s*url\s+|(?:reverse(?:_lazy)?|redirect)\()[\"'](?:[\w.-]+:)*(?P<name>[\w.-]+)[\"'][^%\n]*(?:%\}|\))?"
)
_ANY: Final = r"(?::\w++(?:\([^()]*\))?|\{[^{}/]*\}|<[^<>/]*>|\[\w+\]|\$\w++|\*)"  # parameters of a path
_SEGMENT: Final = r"(?:/[\w.~@%-]+)"
_BEHIND_PATH: Final = r"/?(?:\?[^\s\"']*)?"
_ROUTE: Final = re.compile(rf"(?P<path>{_SEGMENT}{{2,}}){_BEHIND_PATH}")
# /users/{id}/edit    GET /users/:id    /users/<int:pk>/
_TYPED_ROUTE: Final = re.compile(
    rf"(?:(?P<method>GET|POST|PUT|PATCH|DELETE|HEAD) +)?(?P<path>(?:/(?:[\w.~@%-]|{_ANY})++){{1,12}}+)/?", re.IGNORECASE
)
# GET /users    Started GET "/users" for ::1    "GET /users HTTP/1.1" 404    [GET] "/users"    curl -X GET host/users
_REQUEST: Final = re.compile(
    r"(?:.{0,60}?[\s\"'\[(])?(?P<verb>GET|POST|PUT|PATCH|DELETE|HEAD)\b[\"'\]]* +[\"']?(?:https?://[^\s/]+)?"
    rf"(?P<path>{_SEGMENT}+){_BEHIND_PATH}(?:[\"'\s].*)?"
)
# 1.2.3    v1.2    release notes 1.2    what's new in version 1.2    upgrade to 1.2    1.2.3 changelog
_RELEASE: Final = re.compile(
    r"(?:(?:changelog|changes|history|migrat\w+|new|news|notes|release[sd]?|upgrad\w+|version|what(?:'?s| is))\s+"
    r"(?:(?:for|from|in|of|since|to)\s+)?)*v?(?P<name>\d{1,4}(?:\.\d{1,4}){1,2}(?:[.-]?(?:alpha|beta|rc)[.-]?\d*)?)"
    r"(?:\s+(?:changelog|changes|release|release notes))?",
    re.IGNORECASE,
)
# --dry-run    walk fast --dry-run=x    unknown flag: --dry-run
_OPTION: Final = re.compile(
    r"(?:(?:[\w.,:'-]+ ){0,5}[\"'`]?)?--(?P<name>(?!help\b|version\b)[a-z][\w-]+)[\"'`]?(?:[= ]\S*)?", re.IGNORECASE
)
_HASH: Final = re.compile(r"[0-9a-f-]{8,}", re.IGNORECASE)
_PARAMETERS: Final = ("id", "pk", "int pk", "int id", "uuid", "slug", "key")  # as routes name them …
_WORDS: Final = ("name", "code", "number", "token", "str", "string", "int", "uid")  # … and texts, too


class Declaration(NamedTuple):
    """``words``: alternatives, each of rows of words that a chunk must have all; ``lines``: all of which must be found
    in it, the last one being the line to show. ``is_text``: what has the query as typed comes first;
    ``is_heading``: pages have such lines, rather than quote them."""

    words: tuple[tuple[str, ...], ...]
    lines: tuple[re.Pattern[str], ...]
    is_text: bool = False
    is_heading: bool = False


def declarations(text: str) -> Iterator[Declaration]:
    """Yield what declares what a text refers to, the likeliest first; nothing for most texts."""
    typed = text.strip()
    seen: set[Declaration] = set()
    for pattern, of in _FORMS:
        found = pattern.fullmatch(typed)
        for one in () if found is None else of(found):
            if one not in seen:
                seen.add(one)
                yield one
    case, line = line_of_case(typed)
    if case:
        yield Declaration(((case,),), (_line(line),))
    if name := base_type(typed):
        rows = tuple((row,) for row in (f"extends {name}", f"implements {name}", f"{name} for"))
        for words in (rows, tuple((word, name) for word in ("class", "struct", "interface"))):
            yield Declaration(words, (re.compile(rf"^(?:{deriving(name)})", re.MULTILINE),), is_text=True)


def _of_terraform(found: re.Match[str]) -> Iterator[Declaration]:
    name = re.escape(found["name"])
    if found["kind"] == "local":
        line = _line(rf"[ \t]+{name}[ \t]*=(?!=)")
        yield Declaration((("locals", found["name"]),), (_line(r"locals\s*\{"), line))
    elif found["kind"]:
        yield _block({"var": "variable"}.get(found["kind"], found["kind"]), found["name"])
    else:
        yield from _of_address(found)


def _of_address(found: re.Match[str]) -> Iterator[Declaration]:
    block, kind, name = found["data"] or "resource", found["type"], found["name"]
    yield Declaration(((f"{block} {kind} {name}",),), (_line(rf'{block}\s+"{kind}"\s+"{re.escape(name)}"'),))


def _of_variable_set(found: re.Match[str]) -> Iterator[Declaration]:
    yield _block("variable", found["name"] or found["given"])


def _block(kind: str, name: str) -> Declaration:
    return Declaration(((f"{kind} {name}",),), (_line(rf'{kind}\s+"{re.escape(name)}"'),))


def _of_object(found: re.Match[str]) -> Iterator[Declaration]:
    kind = (found["kind"] or found["behind"]).lower()
    kind, name = _SHORT.get(kind, kind), found["name"] or found["before"]
    named = rf"metadata:[^\n]*\n(?:[ \t]+(?!name:)[^\n]*\n){{0,9}}[ \t]+name:[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*$"
    yield Declaration(((f"kind {kind}", f"name {name}"),), (_line(rf"kind:[ \t]*{kind}\s*$"), _line(named)))
    if kind == "service":  # of Compose
        inside = rf"services:[^\n]*\n(?:(?:[ \t][^\n]*)?\n|\#[^\n]*\n)*?[ ]{{2,4}}{re.escape(name)}:[ \t]*$"
        yield Declaration((("services", name),), (_line(inside),))


def _of_table(found: re.Match[str]) -> Iterator[Declaration]:
    name = found["name"] or found["before"]
    created = rf"\s*create[ _](?:temp(?:orary)? )?table[ (]+(?:if not exists +)?(?:\w+\.)?[\"'`:\[]?{re.escape(name)}\b"
    rows = tuple((f"{row} {name}",) for row in ("create table", "create_table", "create table if not exists"))
    yield Declaration(rows, (_line(created),), is_text=True)


def _of_attribute(found: re.Match[str]) -> Iterator[Declaration]:
    sign = "#" if found["of"] == "id" else "."
    return (_rule(sign, name) for name in found["names"].split())


def _of_selector(found: re.Match[str]) -> Iterator[Declaration]:
    yield _rule(".", found["name"])


def _rule(sign: str, name: str) -> Declaration:
    rule = rf"[^\n;{{}}/\"'`]*(?<![\w-]){re.escape(sign + name)}(?![\w-])[^\n;{{}}\"'`]*[{{,][ \t]*$"
    return Declaration(((name,),), (_line(rule),), is_text=True)


def _of_variable(found: re.Match[str]) -> Iterator[Declaration]:
    yield Declaration(((found["name"],),), (_line(rf"(?:.*[{{;])?[ \t]*--{re.escape(found['name'])}[ \t]*:"),))


def _of_mixin(found: re.Match[str]) -> Iterator[Declaration]:
    line = _line(rf"[ \t]*@mixin[ \t]+{re.escape(found['name'])}(?![\w-])")
    yield Declaration(((f"mixin {found['name']}",),), (line,))


def _of_release(found: re.Match[str]) -> Iterator[Declaration]:
    """Yield the heading of a release: with a name of two words at most before the number."""
    begin, number = r"(?:(?:#{1,4}|[=*-]) *)?\[?(?:[A-Za-z]+ ){0,2}v?", re.escape(found["name"])
    line = _line(rf"{begin}{number}(?![\w-]|\.\d)(?:[\])]?(?:[ \t:(\[–-].*)?)$")
    yield Declaration(((found["name"],), (f"v{found['name']}",)), (line,), is_heading=True)


def _of_option(found: re.Match[str]) -> Iterator[Declaration]:
    """Yield the call that makes an option: ``add_argument("--name"``, ``Flags().StringVarP(&name, "name"``."""
    called = r"(?:[aA]rgument|[fF]lags?(?:\(\))?\.\w+|[oO]ption|Var(?:P|F)?|\bopts?\.on)"
    line = rf"[^\n]*{called}\([^\n]{{0,80}}?[\"'`](?:-\w,? ?)?(?:--)?{re.escape(found['name'])}(?![\w-])"
    yield Declaration(((found["name"],),), (_line(line),))


def _of_named_route(found: re.Match[str]) -> Iterator[Declaration]:
    line = _line(rf"[^\n]*\bname\s*=\s*[\"']{re.escape(found['name'])}[\"']")
    yield Declaration(((f"name {found['name']}",),), (line,))


def _of_typed_route(found: re.Match[str]) -> Iterator[Declaration]:
    """Yield the lines that route the very path."""
    path, method = found["path"], found["method"] or ""
    if any(map(str.isalpha, path)):
        yield Declaration(words_of_route(path), lines_of_route(path, method))


def _of_request(found: re.Match[str]) -> Iterator[Declaration]:
    """Yield the routes of a path, and those of its last parts, in lines that have the method of the request, too."""
    yield from _of_route(found)
    parts = found["path"].split("/")[1:]
    for first in range(len(parts) if not any(map(_is_value, parts)) else 0):
        shape = "/".join(map(re.escape, parts[first:]))
        line = rf"(?=[^\n]*{found['verb']})[^\n]*[\"'`]/?{shape}/?[\"'`]"
        yield Declaration(((" ".join(parts[first:]),),), (_line(line),), is_text=True)


def _of_route(found: re.Match[str]) -> Iterator[Declaration]:
    """Yield the routes of a path with a value, and those of its last parts: a router may be mounted."""
    parts = found["path"].split("/")[1:]
    values = [at for at, part in enumerate(parts) if _is_value(part)]
    if not values or not values[0]:
        return
    at = values[0]
    kind, singular = parts[at - 1], parts[at - 1].removesuffix("s")
    behind = parts[at + 1] if at + 1 < len(parts) and at + 1 not in values else ""
    usual = (*_PARAMETERS, f"{singular}_id", f"{singular}Id")
    for first in range(at):
        shape = "/".join(_ANY if place in values else re.escape(parts[place]) for place in range(first, len(parts)))
        line = re.compile(rf"[\"'`\s(^]/?{shape}/?(?=[\"'`:\s)(?.$]|\Z)", re.IGNORECASE)
        for names in (usual, (*_WORDS, singular)):
            rows = tuple((f"{kind} {name} {behind}",) for name in dict.fromkeys(names))
            yield Declaration(rows, (line,), is_text=True)


def _is_value(part: str) -> bool:
    """Whether a part of a path is a number or a hash, rather than a version or a word."""
    return part.isdecimal() or (_HASH.fullmatch(part) is not None and any(map(str.isdecimal, part)))


def _line(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^{pattern}", re.MULTILINE | re.IGNORECASE)


_FORMS: Final = (
    (_PLANNED, _of_address),
    (_TERRAFORM, _of_terraform),
    (_COMMANDED, _of_address),
    (_VARIABLE_SET, _of_variable_set),
    (_OBJECT, _of_object),
    (_TABLE, _of_table),
    (_ATTRIBUTE, _of_attribute),
    (_VARIABLE, _of_variable),
    (_MIXIN, _of_mixin),
    (_NAMED_ROUTE, _of_named_route),
    (_RELEASE, _of_release),
    (_OPTION, _of_option),
    (_TYPED_ROUTE, _of_typed_route),
    (_ROUTE, _of_route),
    (_REQUEST, _of_request),
    (_SELECTOR, _of_selector),
)
