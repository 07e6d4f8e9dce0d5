import { describe, expect, it } from 'vitest'
import { allowedProcessors, processorsIn } from '../../../../src/base/allowed-processors.js'
import { bindThisThread, coreOfEachProcess, coresOf } from '../../../../src/fabric/threads/core-binding.js'
import { connectThreads, resolveThreads } from '../../../../src/fabric/threads/threads-connect.js'

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

  it('words that are no binding are refused', () => {
    expect(() => resolveThreads({ bindTo: 'socket' as never })).toThrow(
      expect.objectContaining({ code: 'ERR_WORLD', message: expect.stringContaining('none or core') }),
    )
  })
})

describe('bindThisThread', () => {
  it('says how Linux refuses processors that do not exist', async () => {
    await expect(bindThisThread([100_000])).rejects.toMatchObject({
      code: 'ERR_FABRIC',
      message: expect.stringMatching(/refuses processors 100000 \(EINVAL\)/),
    })
  })
})
