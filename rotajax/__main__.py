"""`python -m rotajax`: the command line."""

import sys

from rotajax.cli import main

if __name__ == "__main__":
    sys.exit(main())
