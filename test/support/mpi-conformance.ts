// Every process runs its part of every case; process 0 says which have passed.
import { collectiveConformance, fabricConformance, mpi } from 'rankweave'

const factory = mpi()
const [suite, ranks] = process.argv.slice(2)
const cases = suite === 'fabric' ? fabricConformance(factory) : collectiveConformance(factory, Number(ranks))

const first = process.env['OMPI_COMM_WORLD_RANK'] === '0' || process.env['PMI_RANK'] === '0'
for (const { name, run } of cases) {
  await run()
  if (first) console.log(`passed: ${name}`)
}
