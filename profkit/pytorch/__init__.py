"""PyTorch's own hooks and profilers, with profkit behind them; torch is imported when one is used."""
