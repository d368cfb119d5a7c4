"""C++ statements compiled to shared objects, which are cached."""
