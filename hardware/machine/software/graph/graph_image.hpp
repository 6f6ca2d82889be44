// SPDX-License-Identifier: Apache-2.0
// What the images with vertex programs share: the graph, and a run with the detector in hardware or
// the one in software. graphs.cpp has the parameters and the trace.
#pragma once

#include "hardware/machine/software/graph/engine.hpp"
#include "hardware/machine/software/graph/tree_idle.hpp"
#include "hardware/machine/software/platform.hpp"
#include "hardware/machine/software/small_graph.hpp"

namespace tutti::rtl {
namespace {

gate start_gate;
alignas(cache_line) graph::csr all;

void value(std::uint32_t v) { trace(TRACE_VALUE, v); }

void make_graph() {
  const small_graph shape{PARAMETER(PARAM_A), PARAMETER(PARAM_B), PARAMETER(PARAM_A) / 2 - 1,
                          PARAMETER(PARAM_SEED)};
  const std::uint32_t n = shape.vertices;
  all.vertices = n;
  all.first = make_array<std::uint32_t>(n + 1);
  std::uint32_t edges = 0;
  shape.for_each_edge([&](std::uint32_t from, std::uint32_t, float) {
    ++all.first[from];
    ++edges;
  });
  all.targets = make_array<graph::vertex_t>(edges);
  all.weights = make_array<float>(edges);
  // Where the next edge of a vertex goes: in the end, where those of the next vertex begin.
  std::uint32_t begin = 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    const std::uint32_t count = all.first[v];
    all.first[v] = begin;
    begin += count;
  }
  shape.for_each_edge([&](std::uint32_t from, std::uint32_t to, float weight) {
    const std::uint32_t at = all.first[from]++;
    all.targets[at] = to;
    all.weights[at] = weight;
  });
  for (std::uint32_t v = n; v > 0; --v) all.first[v] = all.first[v - 1];
  all.first[0] = 0;
}

struct result {
  graph::vertex_t vertex;
  std::uint32_t words[4];
};

template <class Program, class Idle>
void run(const Program& program, Idle& detector) {
  result* results = nullptr;
  std::uint32_t count = 0;
  const auto host = [&](graph::vertex_t v, const typename Program::message& last) {
    results[count].vertex = v;
    __builtin_memcpy(results[count++].words, &last, sizeof last);
  };
  using engine_type = vertex_engine<Program, Idle, decltype(host)>;
  results = make_array<result>(all.vertices);
  engine_type engine(program, all, detector, host, PARAMETER(PARAM_POLICY) == 1);
  start_gate.pass(CORES);
  const std::uint32_t start = cycles();
  engine.run();
  value(cycles() - start);
  value(engine.detections());
  value(engine.sends());
  value(engine.messages());
  for (std::uint32_t i = 0; i < count; ++i) {
    value(results[i].vertex);
    for (std::size_t w = 0; w < (sizeof(typename Program::message) + 3) / 4; ++w) {
      value(results[i].words[w] & 0xffff);
      value(results[i].words[w] >> 16);
    }
  }
}

template <class Program>
void run_detected(const Program& program) {
  mailbox box;
  if (static_cast<detection>(PARAMETER(PARAM_ALGORITHM)) == detection::hardware) {
    hardware_idle detector;
    run(program, detector);
  } else {
    if constexpr (aggregating_program<Program>) {
      tree_idle<Program::total> detector(PARAMETER(PARAM_DELAY));
      run(program, detector);
    } else {
      tree_idle<> detector(PARAMETER(PARAM_DELAY));
      run(program, detector);
    }
  }
}

}  // namespace
}  // namespace tutti::rtl
