import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { installedMpis } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { compileProgram, compileShim, runPreloaded } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const compilers = installedMpis.map(compilerOf)
const hasBoth = compilers.length === 2 && !compilers.includes(null)
if (!hasBoth) console.warn('a preloaded library of another MPI is not tested: it takes Open MPI and MPICH')

describe.skipIf(!hasBoth)('a library preloaded into a program of another MPI', () => {
  const folder = temporaryFolder('another-mpi')
  /** A folder of each MPI, since files of both have the same names. */
  const folderOf = (own: number) => join(folder(), String(own))
  let libraries: readonly string[]
  let interpreter: string

  beforeAll(() => {
    libraries = compilers.map((mpicc, own) => compileShim(folderOf(own), mpicc!).library)
    interpreter = compileProgram(folder(), 'cc', 'extension')
  })

  const run = (own: number, command: readonly string[]) =>
    runPreloaded(installedMpis[own], 2, libraries[1 - own], command)
  const refusal = (own: number) =>
    new RegExp(
      `rankweave shim: .*/librankweave_shim.so is compiled for ${installedMpis[1 - own].name}\\b.*, ` +
        `and this program uses ${installedMpis[own].name}\\b.*: compile it with the mpicc of the program`,
    )

  it.each([0, 1])('ends the program at its start and names both MPIs (%i)', async (own) => {
    const program = compileProgram(folderOf(own), compilers[own]!, 'neighbors')
    const ended = await run(own, [program, '3', '2', '2'])
    expect(ended).toMatchObject({ code: 78, stdout: expect.not.stringContaining('right') })
    expect(ended.stderr).toMatch(refusal(own))
  })

  it.each([0, 1])('ends an interpreter when an extension starts MPI (%i)', async (own) => {
    const extension = compileProgram(folderOf(own), compilers[own]!, 'extension', [
      ...['-DEXTENSION', '-shared', '-fPIC'],
    ])
    const ended = await run(own, [interpreter, extension])
    expect(ended).toMatchObject({ code: 78, stdout: expect.not.stringContaining('right') })
    expect(ended.stdout).toContain('started')
    expect(ended.stderr).toMatch(refusal(own))
  })
})
