"""Spack recipe of the preloaded library: spack install rankweave-shim ^openmpi"""

import os

from spack.package import *


class RankweaveShim(MakefilePackage):
    """Library to be preloaded into MPI programs that speeds up neighborhood collectives."""

    # Written by: rankweave shim --source rankweave-shim-0.1.0.tar.gz; lies in the folder in which spack is started.
    url = f"file://{os.getcwd()}/rankweave-shim-0.1.0.tar.gz"

    # Add sha256="..." of your archive, or install with --no-checksum.
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("mpi")

    @property
    def build_targets(self):
        return [f"MPICC={self.spec['mpi'].mpicc}"]

    @property
    def install_targets(self):
        return ["install", f"PREFIX={self.prefix}"]

    def setup_run_environment(self, env):
        env.set("RANKWEAVE_SHIM_LIBRARY", join_path(self.prefix.lib, "librankweave_shim.so"))
