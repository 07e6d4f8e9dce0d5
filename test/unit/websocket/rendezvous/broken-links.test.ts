import { MessageChannel } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { realClock } from '../../../../src/base/clock.js'
import { BrokenLinks, type BrokenReport } from '../../../../src/websocket/rendezvous/broken-links.js'
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
