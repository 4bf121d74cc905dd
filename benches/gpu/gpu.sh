#!/bin/sh
# Everything that Surject wants to know of a machine with an NVIDIA GPU, in less than nine minutes: gpu.json.
#
#   ./gpu.sh [--out FILE] [--device N] [--minutes M]
#   ./gpu.sh --dry-run          without a GPU: an interpreter of PTX runs some small programs, and nothing is timed
cd "$(dirname "$0")" || exit 2
exec "${PYTHON:-python3}" gpu.py "$@"
