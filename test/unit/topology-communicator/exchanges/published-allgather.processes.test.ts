import { expect, it } from 'vitest'
import { describeEitherMpi, program, runJob } from '../../../support/mpi.js'
import { isSoak } from '../../../support/soak.js'

describeEitherMpi('neighbor allgathers read in shared memory', (mpi) => {
  const processes = isSoak ? [2, 3, 6] : [3]
  it.for(processes)(
    'give the right blocks on %i processes, and a deadlock is found and explained',
    async (count) => {
      const { stdout, stderr } = await runJob(mpi, count, program('published-mpi.ts'))
      const [defaults, first, ...rest] = stdout.split('\n')
      const { isCrowded, frames } = JSON.parse(defaults) as { isCrowded: boolean; frames: number[] }
      const [byDefault, ofLongBlocks, whenSent] = frames
      expect(byDefault === 0).toBe(isCrowded)
      expect(Math.min(ofLongBlocks, whenSent)).toBeGreaterThan(0)
      expect(JSON.parse(first), stderr).toEqual({ differing: 0, framesInCalls: 0 })
      const said = rest.join('\n')
      expect(said).toMatch(/^ERR_DEADLOCK/)
      expect(said).toMatch(/ranks? .* waits? in neighborAllgatherInit.* for data from process \d/)
    },
  )
})
