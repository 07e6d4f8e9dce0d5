import { describe, expect, it } from 'vitest'
import { SpinPolicy, WaitCosts, type WaitKind } from '../../../../src/fabric/threads/spin-policy.js'

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
    policy.spin(preempted)
    policy.came()
    policy.spin(() => false)
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
    policy.spin(copying)
    policy.came()
    policy.spin(() => false)
    expect(policy.blockMs).toBe(0)
  })

  it('polls before it blocks', () => {
    const polls: number[] = []
    expect(new SpinPolicy(true).spin((times) => polls.push(times) === 0)).toBe(false)
    expect(polls.length).toBeGreaterThan(0)
  })
})

/** Passes that many waits, each of which takes as long as its kind does. */
function passed(costs: WaitCosts, waits: number, took: Readonly<Record<WaitKind, number>>): WaitKind[] {
  return Array.from({ length: waits }, () => {
    const kind = costs.next()
    costs.took(kind, took[kind])
    return kind
  })
}

describe('what waits cost', () => {
  it('polls before anything is known', () => {
    const costs = new WaitCosts()
    expect([costs.best, costs.next()]).toEqual(['polls', 'polls'])
  })

  it('blocks where that ends waits sooner, and polls again when it does not', () => {
    const costs = new WaitCosts()
    passed(costs, 16, { polls: 1, blocks: 0.05 })
    expect(costs.best).toBe('blocks')
    passed(costs, 64, { polls: 0.02, blocks: 0.05 })
    expect(costs.best).toBe('polls')
  })

  it('polls where blocking ends waits about as soon', () => {
    const costs = new WaitCosts()
    passed(costs, 64, { polls: 1, blocks: 0.9 })
    expect(costs.best).toBe('polls')
  })

  it('tries the other way now and then', () => {
    const costs = new WaitCosts()
    const seldom = passed(costs, 800, { polls: 0.1, blocks: 1 }).filter((kind) => kind === 'blocks').length
    expect(seldom).toBeGreaterThan(10)
    expect(seldom).toBeLessThan(200)
  })

  it('forgets one very long wait soon', () => {
    const costs = new WaitCosts()
    passed(costs, 64, { polls: 1, blocks: 0.05 })
    costs.took('blocks', 60_000)
    passed(costs, 64, { polls: 1, blocks: 0.05 })
    expect(costs.best).toBe('blocks')
  })
})
