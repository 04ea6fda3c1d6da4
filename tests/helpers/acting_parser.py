"""A parser that does what its document says: hang, crash, eat memory, reach out, or say words."""

from __future__ import annotations

# In the child alone: the document's first word says what its parser does with the rest.
ACTIONS = """
import contextlib, ctypes, os, socket, sys

if "livedex_indexing.parse.parse_child" in sys.orig_argv:
    from livedex_indexing.parse import converters

    def hang(_):
        while True:
            pass

    def flood(_):
        while True:
            for number in range(3, 32):  # the pipe is one of these
                with contextlib.suppress(OSError):
                    os.write(number, bytes(1 << 20))

    def write(path):
        with open(path, "w") as file:
            file.write("x")

    def act(path):
        with open(path) as file:
            what, _, rest = file.read().partition(" ")
        does = {
            "say": lambda text: text,
            "hang": hang,
            "crash": lambda _: ctypes.string_at(0),
            "exit": lambda _: os._exit(3),
            "eat": lambda _: str(len(bytearray(8 << 30))),
            "long": lambda size: "x" * int(size),
            "flood": flood,
            "fork": lambda _: str(os.fork()),
            "call": lambda _: str(socket.socket(socket.AF_INET)),
            "run": lambda _: os.execv("/bin/true", ["true"]),
            "read": lambda path: open(path).read(),
            "list": lambda path: str(os.listdir(path)),
            "write": write,
            "kill": lambda pid: str(os.kill(int(pid), 9)),
            "open": lambda _: str([os.open(os.devnull, os.O_RDONLY) for _ in range(1000)]),
            "refuse": lambda text: (_ for _ in ()).throw(converters.Refused(text)),
        }
        return converters.Markdown(does[what](rest), [])

    def converter(parser, suffix):
        if parser == "pypdfium2":
            raise ImportError(parser)
        return act

    converters.converter = converter
"""
