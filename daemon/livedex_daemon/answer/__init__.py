"""The methods of the socket: fresh reads, status, index runs, audits and explanations."""
