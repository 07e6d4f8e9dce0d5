// Every process runs its part of every case, or, after 1/3, of every third, in worlds of the given numbers of
// ranks, once or, for 3x2, twice in worlds of 3; process 0 prints which have passed.
import { mpi } from 'rankweave'
import { collectiveConformance, fabricConformance } from 'rankweave/conformance'

const factory = mpi()
const session = await factory.open()
const isFirst = session.job.process === 0
const [part, ...worlds] = process.argv.slice(2)
const nth = Number(part.slice('1/'.length))
const suites = [
  fabricConformance(factory),
  ...worlds
    .map((world) => world.split('x').map(Number))
    .map(([ranks, rounds = 1]) =>
      collectiveConformance(factory, { ranks: ranks, rounds, sharedWorlds: true }),
    ),
]
for (const [n, { name, run }] of suites.flat().entries()) {
  if (n % nth !== 0) continue
  await run()
  if (isFirst) console.log(`passed: ${name}`)
}
await session.close()
