import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { portableSha256, sha256 } from '../../../src/base/hash.js'

const nodes = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')

it('the portable SHA-256 is that of FIPS 180-4, for every fill of a block', () => {
  expect(portableSha256().update('abc').digest()).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
  const bytes = Uint8Array.from({ length: 200 }, (_, i) => (i * 89) % 251)
  for (let size = 0; size <= bytes.length; size++) {
    const part = bytes.subarray(0, size)
    expect(portableSha256().update(part).digest()).toBe(nodes(part))
  }
})

it('does not depend on where the data is cut', () => {
  const text = 'größer als ein Block, und in Stücken: '.repeat(9)
  const whole = new TextEncoder().encode(text)
  for (const step of [1, 7, 63, 64, 65, 128]) {
    const hash = portableSha256()
    for (let at = 0; at < whole.length; at += step) hash.update(whole.subarray(at, at + step))
    expect(hash.digest()).toBe(nodes(text))
  }
  expect(portableSha256().update(text).digest()).toBe(nodes(text))
})

it('on Node it is that of Node', () => {
  expect(sha256().update('a').update(Uint8Array.of(98, 99)).digest()).toBe(nodes('abc'))
})
