import { local } from 'rankweave'
import { collectiveConformance, fabricConformance } from 'rankweave/conformance'
import { expect, it } from 'vitest'
import { describeMpi, program, runJob } from '../support/mpi.js'

const namesOf = (cases: readonly { readonly name: string }[]) => cases.map(({ name }) => `passed: ${name}`)

describeMpi('fabric mpi keeps the contract', (mpi) => {
  it.each([1, 2, 4])('%i processes', async (processes) => {
    const { code, stdout, stderr } = await runJob(
      mpi,
      processes,
      program('mpi-conformance.ts', 'fabric', String(processes)),
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trim().split('\n')).toEqual(namesOf(fabricConformance(local())))
  })
})

describeMpi('a world on mpi keeps its promises', (mpi) => {
  it.each([
    { processes: 1, ranks: 3 },
    { processes: 2, ranks: 7 },
    { processes: 4, ranks: 4 },
    { processes: 4, ranks: 2 },
  ])('$ranks ranks on $processes processes', async ({ processes, ranks }) => {
    const { code, stdout, stderr } = await runJob(
      mpi,
      processes,
      program('mpi-conformance.ts', 'world', String(processes), String(ranks)),
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trim().split('\n')).toEqual(
      namesOf(collectiveConformance(local(), { ranks, sharedWorlds: true })),
    )
  })
})
