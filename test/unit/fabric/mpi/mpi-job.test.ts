import { describe, expect, it } from 'vitest'
import { countProcessesPerCore, processesPerCoreByNode } from '../../../../src/fabric/mpi/mpi-job.js'

describe('countProcessesPerCore', () => {
  it.each([
    { cores: ['0', '1'], available: 1, processesPerCore: 1, how: 'each bound to its own core' },
    { cores: ['0-1', '0-1'], available: 2, processesPerCore: 1, how: 'not bound' },
    { cores: Array(16).fill('0-1'), available: 2, processesPerCore: 8, how: 'oversubscribed' },
    { cores: ['0-3,8-11', '4-7,12-15'], available: 8, processesPerCore: 1 / 8, how: 'bound to sockets' },
    { cores: ['0', '0', '2,3', '2-3'], available: 1, processesPerCore: 4 / 3, how: 'unevenly' },
    { cores: ['', '0'], available: 4, processesPerCore: 0.5, how: 'binding of one unknown' },
  ])('$how: $processesPerCore', ({ cores, available, processesPerCore }) => {
    expect(countProcessesPerCore(cores, available)).toBe(processesPerCore)
  })
})

it('counts processes per core node by node, from what each process reports', () => {
  const texts = ['4 0-3', '2 0-1', '4 0-3', '2 ', '']
  expect([...processesPerCoreByNode([0, 1, 0, 1, 1], texts)]).toEqual([
    [0, 0.5],
    [1, 1.5],
  ])
})
