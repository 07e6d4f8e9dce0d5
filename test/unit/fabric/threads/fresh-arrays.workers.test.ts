import { run, threads } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'
import type { FreshArrays } from '../../../support/fresh-arrays-program.js'

const program = compiledUrl('fresh-arrays-program.ts')

describe('receives of long fresh arrays', () => {
  it.skipIf(process.platform !== 'linux')('cost hardly a page fault (of glibc on Linux)', async () => {
    const pageFaults = await run<number, FreshArrays>(program, {
      fabric: threads(),
      ranks: 2,
      processes: 2,
      args: { sizeBytes: 3 * 2 ** 23, messages: 64 },
    })
    // Of 6,144 pages; some hundred where glibc returns the memory to Linux.
    expect(Math.max(...pageFaults)).toBeLessThan(64)
  })
})
