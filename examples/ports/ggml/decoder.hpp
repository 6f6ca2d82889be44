// SPDX-License-Identifier: Apache-2.0
// A decoder of the Llama family with random weights, on ggml's public interface. It is one graph
// that is computed once per token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ggml-cpu.h"
#include "ggml.h"

namespace port {

// The defaults give a graph of 103 operators, most of which take a few microseconds. No model is
// that narrow, but in many models each of eight or more threads has as little to do between two
// barriers.
struct shape {
  int layers = 5;
  // The length of a token's vector, a multiple of heads * 32.
  int width = 384;
  // The heads of the attention.
  int heads = 12;
  // The width of the feed-forward network, a multiple of 32.
  int inner = 1024;
  // The size of the vocabulary.
  int words = 4096;
  // The number of tokens that the attention reads.
  int context = 64;
  // The seed of the weights.
  unsigned seed = 1;
};

struct context_end {
  void operator()(ggml_context* c) const { ggml_free(c); }
};
using context_handle = std::unique_ptr<ggml_context, context_end>;

// Not thread-safe. next() uses ggml's pool.
class decoder {
 public:
  // Throws std::invalid_argument for a shape that is not possible, and std::bad_alloc.
  explicit decoder(const shape& s);

  // Returns the logits of the token that follows `token` at `position` (0 .. context-1). The calls
  // before must have been for the positions before. The logits are valid until the next call.
  // `threads` must not exceed the pool's; without a pool this thread computes alone. Throws
  // std::runtime_error if ggml fails.
  std::span<const float> next(std::int32_t token, int position, ggml_threadpool* pool, int threads);

  // Returns the number of operators that compute something. All threads synchronise after each.
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

  // The inputs of the graph, which each token sets.
  ggml_tensor* token_ = nullptr;
  ggml_tensor* position_ = nullptr;
  // The row of the cache for the token's key.
  ggml_tensor* key_row_ = nullptr;
  // The places in the cache for the numbers of the token's value, which is stored transposed.
  ggml_tensor* value_places_ = nullptr;
  // 0 up to the position, and minus infinity beyond it.
  ggml_tensor* mask_ = nullptr;
  ggml_tensor* logits_ = nullptr;
};

}  // namespace port
