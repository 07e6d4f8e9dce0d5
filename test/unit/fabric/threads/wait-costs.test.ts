import { describe, expect, it } from 'vitest'
import { WaitCosts, type WaitKind } from '../../../../src/fabric/threads/wait-costs.js'

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
