// Every process runs its part of every case, in worlds of the given numbers of ranks, once or, for 3x2, twice
// in worlds of 3; process 0 prints which have passed.
import { mpi } from 'rankweave'
import { collectiveConformance, fabricConformance } from 'rankweave/conformance'

const factory = mpi()
const session = await factory.open()
const isFirst = session.job.process === 0
const suites = [
  fabricConformance(factory),
  ...process.argv
    .slice(2)
    .map((world) => world.split('x').map(Number))
    .map(([ranks, rounds = 1]) =>
      collectiveConformance(factory, { ranks: ranks, rounds, sharedWorlds: true }),
    ),
]
for (const { name, run } of suites.flat()) {
  await run()
  if (isFirst) console.log(`passed: ${name}`)
}
await session.close()
