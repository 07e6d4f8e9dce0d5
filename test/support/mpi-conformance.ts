// Every process runs its part of every case; process 0 prints which have passed.
import { mpi } from 'rankweave'
import { collectiveConformance, fabricConformance } from 'rankweave/conformance'

const factory = mpi()
const session = await factory.open()
const isFirst = session.job.process === 0
const suites = [
  fabricConformance(factory),
  ...process.argv
    .slice(2)
    .map((ranks) => collectiveConformance(factory, { ranks: Number(ranks), sharedWorlds: true })),
]
for (const { name, run } of suites.flat()) {
  await run()
  if (isFirst) console.log(`passed: ${name}`)
}
await session.close()
