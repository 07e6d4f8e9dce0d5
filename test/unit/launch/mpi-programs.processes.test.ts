import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { compiled } from '../../support/compiled.js'
import { matrixNames } from '../../support/matrices.js'
import { describeEitherMpi, rankweave, runJob } from '../../support/mpi.js'
import programs, { plain } from '../../support/mpi-programs.js'
import { isSoak } from '../../support/soak.js'

const ranks = 12
let local: ReturnType<typeof run<Awaited<ReturnType<typeof programs>>>> | undefined
/** What every layout must give, computed once. */
const onLocal = () => {
  local ??= run(programs, { ranks })
  return local
}

const processCounts = isSoak ? [1, 2, 4] : [2]

describeEitherMpi('programs on mpi', (mpi) => {
  it.for(processCounts)(
    'the examples and all matrices on %i processes give the same bits as local',
    async (processes) => {
      const expected = await onLocal()
      const args = rankweave(
        'run',
        // Four compilers on two cores take longer than the programs.
        processes > 2 ? compiled('mpi-programs.ts') : 'test/support/mpi-programs.ts',
        '-n',
        `${ranks}`,
        '--fabric',
        'mpi',
        '--json',
      )
      const { code, stdout, stderr } = await runJob(mpi, processes, args)
      expect(code, stderr).toBe(0)
      const { results } = JSON.parse(stdout) as { results: typeof expected }
      expect(results).toEqual(JSON.parse(JSON.stringify(expected, plain)))
      for (const { differing } of results) expect(Object.values(differing)).toEqual(matrixNames.map(() => 0))
    },
  )
})
