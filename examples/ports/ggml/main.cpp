// SPDX-License-Identifier: Apache-2.0
// Decodes tokens with one build of ggml and prints one line of JSON: the time and the processor
// time of a token, and how many tokens have logits with other bits than those that one thread
// computes.
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "decoder.hpp"

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using nanoseconds = std::chrono::nanoseconds;

struct request {
  port::shape shape;
  int threads = 2;
  // The number of threads for every second graph. 0: the same number.
  int fewer = 0;
  double seconds = 0.3;
  // If it is not 0, the number of tokens, which replaces `seconds`.
  int tokens = 0;
  // Microseconds that this thread works alone after a token, as a sampler does.
  double between = 0;
  bool is_placed = false;
};

struct pool_end {
  void operator()(ggml_threadpool* p) const { ggml_threadpool_free(p); }
};
using pool_handle = std::unique_ptr<ggml_threadpool, pool_end>;

// Makes ggml's pool. If the request is placed, ggml binds each thread to one of the CPUs that this
// process may use.
pool_handle make_pool(const request& r) {
  ggml_threadpool_params params = ggml_threadpool_params_default(r.threads);
  if (r.is_placed) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
      throw std::runtime_error("the system does not tell which CPUs this process may use");
    for (int cpu = 0; cpu < std::min<int>(CPU_SETSIZE, GGML_MAX_N_THREADS); ++cpu)
      params.cpumask[cpu] = CPU_ISSET(cpu, &allowed);
    params.strict_cpu = true;
  }
  pool_handle pool(ggml_threadpool_new(&params));
  if (pool == nullptr) throw std::runtime_error("ggml cannot create a pool of threads");
  return pool;
}

nanoseconds processor_time() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + nanoseconds(t.tv_nsec);
}

long context_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

