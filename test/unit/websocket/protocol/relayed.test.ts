import { expect, it } from 'vitest'
import {
  encodeRelayed,
  relayedProcess,
  setRelayedProcess,
} from '../../../../src/websocket/protocol/relayed.js'

it('a relayed message names a process in four bytes, little-endian, before what it carries', () => {
  const relayed = encodeRelayed(0x010203, Uint8Array.of(9, 8))
  expect([...relayed]).toEqual([3, 2, 1, 0, 9, 8])
  expect(relayedProcess(relayed, 2 ** 20, 2)).toBe(0x010203)
  setRelayedProcess(relayed, 1)
  expect([...relayed]).toEqual([1, 0, 0, 0, 9, 8])
})

it('a relayed message that is too short, too long or for no process is refused', () => {
  expect(() => relayedProcess(new Uint8Array(3), 4, 10)).toThrow(
    expect.objectContaining({ code: 'ERR_PROTOCOL' }),
  )
  expect(() => relayedProcess(encodeRelayed(4, new Uint8Array(1)), 4, 10)).toThrow(
    expect.objectContaining({ code: 'ERR_PROTOCOL' }),
  )
  expect(() => relayedProcess(encodeRelayed(0, new Uint8Array(11)), 4, 10)).toThrow(
    expect.objectContaining({ code: 'ERR_MESSAGE_TOO_LARGE' }),
  )
})
