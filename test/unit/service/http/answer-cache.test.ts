import { expect, it } from 'vitest'
import { AnswerCache } from '../../../../src/service/http/answer-cache.js'

/** A cache, and how often each answer was computed. */
function counted(most: number) {
  const cache = new AnswerCache(most)
  const computed: string[] = []
  const get = (key: string, length = 10) =>
    cache.get(key, async () => {
      computed.push(key)
      return key.padEnd(length, '.')
    })
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
  const fail = () => cache.get('a', () => Promise.reject(new Error('cannot')))
  const both = await Promise.allSettled([fail(), fail()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await get('a')).toBe('a.........')
})
