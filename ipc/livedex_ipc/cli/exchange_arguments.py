"""The part of the argument tree for ``livedex exchange``: messages, conversations, and workers.

Invariant: as that of the whole tree.
"""

from __future__ import annotations

from livedex_ipc.cli.argument_types import Command, Operand, Option
from livedex_ipc.constants import LEASE_S, REQUEST_TIMEOUT_MS

_TOPIC = Operand("TOPIC", "topic")
_BODY = Operand("BODY|-", "body", least=0)
_CONVERSATION = Option("--conversation-id", "conversation_id", "of this conversation", metavar="C")
_DRAFT = (
    Option("--parent-id", "parent_id", "follow this message, in its conversation", metavar="ID", convert="integer"),
    _CONVERSATION,
    Option("--producer", "producer", "a label: who publishes", metavar="NAME"),
    Option("--metadata", "metadata", "a JSON object", metavar="JSON", convert="object"),
    Option("--idempotency-key", "idempotency_key", "publish once, however often it is repeated", metavar="KEY"),
)
_MODEL = Operand("MODEL", "model")
_SYSTEM = Option("--system", "system", "instructions for the model before the prompt", metavar="TEXT")
_STDIN = "Without BODY, or with -, the body is read from stdin."

EXCHANGE = Command(
    "exchange",
    "messages between agents and workers; with or without a daemon",
    subcommands=(
        Command(
            "publish",
            "add a message to a topic",
            run="exchange_command:publish",
            operand=_TOPIC,
            second=_BODY,
            options=_DRAFT,
            notes=_STDIN,
            examples=(
                "livedex exchange publish review.request 'Read docs/plan.md'",
                "git diff | livedex exchange publish review.request -",
            ),
        ),
        Command(
            "read",
            "messages in the order of the log",
            run="exchange_command:read",
            operand=Operand("TOPIC", "topic", least=0),
            options=(
                _CONVERSATION,
                Option("--after-id", "after_id", "only messages after this one", metavar="ID", convert="integer"),
                Option("-n --limit", "limit", "at most N messages (100)", metavar="N", convert="integer"),
            ),
            examples=("livedex exchange read review.completed", "livedex exchange read --conversation-id 12"),
        ),
        Command(
            "check",
            "what became of a conversation; exit 1 while it is not finished",
            run="exchange_command:check",
            operand=Operand("CONVERSATION", "conversation_id"),
            examples=("livedex exchange check 12",),
        ),
        Command(
            "request",
            "publish a message and print the first reply",
            run="exchange_command:request",
            operand=_TOPIC,
            second=_BODY,
            options=(
                *_DRAFT,
                Option("--success", "success_topic", "only replies in T, or that of --failure", metavar="T"),
                Option("--failure", "failure_topic", "only replies in T, or that of --success", metavar="T"),
                Option(
                    "--timeout",
                    "timeout_ms",
                    f"wait at most S seconds ({REQUEST_TIMEOUT_MS // 1000})",
                    metavar="S",
                    convert="seconds",
                ),
            ),
            notes=_STDIN + " The ids are printed on stderr first.",
            examples=("livedex exchange request review.request 'Read docs/plan.md' --timeout 600",),
        ),
        Command(
            "notify",
            "the tracked conversations that are finished, each once",
            run="exchange_command:notify",
        ),
        Command(
            "inspect",
            "messages with their claims, as they are stored",
            run="exchange_command:inspect",
            operand=Operand("ID", "id", least=0, convert="integer"),
            options=(_CONVERSATION, Option("--topic", "topic", "of this topic, the newest", metavar="T")),
            examples=("livedex exchange inspect 12",),
        ),
        Command(
            "run",
            "run a program for each message of a topic, and publish what it prints",
            run="exchange_command:run",
            operand=_TOPIC,
            options=(
                Option("--plugin", "plugin", "the program and its arguments, as one word", metavar="CMD"),
                Option("--once", "once", "handle one message, then end; exit 4 if the program failed"),
                Option("--drain", "drain", "end when no message waits"),
                Option("--group", "worker_group", "a label for the claims", metavar="G"),
                Option("--timeout", "timeout_ms", "end a run after S seconds (600)", metavar="S", convert="seconds"),
                Option(
                    "--lease",
                    "lease_ms",
                    f"of a claim, renewed meanwhile ({LEASE_S})",
                    metavar="S",
                    convert="seconds",
                ),
                Option("--concurrency", "concurrency", "N programs at a time (1)", metavar="N", convert="integer"),
                Option("--success", "success_topic", "publish to T after exit 0 (TOPIC.completed)", metavar="T"),
                Option("--failure", "failure_topic", "publish to T after another exit (TOPIC.failed)", metavar="T"),
            ),
            notes=(
                "The body is on stdin, and LIVEDEX_MESSAGE_ID, LIVEDEX_TOPIC, LIVEDEX_CONVERSATION_ID and\n"
                "LIVEDEX_ATTEMPT are in the environment. Exit 75 gives the message back."
            ),
            examples=(
                "livedex exchange run review.request --plugin './review --short'",
                "livedex exchange run review.request --plugin 'wc -w' --drain",
            ),
        ),
        Command(
            "ollama",
            "a plugin: answer stdin with a model of an Ollama server",
            run="adapter_command:ollama",
            operand=_MODEL,
            options=(Option("--url", "url", "of the server (http://localhost:11434)", metavar="URL"), _SYSTEM),
            examples=("livedex exchange ollama llama3 --system 'Answer in one sentence.'",),
        ),
        Command(
            "openai",
            "a plugin: answer stdin with a model behind an OpenAI-compatible address",
            run="adapter_command:openai",
            operand=_MODEL,
            options=(
                Option("--url", "url", "the address that /chat/completions follows", metavar="URL"),
                Option("--api-key-env", "api_key_env", "the variable that has the key", metavar="VARIABLE"),
                _SYSTEM,
            ),
            examples=("livedex exchange openai small --url http://localhost:8000/v1",),
        ),
        Command(
            "wrap",
            "a plugin: run a program that takes its input as an argument or a file",
            run="adapter_command:wrap",
            operand=Operand("WORD", "words", most=None),
            notes=(
                "In each WORD, {body} becomes the text of stdin and {file} the name of a file that has it.\n"
                "Write -- before the words when one of them begins with a dash."
            ),
            examples=("livedex exchange wrap -- wc -w {file}",),
        ),
        Command("stats", "how many messages each topic has", run="exchange_command:stats"),
    ),
)
