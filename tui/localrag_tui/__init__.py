"""The Textual application over localrag's Python API.

Release 0.1 has the command line; the terminal workbench follows and lives here.
"""
