import { describe, expect, it } from 'vitest'
import { BrokenLinks } from '../../../../src/rendezvous/watch/broken-links.js'
import { VirtualClock } from '../../../support/virtual-clock.js'

describe('collecting reports', () => {
  function collected() {
    const clock = new VirtualClock()
    const lost: string[] = []
    const broken = new BrokenLinks(
      clock,
      { verdictMs: 250, heartbeatMs: 1_000 },
      {
        isOverdue: () => false,
        lose: (process, reason) => lost.push(`${process}: ${reason}`),
      },
    )
    const report = (reporter: number, peer: number, reason: string, fault: string | null = null) =>
      broken.report({ reporter, peer, fault, isSilent: reason === 'silent', reason })
    return { clock, lost, broken, report }
  }

  it('decides once the window is over, and says who reported what', () => {
    const { clock, lost, report } = collected()
    report(0, 1, 'reset')
    clock.pass(200)
    report(1, 0, 'closed')
    report(1, 0, 'again')
    expect(lost).toEqual([])
    clock.pass(50)
    expect(lost).toEqual(['1: its connection to process 0 broke: reset'])
    expect(clock.pending).toBe(0)
  })

  it('says which fault lost a process, whoever reported it first', () => {
    const { clock, lost, report } = collected()
    report(1, 0, 'closed')
    report(0, 1, 'two bytes', 'ERR_PROTOCOL')
    clock.pass(250)
    expect(lost).toEqual(['1: its connection to process 0 broke: ERR_PROTOCOL: two bytes'])
  })

  it('waits two heartbeats for all who notice that nothing comes any more', () => {
    const { clock, lost, report } = collected()
    report(2, 0, 'silent')
    clock.pass(2_000)
    report(2, 1, 'silent')
    expect(lost).toEqual([])
    clock.pass(250)
    expect(lost).toEqual(['2: its connection to process 0 broke: silent'])
    report(0, 1, 'silent')
    report(1, 0, 'reset')
    clock.pass(250)
    expect(lost[1]).toBe('1: its connection to process 0 broke: silent')
    expect(clock.pending).toBe(0)
  })

  it('forgets reports of and about a process that is gone', () => {
    const { clock, lost, broken, report } = collected()
    report(0, 1, 'reset')
    report(1, 2, 'reset')
    broken.forget(1)
    clock.pass(250)
    expect(lost).toEqual([])
  })
})
