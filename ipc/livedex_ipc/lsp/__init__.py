"""The language server: searches for editors that have no other way to livedex, over the Language Server Protocol."""
