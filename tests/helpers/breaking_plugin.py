"""How a plugin of the tests breaks: the beginning of its module."""

BREAKS = """
import os, sys, time

def breaks(how):
    if how == "raises":
        raise RuntimeError("out of order")
    if how == "hangs":
        time.sleep(600)
    if how == "ends":
        sys.exit(3)
    if how == "dies":
        os._exit(3)
"""
