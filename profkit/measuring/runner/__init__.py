"""Runner of work orders: chooses cores, sequence and repetitions, counts and times, shows progress."""
