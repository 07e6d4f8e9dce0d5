import { describe, expect, it } from 'vitest'
import { processesPerCore } from '../../../../src/fabric/mpi/mpi-placement.js'

describe('processes per core of a node', () => {
  it.each([
    { cores: ['0', '1'], available: 1, sharers: 1, how: 'each bound to a core of its own' },
    { cores: ['0-1', '0-1'], available: 2, sharers: 1, how: 'bound to none' },
    { cores: Array(16).fill('0-1'), available: 2, sharers: 8, how: 'more than cores' },
    { cores: ['0-3,8-11', '4-7,12-15'], available: 8, sharers: 1 / 8, how: 'bound to sockets' },
    { cores: ['0', '0', '2,3', '2-3'], available: 1, sharers: 4 / 3, how: 'unevenly' },
    { cores: ['', '0'], available: 4, sharers: 0.5, how: 'nobody knows of some' },
  ])('$how: $sharers', ({ cores, available, sharers }) => {
    expect(processesPerCore(cores, available)).toBe(sharers)
  })
})
