#!/usr/bin/env bash
# The benchmarks' rows on an accelerator, beside the same peers: parity first, then the times, in runs/accelerator.
# Usage, from the checkout of a machine with one:  scripts/accelerator.sh [cuda12|cuda13|tpu] [more arguments of benchmarks]
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-cuda12}
shift || true
make setup
.venv/bin/python -m pip install --quiet --constraint constraints.txt --editable ".[bench,train]" "jax[$kind]"
# Every subject is a process of its own, and all of them live at once: none may take the memory for itself.
export XLA_PYTHON_CLIENT_PREALLOCATE=false
.venv/bin/python -c 'import sys, jax; d = jax.devices()[0]; print(d.device_kind); d.platform == "cpu" and sys.exit("expected an accelerator, got a CPU alone")'
.venv/bin/python -m benchmarks --only exact_mask span_mask oracle batch steps train_env first_result \
    --out runs/accelerator "$@"
echo "tables: runs/accelerator/README.md; rows: runs/accelerator/results"
