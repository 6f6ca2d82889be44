# SPDX-License-Identifier: Apache-2.0
"""Builds and runs this project with the package that `conan create` has made of tutti."""

import pathlib

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class UserOfTutti(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires(self.tested_reference_str)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(str(pathlib.Path(self.build_folder, "foreign")), env="conanrun")
