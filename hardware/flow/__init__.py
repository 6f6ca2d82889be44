# SPDX-License-Identifier: Apache-2.0
"""Lints, elaborates, proves, mutates, simulates and synthesises the units that `unit.toml` files
describe.
"""
