"""The MCP server on stdio: an agent's tools, answered by the daemon."""
