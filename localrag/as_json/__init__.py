"""JSON of searches, provisions, checks and answers, equal at every door.

``--json``, the tools of `mcp` and the routes of `serve` return these values. Their types are the
published schemas.
"""
