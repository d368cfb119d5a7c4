"""One attachment of a sampler to this process, as a chain of segments."""
