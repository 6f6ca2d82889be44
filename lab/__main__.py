# SPDX-License-Identifier: Apache-2.0
"""`python -m lab`: the entry point."""

import sys

from lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
