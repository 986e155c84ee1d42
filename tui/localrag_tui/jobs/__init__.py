"""What runs beside: how far it is, what came of it, and how it is stopped."""
