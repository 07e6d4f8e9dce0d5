import { expect } from 'vitest'
import type { Outcome, Part } from './detached-program.js'

/**
 * Checks that no rank has got a wrong result: each has an error with the code, or what it would have got
 * without the transfer. Where a collective fails, it does so on the rank that transferred its array.
 *
 * @param outcomes by rank, then by part
 * @returns how many parts failed
 */
export function expectHonest(parts: readonly Part[], outcomes: readonly (readonly Outcome[])[]): number {
  let failed = 0
  for (const [i, part] of parts.entries()) {
    const found = outcomes.map((ofRank) => ofRank[i])
    const seen = JSON.stringify({ part, found })
    for (const [rank, outcome] of found.entries()) {
      const allowed = ['right', 'ERR_TYPE', ...(rank === part.who ? ['transferred'] : [])]
      expect(allowed, seen).toContain(outcome)
    }
    if (!found.includes('ERR_TYPE')) continue
    failed++
    // A message that was sent is right; that of another rank may be lost.
    if (!part.call.startsWith('sendrecv')) expect(found[part.who], seen).toBe('ERR_TYPE')
  }
  return failed
}
