"""Bundles: localrag, its packages, models and corpora in one folder, for a machine without network.

`make` makes one on a machine with a network. `opening` checks and installs one with an existing
localrag, `installer` without one. `entering` runs in the new localrag.
"""
