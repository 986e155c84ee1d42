"""Bundles: localrag, its packages, models and corpora in one folder, for a machine without network.

`make` makes one where there is a network, `opening` checks and installs one, `installer` is the
script that does so where there is no localrag yet, `entering` what it has the new localrag do.
"""
