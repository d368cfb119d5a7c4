"""Pool of zygotes and its job queues."""
