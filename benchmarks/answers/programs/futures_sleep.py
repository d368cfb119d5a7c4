"""Call a rate-limited service from a pool of threads."""

import time
from concurrent.futures import ThreadPoolExecutor

from benchmarks.answers import truth


def call_service(number: int) -> str:
    with truth.planted:
        time.sleep(0.125)  # PLANTED
    return f"answer {number}"


def main() -> None:
    calls = int(truth.SECONDS / 0.125) * 4
    with ThreadPoolExecutor(4, thread_name_prefix="client") as pool:
        futures = [pool.submit(call_service, number) for number in range(calls)]
        answers = []
        for future in futures:
            with truth.also:
                answers.append(future.result())  # ALSO
        truth.threads()
    print(len(answers), "answers")


main()
