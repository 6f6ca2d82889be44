# SPDX-License-Identifier: Apache-2.0
"""`python -m report`: the entry point."""

import sys

from report.cli import main

if __name__ == "__main__":
    sys.exit(main())
