"""Long work in processes of its own; the event loop receives events.

`multiprocessing` pickles the messages (`Pipe`), `asyncio` starts the processes. A
`multiprocessing.Process` would not do: it has no session of its own, so a kill would leave its
children, and early output would appear on the screen.
"""
