"""Whether torch is at something that looking at tensors would disturb; nothing here imports torch."""

from __future__ import annotations

import sys


def is_traced() -> bool:
    """Whether calls are recorded, transformed or made with tensors that hold no numbers.

    torch.jit.trace, torch.fx's make_fx and torch.export, fake tensors, torch.func's transforms, and the
    capture of a CUDA graph. (torch.compile takes the plain function, and never comes here.)
    """
    torch = sys.modules.get("torch")
    core = getattr(torch, "_C", None)
    if torch is None or core is None:
        return False
    try:
        return (
            core._get_tracing_state() is not None
            or core._len_torch_dispatch_stack() > 0
            or core._functorch.peek_interpreter_stack() is not None
            or (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())
        )
    except AttributeError:  # it is being imported, or has other names for these
        return False
