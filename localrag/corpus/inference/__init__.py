"""The models that the settings name: opened where they are needed, their failures told."""
