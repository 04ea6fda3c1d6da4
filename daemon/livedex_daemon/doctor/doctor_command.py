"""``livedex doctor``: checks the installation, the files and the limits, and gives a fix for each fault.

Invariant: it changes nothing, starts nothing and always finishes. A check that raises is reported as failed, and the
others still run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from livedex_daemon.doctor import embedder_check, file_checks, precious_checks, service_checks, system_checks
from livedex_daemon.doctor.check_result import Check, Report, failed
from livedex_daemon.process import direct_command
from livedex_ipc.cli.render.terminal_text import Style, visible
from livedex_ipc.cli.streams import Streams
from livedex_ipc.errors import LivedexError

# In the order in which they are printed.
CHECKS: tuple[Callable[[], Iterator[Check]], ...] = (
    system_checks.versions,
    system_checks.sqlite,
    system_checks.components,
    system_checks.documents,
    file_checks.configuration,
    embedder_check.embedder,
    file_checks.folders,
    file_checks.disk,
    precious_checks.precious,
    file_checks.socket,
    service_checks.service,
    system_checks.daemon,
    system_checks.descriptors,
    system_checks.limits,
    file_checks.roots,
    file_checks.watches,
)


def run(argv: Sequence[str]) -> int:
    """Print all checks. Return 4 if one of them failed, else 0."""
    return direct_command.run("livedex doctor", {"": _print}, argv)


def checks() -> Report:
    """Run all checks."""
    found = [check for group in CHECKS for check in _guarded(group)]
    return {"ok": all(check["state"] != "failed" for check in found), "checks": found}


def _guarded(group: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    name = group.__name__
    try:
        yield from group()
    except Exception as fault:
        message = f"could not be checked: {type(fault).__name__}: {fault}"
        yield failed(name, message, "report this as a bug of livedex")


def _print(streams: Streams) -> int:
    report = checks()
    if streams.json:
        streams.write_json(report)
    else:
        streams.write("".join(_lines(report["checks"], Style(streams.out_colour))))
    return 0 if report["ok"] else LivedexError.exit_code


def _lines(found: list[Check], style: Style) -> Iterator[str]:
    width = max(len(check["name"]) for check in found)
    for check in found:
        state = check["state"].ljust(len("warning"))
        colour = style.good if check["state"] == "ok" else style.bad
        yield f"{colour(state)}  {check['name'].ljust(width)}  {visible(check['message'])}\n"
        if check["fix"]:
            yield f"{'':{len('warning')}}  {'':{width}}  fix: {visible(check['fix'])}\n"
