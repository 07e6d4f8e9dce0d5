import { describe, expect, it } from 'vitest'
import { type CallGrid, gridCalls, powersOfTwo } from '../../../src/measure/grid.js'
import { callText } from '../../../src/tuning/settings/tuning-call.js'

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
