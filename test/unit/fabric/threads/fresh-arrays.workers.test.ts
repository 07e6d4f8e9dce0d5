import { run, threads } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'
import type { DroppedArrays } from '../../../support/dropped-arrays-program.js'
import type { FreshArrays } from '../../../support/fresh-arrays-program.js'

const program = compiledUrl('fresh-arrays-program.ts')
const droppedProgram = compiledUrl('dropped-arrays-program.ts')

describe('receives of long fresh arrays', () => {
  it.skipIf(process.platform !== 'linux')('cost hardly a page fault (of glibc on Linux)', async () => {
    const pageFaults = await run<number, FreshArrays>(program, {
      fabric: threads(),
      ranks: 2,
      processes: 2,
      args: { sizeBytes: 3 * 2 ** 23, messages: 24 },
    })
    // A message has 6,144 pages, and costs as many faults without retained memory. On Node 20 other memory adds 200 to
    // 800, the more the busier the machine is.
    expect(Math.max(...pageFaults)).toBeLessThan(6144 / 2)
  })

  it.skipIf(process.platform !== 'linux')(
    'leave their memory to the system once a program drops many',
    async () => {
      const [messages, sizeBytes] = [24, 2 ** 24]
      const [, released] = await run<number, DroppedArrays>(droppedProgram, {
        fabric: threads(),
        ranks: 2,
        processes: 2,
        args: { sizeBytes, messages },
      })
      // A thread retains up to two heaps of 64 MiB.
      expect(released).toBeGreaterThan((messages * sizeBytes) / 2)
    },
  )
})
