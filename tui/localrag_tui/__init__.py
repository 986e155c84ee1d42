"""The terminal workbench: a Textual application over the Python API of localrag."""
