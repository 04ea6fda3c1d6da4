"""The server's side of the socket: connections, requests and answers. No client loads it."""
