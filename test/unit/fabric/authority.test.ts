import { describe, expect, it } from 'vitest'
import { isRankweaveError } from '../../../src/errors.js'
import { afterLosses, Decisions, maxOpenDecisions } from '../../../src/fabric/authority.js'
import type { Decision } from '../../../src/fabric/fabric.js'

function board(processes: number) {
  const made: [number, string, Decision][] = []
  const decisions = new Decisions(processes, (process, key, decision) => made.push([process, key, decision]))
  return { made, decisions }
}

const byte = (value: number) => Uint8Array.of(value)

describe('decisions of an authority', () => {
  it('are made when every member has contributed, the same for all', () => {
    const { made, decisions } = board(4)
    decisions.contribute(3, 'k', [1, 3], byte(7))
    expect(made).toEqual([])
    decisions.contribute(1, 'k', [1, 3], byte(9))
    expect(made.map(([process]) => process)).toEqual([1, 3])
    expect(made[0][2]).toEqual({ contributions: [byte(9), byte(7)], lost: [] })
    expect(made[1][2]).toBe(made[0][2])
  })

  it('do not wait for lost members, whether lost before or after others contribute', () => {
    const { made, decisions } = board(3)
    decisions.contribute(0, 'k', [0, 1, 2], byte(1))
    expect(decisions.lose(1)).toBe(true)
    expect(decisions.lose(1)).toBe(false)
    decisions.contribute(2, 'k', [0, 1, 2], byte(2))
    expect(made[0][2]).toEqual({ contributions: [byte(1), null, byte(2)], lost: [1] })
    decisions.contribute(0, 'next', [0, 1], byte(3))
    expect(made.at(-1)).toEqual([0, 'next', { contributions: [byte(3), null], lost: [1] }])
  })

  it('retain what a process contributed before it was lost, and name losses in their order', () => {
    const { made, decisions } = board(4)
    decisions.contribute(2, 'k', [0, 2, 3], byte(5))
    decisions.lose(2)
    decisions.lose(1)
    decisions.contribute(3, 'k', [0, 2, 3], byte(6))
    decisions.contribute(0, 'k', [0, 2, 3], byte(4))
    expect(made.map(([process]) => process)).toEqual([0, 3])
    expect(made[0][2]).toEqual({ contributions: [byte(4), byte(5), byte(6)], lost: [2, 1] })
  })

  it('do not wait for members that have contributed to the end of the world, before or after; those of the end do', () => {
    const { made, decisions } = board(3)
    decisions.contribute(0, 'k', [0, 1, 2], byte(1))
    decisions.contribute(1, 'end', [0, 1, 2], byte(2))
    expect(made).toEqual([])
    decisions.contribute(2, 'k', [0, 1, 2], byte(3))
    const decision = { contributions: [byte(1), null, byte(3)], lost: [] }
    expect(made).toEqual([
      [0, 'k', decision],
      [2, 'k', decision],
    ])
    decisions.contribute(1, 'late', [0, 1], byte(4))
    decisions.contribute(0, 'late', [0, 1], byte(4))
    expect(made.at(-1)).toEqual([0, 'late', { contributions: [byte(4), null], lost: [] }])
    decisions.contribute(0, 'end', [0, 1, 2], byte(5))
    decisions.contribute(2, 'end', [0, 1, 2], byte(6))
    expect(made.slice(3).map(([process, key]) => [process, key])).toEqual([
      [0, 'end'],
      [1, 'end'],
      [2, 'end'],
    ])
    decisions.contribute(1, 'end 0', [0, 1], byte(7))
    decisions.contribute(0, 'end 0', [0, 1], byte(7))
    expect(made.slice(6)).toHaveLength(2)
  })

  it('refuse what a correct process does not send', () => {
    const { made, decisions } = board(3)
    const refused = (contribute: () => void) => {
      expect(contribute).toThrow(expect.toSatisfy((error) => isRankweaveError(error, 'ERR_FABRIC')))
    }
    refused(() => decisions.contribute(0, 'k', [0, 1], new Uint8Array(65)))
    refused(() => decisions.contribute(2, 'k', [0, 1], byte(1)))
    refused(() => decisions.contribute(0, 'k', [1, 0], byte(1)))
    refused(() => decisions.contribute(0, 'k', [0, 3], byte(1)))
    refused(() => decisions.contribute(0, 'x'.repeat(129), [0, 1], byte(1)))
    decisions.contribute(0, 'k', [0, 1], byte(1))
    refused(() => decisions.contribute(0, 'k', [0, 1], byte(1)))
    refused(() => decisions.contribute(1, 'end', [1, 2], byte(1)))
    expect(made).toEqual([])
    decisions.contribute(1, 'k', [0, 1], byte(1))
    expect(made.length).toBe(2)
  })

  it('of one name with other members wait by themselves, whoever contributes first', () => {
    const { made, decisions } = board(4)
    decisions.contribute(3, 'k', [0, 3], byte(9))
    decisions.contribute(3, 'end', [0, 1, 2, 3], byte(0))
    for (const process of [0, 1, 2]) decisions.contribute(process, 'k', [0, 1, 2, 3], byte(process))
    const decision = { contributions: [byte(0), byte(1), byte(2), null], lost: [] }
    expect(made).toEqual([0, 1, 2].map((process) => [process, 'k', decision]))
    decisions.lose(0)
    expect(made.slice(3)).toEqual([[3, 'k', { contributions: [null, byte(9)], lost: [0] }]])
  })

  it('of odd members count for the process that opens them, not for the members that they name', () => {
    const { decisions } = board(3)
    for (let n = 0; n < maxOpenDecisions; n++) decisions.contribute(2, `k${n}`, [0, 2], byte(0))
    expect(() => decisions.contribute(2, 'k', [0, 2], byte(0))).toThrow('open decisions of process 2')
    for (let n = 0; n < maxOpenDecisions; n++) decisions.contribute(0, `k${n}`, [0, 1], byte(0))
  })

  it('are bounded while they are open', () => {
    const { decisions } = board(2)
    for (let n = 0; n < maxOpenDecisions; n++) decisions.contribute(0, `k${n}`, [0, 1], byte(0))
    expect(() => decisions.contribute(0, 'k', [0, 1], byte(0))).toThrow('open decisions')
    decisions.contribute(1, 'k0', [0, 1], byte(0))
    decisions.contribute(0, 'k', [0, 1], byte(0))
  })
})

it('a decision waits until the sink has been told of the losses before it', async () => {
  const decision: Decision = { contributions: [new Uint8Array(1), null], lost: [1] }
  let isReported = false
  const order: string[] = []
  const authority = afterLosses({ isHere: false, decide: () => Promise.resolve(decision) }, () => isReported)
  setTimeout(() => {
    isReported = true
    order.push('loss')
  }, 20)
  const decided = authority.decide('a', [0, 1], new Uint8Array(1)).then((made) => {
    order.push('decision')
    return made
  })
  expect(await decided).toBe(decision)
  expect(order).toEqual(['loss', 'decision'])
})
