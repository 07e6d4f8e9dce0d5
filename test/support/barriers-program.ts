import type { Communicator } from 'rankweave'

/**
 * Barriers without end: every process notices when one is lost. After the first one it calls `worldRuns`,
 * where there is such a global.
 */
export default async function main(world: Communicator): Promise<never> {
  await world.barrier()
  ;(globalThis as { worldRuns?: () => void }).worldRuns?.()
  for (;;) await world.barrier()
}
