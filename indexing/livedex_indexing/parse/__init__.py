"""Documents converted to Markdown: which parser converts what, and the child that does it under limits."""
