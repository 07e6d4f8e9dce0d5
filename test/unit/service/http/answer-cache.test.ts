import { expect, it } from 'vitest'
import { AnswerCache } from '../../../../src/service/http/answer-cache.js'

const stays = () => new AbortController().signal

/** A cache, and how often each answer was computed. */
function counted(most: number) {
  const cache = new AnswerCache(most)
  const computed: string[] = []
  const get = (key: string, length = 10) =>
    cache.get(
      key,
      async () => {
        computed.push(key)
        return key.padEnd(length, '.')
      },
      stays(),
    )
  return { cache, computed, get }
}

it('an answer is computed once, also for those who ask while it is computed', async () => {
  const { computed, get } = counted(100)
  expect(await Promise.all([get('a'), get('a'), get('b')])).toEqual([
    'a.........',
    'a.........',
    'b.........',
  ])
  await get('a')
  expect(computed).toEqual(['a', 'b'])
})

it('what was not used for longest goes first', async () => {
  const { computed, get } = counted(40)
  for (const key of ['a', 'b', 'c', 'd']) await get(key)
  await get('a')
  await get('e')
  for (const key of ['a', 'c', 'd', 'e']) await get(key)
  expect(computed).toEqual(['a', 'b', 'c', 'd', 'e'])
  await get('b')
  expect(computed.at(-1)).toBe('b')
})

it('what would displace most of it is not remembered', async () => {
  const { computed, get } = counted(40)
  await get('a')
  expect((await get('long', 11)).length).toBe(11)
  await get('long', 11)
  await get('a')
  expect(computed).toEqual(['a', 'long', 'long'])
})

it('a failure reaches all who wait for it, and is not remembered', async () => {
  const { cache, get } = counted(40)
  const fail = () => cache.get('a', () => Promise.reject(new Error('cannot')), stays())
  const both = await Promise.allSettled([fail(), fail()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await get('a')).toBe('a.........')
})

it('what nobody waits for any more is aborted, and who asks then gets an answer of a new computation', async () => {
  const cache = new AnswerCache(100)
  const [first, second] = [new AbortController(), new AbortController()]
  const asked: AbortSignal[] = []
  const compute = (signal: AbortSignal) => {
    asked.push(signal)
    return new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
      if (asked.length === 2) resolve('answer')
    })
  }
  const both = Promise.allSettled([first, second].map(({ signal }) => cache.get('a', compute, signal)))
  first.abort()
  expect(asked.map(({ aborted }) => aborted)).toEqual([false])
  second.abort()
  expect(asked.map(({ aborted }) => aborted)).toEqual([true])
  expect(await cache.get('a', compute, stays())).toBe('answer')
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await cache.get('a', compute, stays())).toBe('answer')
  expect(asked.length).toBe(2)
})
