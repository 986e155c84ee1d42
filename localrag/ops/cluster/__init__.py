"""More machines, on Ray: one executor that batches, preparation and indexing put their work on.

``workers`` starts processes on a cluster and gives them work, ``carrying`` brings them a workspace
that they cannot reach, and ``running`` is what they do: answer questions, write, embed, analyse.
Whoever runs a batch or a preparation sees an `AnswerSource`, a `ChatModel` or an `Embedder`, and
keeps its journal as if they were here.
"""
