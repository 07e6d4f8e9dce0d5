import { expect, it } from 'vitest'
import { tuningChecksum } from '../../../src/tuning/tuning-checksum.js'

// Vectors of draft-eastlake-fnv, FNV-1a of 64 bits.
it.each([
  ['', 'cbf29ce484222325'],
  ['a', 'af63dc4c8601ec8c'],
  ['foobar', '85944171f73967e8'],
])('tuningChecksum of "%s" is %s', (text, sum) => {
  expect(tuningChecksum(text)).toBe(sum)
})

it('tuningChecksum ignores space outside of strings, and not inside', () => {
  const dense = '{"a b":[1,"c\\" \\\\","é"]'
  expect(tuningChecksum('{ "a b" : [\n\t1,\r\n "c\\" \\\\", "é" ]')).toBe(tuningChecksum(dense))
  expect(tuningChecksum(dense.replace('a b', 'ab'))).not.toBe(tuningChecksum(dense))
  expect(tuningChecksum(dense.replace('c\\" ', 'c\\"'))).not.toBe(tuningChecksum(dense))
})
