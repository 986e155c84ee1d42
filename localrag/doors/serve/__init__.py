"""The doors for other programs: MCP, HTTP and the OpenAI protocol, and a web page."""
