import { local, threads, websocket } from 'rankweave'
import { collectiveConformance } from 'rankweave/conformance'
import { describe, expect, it } from 'vitest'
import {
  defaultMailboxDesign,
  type MailboxDesign,
  mailboxDesigns,
} from '../../src/messages/matching-queues/mailbox-designs.js'
import { describeMpiInTurn, program, runJob } from '../support/mpi.js'
import { inTurn, tier } from '../support/soak.js'

/** All but the index, which the other suites have, in `npm run soak:long`. */
const designs = mailboxDesigns.filter((design) => design !== defaultMailboxDesign)
const taken = (inSoak: readonly MailboxDesign[]) => (tier === 'long' ? designs : inSoak)

const places = [
  {
    fabric: threads({ ranksPerProcess: [1, 0, 3], ringBytes: 4096 }),
    places: 'threads' as const,
    inSoak: ['partners-dynamic'] as const,
  },
  {
    fabric: websocket({ ranksPerProcess: [2, 2] }),
    places: 'OS processes' as const,
    inSoak: ['source-lists'] as const,
  },
]

describe.each(inTurn(places, 2))('worlds on $fabric.kind', ({ fabric, places, inSoak }) => {
  const { kind, processes } = fabric
  describe.each(taken(inSoak))('with matching queues of design %s', (matchingDesign) => {
    const expected = { kind, processes, places }
    const options = { ranks: 4, expected, seed: 4, sharedWorlds: true, matchingDesign }
    for (const { name, run } of collectiveConformance(fabric, options)) it(name, run)
  })
})

describeMpiInTurn('worlds with matching queues', (mpi) => {
  it.each(taken(mpi.name === 'MPICH' ? ['vector-list'] : ['bins']))(
    'of design %s pass all cases',
    async (matchingDesign) => {
      const job = program('mpi-matching-conformance.ts', matchingDesign)
      const { code, stdout, stderr } = await runJob(mpi, 2, job)
      const options = { ranks: 5, sharedWorlds: true, matchingDesign }
      const { length } = collectiveConformance(local({ processes: 2 }), options)
      const passed = `passed ${length} cases with ${matchingDesign}\n`
      expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: '', stdout: passed })
    },
  )
})
