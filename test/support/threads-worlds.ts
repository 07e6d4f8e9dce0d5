import type { Communicator } from 'rankweave'
import { runCollectiveChecks } from '../../src/comm/collective-conformance.js'

/** Every collective on every layout; what a rank returns is whether it saw only what its oracle expects. */
export default async function main(world: Communicator): Promise<boolean> {
  await runCollectiveChecks(world)
  return true
}
