"""The common part of all model servers: HTTP, cancelling, counting, and assembling a reply."""
