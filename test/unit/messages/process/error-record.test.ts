import { describe, expect, it } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { decodeError, encodeError } from '../../../../src/messages/process/error-record.js'
import { coded } from '../../../support/on-ranks.js'

describe('errors that cross processes', () => {
  it('RankweaveErrors keep code, message, details, stack and cause', () => {
    const error = new RankweaveError('ERR_RANK', 'no such rank', {
      details: { rank: 9 },
      cause: new RankweaveError('ERR_TAG', 'inner'),
    })
    const back = decodeError(encodeError(error, 1e6))
    expect(back).toBeInstanceOf(RankweaveError)
    expect(back).toMatchObject({ code: 'ERR_RANK', message: 'no such rank', details: { rank: 9 } })
    expect(back.stack).toBe(error.stack)
    expect(back.cause).toBeInstanceOf(RankweaveError)
    expect(back.cause).toMatchObject({ code: 'ERR_TAG', message: 'inner' })
  })

  it('other errors keep name, message and stack', () => {
    const error = new TypeError('not a function')
    const back = decodeError(encodeError(error, 1e6))
    expect(back).toMatchObject({ name: 'TypeError', message: 'not a function', stack: error.stack })
  })

  it('causes keep their type, also when they are cyclic', () => {
    const inner = new TypeError('not a function')
    const middle = new RankweaveError('ERR_OP', 'operation failed', { cause: inner })
    const back = decodeError(
      encodeError(new RankweaveError('ERR_WORLD_ENDED', 'over', { cause: middle }), 1e6),
    )
    expect(back.cause).toMatchObject({
      code: 'ERR_OP',
      cause: { name: 'TypeError', message: 'not a function' },
    })
    expect((back.cause as Error).cause).toBeInstanceOf(Error)
    for (const cause of ['why', 7, false, null]) {
      expect(decodeError(encodeError(new RankweaveError('ERR_OP', 'odd', { cause }), 1e6)).cause).toBe(cause)
    }
    const first = new RankweaveError('ERR_OP', 'first')
    first.cause = new RankweaveError('ERR_OP', 'second', { cause: first })
    expect(decodeError(encodeError(first, 1e6)).cause).toMatchObject({ message: 'second' })
    const textless = new RankweaveError('ERR_OP', 'odd', { cause: Object.create(null) })
    expect(decodeError(encodeError(textless, 1e6)).cause).toMatch(/object/)
  })

  it('any thrown value, and causes that JSON cannot represent', () => {
    expect(decodeError(encodeError('text', 1e6)).message).toBe('text')
    expect(decodeError(encodeError(undefined, 1e6)).message).toBe('undefined')
    expect(decodeError(encodeError(Object.create(null), 1e6)).message).toMatch(/object/)
    const odd = new RankweaveError('ERR_OP', 'odd', { cause: 12n })
    expect(decodeError(encodeError(odd, 1e6))).toMatchObject({ code: 'ERR_OP', cause: '12' })
  })

  it('fit in the given bytes, however long the message', () => {
    for (const message of ['x'.repeat(5000), '\u0000"ü'.repeat(2000)]) {
      for (const error of [new Error(message), new RankweaveError('ERR_OP', message)]) {
        const bytes = encodeError(error, 1024)
        expect(bytes.byteLength).toBeLessThanOrEqual(1024)
        const back = decodeError(bytes)
        expect(back.message.length).toBeGreaterThan(50)
        expect(message.startsWith(back.message)).toBe(true)
      }
    }
  })

  it('an error of which not even the code fits arrives as one that says so', () => {
    const error = new RankweaveError('ERR_COLLECTIVE_MISMATCH', 'differs')
    for (let maxBytes = 0; maxBytes < 200; maxBytes++) {
      const bytes = encodeError(error, maxBytes)
      expect(bytes.byteLength).toBeLessThanOrEqual(maxBytes)
      const code = bytes.byteLength === 0 ? 'ERR_REVOKED' : error.code
      expect(decodeError(bytes)).toMatchObject({ code })
    }
  })

  it.each([
    '',
    'null',
    '{}{',
    '[]',
    '{"kind":"value","value":1}',
    '{"kind":"rankweave"}',
    '{"kind":"rankweave","record":{"code":"x"}}',
    '['.repeat(50_000),
  ])('bytes that are no error are refused: %s', (text) => {
    const decode = () => decodeError(new TextEncoder().encode(` ${text}`))
    expect(decode).toThrow(coded('ERR_PROTOCOL'))
  })
})
