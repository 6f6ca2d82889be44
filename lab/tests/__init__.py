# SPDX-License-Identifier: Apache-2.0
"""Tests of the lab; the lines they use are made up and never shown as measured."""
