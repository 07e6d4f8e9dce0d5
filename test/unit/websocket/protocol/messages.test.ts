import { describe, expect, it } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import {
  defaultRendezvousLimits,
  maxControlLength,
  maxSettingsLength,
} from '../../../../src/websocket/protocol/limits.js'
import {
  decodeFromMember,
  decodeFromRendezvous,
  encodeControl,
  encodeRelayed,
  type FromRendezvous,
  relayedProcess,
  setRelayedProcess,
  type ToRendezvous,
} from '../../../../src/websocket/protocol/messages.js'

const key = 'ab'.repeat(32)
const join: ToRendezvous = {
  ...{ kind: 'join', protocol: 2, token: 'token', nonce: '0f'.repeat(16), program: 'digest' },
  ...{ library: '1.0.0', node: 'Knoten ä', process: null, address: 'wss://[::1]:80/path' },
}
const heartbeat: ToRendezvous = {
  ...{ kind: 'heartbeat', protocol: 2, world: '01'.repeat(8), process: 3, secret: key },
}
const welcome: FromRendezvous = {
  ...{ kind: 'welcome', world: '01'.repeat(8), process: 1, nodes: ['a', 'b'], addresses: [null, 'ws://b'] },
  ...{ peerKeys: [key, null], heartbeatKey: key, settings: '{"ranks":2}' },
  limits: {
    ...{ maxMessageBytes: 1, maxQueuedBytes: 1, maxRelayedBytes: 1 },
    ...{ heartbeatMs: 1, silenceMs: 1, verdictMs: 1 },
  },
}

const codeOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(RankweaveError)
    return (error as RankweaveError).code
  }
  return 'none'
}

describe('control messages', () => {
  it('are decoded to what was encoded', () => {
    for (const message of [join, heartbeat]) expect(decodeFromMember(encodeControl(message))).toEqual(message)
    expect(decodeFromRendezvous(encodeControl(welcome))).toEqual(welcome)
  })

  it('of the other direction are refused', () => {
    expect(codeOf(() => decodeFromMember('{"kind":"lost","process":1,"reason":""}'))).toBe('ERR_PROTOCOL')
    expect(codeOf(() => decodeFromRendezvous('{"kind":"leave"}'))).toBe('ERR_PROTOCOL')
  })

  it.each([
    ['no JSON', '{'],
    ['no object', '5'],
    ['null', 'null'],
    ['no kind', '{}'],
    ['a kind of every object', '{"kind":"toString"}'],
    ['a kind that is unknown', '{"kind":"hello"}'],
    ['a member too many', '{"kind":"beat","more":1}'],
    ['a prototype', '{"kind":"beat","__proto__":{"a":1}}'],
    ['a number that is none of a process', '{"kind":"broken","process":-1,"cause":"closed","reason":""}'],
    ['a fraction', '{"kind":"broken","process":0.5,"cause":"closed","reason":""}'],
    [
      'a reason that is too long',
      `{"kind":"broken","process":0,"cause":"closed","reason":"${'x'.repeat(501)}"}`,
    ],
    [
      'nested arrays',
      `{"kind":"decide","key":"k","contribution":"","members":${'['.repeat(9)}${']'.repeat(9)}}`,
    ],
    ['a label that would grow in JSON', encodeControl({ ...join, node: 'a\u0007' } as ToRendezvous)],
    ['an address that is none', encodeControl({ ...join, address: 'http://a' } as ToRendezvous)],
    ['half a byte', '{"kind":"decide","key":"k","contribution":"abc","members":[0]}'],
    ['65 bytes', `{"kind":"decide","key":"k","contribution":"${'ab'.repeat(65)}","members":[0]}`],
  ])('that are malformed are ERR_PROTOCOL: %s', (_, text) => {
    expect(codeOf(() => decodeFromMember(text))).toBe('ERR_PROTOCOL')
  })

  it('that are refused are quoted without their secrets', () => {
    expect(() =>
      decodeFromMember(encodeControl({ ...join, token: 's3cret', node: '' } as ToRendezvous)),
    ).toThrow(/got {"kind":"join","protocol":2,"token":"\.\.\.",(?!.*s3cret)/)
    expect(() => decodeFromMember(encodeControl({ ...heartbeat, process: -1 } as ToRendezvous))).toThrow(
      /"secret":"\.\.\."/,
    )
    expect(() => decodeFromRendezvous(encodeControl({ ...welcome, process: -1 } as FromRendezvous))).toThrow(
      /"peerKeys":"\.\.\.","heartbeatKey":"\.\.\."/,
    )
    // Also one that is cut in its token, or was written with spaces.
    const text = encodeControl({ ...join, token: 's3\\cr3t', node: '' } as ToRendezvous)
    const spaced = JSON.stringify(JSON.parse(text), null, 1)
    for (const whole of [text, spaced]) {
      for (let size = 0; size <= whole.length; size++) {
        expect(() => decodeFromMember(whole.slice(0, size))).toThrow(/^(?![\s\S]*s3)/)
      }
    }
  })

  it('are not parsed when they are too long', () => {
    expect(codeOf(() => decodeFromMember('['.repeat(maxControlLength + 1)))).toBe('ERR_MESSAGE_TOO_LARGE')
  })

  it('may contain brackets in texts, which are not nesting', () => {
    const message = { kind: 'broken', process: 0, cause: 'silent', reason: '[[[[[[[[\\"{{{{{{{{' } as const
    expect(decodeFromMember(encodeControl(message))).toEqual(message)
  })

  it('of another version are ERR_VERSION_MISMATCH, whatever else they hold', () => {
    for (const protocol of [1, 3]) {
      const text = `{"kind":"join","protocol":${protocol},"new":true}`
      expect(codeOf(() => decodeFromMember(text))).toBe('ERR_VERSION_MISMATCH')
      expect(() => decodeFromMember(text)).toThrow(`expected version 2 of the protocol, got ${protocol}`)
    }
  })

  it('have room for 1,024 members with the longest names, addresses and settings', () => {
    const { maxProcesses } = defaultRendezvousLimits
    const all = <T>(value: T) => Array.from({ length: maxProcesses }, () => value)
    const longest = {
      ...welcome,
      nodes: all('n'.repeat(255)),
      addresses: all(`wss://${'a'.repeat(506)}`),
      peerKeys: all(key),
      settings: '\u0000'.repeat(maxSettingsLength),
    } as FromRendezvous
    expect(decodeFromRendezvous(encodeControl(longest))).toEqual(longest)
  })
})

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
