"""The completion scripts of bash, zsh and fish, made from the argument tree.

A script gets values beyond the tree from ``livedex completion``, within 100 ms; the shell never evaluates its output.
"""

from __future__ import annotations

from collections.abc import Iterator

from livedex_ipc.cli.arguments import GLOBAL_OPTIONS, ROOT, Command, Operand, Option

Place = tuple[str, Command]

# Set by the scripts to ask for values (`root`) instead of the script; not meant for users, so it is not an option.
VALUES_VARIABLE = "_LIVEDEX_VALUES"
_OF_THE_DAEMON = ("root", "language")


def script(shell: str) -> str:
    """Return the whole script for ``shell``: bash, zsh or fish."""
    text = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()
    return text.replace("@VARIABLE@", VALUES_VARIABLE)


def _places(title: str = "livedex", command: Command = ROOT) -> Iterator[Place]:
    """Yield every command with its full title, also by a former name, a group before its subcommands."""
    yield title, command
    for each in command.subcommands:
        for name in filter(None, (each.name, each.alias)):
            yield from _places(f"{title} {name}", each)


def _completed(command: Command) -> Operand | None:
    """Return the operand that can be completed: the second one, where it has the paths."""
    second = command.second
    return second if second is not None and second.complete else command.operand


def _quote(text: str) -> str:
    """Quote ``text`` for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _titles() -> list[str]:
    """Return the commands below ``livedex``, without ``help``: after it, the same words are offered as without it."""
    return [title for title, _ in _places() if title not in ("livedex", "livedex help")]


def _valued(command: Command) -> Iterator[tuple[str, Option]]:
    """Return (flag, option) for each spelling of each option that takes a value."""
    options = (*command.options, *GLOBAL_OPTIONS)
    return ((flag, option) for option in options if option.metavar for flag in option.flags)


# What bash and zsh write alike.
_OFFERS = """    if [[ -z $ended ]]; then
        case "$where:$prev" in
@VALUES@
        esac
        if [[ $cur == -* ]]; then
            case "$where" in
@OPTIONS@
            esac
            return
        fi
    fi
    case "$where" in
@OPERANDS@
    esac
"""

# bash 3.2, the newest that macOS has, lacks mapfile and compopt; `complete -o default` offers files where nothing else
# is offered.
_BASH = r"""# bash completion of livedex: eval "$(livedex completion bash)"
_livedex_offer() {
    local word
    for word in "$@"; do
        [[ $word == "$cur"* ]] && COMPREPLY+=("$lead$word")
    done
}
_livedex_values() {
    local value
    while IFS= read -r value; do
        [[ $value == "$cur"* ]] && COMPREPLY+=("$lead$(printf '%q' "$value")")
    done < <(env "@VARIABLE@=$1" livedex completion bash 2>/dev/null)
}
_livedex() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} where=livedex ended= lead= i
    COMPREPLY=()
    if [[ $cur == --*=* ]]; then  # one word where COMP_WORDBREAKS has no `=`
        prev=${cur%%=*} cur=${cur#*=} lead=$prev=
    elif [[ $cur == '=' ]]; then
        cur=
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -- ]] && ended=1
        case "$where ${COMP_WORDS[i]}" in
            @TITLES@) where="$where ${COMP_WORDS[i]}" ;;
        esac
    done
