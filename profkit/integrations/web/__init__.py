"""Web services: middleware for ASGI, WSGI and Django that profiles requests."""
