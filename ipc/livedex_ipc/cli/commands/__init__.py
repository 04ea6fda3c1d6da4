"""The commands of `livedex`, one module for each group of them; each is loaded only when it runs."""
