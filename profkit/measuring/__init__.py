"""Measurement of time and instruction counts in isolated worker processes.

An order goes to the runner, which sends jobs to the pool. A zygote forks a worker for each job, and the
worker's reply becomes a Measurement.

    orders.py     measure()'s arguments → WorkOrder
    definitions.py, variants.py
                  nested definitions → WorkOrders; also those of PyTorch's benchmarks
    batches.py    one batch at a time in a process
    fleet/        orders on the machines of an executor
    packed_orders.py
                  orders as plain data, for another process
    runner/       cores, canaries, retries, progress; orders → measurements
    pool/         zygotes: started ahead, kept for a while, replaced, ended
    worker/       the program that zygotes run; imports nothing of profkit
    transfer/     functions and arguments → payloads for a worker
    cpp/          C++ statements → shared objects
    decorated/    profile(mode=…): measured in the background of the user's program
"""
