"""Every option against the provisions it rests on, decided by code."""
