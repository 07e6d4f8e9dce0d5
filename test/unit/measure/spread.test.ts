import { describe, expect, it } from 'vitest'
import { defaultSpreads, largestSpread, membersOf, requireSpreads } from '../../../src/measure/spread.js'
import { raised } from './raised.js'

describe('the largest even spread', () => {
  it.each([
    ['one node', [0, 0, 0], 1, 3, [[0, 1, 2]]],
    [
      'equal nodes, dealt by turns',
      [0, 1, 0, 1],
      2,
      2,
      [
        [0, 2],
        [1, 3],
      ],
    ],
    [
      'a node with fewer processes, which lose less than a node',
      [0, 0, 0, 1, 1],
      2,
      2,
      [
        [0, 1],
        [3, 4],
      ],
    ],
    [
      'a node with one process, which is left out',
      [0, 1, 1, 1, 2, 2, 2],
      2,
      3,
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ],
    ['of two with equally many processes that on more nodes', [0, 0, 1], 2, 1, [[0], [2]]],
  ])('of %s', (_, nodeOf, nodes, processesPerNode, members) => {
    expect(largestSpread(nodeOf)).toEqual({ nodes, processesPerNode, members })
  })

  it('has parts: the first processes of the first nodes, node by node', () => {
    const spread = largestSpread([0, 1, 2, 0, 1, 2])
    expect(membersOf(spread, { nodes: 2, processesPerNode: 2 })).toEqual([0, 3, 1, 4])
    expect(membersOf(spread, { nodes: 3, processesPerNode: 1 })).toEqual([0, 1, 2])
  })
})

describe('spreads to measure', () => {
  it('are powers of two of nodes and processes, and all, of two processes at least', () => {
    const texts = defaultSpreads({ nodes: 3, processesPerNode: 4 }).map(
      ({ nodes, processesPerNode }) => `${nodes}x${processesPerNode}`,
    )
    expect(texts).toEqual(['1x2', '1x4', '2x1', '2x2', '2x4', '3x1', '3x2', '3x4'])
  })

  it('that do not fit into what there is are refused, with both', () => {
    const wanted = [{ nodes: 2, processesPerNode: 4 }]
    requireSpreads(wanted, { nodes: 2, processesPerNode: 4 })
    const error = raised(() => requireSpreads(wanted, { nodes: 4, processesPerNode: 2 }))
    expect(error.code).toBe('ERR_MEASUREMENT')
    expect(error.message).toContain('at most 4x2')
    expect(error.message).toContain("'2x4'")
  })
})
