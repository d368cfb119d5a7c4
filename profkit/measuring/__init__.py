"""How long code takes, and how many instructions it executes: measured in isolated processes.

An order goes to the runner, which hands jobs to the pool; a zygote forks a worker for each, and the
worker's answers become a Measurement.

    orders.py     measure()'s arguments → WorkOrder
    definitions.py, variants.py, grouped.py
                  nested definitions → WorkOrders; those of PyTorch's benchmarks, too
    runner/       cores, canaries, retries, progress; orders → measurements
    pool/         zygotes: started ahead, lingering, replaced, ended
    worker/       the program that zygotes are; imports nothing of profkit
    travel/       functions and arguments on their way to a worker
    cpp/          C++ statements → shared objects
    decorated/    profile(mode=…): measured in the background of the user's program
"""
