import { describe, expect, it } from 'vitest'
import { SpinPolicy } from '../../../../src/fabric/threads/spin-policy.js'

const now = () => performance.now()

describe('a process that waits', () => {
  it('never blocks on its own core', () => {
    expect(new SpinPolicy(false).blockMs).toBe(0)
  })

  it('blocks on a shared core until the event loop must have its turn, and again after that', () => {
    const policy = new SpinPolicy(true)
    expect(policy.blockMs).toBeGreaterThan(0)
    policy.blockedSince(now() - 1)
    expect(policy.blockMs).toBeGreaterThan(0)
    policy.blockedSince(now() - 1000)
    expect(policy.blockMs).toBe(0)
    policy.turn()
    expect(policy.blockMs).toBeGreaterThan(0)
  })

  it('blocks after another thread had its core', () => {
    const policy = new SpinPolicy(false)
    const preempted = () => {
      for (const begin = now(); now() - begin < 1; );
      return false
    }
    policy.spin('spinMs', preempted)
    policy.spin('spinMs', () => false)
    expect(policy.blockMs).toBeGreaterThan(0)
  })

  it('still polls after polls that copied for as long', () => {
    let records = 0
    const policy = new SpinPolicy(false, () => records)
    const copying = () => {
      for (const begin = now(); now() - begin < 1; );
      records++
      return false
    }
    policy.spin('spinMs', copying)
    policy.spin('spinMs', () => false)
    expect(policy.blockMs).toBe(0)
  })

  it('polls before it blocks', () => {
    const polls: number[] = []
    expect(new SpinPolicy(true).spin('spinMs', (times) => polls.push(times) === 0)).toBe(false)
    expect(polls.length).toBeGreaterThan(0)
  })
})
