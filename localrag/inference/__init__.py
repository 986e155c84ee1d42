"""Opens the models that the settings name."""
