import type { Decision, Fabric } from '../fabric/fabric.js'
import { equalWords, expect } from './frame-checks.js'
import type { ProcessCase } from './process-cases.js'
import { TestPeer } from './test-peer.js'

const rounds = 20

/** The rules of `Authority`. Nothing is checked on a fabric without one; the fabric's own tests inject losses. */
export const authorityCases: readonly ProcessCase[] = [
  {
    name: 'a decision is the same at every process: what each has contributed, in the order of members',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const everyone = Array.from({ length: fabric.processes }, (_, process) => process)
      const decisions: Promise<Decision>[] = []
      // Every process asks in another order, and for some decisions long before the others.
      for (let n = 0; n < rounds; n++) {
        const round = (n + fabric.process) % rounds
        const decision = decide(fabric, `all ${round}`, everyone, round)
        if (decision !== undefined) decisions[round] = decision
      }
      for (const [round, decision] of (await Promise.all(decisions)).entries()) {
        expectDecision(decision, everyone, round)
      }
      await me.part()
    },
  },
  {
    name: 'a decision of some processes does not wait for the others',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const even = Array.from({ length: Math.ceil(fabric.processes / 2) }, (_, n) => 2 * n)
      if (fabric.process % 2 === 0) {
        const decision = await decide(fabric, 'even', even, 1)
        if (decision !== undefined) expectDecision(decision, even, 1)
      }
      await me.part()
    },
  },
]

function decide(
  fabric: Fabric,
  key: string,
  members: readonly number[],
  round: number,
): Promise<Decision> | undefined {
  const contribution = contributionOf(fabric.process, round)
  const decision = fabric.authority?.decide(key, members, contribution)
  // The contribution has been read when the call returns.
  contribution.fill(0)
  return decision
}

/** Returns 64 bytes, the most that are allowed, or no bytes for some processes. */
function contributionOf(process: number, round: number): Uint8Array {
  return new Uint8Array((process + round) % 3 === 2 ? 0 : 64).fill(process + 7 * round + 1)
}

function expectDecision({ contributions, lost }: Decision, members: readonly number[], round: number): void {
  expect(lost.length === 0, 'no loss', lost.join())
  expect(contributions.length === members.length, `${members.length} contributions`, contributions.length)
  members.forEach((process, n) => {
    const expected = contributionOf(process, round)
    const got = contributions[n]
    expect(
      got != null && equalWords([...got], [...expected]),
      `the contribution of process ${process}`,
      got === null ? 'none' : String(got),
    )
  })
}
