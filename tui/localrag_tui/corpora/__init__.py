"""How documents come into the workbench: added, indexed, chosen; and the first run."""
