# SPDX-License-Identifier: Apache-2.0
"""Delay and power of a barrier by light (paper 000, section 5), beside the electronic Hardware Barrier Structure."""
