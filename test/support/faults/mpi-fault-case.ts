import { readFileSync } from 'node:fs'
import { compiled } from '../compiled.js'
import { type Mpi, rankweave, startJob } from '../mpi.js'
import type { FaultEnd } from './fault-end.js'
import { type Seen, victim } from './fault-program.js'
import { type FaultRow, jobKilled } from './fault-rows.js'
import { FileNotes } from './file-notes.js'
import { onPurpose } from './strike.js'

/** One row on `mpi`: a job of three processes. */
export async function runMpiFault(mpi: Mpi, { operation, fault }: FaultRow): Promise<FaultEnd> {
  const notes = new FileNotes()
  const program = compiled('faults/mpi-fault.ts')
  const words = ['-n', '3', '--fabric', 'mpi', '--', notes.folder, operation, fault]
  try {
    const job = startJob(mpi, 3, ['--max-old-space-size=96', ...rankweave('run', program, ...words)])
    if (fault === 'process stopped') {
      const pid = Number(await notes.wait('struck', job.ended))
      await stopped(pid)
      process.kill(pid, 'SIGCONT')
    }
    const { code, stderr } = await job.ended
    const notesOfRanks = [0, 1, victim].flatMap((rank) => notes.read(`seen-${rank}`) ?? [])
    const seen = notesOfRanks.map((note) => JSON.parse(note) as Seen)
    const run = code === 0 ? null : stderr.includes(onPurpose) ? 'the error of the rank' : jobKilled
    // A launcher asks survivors to end before it kills them: some find their world ended by that.
    return { seen: run === jobKilled ? seen.filter((each) => each.code !== 'ERR_WORLD_ENDED') : seen, run }
  } finally {
    notes.remove()
  }
}

/** Resolves when the system has stopped the process. */
async function stopped(pid: number): Promise<void> {
  while (!/\) T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
