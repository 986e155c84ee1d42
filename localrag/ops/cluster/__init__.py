"""Work on several machines, on Ray: one executor for batches, preparation and indexing.

``workers`` starts processes on a cluster, gives them work, and sends them the workspace if they
cannot reach it. ``running`` is the work: answering, writing, embedding, analysing. A batch or a
preparation sees an `AnswerSource`, a `ChatModel` or an `Embedder`, and keeps its journal here.
"""
