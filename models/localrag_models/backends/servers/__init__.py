"""What all model servers share: HTTP, cancelling, counting, and putting a reply together."""
