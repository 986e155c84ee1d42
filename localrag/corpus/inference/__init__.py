"""Opens the models in the settings."""
