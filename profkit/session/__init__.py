"""Sessions: attachments of a sampler to this process, as chains of segments."""
