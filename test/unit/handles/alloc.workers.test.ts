import { run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import type { AllocReport } from '../../support/alloc-program.js'
import { compiledUrl } from '../../support/compiled.js'

const program = compiledUrl('alloc-program.ts')
const payloadBytes = 3 * 100_000 * 8

describe('memory from alloc', () => {
  for (const [ranks, processes] of [
    [2, 2],
    [4, 2],
    [3, 3],
  ] as const) {
    it(`is copied once on threads, ${ranks} ranks on ${processes} processes`, async () => {
      const reports = await run<AllocReport>(program, { ranks, processes, fabric: 'threads' })
      for (const { frameBytes, copiedBytes, shared } of reports) {
        expect(shared).toBe(true)
        expect(frameBytes).toBeLessThan(payloadBytes / 100)
        // What every rank of the process received, and besides it only what barriers copy.
        const received = (payloadBytes * ranks) / processes
        expect(copiedBytes).toBeGreaterThanOrEqual(received)
        expect(copiedBytes).toBeLessThan(received * 1.01)
      }
    })
  }
})
