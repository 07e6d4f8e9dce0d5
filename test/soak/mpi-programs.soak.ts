import { join } from 'node:path'
import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { callFilesOf, disagreements, recordsByCall } from '../support/call-folders.js'
import { allEndings, expectEnded } from '../support/cancelled-transfers.js'
import type { Outcome, Part } from '../support/cancelled-transfers-program.js'
import { compiled } from '../support/compiled.js'
import { groupingCases } from '../support/grouping-program.js'
import { matrixNames } from '../support/matrices.js'
import { describeMpi, program, rankweave, runJob } from '../support/mpi.js'
import programs, { plain } from '../support/mpi-programs.js'
import { demanded, perTier } from '../support/soak.js'
import { temporaryFolder } from '../support/temporary-folder.js'

type Results = Awaited<ReturnType<typeof programs>>

const folder = temporaryFolder('mpi-programs')
let local: Promise<Results[]> | undefined

describeMpi('programs in jobs', (mpi) => {
  /** What process 0 of a job of so many processes prints, which has ended well. */
  async function printed(processes: number, nodeArgs: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runJob(mpi, processes, nodeArgs)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout
  }

  it('examples and real matrices give the same bits as on local', async () => {
    local ??= run(programs, { ranks: 12 })
    const expected = await local
    const words = [compiled('mpi-programs.ts'), '-n', '12', '--fabric', 'mpi', '--json']
    const processes = perTier({ test: 2, soak: 2, long: 4 })
    const { code, stdout, stderr } = await runJob(mpi, processes, rankweave('run', ...words))
    expect(code, stderr).toBe(0)
    const { results } = JSON.parse(stdout) as { results: Results[] }
    expect(results).toEqual(JSON.parse(JSON.stringify(expected, plain)))
    for (const { differing } of results) expect(Object.values(differing)).toEqual(matrixNames.map(() => 0))
  })

  it('worlds that start at the same time open in the order of the calls of run, and all of them run', async () => {
    const sums = [6, 10, 14].map((sum) => [sum, sum, sum, sum])
    expect(JSON.parse(await printed(2, program('mpi-concurrent.ts')))).toEqual([
      ...[sums[0], expect.any(Array), sums[1], 'ERR_PROGRAM', sums[2]],
    ])
  })

  const transfers = (part: Part) => printed(3, program('cancelled-transfers-mpi.ts', JSON.stringify(part)))
  const ofLongMessages = { length: 1_000_000, turns: 1 }

  it('messages that end early leave buffers alone afterwards, and the world usable', async () => {
    const part: Part = { endings: allEndings, ...ofLongMessages }
    expectEnded(part, JSON.parse(await transfers(part)) as Outcome[][])
  })

  it('messages that end early do not hide a deadlock', async () => {
    const endings = ['detach the data before the match', 'revoke'] as const
    expect(await transfers({ endings, ...ofLongMessages, deadlock: true })).toBe('"ERR_DEADLOCK"\n')
  })

  it('a send whose array is transferred while MPI reads it fails, unless all has been read; MPI may end the job where the memory is gone', async () => {
    const { code, stdout, stderr } = await runJob(mpi, 2, program('detached-sender-mpi.ts'))
    if (code !== 0) {
      expect(stderr).toMatch(/Bad address|signal (11|6)|SIGSEGV|Segmentation fault/)
      return
    }
    // Open MPI says of memory that is gone that it cannot read it, and tries otherwise.
    expect(stderr).toMatch(/^(\[.*\] Read -1, .*errno = 14\s*)*$/)
    const [[sent], [arrived]] = JSON.parse(stdout) as [[string], [string]]
    expect(['sent right', 'ERR_TYPE right', 'ERR_TYPE wrong', 'ERR_TYPE ERR_TYPE']).toContain(
      `${sent} ${arrived}`,
    )
  })

  it.each(perTier({ test: [], soak: [3], long: [2, 3, 6] }))(
    'neighbor allgathers read in shared memory by %i processes give the right blocks, and a deadlock is explained',
    async (processes) => {
      const { stdout, stderr } = await runJob(mpi, processes, program('published-mpi.ts'))
      const [defaults, first, ...rest] = stdout.split('\n')
      const { isCrowded, frames } = JSON.parse(defaults!) as { isCrowded: boolean; frames: number[] }
      const [byDefault, ...others] = frames
      expect(byDefault === 0).toBe(isCrowded)
      // Of long blocks, and where memory is not shared.
      expect(Math.min(...others)).toBeGreaterThan(0)
      expect(JSON.parse(first!), stderr).toEqual({ differing: 0, framesInCalls: 0 })
      const said = rest.join('\n')
      expect(said).toMatch(/^ERR_DEADLOCK/)
      expect(said).toMatch(/ranks? .* waits? in neighborAllgatherInit.* for data from process \d/)
    },
  )

  it('ranks on 8 processes that group themselves make the plan of the planner, byte for byte', async () => {
    const asPlanned = groupingCases.map(() => 'same plan, right blocks')
    expect(JSON.parse(await printed(8, program('grouping-mpi.ts')))).toEqual(Array(24).fill(asPlanned))
  })

  it('calls that are tuned online take one setting on every member and are right', async () => {
    const [online, calls] = [join(folder(), mpi.name), demanded(10_000, 200)]
    const words = [compiled('online-job.ts'), '-n', '32', '--fabric', 'mpi', '--tuning', `online:${online}`]
    const { code, stderr } = await runJob(mpi, 4, rankweave('run', ...words, String(calls)))
    expect(code, stderr).toBe(0)
    const [file] = callFilesOf(online)
    expect(file!.source.name).toBe('mpi')
    expect(disagreements(file!)).toEqual([])
    expect(recordsByCall(file!).size).toBeGreaterThan(100)
  })
})
