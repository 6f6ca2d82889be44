# SPDX-License-Identifier: Apache-2.0
"""The one exception that the user sees: one sentence, exit status 2."""


class ReportError(Exception):
    """Its text is a whole sentence for the user; the command line prints it and exits with status
    2.
    """
