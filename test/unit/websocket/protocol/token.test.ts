import { expect, it } from 'vitest'
import { refusalCodes, refusalNames, refusalOf } from '../../../../src/websocket/protocol/refusals.js'
import {
  equalSecrets,
  fromHex,
  makeToken,
  randomBytes,
  toHex,
  worldOf,
} from '../../../../src/websocket/protocol/secrets.js'

it('a token opens its own world only', () => {
  const [a, b] = [makeToken(), makeToken()]
  const worlds = new Map([a, b].map((world) => [world.id, world]))
  expect(a.token).toMatch(/^[0-9a-f]{16}\.[0-9a-f]{32}$/)
  expect(worldOf(a.token, worlds)).toBe(a)
  expect(worldOf(b.token, worlds)).toBe(b)
  for (const wrong of ['', a.id, `${a.id}.`, a.id + b.token.slice(16), `${a.token}0`, a.token.slice(0, -1)]) {
    expect(worldOf(wrong, worlds), wrong).toBeUndefined()
  }
  expect(worldOf(a.token, new Map())).toBeUndefined()
})

it('secrets are equal only as a whole', () => {
  expect(equalSecrets('abc', 'abc')).toBe(true)
  for (const other of ['abd', 'xbc', 'ab', 'abcd', '']) expect(equalSecrets('abc', other), other).toBe(false)
})

it('bytes survive as hexadecimal digits', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, n) => n)
  expect(fromHex(toHex(bytes))).toEqual(bytes)
  expect(randomBytes(32)).not.toEqual(randomBytes(32))
})

it('every refusal has its own close code, and is found by it', () => {
  expect(new Set(Object.values(refusalCodes)).size).toBe(refusalNames.length)
  for (const name of refusalNames) expect(refusalOf(refusalCodes[name])).toBe(name)
  expect(refusalOf(1006)).toBeUndefined()
})
