"""Documents on their way to Markdown: what waits, and the lanes that have each one converted in a child."""
