"""The values that the protocol and the command line share, so that the command need not load the method table.

Invariant: the standard library is not needed either: each start of the command loads this module.
"""

KINDS = ("markdown_text", "markdown_code", "markdown_table", "markdown_image", "code", "plain")
MODES = ("auto", "keyword", "semantic", "hybrid", "exact", "regex")
COLOURS = ("auto", "always", "never")
FACETS = ("languages", "kinds", "roots")
GROUPS = ("chunk", "file")
ORDERS = ("relevance", "modified", "path")
CASES = ("smart", "ignore", "sensitive")
LINE_MODES = ("exact", "regex")
RANKED_MODES = ("auto", "keyword", "semantic", "hybrid")
STATUSES = ("indexed", "pending", "skipped", "failed")
INTERRUPTED = 130  # the exit code after Ctrl-C, as of a shell
MAX_MESSAGE = 512 << 20  # bytes of one message of the daemon: a body of 64 MiB may take six times as much in JSON
FRESH_TIMEOUT_MS = 1000  # how long a read waits for the newest changes by default, in milliseconds
SEARCH_WINDOW = 10_000  # the most that offset + limit of a search may be
SYNC_TIMEOUT_MS = 30_000  # the same for ``sync``
OUTCOMES = ("completed", "failed", "timed_out")  # of a claimed message
ENTRY_KINDS = ("chunk", "finding")  # of agent memory
HOT_CHARS = 6000  # the longest text of the entries used last and most, by default
LEASE_S = 60  # how long a claim lasts by default, in seconds
REQUEST_TIMEOUT_MS = 30_000  # how long a request waits for its reply by default
EDITORS = ("emacs", "helix", "nvim", "vim", "vscode")  # with a client of livedex
