"""A query that joins two tables without an index."""

import sqlite3
from time import perf_counter

from benchmarks.answers import truth

QUERY = """
SELECT customers.city, count(*) FROM customers JOIN orders ON abs(orders.customer) = customers.id
GROUP BY customers.city ORDER BY 2 DESC
"""


def fill(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE customers (id INTEGER, city TEXT)")
    connection.execute("CREATE TABLE orders (customer INTEGER, total REAL)")
    cities = [(number, f"city {number % 50}") for number in range(800)]
    connection.executemany("INSERT INTO customers VALUES (?, ?)", cities)
    connection.executemany("INSERT INTO orders VALUES (?, ?)", [(n % 800, n / 3) for n in range(1_500)])


def main() -> None:
    connection = sqlite3.connect(":memory:")
    fill(connection)
    end_s = perf_counter() + truth.SECONDS
    while perf_counter() < end_s:
        with truth.planted:
            rows = connection.execute(QUERY).fetchall()  # PLANTED
    print(rows[0])


main()
