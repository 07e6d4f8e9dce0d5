import { local, run } from 'rankweave'
import type { LocalSession } from '../../../src/fabric/local/local.js'
import { type FaultEnd, faultEnd } from './fault-end.js'
import { faultProgram, type Seen, victim } from './fault-program.js'
import type { FaultRow } from './fault-rows.js'
import { strikeOf } from './strike.js'

/** One row on `local`: three logical processes, with frames in an order by the seed. */
export async function runLocalFault({ operation, fault }: FaultRow, seed: number): Promise<FaultEnd> {
  const factory = local({ processes: 3, seed })
  let session: LocalSession | undefined
  const seen: Seen[] = []
  const mains: Promise<void>[] = []
  const world = run(
    async (comm) => {
      const main = faultProgram(comm, {
        operation,
        stepsBefore: 2,
        stepsAfter: null,
        detaches: fault === 'detached array',
        strike: fault === 'process lost' ? () => session!.kill(victim) : strikeOf(fault),
        tell: (each) => void seen.push(each),
      })
      mains.push(main)
      await main
      // A rank of a lost process does not return.
      if (comm.rank === victim && fault !== 'detached array') await new Promise(() => {})
    },
    {
      ranks: 3,
      fabric: {
        ...factory,
        open: async () => {
          session = await factory.open()
          return session
        },
      },
    },
  )
  const settled = world.finally(() => Promise.allSettled(mains))
  const inOrder = () => seen.sort((a, b) => a.rank - b.rank).map((each) => JSON.stringify(each))
  return faultEnd(settled, inOrder)
}
