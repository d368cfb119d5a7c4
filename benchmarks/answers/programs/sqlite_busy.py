"""Store orders in a database that another connection keeps locked."""

import sqlite3
import threading
import time

from benchmarks.answers import truth

stopping = threading.Event()


def import_catalogue() -> None:
    connection = sqlite3.connect("shop.db", isolation_level=None)
    while not stopping.is_set():
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO orders VALUES (0)")
        time.sleep(0.4)
        connection.execute("COMMIT")
        time.sleep(0.15)
    truth.threads()


def store(connection: sqlite3.Connection, number: int) -> None:
    with truth.planted:
        connection.execute("BEGIN IMMEDIATE")  # PLANTED
    connection.execute("INSERT INTO orders VALUES (?)", (number,))
    connection.execute("COMMIT")


orders = sqlite3.connect("shop.db", isolation_level=None, timeout=30)
orders.execute("CREATE TABLE IF NOT EXISTS orders (number INTEGER)")
importer = threading.Thread(target=import_catalogue, name="importer")
importer.start()
time.sleep(0.1)
number, end_s = 0, time.perf_counter() + truth.SECONDS
while time.perf_counter() < end_s:
    number += 1
    store(orders, number)
    time.sleep(0.1)
stopping.set()
importer.join()
print(number, "orders")
