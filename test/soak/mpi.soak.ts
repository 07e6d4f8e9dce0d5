import { expect, it } from 'vitest'
import { seededRandom } from '../../src/base/random.js'
import { compiled } from '../support/compiled.js'
import {
  describeMpi,
  describeMpiInTurn,
  gone,
  processesOf,
  program,
  rankweave,
  runJob,
  startJob,
} from '../support/mpi.js'
import { demanded, sampled } from '../support/soak.js'

const kills = demanded(20, 4)

describeMpi('soak: kill -9', (mpi) => {
  it(`of one process at random moments, ${kills} times: the job ends, and nothing is left`, async () => {
    const random = seededRandom(1)
    for (let n = 0; n < kills; n++) {
      const marker = `kill-${process.pid}-${mpi.name}-${n}`
      const words = ['-n', '4', '--fabric', 'mpi', '--', 'traffic', marker]
      const args = rankweave('run', compiled('mpi-ends.ts'), ...words)
      const job = startJob(mpi, 4, args)
      // Some before MPI is there, some while it starts, some amid messages.
      if (n % 2 === 0) await job.printed('ready')
      const pids = await someProcesses(marker)
      await new Promise((resolve) => setTimeout(resolve, random() * 500))
      process.kill(pids[Math.floor(random() * pids.length)], 'SIGKILL')
      expect((await job.ended).code, `run ${n}`).not.toBe(0)
      await gone(marker)
    }
  })
})

async function someProcesses(marker: string): Promise<number[]> {
  for (;;) {
    const pids = processesOf(marker)
    if (pids.length > 0) return pids
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describeMpiInTurn('soak: conformance', (mpi) => {
  it('all graphs, layouts and lengths, with 7 ranks on 2 processes', async () => {
    const { code, stderr } = await runJob(mpi, 2, program('mpi-conformance.ts', '1/1', '7x3'))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})

describeMpiInTurn('soak: what MPI itself does', (mpi) => {
  it.each(sampled([4, 2, 3, 5], 4))(
    '600 more random splits, grids and graphs on %i processes',
    async (processes) => {
      const { code, stdout, stderr } = await runJob(mpi, processes, program('mpi-against.ts', '1000', '600'))
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '600 cases agree\n', stderr: '' })
    },
  )
})
