# SPDX-License-Identifier: Apache-2.0
"""The Conan 2 recipe of the library: `conan create .` packs it from this source tree.

The package holds the headers and libtutti alone, which needs nothing but the C++ library; hwloc is
not asked for, so the topology is read from the kernel. The command, MPI and VCODE come with
`make install` or the Debian packages.
"""

import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir

required_conan_version = ">=2.0"


class TuttiRecipe(ConanFile):
    name = "tutti"
    description = "Synchronisation from core to cluster: barriers, reductions, teams, events"
    license = "Apache-2.0"
    topics = ("barrier", "synchronisation", "parallel", "reduction", "fork-join", "hpc")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    test_package_folder = "tests/install/project"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]
    exports_sources = (
        "CMakeLists.txt",
        "LICENSE",
        "cmake/*",
        "include/*",
        "src/*",
    )

    def set_version(self):
        # include/tutti/version.h is the only place where the version is written.
        header = pathlib.Path(self.recipe_folder) / "include" / "tutti" / "version.h"
        found = re.search(r'TUTTI_VERSION_STRING "([0-9.]+)"', header.read_text(encoding="utf-8"))
        self.version = found.group(1)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("tutti's library runs on Linux only")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["TUTTI_CORE_ONLY"] = True
        toolchain.cache_variables["TUTTI_BOTH_KINDS"] = False
        toolchain.cache_variables["TUTTI_WARNINGS_AS_ERRORS"] = False
        # A package of Conan has no folder of the architecture below lib.
        toolchain.cache_variables["CMAKE_INSTALL_LIBDIR"] = "lib"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, str(pathlib.Path(self.package_folder) / "licenses"))
        cmake = CMake(self)
        cmake.install()
        # Conan writes these files itself for whatever build system its user has.
        rmdir(self, str(pathlib.Path(self.package_folder) / "lib" / "cmake"))
        rmdir(self, str(pathlib.Path(self.package_folder) / "lib" / "pkgconfig"))

    def package_info(self):
        self.cpp_info.libs = ["tutti"]
        self.cpp_info.set_property("cmake_file_name", "tutti")
        self.cpp_info.set_property("cmake_target_name", "tutti::tutti")
        self.cpp_info.set_property("pkg_config_name", "tutti")
        self.cpp_info.system_libs = ["pthread", "m"]
