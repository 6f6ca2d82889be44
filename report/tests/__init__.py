# SPDX-License-Identifier: Apache-2.0
"""Tests of the report; the lines they use are made up and never shown as measured."""
