import { describe, expect, it } from 'vitest'
import {
  type CallGrid,
  defaultSpreads,
  gridCalls,
  largestSpread,
  membersOf,
  powersOfTwo,
  requireSpreads,
} from '../../../src/measure/grid.js'
import { callText } from '../../../src/tuning/settings/tuning-call.js'
import { raised } from './raised.js'

const grid: CallGrid = {
  collectives: ['bcast', 'barrier', 'allreduce'],
  spreads: [{ nodes: 2, processesPerNode: 2 }],
  bytes: [4, 8, 12],
  elementType: 'float64',
  orders: ['tree', 'any'],
  longestArrayBytes: 2 ** 20,
}

describe('the calls of a grid', () => {
  it('are every length of every collective; a barrier has none, reductions have whole elements and an order', () => {
    expect(gridCalls(grid).map(callText)).toEqual([
      'bcast of 4 B on 2 x 2 processes',
      'bcast of 8 B on 2 x 2 processes',
      'bcast of 12 B on 2 x 2 processes',
      'barrier of 0 B on 2 x 2 processes',
      'allreduce of 8 B on 2 x 2 processes (sum, order tree)',
      'allreduce of 8 B on 2 x 2 processes (sum, order any)',
    ])
  })

  it('have whole elements of int32, too', () => {
    const calls = gridCalls({ ...grid, collectives: ['scan'], elementType: 'int32', orders: ['any'] })
    expect(calls.map(({ bytes }) => bytes)).toEqual([4, 8, 12])
  })

  it('whose longest array is too long are left out: blocks of all processes together count', () => {
    const collectives = ['bcast', 'alltoall', 'reduce-scatter'] as const
    const calls = gridCalls({ ...grid, collectives, bytes: [1024, 2048], longestArrayBytes: 4096 })
    expect(calls.map(({ collective, bytes }) => `${collective} ${bytes}`)).toEqual([
      'bcast 1024',
      'bcast 2048',
      'alltoall 1024',
      'reduce-scatter 1024',
      'reduce-scatter 1024',
    ])
  })

  it('are at least one: nothing to measure is an error that says why', () => {
    const refused = (part: Partial<CallGrid>) => () => gridCalls({ ...grid, ...part })
    expect(refused({ spreads: [] })).toThrow('got none: there is one process only')
    expect(refused({ collectives: ['reduce'], bytes: [4] })).toThrow(
      'no length is a multiple of float64, 8 B',
    )
    expect(refused({ collectives: ['bcast'], longestArrayBytes: 2 })).toThrow(
      'got none: each has an array of more than 2 B in a process',
    )
  })
})

it('powers of two lie in a range, both ends included', () => {
  expect(powersOfTwo(8, 64)).toEqual([8, 16, 32, 64])
  expect(powersOfTwo(5, 40)).toEqual([8, 16, 32])
  expect(powersOfTwo(0, 4)).toEqual([1, 2, 4])
  expect(powersOfTwo(9, 15)).toEqual([])
})

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
