# SPDX-License-Identifier: Apache-2.0
# Endpoints and their peers: episodes of idle(), messages, hops.
target_sources(tutti_bench PRIVATE idle/barriers.cpp idle/clock_tree.cpp idle/queues.cpp idle/report.cpp idle/suite.cpp idle/tutti_trials.cpp)
