"""Turns texts into vectors: built-in embedders, in child processes where a model is large, and gateways over HTTP."""
