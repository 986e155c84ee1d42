"""Work that takes long, in processes of its own: the event loop only hears of it.

`multiprocessing` carries and pickles the messages (`Pipe`), and `asyncio` starts the processes.
`multiprocessing.Process` cannot take the place of that: it begins no session of its own, by which a
kill takes along all that the work has started, and what the work prints before it can redirect
anything would stand on the screen.
"""
