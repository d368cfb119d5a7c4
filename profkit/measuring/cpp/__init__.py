"""C++ statements as shared objects, compiled once."""
