"""Train with four ranks; the data of rank 1 needs more work than that of the others."""

from benchmarks.answers import truth

# isort: split
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEP_S = 0.25
torch.set_num_threads(1)


def augment(rank: int, step: int) -> torch.Tensor:  # PLANTED
    size = 3_000_000 if rank == 1 else 10_000
    total = 0
    for pixel in range(size):
        total = (total * 31 + pixel ^ step) % 65_521
    return torch.full((32, 64), total / 65_521)


def main() -> None:
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(torch.nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(int(3 * truth.SECONDS / STEP_S)):
        with truth.planted:
            batch = augment(rank, step)
        loss = model(batch).square().mean()
        with truth.also:
            loss.backward()  # ALSO
        optimizer.step()
        optimizer.zero_grad()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
