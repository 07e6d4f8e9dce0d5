import { describe, expect, it } from 'vitest'
import { allowedProcessors, processorsIn } from '../../../../src/base/allowed-processors.js'
import { bindThisThread, coreOfEachProcess, coresOf } from '../../../../src/fabric/threads/core-binding.js'
import { connectThreads, resolveThreads } from '../../../../src/fabric/threads/threads-connect.js'
import { refusal } from '../../../support/refusal.js'

describe('processorsIn', () => {
  it.each([
    ['0', [0]],
    ['0-3,8', [0, 1, 2, 3, 8]],
    ['1,5-6', [1, 5, 6]],
  ])('%s', (list, processors) => {
    expect(processorsIn(list)).toEqual(processors)
  })
})

describe('coresOf', () => {
  it('takes all hardware threads of a core together', () => {
    const siblings = (processor: number) => [processor % 4, (processor % 4) + 4]
    expect(coresOf([0, 1, 2, 3, 4, 5, 6, 7], siblings)).toEqual([
      [0, 4],
      [1, 5],
      [2, 6],
      [3, 7],
    ])
  })

  it('leaves out those that are not allowed', () => {
    const siblings = (processor: number) => [processor & ~1, processor | 1]
    expect(coresOf([1, 2, 3, 9], siblings)).toEqual([[1], [2, 3], [9]])
  })
})

describe('connections', () => {
  it('name no processors unless they are to be bound', () => {
    for (const options of [{}, { bindTo: 'none' } as const])
      expect(connectThreads(resolveThreads(options)).map(({ processors }) => processors)).toEqual([
        null,
        null,
      ])
  })

  it('name different allowed processors if they are', () => {
    const allowed = processorsIn(allowedProcessors())
    const [{ processors }] = connectThreads(resolveThreads({ processes: 1, bindTo: 'core' }))
    expect(processors![0]).toBe(allowed[0])
  })

  it('more processes than cores are refused', () => {
    const allowed = processorsIn(allowedProcessors())
    expect(() => coreOfEachProcess(allowed.length + 1)).toThrow(
      expect.objectContaining({ code: 'ERR_WORLD' }),
    )
  })

  it('a program that may use one core has one process', () => {
    const message = expect.stringContaining('2 processes, 1 core (processors 0)')
    expect(coreOfEachProcess(1, '0')).toEqual([[0]])
    expect(() => coreOfEachProcess(2, '0')).toThrow(
      expect.objectContaining({ code: 'ERR_WORLD', message, details: { processes: 2, cores: 1 } }),
    )
  })

  it('processors of which Linux names no core are a core each', () => {
    expect(coreOfEachProcess(2, '90000-90002')).toEqual([[90000], [90001]])
  })

  it('hosts whose processors are unknown bind nothing', () => {
    expect(() => coreOfEachProcess(1, '')).toThrow(expect.objectContaining({ code: 'ERR_FABRIC' }))
  })

  it.each(['socket', 'Core', '', 1, true, null])('%j is no binding', (bindTo) => {
    expect(() => resolveThreads({ bindTo: bindTo as never })).toThrow(refusal('ERR_WORLD', 'none or core'))
  })
})

describe('bindThisThread', () => {
  it('says how Linux refuses processors that do not exist', async () => {
    await expect(bindThisThread([100_000])).rejects.toMatchObject(
      refusal('ERR_FABRIC', /refuses processors 100000 \(EINVAL\)/),
    )
  })
})
