import { describe, it } from 'vitest'
import { collectiveConformance } from '../../src/comm/collective-conformance.js'
import { local } from '../../src/fabric/local.js'

const ranks = [1, 2, 3, 4, 7, 8, 16]
const fabrics = [
  local({ processes: 1 }),
  local({ processes: 2, seed: 1, scribble: true }),
  local({ processes: 5, nodes: 2, seed: 2, scribble: true, maxPayloadBytes: 1024 }),
]

describe.each(fabrics)('collectives on $processes processes', (factory) => {
  describe.each(ranks)('%i ranks', (count) => {
    for (const { name, run } of collectiveConformance(factory, count)) it(name, run)
  })
})
