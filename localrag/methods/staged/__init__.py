"""The steps of the method `staged`: decomposition, stages, what they found, the short answer."""
