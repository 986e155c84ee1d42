"""Work that takes long, in processes of its own: the event loop only hears of it."""
