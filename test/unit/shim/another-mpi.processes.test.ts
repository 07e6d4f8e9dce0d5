import { describe, expect, it } from 'vitest'
import { installedMpis } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { compileProgram, compileShim, runPreloaded } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const compilers = installedMpis.map(compilerOf)
const hasBoth = compilers.length === 2 && !compilers.includes(null)
if (!hasBoth) console.warn('a preloaded library of another MPI is not tested: it takes Open MPI and MPICH')

describe.skipIf(!hasBoth)('a library preloaded into a program of another MPI', () => {
  const folder = temporaryFolder('another-mpi')

  it.each([0, 1])('ends the program at its start and names both MPIs (%i)', async (own) => {
    const [mpi, other] = [installedMpis[own], installedMpis[1 - own]]
    const library = compileShim(folder(), compilers[1 - own]!).library
    const program = compileProgram(folder(), compilers[own]!, 'neighbors')
    const ended = await runPreloaded(mpi, 2, library, [program, '3', '2', '2'])
    expect(ended).toMatchObject({ code: 78, stdout: expect.not.stringContaining('right') })
    expect(ended.stderr).toMatch(
      new RegExp(
        `rankweave shim: .*/librankweave_shim.so is compiled for ${other.name}\\b.*, and this program uses ${mpi.name}\\b`,
      ),
    )
    expect(ended.stderr).toContain('compile it with the mpicc of the program: rankweave shim --mpicc')
  })
})
