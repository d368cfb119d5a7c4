"""Hash passwords in a pool of threads."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from benchmarks.answers import truth

end_s = perf_counter() + truth.SECONDS


def hash_passwords(number: int) -> int:
    done = 0
    with truth.planted:
        while perf_counter() < end_s:
            hashlib.pbkdf2_hmac("sha512", b"%d-%d" % (number, done), b"pepper", 50_000)  # PLANTED
            done += 1
    return done


def main() -> None:
    with ThreadPoolExecutor(2, thread_name_prefix="hasher") as pool:
        futures = [pool.submit(hash_passwords, number) for number in range(2)]
        total = 0
        for future in futures:
            with truth.also:
                total += future.result()  # ALSO
        truth.threads()
    print(total, "hashes")


main()
