"""PyTorch on the first GPU, for `peer.py`: as on a processor, with arguments and results on the device, and every call waited for."""
import os

os.environ["SURJECT_TORCH_DEVICE"] = "cuda"
from peer_torch import Refused, call, choose, load, memory, version