std::int32_t likeliest(std::span<const float> logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// A text that repeats: as many tokens as the context has, each the likeliest successor of the
// previous one. The class keeps the logits that one thread computes and compares all others with
// them.
class text {
 public:
  explicit text(port::decoder& d, int context) : decoder_(d) {
    for (int position = 0; position < context; ++position) {
      const auto logits = d.next(token_, position, nullptr, 1);
      expected_.emplace_back(logits.begin(), logits.end());
      token_ = likeliest(logits);
    }
    begin_again();
  }

  void step(ggml_threadpool* pool, int threads) {
    const auto logits = decoder_.next(token_, position_, pool, threads);
    const std::vector<float>& expected = expected_[static_cast<std::size_t>(position_)];
    if (std::memcmp(logits.data(), expected.data(), logits.size_bytes()) != 0) ++different_;
    token_ = likeliest(logits);
    if (++position_ == static_cast<int>(expected_.size())) begin_again();
  }

  long different() const { return different_; }

 private:
  void begin_again() {
    token_ = 1;
    position_ = 0;
  }

  port::decoder& decoder_;
  std::vector<std::vector<float>> expected_;
  std::int32_t token_ = 1;
  int position_ = 0;
  long different_ = 0;
};

void work_alone(nanoseconds how_long) {
  for (const auto end = clock::now() + how_long; clock::now() < end;) continue;
}

struct measured {
  std::vector<double> token_ns;
  double wall_s = 0;
  // Both are per token.
  double processor_ns = 0, switches = 0;
};

double quantile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

measured measure(const request& r, text& of, ggml_threadpool* pool) {
  const nanoseconds between(static_cast<std::int64_t>(r.between * 1e3));
  const auto token = [&](std::size_t i) {
    const int threads = r.fewer != 0 && i % 2 == 1 ? r.fewer : r.threads;
    const auto begin = clock::now();
    of.step(pool, threads);
    const auto took = clock::now() - begin;
    if (between > 0ns) work_alone(between);
    return took;
  };
  const auto is_over = [&](std::size_t done, clock::time_point end) {
    return r.tokens != 0 ? done >= static_cast<std::size_t>(r.tokens) : clock::now() >= end;
  };

  // Pools that adapt their waiting have adapted after 50 ms.
  const auto warm = clock::now() + 50ms;
  for (std::size_t i = 0; i == 0 || (clock::now() < warm && i < 500); ++i) token(i);

  measured m;
  m.token_ns.reserve(1 << 16);
  const long switches = context_switches();
  const nanoseconds processor = processor_time();
  const auto end = clock::now() + std::chrono::duration_cast<nanoseconds>(
                                      std::chrono::duration<double>(r.seconds));
  do {
    m.token_ns.push_back(static_cast<double>(nanoseconds(token(m.token_ns.size())).count()));
  } while (!is_over(m.token_ns.size(), end));
  const auto count = static_cast<double>(m.token_ns.size());
  m.processor_ns = static_cast<double>((processor_time() - processor).count()) / count;
  m.switches = static_cast<double>(context_switches() - switches) / count;
  for (const double ns : m.token_ns) m.wall_s += ns / 1e9;
  return m;
}

void print(const request& r, const port::decoder& d, measured m, long different) {
  std::sort(m.token_ns.begin(), m.token_ns.end());
  const auto count = m.token_ns.size();
  const nlohmann::ordered_json line{{"pool", POOL},
                                    {"threads", r.threads},
                                    {"pinned", r.is_placed},
                                    {"between_us", r.between},
                                    {"operators", d.operators()},
                                    {"tokens", count},
                                    {"tokens_per_second", static_cast<double>(count) / m.wall_s},
                                    {"min", m.token_ns.front()},
                                    {"median", quantile(m.token_ns, 0.5)},
                                    {"p99", quantile(m.token_ns, 0.99)},
                                    {"processor_ns", m.processor_ns},
                                    {"context_switches", m.switches},
                                    {"different", different}};
  std::printf("%s\n", line.dump().c_str());
}

void add_options(CLI::App& app, request& r) {
  const auto add = [&app](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->capture_default_str();
  };
  add("--threads", r.threads, "Threads of ggml's pool")->check(CLI::Range(1, 512));
  add("--fewer", r.fewer, "Threads for every second graph (0: the same number)")
      ->check(CLI::Range(0, 512));
  add("--seconds", r.seconds, "How long to measure")->check(CLI::Range(0.0, 3600.0));
  add("--tokens", r.tokens, "How many tokens to decode, instead of --seconds")
      ->check(CLI::NonNegativeNumber);
  add("--between", r.between, "Microseconds that one thread works between tokens")
      ->check(CLI::Range(0.0, 1e6));
  app.add_flag("--placed", r.is_placed, "Bind each thread to a CPU");
  add("--layers", r.shape.layers, "Layers of the decoder");
  add("--width", r.shape.width, "Numbers in a token's vector: a multiple of 32 times the heads");
  add("--heads", r.shape.heads, "Heads of the attention");
  add("--inner", r.shape.inner, "Width of the feed-forward network: a multiple of 32");
  add("--words", r.shape.words, "Words of the vocabulary");
  add("--context", r.shape.context, "Tokens that the attention reads");
  add("--seed", r.shape.seed, "Seed of the weights");
}

}  // namespace

// Returns 0 if every logit has the bits that one thread computes, 1 if some differ, and 2, after
// one sentence on stderr, if the measurement is not possible.
int main(int argc, char** argv) {
  request r;
  CLI::App app("Decodes tokens with random weights on ggml with this thread pool: " POOL);
  add_options(app, r);
  CLI11_PARSE(app, argc, argv);
  try {
    if (r.fewer > r.threads) throw std::invalid_argument("--fewer is more than --threads");
    port::decoder d(r.shape);
    text t(d, r.shape.context);
    const pool_handle pool = make_pool(r);
    print(r, d, measure(r, t, pool.get()), t.different());
    return t.different() == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "decoder: %s\n", e.what());
    return 2;
  }
}
