// SPDX-License-Identifier: Apache-2.0
// Rayon's threads as a runtime, for the programs that are linked with regions.rs.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string_view>

#include "bench/harness/runtime.hpp"
#include "bench/peers/rayon/regions.h"

namespace tutti::bench {

// A thread of the pool opens the regions, or one outside of it if TUTTI_RAYON_OPENER is "outside".
inline bool rayon_is_opened_outside() {
  const char* const opener = std::getenv("TUTTI_RAYON_OPENER");
  return opener != nullptr && std::string_view(opener) == "outside";
}

class rayon_runtime final : public region_runtime {
 public:
  rayon_runtime(rank_t threads, bool outside) : pool_(tutti_rayon_new(threads)), outside_(outside) {
    if (pool_ == nullptr) {
      throw std::runtime_error(fmt::format("Rayon could not start {} threads", threads));
    }
  }
  ~rayon_runtime() override { tutti_rayon_end(pool_); }
  rayon_runtime(const rayon_runtime&) = delete;
  rayon_runtime& operator=(const rayon_runtime&) = delete;

  void open(const std::function<void(rank_t)>& body) override {
    const auto call = [](void* context, unsigned rank) {
      (*static_cast<const std::function<void(rank_t)>*>(context))(rank);
    };
    tutti_rayon_open(pool_, call, const_cast<void*>(static_cast<const void*>(&body)));
  }
  void regions(std::uint64_t count, checksums& sums) override {
    tutti_rayon_regions(pool_, outside_, count, &sums[0]);
  }
  void reducing_regions(std::uint64_t count, checksums& sums) override {
    tutti_rayon_reducing_regions(pool_, outside_, count, &sums[0]);
  }

  // Throws what `work` throws.
  void inside(const std::function<void()>& work) override {
    if (outside_) return work();
    struct call {
      const std::function<void()>& work;
      std::exception_ptr error;  // it must not pass through Rust
    } all{work, nullptr};
    const auto run = [](void* context) {
      auto& it = *static_cast<call*>(context);
      try {
        it.work();
      } catch (...) {
        it.error = std::current_exception();
      }
    };
    tutti_rayon_install(pool_, run, &all);
    if (all.error) std::rethrow_exception(all.error);
  }

 private:
  tutti_rayon_pool* const pool_;
  const bool outside_;
};

}  // namespace tutti::bench
