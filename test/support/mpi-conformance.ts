// Every process runs its part of every case; process 0 says which have passed.
import { mpi } from 'rankweave'
import { collectiveConformance, fabricConformance } from 'rankweave/conformance'

const factory = mpi()
const [suite, processes, ranks] = process.argv.slice(2)
const expected = { kind: 'mpi', processes: Number(processes), places: 'OS processes' } as const
const cases =
  suite === 'fabric'
    ? fabricConformance(factory, { expected })
    : collectiveConformance(factory, { expected, ranks: Number(ranks), sharedWorlds: true })

const first = process.env['OMPI_COMM_WORLD_RANK'] === '0' || process.env['PMI_RANK'] === '0'
for (const { name, run } of cases) {
  await run()
  if (first) console.log(`passed: ${name}`)
}
