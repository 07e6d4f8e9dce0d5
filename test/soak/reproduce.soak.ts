import { describe, expect, it } from 'vitest'
import { local } from '../../src/fabric/local/local.js'
import { run } from '../../src/launch/run.js'
import { describeShim, right } from '../support/shim.js'
import { sampled } from '../support/soak.js'

/** Settings of Open MPI that change which algorithm reduces; MPICH has variables of its own. */
const settings: readonly Readonly<Record<string, string>>[] = [
  {},
  {
    OMPI_MCA_coll_tuned_use_dynamic_rules: '1',
    OMPI_MCA_coll_tuned_allreduce_algorithm: '4',
    OMPI_MCA_coll_tuned_reduce_algorithm: '1',
    MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM: 'recursive_doubling',
  },
]
const forms = ['', ' inplace', ' started', ' started inplace']

/** The number that test/support/shim/reproduce.c contributes first for a rank. */
function contributionOf(rank: number): number {
  let x = (Math.imul(rank, 2654435761) + 12345) >>> 0
  for (let k = 0; k < 4; k++) x = (Math.imul(x, 1664525) + 1013904223) >>> 0
  return (x - 2 ** 31) / 2 ** (x >>> 27)
}

/** The bits of the sum by the TypeScript library. */
async function ownSum(ranks: number): Promise<string> {
  let bits = ''
  await run(
    async (world) => {
      const sum = await world.allreduce(Float64Array.of(contributionOf(world.rank)), 'sum')
      bits = new BigUint64Array(sum.buffer, sum.byteOffset, 1)[0].toString(16).padStart(16, '0')
    },
    { ranks, fabric: local({ processes: Math.min(ranks, 3), seed: ranks }) },
  )
  return bits
}

describeShim('RANKWEAVE_SHIM=reproducible', (shim) => {
  const sizes = shim.mpi.name === 'MPICH' ? [2, 5, 7] : [2, 3, 5, 8, 11, 17]

  describe.each(sampled(sizes, 3))('on %i ranks', (ranks) => {
    it('gives the bits of the fixed tree in every function, whatever the settings of MPI', async () => {
      const cases = forms.flatMap((form) => [1, 100, 5000].map((count) => `reproduce ${count}${form}`))
      const sum = `sum of ${ranks}: ${await ownSum(ranks)}\n`
      for (const setting of settings) {
        const ended = await shim.run(ranks, cases, { ...setting, RANKWEAVE_SHIM: 'reproducible,report' })
        expect(ended.code).toBe(0)
        expect(ended.stdout.replaceAll(sum, '')).toBe(right(...cases).stdout)
        expect(ended.stdout.split(sum)).toHaveLength(forms.length + 1)
        expect(ended.stderr).toMatch(/reproducible: MPI_Iscan: \d+ calls by the fixed tree/)
      }
    })
  })

  it('reports as left to MPI what MPI refuses, persistent requests and large counts', async () => {
    const ended = await shim.run(2, ['reproduce 1 left'], { RANKWEAVE_SHIM: 'reproducible,report' })
    expect(ended).toMatchObject(right('reproduce 1 left'))
    const ofMpich = (...lines: readonly string[]) => (shim.mpi.name === 'MPICH' ? lines : [])
    const lines = [...ended.stderr.matchAll(/reproducible: (.*): 1 call left to MPI: (.*)/g)]
    expect(lines.map(([, name, why]) => `${name}: ${why}`)).toEqual([
      'MPI_Reduce_init: a persistent request',
      ...ofMpich('MPI_Reduce_init_c: a persistent request'),
      'MPI_Allreduce: MPI refuses the arguments, or there is no data',
      ...ofMpich('MPI_Allreduce_c: counts of the type MPI_Count'),
      ...ofMpich('MPI_Iallreduce_c: counts of the type MPI_Count'),
      'MPI_Allreduce_init: exact in any order',
      'MPI_Allreduce_init: a persistent request',
      'MPI_Reduce_scatter_init: a persistent request',
    ])
  })

  it('differs from MPI, whose bits depend on the length of a call', async () => {
    const plain = await shim.start(7, shim.caseCommand('reproduce 5000'), {}, [])
    console.log(`${shim.mpi.name}: ${plain.stdout.trim()} without the library`)
    expect(plain.stdout).toMatch(/ [1-9]\d* wrong/)
  })
})
