"""`python -m rtvoice`: the command line."""

import sys

from rtvoice.cli import main

if __name__ == "__main__":
    sys.exit(main())
