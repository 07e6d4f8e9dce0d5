import { describe, expect, it } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { newProcessCounters } from '../../../../src/messages/process/counters.js'
import { Failures } from '../../../../src/messages/process/failures.js'
import {
  type ArrivalCount,
  type FrameContext,
  FrameRouter,
} from '../../../../src/messages/process/frame-router.js'
import {
  collectiveWord,
  collectiveWords,
  envelopeWord,
  envelopeWords,
  frameKind,
} from '../../../../src/messages/process/frames.js'
import type { Progress } from '../../../../src/messages/process/progress.js'
import { worldLayout } from '../../../../src/messages/process/world-layout.js'
import { coded } from '../../../support/on-ranks.js'

/** A communicator that notes what reaches it. */
class Noted implements FrameContext {
  readonly id: { readonly leader: number; readonly counter: number }
  readonly seen: string[] = []
  readonly eagerSink = { arrive: (src: number) => this.seen.push(`in place from ${src}`) > 0 }

  constructor(leader: number, counter: number) {
    this.id = { leader, counter }
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    this.seen.push(`${header[0]} from ${src}: ${payload.join()}`)
  }

  peerLost(peer: number): void {
    this.seen.push(`${peer} lost`)
  }

  fail({ code }: RankweaveError): void {
    this.seen.push(code)
  }
}

function opened() {
  const counters = newProcessCounters()
  const failures = new Failures(worldLayout(8, new Array<string>(8).fill('node')))
  const lost: string[] = []
  const progress = { framesHandedOn: 0, frameArrived: () => {} } as Progress
  const charged: string[] = []
  const count: ArrivalCount = {
    received: (src, sizeBytes) => charged.push(`${sizeBytes} from ${src}`),
    waits: (src, sizeBytes) => charged.push(`${sizeBytes} of ${src} wait`),
  }
  const router = new FrameRouter<Noted>(counters, progress, failures, count, (peer, reason) =>
    lost.push(`${peer} ${reason}`),
  )
  const open = (leader: number, counter: number) =>
    router.open({ leader, counter }, () => new Noted(leader, counter))
  const frame = (src: number, kind: number, leader: number, counter: number, ...payload: number[]) =>
    router.frame(src, Int32Array.of(kind, leader, counter), Uint8Array.from(payload))
  return { router, counters, failures, lost, open, frame, charged }
}

describe('the frame router', () => {
  it('delivers frames to the communicator that they name, and no other', () => {
    const { open, frame, counters, router } = opened()
    const [a, b, c] = [open(0, 1), open(1, 0), open(-1, 1)]
    frame(5, frameKind.data, 1, 0, 7)
    frame(6, frameKind.data, 0, 1)
    frame(6, frameKind.revoke, 0, 1, 8)
    frame(6, frameKind.data, -1, 1)
    expect(a.seen).toEqual(['4 from 6: ', '17 from 6: 8'])
    expect(b.seen).toEqual(['4 from 5: 7'])
    expect(c.seen).toEqual(['4 from 6: '])
    expect([...router.contexts]).toEqual([a, b, c])
    expect(counters).toMatchObject({ framesReceived: 4, frameBytesReceived: 50 })
    expect(() => open(0, 1)).toThrow(/exists already/)
  })

  it('copies frames of communicators that are not open yet, and delivers them in order when they open', () => {
    const { open, frame, router } = opened()
    const header = Int32Array.of(frameKind.data, 2, 2)
    const payload = Uint8Array.of(1)
    router.frame(0, header, payload)
    header.fill(-1)
    payload.fill(9)
    frame(1, frameKind.revoke, 2, 2, 2)
    frame(1, frameKind.revoke, 2, 3, 3)
    expect(open(2, 2).seen).toEqual(['4 from 0: 1', '17 from 1: 2'])
    router.close({ leader: 2, counter: 2 })
    expect(open(2, 2).seen).toEqual([])
  })

  it('counts a message with credit where it begins, and other frames while they wait', () => {
    const { open, router, charged } = opened()
    const eager = new Int32Array(envelopeWords)
    eager.set([frameKind.eager, 3, 3])
    eager[envelopeWord.sizeBytes] = 100
    router.frame(1, eager, new Uint8Array(8))
    router.frame(1, Int32Array.of(frameKind.data, 3, 3), new Uint8Array(92))
    const part = new Int32Array(collectiveWords)
    part.set([frameKind.collective, 3, 3])
    part[collectiveWord.total] = 50
    router.frame(2, part, new Uint8Array(20))
    part[collectiveWord.offset] = 20
    router.frame(2, part, new Uint8Array(30))
    expect(charged.splice(0)).toEqual([
      '100 from 1',
      '640 of 1 wait',
      '744 of 1 wait',
      '50 from 2',
      '640 of 2 wait',
      '734 of 2 wait',
    ])
    open(3, 3)
    expect(charged.splice(0)).toEqual([
      '-640 of 1 wait',
      '-744 of 1 wait',
      '-640 of 2 wait',
      '-734 of 2 wait',
    ])
    router.frame(1, Int32Array.of(frameKind.data, 3, 3), new Uint8Array(92))
    expect(charged).toEqual([])
  })

  it('refuses a message that is longer than it says', () => {
    const { open, frame, charged } = opened()
    for (const kind of [frameKind.eager, frameKind.collective]) {
      expect(() => frame(1, kind, 3, 3, 1)).toThrow(coded('ERR_PROTOCOL'))
    }
    expect(charged).toEqual([])
    expect(open(3, 3).seen).toEqual([])
  })

  it('refuses a header that names no communicator', () => {
    const { router } = opened()
    for (const header of [[], [frameKind.data], [frameKind.data, 2]]) {
      expect(() => router.frame(0, Int32Array.from(header), new Uint8Array(0))).toThrow(coded('ERR_PROTOCOL'))
    }
  })

  it('offers an eager message in place only to the communicator of the last frame', () => {
    const { open, frame, router, counters } = opened()
    const [a, b] = [open(0, 1), open(0, 2)]
    const words = new Int32Array(2 + envelopeWords)
    const offer = (kind: number, counter: number) => {
      words.set([kind, 0, counter], 2)
      return router.inPlace(4, words, 2, new Uint8Array(8), 0, 8)
    }
    expect(offer(frameKind.eager, 1)).toBe(false)
    frame(0, frameKind.data, 0, 1)
    expect(offer(frameKind.eager, 1)).toBe(true)
    expect(offer(frameKind.eager, 2)).toBe(false)
    expect(offer(frameKind.rendezvous, 1)).toBe(false)
    expect(counters.framesReceived).toBe(2)
    router.close(a.id)
    expect(offer(frameKind.eager, 1)).toBe(false)
    expect([a.seen, b.seen]).toEqual([['4 from 0: ', 'in place from 4'], []])
  })

  it('delivers nothing but the end of the world once it has ended', () => {
    const { open, frame, failures, router } = opened()
    const a = open(0, 1)
    const seen: number[] = []
    for (const kind of [frameKind.credit, frameKind.worldEnd, frameKind.quiesce])
      router.onService(kind, () => seen.push(kind))
    frame(0, frameKind.data, 0, 9)
    failures.end(new RankweaveError('ERR_ABORTED', 'enough'))
    frame(0, frameKind.data, 0, 1)
    for (const kind of [frameKind.credit, frameKind.worldEnd, frameKind.quiesce]) frame(0, kind, 0, 0)
    expect(a.seen).toEqual(['ERR_ABORTED'])
    expect(seen).toEqual([frameKind.worldEnd, frameKind.quiesce])
    expect(open(0, 9).seen).toEqual([])
  })
})
