"""How what is found, shown, compared, checked and answered reads as JSON, the same at every door.

``--json`` of the command line, the tools of `mcp` and the routes of `serve` give these values, and
their types are the schemas that the two doors publish.
"""
