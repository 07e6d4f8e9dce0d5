import { expect, it } from 'vitest'
import { PartialMessages } from '../../../../src/calls/exchange/offers.js'
import { collectiveWord, collectiveWords, writeTotal } from '../../../../src/messages/process/frames.js'

const totalBytes = 10

/** The header of the part of a message from `offset` on. */
function headerAt(offset: number): Int32Array {
  const header = new Int32Array(collectiveWords)
  header[collectiveWord.offset] = offset
  writeTotal(header, totalBytes, offset)
  return header
}

const first = Uint8Array.of(1, 2, 3, 4, 5, 6)
const second = Uint8Array.of(7, 8, 9, 10)
const whole = [...first, ...second]

it('writes frames to their place as they come when a receive waits before the first', () => {
  const messages = new PartialMessages()
  const place = new Uint8Array(totalBytes)
  expect(messages.frame(0, headerAt(0), first, () => place)).toBeUndefined()
  expect([...place.subarray(0, 6)]).toEqual([...first])
  expect(messages.frame(0, headerAt(6), second, undefined)?.isInPlace).toBe(true)
  expect([...place]).toEqual(whole)
  expect(messages.isEmpty).toBe(true)
})

it.each([[undefined], [() => null]])('stores frames for which there is no place', (room) => {
  const messages = new PartialMessages()
  messages.frame(3, headerAt(0), first, room)
  const message = messages.frame(3, headerAt(6), second, () => new Uint8Array(totalBytes))
  expect([...message!.bytes]).toEqual(whole)
  expect(message!.isInPlace).toBe(false)
})

it('writes nothing to a place that was detached, and refuses what follows a message that was dropped', () => {
  const messages = new PartialMessages()
  const place = new Uint8Array(totalBytes)
  messages.frame(0, headerAt(0), first, () => place)
  const dropped: number[] = []
  messages.drop((key) => dropped.push(key))
  expect([dropped, messages.isEmpty]).toEqual([[0], true])
  const refused = expect.objectContaining({ code: 'ERR_PROTOCOL' })
  expect(() => messages.frame(0, headerAt(6), second, undefined)).toThrow(refused)
  expect([messages.isEmpty, place[6]]).toEqual([true, 0])
  messages.frame(0, headerAt(0), first, () => place)
  structuredClone(place.buffer, { transfer: [place.buffer] })
  expect(() => messages.frame(0, headerAt(6), second, undefined)).toThrow('detached')
})
