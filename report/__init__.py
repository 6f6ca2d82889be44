# SPDX-License-Identifier: Apache-2.0
"""The report: runs `tutti bench`, keeps its JSON lines, and turns them into statistics, plots and a
report.
"""
