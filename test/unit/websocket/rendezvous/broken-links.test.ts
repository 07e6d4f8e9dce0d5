import { MessageChannel } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { realClock } from '../../../../src/base/clock.js'
import { BrokenLinks, type BrokenReport, lostBy } from '../../../../src/websocket/rendezvous/broken-links.js'
import { VirtualClock } from '../../../support/virtual-clock.js'

describe('collecting reports', () => {
  function collected() {
    const clock = new VirtualClock()
    const lost: string[] = []
    const broken = new BrokenLinks(
      clock,
      { verdictMs: 250, heartbeatMs: 1_000 },
      {
        living: () => 3,
        isOverdue: () => false,
        lose: (process, reason) => lost.push(`${process}: ${reason}`),
      },
    )
    const report = (reporter: number, peer: number, reason: string) =>
      broken.report({ reporter, peer, fault: null, isSilent: reason === 'silent', reason })
    return { clock, lost, broken, report }
  }

  it('waits two heartbeats for all who notice that nothing more comes', () => {
    const { clock, lost, report } = collected()
    report(2, 0, 'silent')
    clock.pass(2_000)
    report(2, 1, 'silent')
    expect(lost).toEqual([])
    clock.pass(260)
    expect(lost).toEqual(['2: its connection to process 0 broke: silent'])
    report(0, 1, 'silent')
    report(1, 0, 'reset')
    clock.pass(260)
    expect(lost[1]).toBe('1: its connection to process 0 broke: silent')
    expect(clock.pending).toBe(0)
  })

  it('forgets reports of and about a process that is gone', () => {
    const { clock, lost, broken, report } = collected()
    report(0, 1, 'reset')
    report(1, 2, 'reset')
    broken.forget(1)
    clock.pass(260)
    expect(lost).toEqual([])
  })

  it('hears what arrived while its thread was held up before it decides', async () => {
    const limits = { verdictMs: 10, heartbeatMs: 1_000 }
    let broken!: BrokenLinks
    const lost = new Promise<number>((lose) => {
      broken = new BrokenLinks(realClock, limits, { living: () => 3, isOverdue: () => false, lose })
    })
    const { port1, port2 } = new MessageChannel()
    port2.once('message', (report: BrokenReport) => broken.report(report))
    // After this an event loop runs timers first, and then reads what has arrived.
    await new Promise((resolve) => setImmediate(resolve))
    const closed = { fault: null, isSilent: false, reason: 'closed' }
    broken.report({ reporter: 2, peer: 0, ...closed })
    port1.postMessage({ reporter: 1, peer: 2, ...closed })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    expect(await lost).toBe(2)
    port1.close()
  })
})

const links = (...pairs: readonly (readonly [number, number])[]) =>
  pairs.map(([reporter, peer]) => ({ reporter, peer }))

describe('who is lost by broken links', () => {
  it.each([
    ['one report names the lost', links([0, 1]), [1]],
    ['one report, the other way', links([1, 0]), [0]],
    ['both ends report: the one that is reported first', links([0, 1], [1, 0]), [1]],
    ['both ends report, the other way', links([1, 0], [0, 1]), [0]],
    ['more reports', links([0, 1], [2, 1], [1, 0], [1, 2]), [1]],
    ['the lower with more reports', links([1, 0], [2, 0], [0, 1], [0, 2]), [0]],
    ['two links', links([0, 1], [1, 0], [2, 3], [3, 2]), [1, 3]],
    ['reports of the lost do not count', links([0, 3], [1, 3], [2, 3], [3, 0], [3, 1], [3, 2]), [3]],
    ['one that alone notices that it reaches no process', links([0, 1], [0, 2], [0, 3]), [0]],
    ['one that says nothing of what others notice', links([1, 0], [2, 0]), [0]],
    ['none', [], []],
  ] as const)('%s', (_, given, expected) => {
    expect(lostBy(given)).toEqual(expected)
  })

  it('more than an earlier report weighs a fault that was seen', () => {
    const fault = { reporter: 0, peer: 1, isFault: true }
    expect(lostBy([{ reporter: 1, peer: 0 }, fault])).toEqual([1])
    expect(lostBy([{ reporter: 1, peer: 0, isFault: true }, fault])).toEqual([0])
  })

  it('more than reports weigh heartbeats that are overdue, and less than broken links', () => {
    const pair = links([1, 0], [0, 1])
    expect(lostBy(pair, (process) => process === 1)).toEqual([1])
    expect(lostBy(links([0, 1], [2, 1]), (process) => process === 0)).toEqual([1])
  })

  describe('of three, when the last one is cut off from both others, in every order of reports and however few', () => {
    const reports = links([0, 2], [1, 2], [2, 0], [2, 1])
    const known = arrangements(reports)

    it('the last one, unless all that is known is what it says itself first of one connection', () => {
      const spoken = known.filter(([first, ...rest]) => {
        const peer = first.reporter === 2 ? first.peer : undefined
        return (
          peer === undefined || rest.some(({ reporter, peer: other }) => ![reporter, other].includes(peer))
        )
      })
      expect([known.length, spoken.length]).toEqual([64, 60])
      for (const given of spoken) expect(lostBy(given), JSON.stringify(given)).toEqual([2])
    })

    it('the last one, as soon as anybody has seen its fault', () => {
      for (const given of known) {
        if (given.every(({ reporter }) => reporter === 2)) continue
        const seen = given.map((report) => ({ ...report, isFault: report.peer === 2 }))
        expect(lostBy(seen), JSON.stringify(seen)).toEqual([2])
      }
    })
  })

  it('takes its time by links, not by their square', () => {
    const half = 128
    const halves = Array.from(
      { length: half * half },
      (_, n) => [n % half, half + Math.floor(n / half)] as const,
    )
    expect(lostBy(links(...halves))).toHaveLength(half)
  })

  it('leaves no broken link between survivors, and loses no process without reason', () => {
    // Two halves that cannot reach each other: one of them is lost, and all of it.
    const halves = links(
      ...[0, 1, 2].flatMap((a) => [3, 4, 5].flatMap((b) => [[a, b] as const, [b, a] as const])),
    )
    const lost = lostBy(halves)
    expect(halves.filter(({ reporter, peer }) => !lost.includes(reporter) && !lost.includes(peer))).toEqual(
      [],
    )
    expect([...lost].sort()).toEqual([3, 4, 5])
  })
})

/** Every order of every selection, but the empty one. */
function arrangements<T>(items: readonly T[]): T[][] {
  return items.flatMap((item, at) => [
    [item],
    ...arrangements(items.filter((_, n) => n !== at)).map((rest) => [item, ...rest]),
  ])
}
