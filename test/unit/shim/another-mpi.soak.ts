import { execFileSync } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { installedMpis } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { Shim, sourceOf } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const compilers = installedMpis.map(compilerOf)
const hasBoth = compilers.length === 2 && !compilers.includes(null)
if (!hasBoth) console.warn('a preloaded library of another MPI is not tested: it takes Open MPI and MPICH')

describe.skipIf(!hasBoth)('a library preloaded into a program of another MPI', () => {
  const folder = temporaryFolder('another-mpi')
  const shims = installedMpis.map((mpi, i) => new Shim(mpi, compilers[i]!, folder))

  beforeAll(() => Promise.all(shims.map((shim) => shim.compile())))

  // The interpreter is not linked with MPI: an extension starts it.
  it.each([0, 1])(
    'ends an interpreter when an extension starts MPI, and names both MPIs (%i)',
    async (own) => {
      const [program, other] = [shims[own], shims[1 - own]]
      const interpreter = program.path('interpreter')
      execFileSync('cc', ['-o', interpreter, sourceOf('extension'), '-ldl'])
      const extension = program.tool('extension', 'extension.so', '-DEXTENSION')
      const { code, stdout, stderr } = await program.start(2, [interpreter, extension], {}, [other.library])
      expect({ code, stdout: stdout.includes('right') }).toEqual({ code: 78, stdout: false })
      expect(stdout).toContain('started')
      for (const { name } of [program.mpi, other.mpi]) expect(stderr).toContain(name)
    },
  )
})
