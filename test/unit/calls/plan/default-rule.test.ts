import { describe, expect, it } from 'vitest'
import {
  type CallFacts,
  defaultChoice,
  defaultSegments,
  ruleOf,
} from '../../../../src/calls/plan/default-rule.js'
import { algorithmOf } from '../../../../src/collective/algorithms.js'

const facts = {
  processes: 4,
  isOversubscribed: false,
  isMemoryShared: false,
  eagerLimitBytes: 65_536,
  sizeBytes: 8,
} as const

const rows: readonly (readonly [Partial<CallFacts> & Pick<CallFacts, 'collective'>, string | null])[] = [
  [{ collective: 'barrier' }, 'barrier-dissemination'],
  [{ collective: 'barrier', isOversubscribed: true }, 'barrier-linear'],
  [{ collective: 'barrier', isOversubscribed: true, processes: 2 }, 'barrier-dissemination'],
  [{ collective: 'allreduce' }, 'allreduce-tree'],
  [{ collective: 'allreduce', isOversubscribed: true }, 'allreduce-linear'],
  [{ collective: 'allreduce', processes: 2, isOversubscribed: true }, 'allreduce-recursive-doubling'],
  [{ collective: 'allreduce', processes: 2, sizeBytes: 2 ** 24 }, 'allreduce-segmented'],
  [{ collective: 'allreduce', sizeBytes: 2 ** 24 }, 'allreduce-segmented'],
  [{ collective: 'allreduce', sizeBytes: 2 ** 24, isOversubscribed: true }, 'allreduce-segmented'],
  [{ collective: 'allreduce', sizeBytes: 65_528 }, 'allreduce-tree'],
  [{ collective: 'allreduce', sizeBytes: 8192, eagerLimitBytes: 1024 }, 'allreduce-segmented'],
  [{ collective: 'allreduce', sizeBytes: 2 ** 24, processes: 1 }, 'allreduce-tree'],
  [{ collective: 'reduce' }, 'reduce-tree'],
  [{ collective: 'scan' }, 'scan-tree'],
  [{ collective: 'exscan' }, 'exscan-tree'],
  [{ collective: 'reduce-scatter' }, 'reduce-scatter-tree'],
  [{ collective: 'reduce-scatter', isOversubscribed: true }, null],
  [{ collective: 'bcast' }, null],
  [{ collective: 'bcast', sizeBytes: 2 ** 20, isOversubscribed: true }, null],
  [{ collective: 'bcast', sizeBytes: 2 ** 20, isMemoryShared: true }, 'bcast-linear'],
  [{ collective: 'bcast', sizeBytes: 65_536, isMemoryShared: true }, null],
  [{ collective: 'allgather', sizeBytes: 16_383 }, 'allgather-bruck'],
  [{ collective: 'allgather', sizeBytes: 16_384 }, 'allgather-linear'],
  [{ collective: 'allgather', sizeBytes: 2000, eagerLimitBytes: 1024 }, 'allgather-linear'],
  [{ collective: 'gather' }, 'gather-linear'],
  [{ collective: 'scatter' }, 'scatter-linear'],
  [{ collective: 'alltoall' }, 'alltoall-linear'],
  [{ collective: 'bcast', sizeBytes: 2 ** 20, processes: 1 }, null],
]

describe('the default rule', () => {
  it.each(rows)('chooses by facts that all ranks share: %j gives %s', (given, id) => {
    const chosen = defaultChoice({ ...facts, ...given }).id
    expect(chosen).toBe(id)
    if (chosen !== null) expect(algorithmOf(chosen).collective).toBe(given.collective)
  })

  it('is known of calls that were measured', () => {
    const call = { nodes: 2, processesPerNode: 2, bytes: 8 } as const
    const rows = [
      [{ ...call, collective: 'allgather' }, 'allgather-bruck'],
      [{ ...call, collective: 'allgather', bytes: 2 ** 20 }, 'allgather-linear'],
      [{ ...call, collective: 'allreduce', bytes: 2 ** 20 }, 'allreduce-segmented'],
      // Its bytes are those of one rank's block.
      [{ ...call, collective: 'reduce-scatter' }, 'reduce-scatter-tree'],
      [{ ...call, collective: 'bcast' }, 'bcast-binomial'],
      [{ ...call, collective: 'bcast', bytes: 2 ** 20, isMemoryShared: true }, 'bcast-linear'],
    ] as const
    for (const [measured, algorithm] of rows) expect(ruleOf(measured)).toEqual({ algorithm, parameters: {} })
  })

  it('cuts data of chains into a power of two of segments, those of other algorithms into none', () => {
    expect(defaultSegments(algorithmOf('bcast-chain'), 2 ** 20)).toBe(4)
    expect(defaultSegments(algorithmOf('bcast-chain'), 2 ** 20 + 1)).toBe(8)
    expect(defaultSegments(algorithmOf('bcast-chain'), 2 ** 40)).toBe(256)
    expect(defaultSegments(algorithmOf('bcast-chain:fanout=4'), 2 ** 20)).toBe(4)
    expect(defaultSegments(algorithmOf('bcast-linear'), 2 ** 40)).toBe(1)
  })
})
