# SPDX-License-Identifier: Apache-2.0
"""The lab: runs `tutti bench`, keeps its JSON lines, and turns them into statistics, plots and a report."""
