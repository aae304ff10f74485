"""`python -m fyke` is the command `fyke`."""

import sys

from fyke.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
