"""Files for people: Markdown, Word, Excel and CSV, made of values that know no format.

``blocks`` is what a text consists of, ``markdown`` and ``word`` write it down, ``sheets`` writes
tables, and ``files`` chooses among them by the ending of a name and loses no file that is there.
"""
