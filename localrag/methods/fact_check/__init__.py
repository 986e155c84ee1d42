"""The steps of checking a claim: questions, sentences, supplementary contexts, the verdict."""
