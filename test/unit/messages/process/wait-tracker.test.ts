import { describe, expect, it } from 'vitest'
import { WaitTracker } from '../../../../src/messages/process/wait-tracker.js'

/** A tracker, and what its listener has heard. */
function tracked(ranks: number) {
  const tracker = new WaitTracker(ranks)
  const heard: string[] = []
  tracker.listener = {
    waiting: () => void heard.push('waiting'),
    idle: () => void heard.push('idle'),
    allAsleep: () => void heard.push('all asleep'),
  }
  return { tracker, heard }
}

describe('WaitTracker', () => {
  it('counts a rank once however many waits it has', () => {
    const { tracker, heard } = tracked(2)
    tracker.block(0, false)
    tracker.block(0, true)
    expect([tracker.awake, tracker.waits, tracker.withSignal]).toEqual([1, 2, 1])
    tracker.unblock(0, true)
    expect([tracker.awake, tracker.waits, tracker.withSignal]).toEqual([1, 1, 0])
    tracker.unblock(0, false)
    expect([tracker.awake, tracker.waits, tracker.withSignal]).toEqual([2, 0, 0])
    expect(heard).toEqual(['waiting', 'idle'])
  })

  it('notifies when the last rank falls asleep, by waiting or by finishing', () => {
    const { tracker, heard } = tracked(2)
    tracker.block(0, false)
    tracker.block(1, false)
    tracker.unblock(1, false)
    tracker.end(1)
    expect(heard).toEqual(['waiting', 'all asleep', 'all asleep'])
    expect(tracker.hasEnded(1)).toBe(true)
    expect(tracker.hasEnded(0)).toBe(false)
  })

  it('ignores the waits that a finished rank left pending', () => {
    const { tracker, heard } = tracked(1)
    tracker.block(0, false)
    tracker.end(0)
    tracker.end(0)
    expect(tracker.awake).toBe(0)
    tracker.unblock(0, false)
    expect([tracker.awake, tracker.waits]).toEqual([0, 0])
    expect(heard).toEqual(['waiting', 'all asleep', 'idle'])
  })

  it('counts ranks that share a program as one flow of control', () => {
    const { tracker, heard } = tracked(3)
    tracker.share()
    expect([tracker.awake, tracker.awakeRanks]).toEqual([1, 3])
    tracker.block(1, false)
    expect([tracker.awake, tracker.awakeRanks, tracker.isBlocked(0)]).toEqual([0, 0, true])
    tracker.block(2, true)
    tracker.unblock(1, false)
    expect([tracker.awake, tracker.waits, tracker.withSignal]).toEqual([0, 1, 1])
    tracker.unblock(2, true)
    expect([tracker.awake, tracker.awakeRanks, tracker.isBlocked(0)]).toEqual([1, 3, false])
    tracker.block(0, false)
    for (const index of [0, 1, 2]) tracker.end(index)
    tracker.unblock(0, false)
    expect([tracker.awake, tracker.awakeRanks, tracker.endedRanks]).toEqual([0, 0, 3])
    expect(heard).toEqual(['waiting', 'all asleep', 'idle', 'waiting', 'all asleep', 'idle'])
  })
})
