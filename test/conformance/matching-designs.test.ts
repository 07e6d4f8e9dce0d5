import { local, run } from 'rankweave'
import { describe, it } from 'vitest'
import { flowChecks, matchingChecks } from '../../src/conformance/matching-checks.js'
import { messageChecks } from '../../src/conformance/message-checks.js'
import { checkCases } from '../../src/conformance/world-conformance.js'
import { mailboxDesigns } from '../../src/messages/process/matching-options.js'
import { perTier } from '../support/soak.js'

const cases = [...messageChecks, ...matchingChecks, ...flowChecks].filter(({ fails }) => fails === undefined)
const rounds = perTier({ test: 1, soak: 2, long: 3 })

describe.each(mailboxDesigns)('messages on matching queues of design %s', (design) => {
  it.each(cases)('$name', async ({ name, settings = [{}] }) => {
    for (const setting of settings) {
      if (setting.matching?.design !== undefined) continue
      const fabric = local({ processes: 3, seed: 4, scribble: true })
      const expected = { kind: 'local', processes: 3, places: 'one thread', ranks: 7 } as const
      const context = { expected, seed: 4, rounds, largeBytes: 2 ** 20 }
      await run(checkCases, {
        ...{ ranks: 7, fabric, args: { names: [name], context } },
        ...setting,
        matching: { ...setting.matching, design },
      })
    }
  })
})
