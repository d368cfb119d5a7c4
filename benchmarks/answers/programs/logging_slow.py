"""Log each request to a collector that is far away."""

import logging
import time
from time import perf_counter

from benchmarks.answers import truth

logger = logging.getLogger("shop")


class Collector(logging.Handler):
    """Sends each record and waits until it has arrived."""

    def emit(self, record: logging.LogRecord) -> None:
        self.format(record)
        with truth.planted:
            time.sleep(0.012)  # PLANTED


def handle(number: int) -> int:
    total = sum(value * value for value in range(number % 500))
    with truth.also:
        logger.info("request %d: total %d", number, total)  # ALSO
    return total


logger.setLevel(logging.INFO)
logger.addHandler(Collector())
end_s, requests = perf_counter() + truth.SECONDS, 0
while perf_counter() < end_s:
    requests += 1
    handle(requests)
print(requests, "requests")
