"""A server that nobody asks anything."""

import socketserver
import threading

from benchmarks.answers import truth


class Echo(socketserver.StreamRequestHandler):
    """Returns each line."""

    def handle(self) -> None:
        for line in self.rfile:
            self.wfile.write(line)


with socketserver.TCPServer(("127.0.0.1", 0), Echo) as server:
    timer = threading.Timer(truth.SECONDS, server.shutdown)
    timer.start()
    server.serve_forever()
print("stopped")
