"""The page in the browser: an HTTP server on the loopback interface, and what it serves."""
