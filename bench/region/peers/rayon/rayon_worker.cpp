// SPDX-License-Identifier: Apache-2.0
// The process of Rayon: the harness around regions that Rust compiled, so that `tutti` itself needs
// no Rust.
#include "bench/crew/serve.hpp"
#include "bench/harness/worker.hpp"
#include "bench/region/peers/rayon/rayon_crew.hpp"

int main() {
  using namespace tutti::bench;
  const crew_makers makers{[](const crew_size& size) {
                             return std::make_unique<rayon_crew>(size.threads,
                                                                 rayon_is_opened_outside());
                           },
                           nullptr};
  return serve([&](const nlohmann::json& asked) { return answer_crew(asked, makers); });
}
