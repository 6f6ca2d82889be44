# SPDX-License-Identifier: Apache-2.0
"""Delay and power of an optical barrier (Hetland et al. 2019, section 5) and of the electronic
structure.
"""
