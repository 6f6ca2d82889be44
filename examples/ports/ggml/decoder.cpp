// SPDX-License-Identifier: Apache-2.0
// The graph is that of llama.cpp for Llama without flash attention: normalisation, attention with
// rotated keys from a cache, normalisation, and a feed-forward network with SwiGLU.
#include "decoder.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace port {

namespace {

constexpr ggml_type weight_type = GGML_TYPE_Q8_0;
constexpr float norm_epsilon = 1e-5f;

context_handle make_context(std::size_t bytes) {
  context_handle made(ggml_init({bytes, nullptr, false}));
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

struct decoder::layer {
  ggml_tensor *attention_norm, *query, *key, *value, *output;
  ggml_tensor *feed_norm, *gate, *up, *down;
  // The keys and values of the tokens so far.
  ggml_tensor *keys, *values;
};

decoder::decoder(const shape& s) : shape_(s), random_state_(s.seed) {
  if (s.layers < 1 || s.heads < 1 || s.width % (s.heads * 32) != 0 || s.width < 1 || s.inner < 1 ||
      s.inner % 32 != 0 || s.words < 2 || s.context < 1)
    throw std::invalid_argument("this shape of a decoder is not possible");
  const auto layers = static_cast<std::size_t>(s.layers), width = static_cast<std::size_t>(s.width),
             inner = static_cast<std::size_t>(s.inner), words = static_cast<std::size_t>(s.words),
             seen = static_cast<std::size_t>(s.context), heads = static_cast<std::size_t>(s.heads);
  // The numbers in the matrices (34 bytes for 32 numbers), in the cache and in the results of the
  // operators, and an upper bound for the records of the tensors.
  const std::size_t in_matrices =
      layers * (4 * width * width + 3 * width * inner) + 2 * width * words;
  const std::size_t in_cache = layers * 2 * width * seen;
  const std::size_t in_results =
      layers * (16 * width + 4 * inner + 4 * heads * seen) + 2 * words + 8 * width;
  const std::size_t records = (layers + 1) * 64 * (ggml_tensor_overhead() + 64) + (1u << 20);
  weights_ = make_context(in_matrices * 34 / 32 + in_cache * sizeof(ggml_fp16_t) + records);
  activations_ = make_context(in_results * sizeof(float) + ggml_graph_overhead() + records);
  ggml_context* const c = activations_.get();

  token_ = ggml_new_tensor_1d(c, GGML_TYPE_I32, 1);
  position_ = ggml_new_tensor_1d(c, GGML_TYPE_I32, 1);
  key_row_ = ggml_new_tensor_1d(c, GGML_TYPE_I64, 1);
  value_places_ = ggml_new_tensor_1d(c, GGML_TYPE_I64, s.width);
  mask_ = ggml_new_tensor_2d(c, GGML_TYPE_F32, s.context, 1);
  graph_ = ggml_new_graph(c);

  ggml_tensor* x = ggml_get_rows(c, random_matrix(s.width, s.words), token_);
  for (int i = 0; i < s.layers; ++i) {
    layer l{};
    l.attention_norm = ones(s.width);
    for (ggml_tensor** m : {&l.query, &l.key, &l.value, &l.output})
      *m = random_matrix(s.width, s.width);
    l.feed_norm = ones(s.width);
    l.gate = random_matrix(s.width, s.inner);
    l.up = random_matrix(s.width, s.inner);
    l.down = random_matrix(s.inner, s.width);
    l.keys = ggml_new_tensor_2d(weights_.get(), GGML_TYPE_F16, s.width, s.context);
    l.values = ggml_new_tensor_2d(weights_.get(), GGML_TYPE_F16, s.context, s.width);
    ggml_set_zero(l.keys);
    ggml_set_zero(l.values);
    x = build_layer(x, l);
  }
  logits_ = ggml_mul_mat(c, random_matrix(s.width, s.words), normalise(x, ones(s.width)));
  ggml_build_forward_expand(graph_, logits_);
}

// Returns a matrix of uniform random numbers, scaled so that a product keeps the size of a vector.
ggml_tensor* decoder::random_matrix(int columns, int rows) {
  ggml_tensor* const m = ggml_new_tensor_2d(weights_.get(), weight_type, columns, rows);
  const auto count = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  std::vector<float> numbers(count);
  const float scale = std::sqrt(3.0f / static_cast<float>(columns));
  for (float& x : numbers)
    x = scale * (static_cast<float>(split_mix(random_state_) >> 40) * 0x1p-23f - 1.0f);
  ggml_quantize_chunk(weight_type, numbers.data(), m->data, 0, rows, columns, nullptr);
  return m;
}

ggml_tensor* decoder::ones(int count) {
  return ggml_set_f32(ggml_new_tensor_1d(weights_.get(), GGML_TYPE_F32, count), 1.0f);
}

ggml_tensor* decoder::normalise(ggml_tensor* x, ggml_tensor* weight) {
  return ggml_mul(activations_.get(), ggml_rms_norm(activations_.get(), x, norm_epsilon), weight);
}

ggml_tensor* decoder::build_layer(ggml_tensor* x, const layer& l) {
  ggml_context* const c = activations_.get();
  x = ggml_add(c, x, attend(normalise(x, l.attention_norm), l));
  ggml_tensor* const y = normalise(x, l.feed_norm);
  ggml_tensor* const gate = ggml_mul_mat(c, l.gate, y);
  ggml_tensor* const up = ggml_mul_mat(c, l.up, y);
  return ggml_add(c, x, ggml_mul_mat(c, l.down, ggml_swiglu_split(c, gate, up)));
}

ggml_tensor* decoder::attend(ggml_tensor* x, const layer& l) {
  ggml_context* const c = activations_.get();
  const int size = shape_.width / shape_.heads;
  const auto rotate = [&](ggml_tensor* y) {
    return ggml_rope_ext(c, ggml_reshape_3d(c, y, size, shape_.heads, 1), position_, nullptr, size,
                         GGML_ROPE_TYPE_NORMAL, shape_.context, 10000.0f, 1.0f, 0.0f, 1.0f, 0.0f,
                         0.0f);
  };
  ggml_tensor* const query = rotate(ggml_mul_mat(c, l.query, x));
  ggml_tensor* const key = rotate(ggml_mul_mat(c, l.key, x));
  ggml_tensor* const value = ggml_mul_mat(c, l.value, x);

  // These operators must precede the ones that read the cache.
  ggml_build_forward_expand(graph_, query);
  ggml_build_forward_expand(
      graph_, ggml_set_rows(c, l.keys, ggml_reshape_2d(c, key, shape_.width, 1), key_row_));
  ggml_build_forward_expand(
      graph_, ggml_set_rows(c, ggml_reshape_2d(c, l.values, 1, ggml_nelements(l.values)),
                            ggml_reshape_2d(c, value, 1, shape_.width), value_places_));

  ggml_tensor* const keys = ggml_view_3d(c, l.keys, size, shape_.context, shape_.heads,
                                         l.keys->nb[1], ggml_row_size(l.keys->type, size), 0);
  ggml_tensor* const values =
      ggml_view_3d(c, l.values, shape_.context, size, shape_.heads, l.values->nb[1],
                   l.values->nb[1] * static_cast<std::size_t>(size), 0);
  ggml_tensor* const scores = ggml_mul_mat(c, keys, ggml_permute(c, query, 0, 2, 1, 3));
  const float scale = 1.0f / std::sqrt(static_cast<float>(size));
  ggml_tensor* const shares = ggml_soft_max_ext(c, scores, mask_, scale, 0.0f);
  ggml_tensor* const seen = ggml_permute(c, ggml_mul_mat(c, values, shares), 0, 2, 1, 3);
  return ggml_mul_mat(c, l.output, ggml_cont_2d(c, seen, shape_.width, 1));
}

void decoder::look_back_to(int position) {
  auto* const mask = static_cast<float*>(mask_->data);
  for (int i = 0; i < shape_.context; ++i)
    mask[i] = i <= position ? 0.0f : -std::numeric_limits<float>::infinity();
}

std::span<const float> decoder::next(std::int32_t token, int position, ggml_threadpool* pool,
                                     int threads) {
  *static_cast<std::int32_t*>(token_->data) = token;
  *static_cast<std::int32_t*>(position_->data) = position;
  *static_cast<std::int64_t*>(key_row_->data) = position;
  auto* const places = static_cast<std::int64_t*>(value_places_->data);
  for (std::int64_t i = 0; i < shape_.width; ++i) places[i] = i * shape_.context + position;
  look_back_to(position);

  ggml_cplan plan = ggml_graph_plan(graph_, pool == nullptr ? 1 : threads, pool);
  if (work_.size() < plan.work_size) work_.resize(plan.work_size);
  plan.work_data = work_.data();
  if (ggml_graph_compute(graph_, &plan) != GGML_STATUS_SUCCESS)
    throw std::runtime_error("ggml did not compute the graph");
  return {static_cast<const float*>(logits_->data), static_cast<std::size_t>(shape_.words)};
}

int decoder::operators() const {
  int count = 0;
  for (int i = 0; i < ggml_graph_n_nodes(graph_); ++i) {
    const ggml_op op = ggml_graph_node(graph_, i)->op;
    // ggml computes a norm and the product that follows it in one operator.
    if (op != GGML_OP_NONE && op != GGML_OP_RESHAPE && op != GGML_OP_VIEW &&
        op != GGML_OP_PERMUTE && op != GGML_OP_TRANSPOSE && op != GGML_OP_RMS_NORM)
      ++count;
  }
  return count;
}

}  // namespace port
