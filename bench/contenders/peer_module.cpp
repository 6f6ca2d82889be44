// SPDX-License-Identifier: Apache-2.0
// Loads the peers that need a library of others.
#include <dlfcn.h>

#include <utility>

#include "bench/contenders/contender.hpp"
#include "bench/harness/peer_program.hpp"

namespace tutti::bench {
namespace {

using add_peers = void (*)(std::vector<contender>&);

// The module's function, or null with the reason. Modules stay loaded, as their contenders do.
add_peers load(const std::string& name, std::string& reason) {
  const std::string path = find_peer_program(name + ".so");
  if (path.empty()) {
    reason = missing_peer_program(name + ".so");
    return nullptr;
  }
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = module == nullptr ? nullptr : dlsym(module, "tutti_add_peers");
  if (found == nullptr) reason = dlerror();
  return reinterpret_cast<add_peers>(found);
}

}  // namespace

void add_peers_of_module(compiled_peers& all, const std::string& name,
                         std::vector<operation> operations) {
  std::string reason;
  if (const add_peers add = load(name, reason))
    add(all.peers);
  else
    all.missing.push_back({{name, reason}, std::move(operations)});
}

}  // namespace tutti::bench
