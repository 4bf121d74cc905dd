"""XLA through `jaxlib` on the first GPU, for `peer.py`: as on a processor, with arguments and results on the device."""
import os

os.environ["JAX_PLATFORMS"] = "cuda"
# Others use the device as well.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
from peer_xla import Refused, call, choose, load, memory, version
