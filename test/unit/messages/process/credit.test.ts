import { describe, expect, it } from 'vitest'
import {
  Credit,
  envelopeChargeBytes,
  type Grantee,
  waitingBytes,
} from '../../../../src/messages/process/credit.js'
import type { FramePort, ServiceHandler } from '../../../../src/messages/process/frame-port.js'
import { creditWord, frameKind, headerWord } from '../../../../src/messages/process/frames.js'
import { coded } from '../../../support/on-ranks.js'

/** Processes 0 to `processes - 1` that deliver each other's frames at once. */
function connected(settings: Settings) {
  const { creditBytes, processes = 2, maxPayloadBytes = 24, lastTransferId, isTrusted = true } = settings
  const handlers: ServiceHandler[] = []
  const frames: { src: number; dst: number; bytes: number }[] = []
  const credits = Array.from({ length: processes }, (_, process) => {
    const port: Partial<FramePort> = {
      process,
      fabric: { isTrusted, maxPayloadBytes } as FramePort['fabric'],
      options: { eagerLimitBytes: 0, creditBytes },
      onService: (kind, handler) => {
        expect(kind).toBe(frameKind.credit)
        handlers[process] = handler
      },
      send: (dst, header) => {
        expect(header[headerWord.kind]).toBe(frameKind.credit)
        frames.push({ src: process, dst, bytes: header[creditWord.bytes] })
        handlers[dst](process, header, new Uint8Array(0))
      },
    }
    return new Credit(port as FramePort, lastTransferId)
  })
  return { credits, frames }
}

interface Settings {
  readonly creditBytes: number
  readonly processes?: number
  readonly maxPayloadBytes?: number
  readonly lastTransferId?: number
  readonly isTrusted?: boolean
}

/** Takes messages of this size until one is refused, and returns how many there were. */
function takeAll(credit: Credit, process: number, sizeBytes: number): number {
  for (let taken = 0; ; taken++) if (!credit.take(process, sizeBytes)) return taken
}

describe('credit', () => {
  it.each([0, 1, 8, 100])('messages of %i bytes are charged their payload and envelope', (sizeBytes) => {
    const { credits } = connected({ creditBytes: 10_000 })
    const expected = Math.floor(10_000 / (sizeBytes + envelopeChargeBytes))
    expect(takeAll(credits[0], 1, sizeBytes)).toBe(expected)
    expect(takeAll(credits[0], 0, sizeBytes)).toBe(expected)
    expect(takeAll(credits[1], 0, sizeBytes)).toBe(expected)
  })

  it('messages are charged what they occupy where other programs may send them, and less elsewhere', () => {
    const takenIf = (isTrusted: boolean) =>
      takeAll(connected({ creditBytes: 64_000, isTrusted }).credits[0], 1, 0)
    expect([takenIf(false), takenIf(true)]).toEqual([100, 1000])
  })

  it('messages of a process to itself return their charge at once', () => {
    const { credits, frames } = connected({ creditBytes: 1000 })
    const taken = takeAll(credits[0], 0, 36)
    expect(taken).toBe(10)
    for (let n = 0; n < taken; n++) credits[0].consumed(0, 36)
    expect(credits[0].outstanding(0)).toEqual({
      inFlightBytes: 0,
      owedBytes: 0,
      heldBytes: 0,
      waitingBytes: 0,
      grantedBytes: 0,
    })
    expect(frames).toEqual([])
  })
})

describe('what a receiver counts', () => {
  it('exceeds it with the first message of a sender that does not', () => {
    const { credits } = connected({ creditBytes: 1000 })
    for (let n = 0; n < 10; n++) credits[1].received(0, 36)
    const refused = () => credits[1].received(0, 0)
    expect(refused).toThrow('process 0 exceeds its credit: expected at most 1000 bytes in flight, got 1064')
    expect(refused).toThrow(expect.objectContaining({ code: 'ERR_PROTOCOL', details: { process: 0 } }))
  })

  it('bounds other frames for communicators that are not open', () => {
    const { credits } = connected({ isTrusted: false, creditBytes: 1000 })
    credits[1].waits(0, waitingBytes + 1000)
    credits[1].waits(0, -500)
    credits[1].waits(0, 500)
    credits[1].waits(2, 1)
    expect(() => credits[1].waits(0, 1)).toThrow(coded('ERR_PROTOCOL'))
  })
})

describe('grants of rendezvous payload', () => {
  it.each([0, 24, 100, 10_000])(
    'stay within a credit of %i bytes and serve transfers in order',
    (creditBytes) => {
      const { credits } = connected({ creditBytes })
      const receiver = credits[1]
      const windowBytes = Math.max(creditBytes, 24)
      const announced: number[] = []
      const transfers = [1000, 0, 37, 5000, 1].map((sizeBytes, id): Grantee => {
        return {
          process: 0,
          sizeBytes,
          grantedBytes: 0,
          receivedBytes: 0,
          announce: () => announced.push(id),
        }
      })
      for (const transfer of transfers) receiver.request(transfer)
      // The fourth is given up halfway.
      for (const transfer of transfers) {
        while (transfer.receivedBytes < transfer.sizeBytes) {
          expect(receiver.outstanding(0).grantedBytes).toBeLessThanOrEqual(windowBytes)
          expect(transfer.grantedBytes).toBeGreaterThan(transfer.receivedBytes)
          if (transfer === transfers[3] && transfer.receivedBytes > 2500) break
          receiver.arrived(transfer, Math.min(24, transfer.grantedBytes - transfer.receivedBytes))
        }
        if (transfer === transfers[3]) receiver.abandon(transfer)
      }
      expect(announced).toEqual([...announced].sort((a, b) => a - b))
      expect(new Set(announced).size).toBe(5)
      expect(receiver.outstanding(0).grantedBytes).toBe(0)
    },
  )
})

describe('transfer ids', () => {
  it('begin anew at 2^31, without those of transfers in flight', () => {
    const { credits } = connected({ creditBytes: 0, lastTransferId: 2 ** 31 - 3 })
    const [credit] = credits as [Credit]
    expect([credit.openTransferId(), credit.drawTransferId(), credit.openTransferId()]).toEqual([
      2 ** 31 - 2,
      2 ** 31 - 1,
      1,
    ])
  })

  it('skip a transfer that is in flight since the numbers began', () => {
    const { credits } = connected({ creditBytes: 0, lastTransferId: 2 ** 31 - 2 })
    const [credit] = credits as [Credit]
    const [last, first] = [credit.openTransferId(), credit.openTransferId()]
    expect([last, first]).toEqual([2 ** 31 - 1, 1])
    credit.closeTransferId(last)
    expect(credit.drawTransferId()).toBe(2)
  })
})
