// SPDX-License-Identifier: Apache-2.0
// A home in which Open MPI finds tutti's component, where a user would put it.
#pragma once

#include <filesystem>
#include <string>

namespace tutti::test {

// Makes the folder, with a link to the component. Throws std::filesystem::filesystem_error.
inline std::string make_home_with_component(const std::filesystem::path& home,
                                            const std::string& component) {
  std::filesystem::create_directories(home / ".openmpi/components");
  const std::filesystem::path link = home / ".openmpi/components/mca_coll_tutti.so";
  std::filesystem::remove(link);
  std::filesystem::create_symlink(component, link);
  return home.string();
}

}  // namespace tutti::test
