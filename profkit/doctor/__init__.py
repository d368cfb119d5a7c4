"""What `profkit doctor` examines: facts about this machine, trials, and the checks made from them."""
