import { expect, it } from 'vitest'
import { describeShim, right } from '../support/shim.js'

const forms = ['allgather', 'allgatherv', 'alltoall', 'alltoallv', 'alltoallw']
const functions = [
  ...forms.map((form) => `MPI_Neighbor_${form}`),
  ...forms.map((form) => `MPI_Ineighbor_${form}`),
]
const blocking = functions.slice(0, forms.length)

describeShim('RANKWEAVE_SHIM=repair', (shim) => {
  const env = { RANKWEAVE_SHIM: 'repair,report' }
  /** The functions that a report says were repaired. */
  const repaired = (stderr: string) =>
    [...stderr.matchAll(/repaired: (\w+): 2 calls with .* \(issue \d+ of [\w/-]+\)/g)].map((line) => line[1])
  const say = (defect: string, has: readonly string[]) =>
    console.log(`${shim.mpi.name}: ${defect}: ${has.length === 0 ? 'no function has it' : has.join(', ')}`)

  it('pairs blocks of dimensions of one and two processes right in every function', async () => {
    const cases = functions.map((_, form) => `repair grid ${form}`)
    const plain = await shim.start(4, shim.caseCommand(...cases), {}, [])
    const wrong = functions.filter((_, form) => !plain.stdout.includes(`repair grid ${form}: right`))
    say('exchanges the two blocks of a short periodic dimension', wrong)

    const ended = await shim.run(4, cases, env)
    expect(ended).toMatchObject(right(...cases))
    expect(repaired(ended.stderr)).toEqual(wrong)
  })

  // MPICH pairs equal blocks right, and allows few dimensions.
  if (shim.mpi.name === 'MPICH') console.warn('no equal blocks of MPICH are repaired: they need no repair')
  it.skipIf(shim.mpi.name === 'MPICH')(
    'puts blocks in their places that are more than 2147483647 elements from the first',
    async () => {
      const cases = ['repair far 2', 'repair far 7']
      expect(await shim.run(1, cases, env)).toMatchObject(right(...cases))
    },
  )

  it('lets a graph have MPI_PROC_NULL as a neighbor in every function', async () => {
    const failed: string[] = []
    for (const [form, name] of functions.entries()) {
      const { code } = await shim.start(4, shim.caseCommand(`repair graph ${form}`), {}, [])
      if (code !== 0) failed.push(name)
    }
    say('ends where MPI_PROC_NULL is a neighbor in a graph', failed)

    const cases = functions.map((_, form) => `repair graph ${form}`)
    const ended = await shim.run(4, cases, env)
    expect(ended).toMatchObject(right(...cases))
    // Open MPI is not tried before the call, since that would end the program.
    expect(repaired(ended.stderr)).toEqual(shim.mpi.name === 'Open MPI' ? blocking : [])
    expect(blocking).toEqual(expect.arrayContaining(failed))
  })
})
