import type { Communicator } from 'rankweave'

/** Barriers without end: every process notices when one is lost. */
export default async function main(world: Communicator): Promise<never> {
  for (;;) await world.barrier()
}