@OFFERS@
}
complete -o default -F _livedex livedex
"""

_ZSH = r"""#compdef livedex
# zsh completion of livedex: put it into a folder of $fpath as _livedex, or eval "$(livedex completion zsh)" after
# compinit
_livedex_values() {
    local -a found
    found=("${(@f)$(env "@VARIABLE@=$1" livedex completion zsh 2>/dev/null)}")
    found=("${(@)found:#}")
    (( $#found )) && compadd -- "${found[@]}"
}
_livedex() {
    local cur=${words[CURRENT]} prev=${words[CURRENT-1]} where=livedex ended= i
    local -a offers
    if [[ $cur == --*=* ]]; then
        prev=${cur%%=*} cur=${cur#*=}
        compset -P '*='
    fi
    for ((i = 2; i < CURRENT; i++)); do
        [[ ${words[i]} == -- ]] && ended=1
        case "$where ${words[i]}" in
            @TITLES@) where="$where ${words[i]}" ;;
        esac
    done
@OFFERS@
}
if [[ ${funcstack[1]} == _livedex ]]; then
    _livedex "$@"
else
    compdef _livedex livedex
fi
"""


def _bash() -> str:
    values, options, operands = [], [], []
    for title, command in _places():
        for flag, option in _valued(command):
            values.append(_case(f"{title}:{flag}", f"{_bash_offer(option.choices, option.complete)}return"))
        flags = [flag for option in (*command.options, *GLOBAL_OPTIONS) for flag in option.flags]
        options.append(_case(title, "_livedex_offer " + " ".join(flags), 16))
        words = [each.name for each in command.subcommands]
        operand = _completed(command)
        if operand is not None:
            offer = _bash_offer(operand.choices, operand.complete)
        else:
            offer = _bash_offer(words, "")
        if offer:
            operands.append(_case(title, offer.removesuffix("; "), 8))
    return _filled(_BASH, values, options, operands)


def _bash_offer(words: tuple[str, ...] | list[str], complete: str) -> str:
    if words:
        return f"_livedex_offer {' '.join(words)}; "
    return f"_livedex_values {complete}; " if complete in _OF_THE_DAEMON else ""


def _zsh() -> str:
    values, options, operands = [], [], []
    for title, command in _places():
        for flag, option in _valued(command):
            values.append(_case(f"{title}:{flag}", f"{_zsh_offer(option.choices, option.complete)}return"))
        described = [
            _quote(f"{flag}:{option.help}") for option in (*command.options, *GLOBAL_OPTIONS) for flag in option.flags
        ]
        options.append(_case(title, f"offers=({' '.join(described)}); _describe -o option offers", 16))
        operand = _completed(command)
        if command.subcommands:
            names = [_quote(f"{each.name}:{each.summary}") for each in command.subcommands]
            operands.append(_case(title, f"offers=({' '.join(names)}); _describe command offers", 8))
        elif operand is not None and (offer := _zsh_offer(operand.choices, operand.complete)):
            operands.append(_case(title, offer.removesuffix("; "), 8))
    return _filled(_ZSH, values, options, operands)


def _zsh_offer(words: tuple[str, ...], complete: str) -> str:
    if words:
        return f"compadd -- {' '.join(words)}; "
    if complete in _OF_THE_DAEMON:
        return f"_livedex_values {complete}; "
    return "_files; " if complete == "path" else ""


def _case(pattern: str, action: str, indent: int = 12) -> str:
    return f"{' ' * indent}{_quote(pattern)}) {action} ;;"


def _filled(template: str, values: list[str], options: list[str], operands: list[str]) -> str:
    return (
        template.replace("@OFFERS@\n", _OFFERS)
        .replace("@TITLES@", " | ".join(map(_quote, _titles())))
        .replace("@VALUES@", "\n".join(values))
        .replace("@OPTIONS@", "\n".join(options))
        .replace("@OPERANDS@", "\n".join(operands))
    )


_FISH = r"""# fish completion of livedex: livedex completion fish > ~/.config/fish/completions/livedex.fish
function __livedex_at
    set -l where livedex
    for word in (commandline -opc)[2..-1]
        switch "$where $word"
            case @TITLES@
                set where "$where $word"
        end
    end
    test "$where" = "$argv[1]"
end
function __livedex_values
    env @VARIABLE@=$argv[1] livedex completion fish 2>/dev/null
end
complete -c livedex -f
"""


def _fish() -> str:
    titles = " ".join(map(_fish_quote, _titles()))
    lines = [_FISH.replace("@TITLES@", titles).rstrip("\n")]
    for title, command in _places():
        at = f"complete -c livedex -n {_fish_quote(f'__livedex_at {_fish_quote(title)}')}"
        lines += [f"{at} -a {each.name} -d {_fish_quote(each.summary)}" for each in command.subcommands]
        for option in (*command.options, *GLOBAL_OPTIONS):
            spellings = " ".join(
                f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
            )
            takes = "" if option.metavar is None else " " + _fish_values(option.choices, option.complete, " -x")
            lines.append(f"{at} {spellings}{takes.rstrip()} -d {_fish_quote(option.help)}")
        operand = _completed(command)
        if operand is not None and (operand.choices or operand.complete):
            offered = _fish_values(operand.choices, operand.complete, "")
            lines.append(f"{at} {offered.lstrip()}")
    return "\n".join(lines) + "\n"


def _fish_values(words: tuple[str, ...], complete: str, exclusive: str) -> str:
    if words:
        return f"{exclusive} -a {_fish_quote(' '.join(words))}"
    if complete in _OF_THE_DAEMON:
        return f"{exclusive} -a '(__livedex_values {complete})'"
    return (" -r -F" if exclusive else " -F") if complete == "path" else exclusive
