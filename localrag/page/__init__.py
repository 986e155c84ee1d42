"""Writes Markdown, Word, Excel and CSV files from values without a format.

``blocks`` are the parts of a text. ``markdown`` and ``word`` write blocks, ``sheets`` writes
tables. ``files`` chooses the format by the file name and never overwrites a file by accident.
"""
