// SPDX-License-Identifier: Apache-2.0
// The process of Rayon: the harness around regions that Rust compiled, so that `tutti` itself needs
// no Rust.
#include "bench/contenders/peer_server.hpp"
#include "bench/peers/rayon/runtime.hpp"

int main() {
  using namespace tutti::bench;
  return serve({.regions = [](const runtime_options& size) {
    return std::make_unique<rayon_runtime>(size.threads, rayon_is_opened_outside());
  }});
}
