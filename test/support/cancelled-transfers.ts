import { expect } from 'vitest'
import type { Ending, Outcome, Part } from './cancelled-transfers-program.js'

export const allEndings: readonly Ending[] = [
  'revoke',
  'abort',
  'abort a collective',
  'detach the data before the match',
  'detach the data',
  'detach into',
]

/** By ending: the codes that ranks 0 and 1 may get. */
const codes: Readonly<Record<Exclude<Ending, 'complete'>, readonly (readonly [string, string])[]>> = {
  revoke: [
    ['ERR_REVOKED', 'ERR_REVOKED'],
    ['none', 'ERR_REVOKED'],
    ['ERR_REVOKED', 'none'],
    ['none', 'none'],
  ],
  // The sender need not know that no rank took its message.
  abort: [
    ['none', 'ERR_ABORTED'],
    ['none', 'none'],
  ],
  'abort a collective': [
    ['ERR_REVOKED', 'ERR_ABORTED'],
    ['none', 'ERR_ABORTED'],
    ['none', 'none'],
  ],
  'detach the data': [
    ['ERR_TYPE', 'ERR_TYPE'],
    ['none', 'none'],
    ['none', 'ERR_TYPE'],
    // On mpi the sender fails once its pieces have been read.
    ['ERR_TYPE', 'none'],
  ],
  'detach the data before the match': [['ERR_TYPE', 'ERR_TYPE']],
  'detach into': [
    ['none', 'ERR_TYPE'],
    ['none', 'none'],
  ],
}

/** Checks what all ranks got; returns how many receives ended early. */
export function expectEnded({ endings }: Part, outcomes: readonly (readonly Outcome[])[]): number {
  let early = 0
  const left = outcomes.map((each) => [...each])
  const next = () => left.map((each) => each.shift()!)
  for (const ending of endings) {
    if (ending === 'complete') continue
    const [sender, receiver] = next()
    const seen = [sender.code, receiver.code]
    expect(codes[ending], `${ending}: ${seen.join(' ')}`).toContainEqual(seen)
    expect([sender.intact, receiver.intact], ending).toEqual([true, true])
    if (receiver.code !== 'none') early++
    if (ending === 'revoke' || ending === 'abort a collective') continue
    for (const outcome of next()) expect(outcome, `after ${ending}`).toEqual({ code: 'none', intact: true })
  }
  return early
}
