// SPDX-License-Identifier: Apache-2.0
// A decoder of the Llama family with random weights, on ggml's public interface: one graph, computed once a token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ggml-cpu.h"
#include "ggml.h"

namespace port {

// The defaults give a graph of 103 operators, most of them of a few microseconds. No model is so
// narrow; many have as little to do between two barriers for each of eight or more threads.
struct shape {
  int layers = 5;
  int width = 384;    // of a token's vector; a multiple of heads * 32
  int heads = 12;     // of the attention
  int inner = 1024;   // of the feed-forward network; a multiple of 32
  int words = 4096;   // of the vocabulary
  int context = 64;   // tokens that the attention looks back at
  unsigned seed = 1;  // of the weights
};

struct context_end {
  void operator()(ggml_context* c) const { ggml_free(c); }
};
using context_handle = std::unique_ptr<ggml_context, context_end>;

// Not for several threads at once; ggml's pool is used inside next().
class decoder {
 public:
  explicit decoder(const shape& s);

  // The logits of what follows `token` at `position` (0 .. context-1), which the positions before must have led up to.
  // They live until the next call. threads: no more than the pool has. A null pool: this thread alone.
  std::span<const float> next(std::int32_t token, int position, ggml_threadpool* pool, int threads);

  // Operators of the graph that compute something, after each of which all threads meet.
  int operators() const;

 private:
  struct layer;

  ggml_tensor* random_matrix(int columns, int rows);
  ggml_tensor* ones(int count);
  ggml_tensor* build_layer(ggml_tensor* x, const layer& l);
  ggml_tensor* attend(ggml_tensor* x, const layer& l);
  ggml_tensor* normalise(ggml_tensor* x, ggml_tensor* weight);
  void look_back_to(int position);

  shape shape_;
  context_handle weights_, activations_;
  ggml_cgraph* graph_ = nullptr;
  std::uint64_t random_state_;
  std::vector<std::uint8_t> work_;

  // What a token sets.
  ggml_tensor* token_ = nullptr;
  ggml_tensor* position_ = nullptr;
  ggml_tensor* key_row_ = nullptr;       // where the token's key goes in the cache
  ggml_tensor* value_places_ = nullptr;  // where each number of its value goes: they lie transposed
  ggml_tensor* mask_ = nullptr;          // 0 up to the position, minus infinity beyond
  ggml_tensor* logits_ = nullptr;
};

}  // namespace port
