import { run } from 'rankweave'
import { collectiveConformance, fabricConformance } from 'rankweave/conformance'
import { describe, expect, it } from 'vitest'
import { ports } from '../support/port-fabric.js'
import { isSoak } from '../support/soak.js'

// A fabric from outside the package needs no change in `src`: all that the rooms above ask of it is in the contract.

describe.each([1, 3])('message ports between %i processes', (processes) => {
  const expected = { kind: 'ports', processes, places: 'one thread' } as const
  for (const { name, run } of fabricConformance(ports(processes), { expected })) it(name, run)
})

describe('a world on message ports whose peers may run other programs', () => {
  const expected = { kind: 'ports', processes: 3, places: 'one thread' } as const
  const factory = ports(3, { isTrusted: false })
  for (const { name, run } of collectiveConformance(factory, { ranks: 5, expected })) {
    // Algorithms, strategies, mappings and other limits send what the other cases send, too.
    if (!isSoak && /^algorithm |^neighbor collectives by |^communicators reordered|\)$/.test(name)) continue
    it(name, run)
  }
})

it('errors name the fabric by its own name', async () => {
  const survived = run((world) => world.shrink(), { ranks: 2, fabric: ports(2) })
  const none = "fabric 'ports' has no authority on failures: a lost process ends the whole world there"
  await expect(survived).rejects.toThrow(new RegExp(`${none}$`))
})
