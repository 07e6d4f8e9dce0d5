// Every process runs its part of every case in worlds whose matching queues have the design that the argument names;
// process 0 prints how many have passed.
import { mpi } from 'rankweave'
import { type ConformanceOptions, collectiveConformance } from 'rankweave/conformance'

const factory = mpi()
const session = await factory.open()
const isFirst = session.job.process === 0
const matchingDesign = process.argv[2] as Required<ConformanceOptions>['matchingDesign']
const cases = collectiveConformance(factory, { ranks: 5, sharedWorlds: true, matchingDesign })
for (const { run } of cases) await run()
if (isFirst) console.log(`passed ${cases.length} cases with ${matchingDesign}`)
await session.close()
