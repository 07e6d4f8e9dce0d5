import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { seededRandom } from '../../../src/base/random.js'
import { compiled } from '../../support/compiled.js'
import { endRunning } from '../../support/end-with-file.js'
import {
  describeMpi,
  gone,
  type Job,
  type Mpi,
  processesOf,
  rankweave,
  runJob,
  startCommand,
  startJob,
} from '../../support/mpi.js'
import { demanded } from '../../support/soak.js'

const ends = (how: string) =>
  rankweave('run', compiled('mpi-ends.ts'), '-n', '4', '--fabric', 'mpi', '--', how)

const times = (text: string, part: string) => text.split(part).length - 1

/** Words by which the processes of a job are found. */
const markerOf = (mpi: Mpi, what: string) => `job-${process.pid}-${mpi.name}-${what}`

/** A job of two processes that exchange messages without end. */
async function traffic(mpi: Mpi, marker: string): Promise<Job> {
  const job = startJob(mpi, 2, [...ends('traffic'), marker])
  await job.printed('ready')
  expect(processesOf(marker)).toHaveLength(2)
  return job
}

// Jobs wait for their launcher most of the time, so these run at the same time.
describeMpi('how a job ends', (mpi) => {
  it.concurrent.each([
    ['throw', 'Error: thrown on purpose'],
    ['uncaught', 'nobody catches this'],
    ['deadlock', 'ERR_DEADLOCK: deadlock: 4 ranks are blocked'],
    ['forgotten', 'cannot continue: nothing is left in this process to wake them'],
    ['function', 'ERR_CLONE: the value that rank 3 returned'],
  ])('%s: with the reason once, and exit code 3', async (how, said) => {
    const ended = await runJob(mpi, 2, ends(how))
    expect(times(ended.stderr, said), ended.stderr).toBe(1)
    expect(ended.code).toBe(3)
  })

  it.concurrent('SIGTERM to one process: with the signal once', async () => {
    const marker = markerOf(mpi, 'one')
    const job = await traffic(mpi, marker)
    process.kill(processesOf(marker)[0]!, 'SIGTERM')
    const ended = await job.ended
    expect(times(ended.stderr, 'the world was interrupted by SIGTERM'), ended.stderr).toBe(1)
    expect(ended.code).not.toBe(0)
    await gone(marker)
  })

  it.concurrent.each(['SIGINT', 'SIGTERM'] as const)(
    '%s to the launcher: it is reported, and no process is left',
    async (name) => {
      const marker = markerOf(mpi, name)
      const job = await traffic(mpi, marker)
      job.signal(name)
      const { code, stderr } = await job.ended
      // Open MPI's launcher ends the processes for good. Hydra hands the signal on, and ends with 0 at times
      // even though they do not.
      if (mpi.name === 'Open MPI') expect(code).not.toBe(0)
      else expect(stderr).toContain(`the world was interrupted by ${name}`)
      await gone(marker)
    },
  )

  it.concurrent('Ctrl-C, which a terminal sends to every process: none is left', async () => {
    const marker = markerOf(mpi, 'terminal')
    const job = await traffic(mpi, marker)
    process.kill(-job.pid, 'SIGINT')
    await job.ended
    await gone(marker)
  })

  it.concurrent.each(['SIGINT', 'SIGTERM'] as const)(
    '%s to a process that waits in MPI_Init for one that is gone: it ends',
    async (name) => {
      const marker = markerOf(mpi, `init-${name}`)
      const words = [process.execPath, ...ends('traffic'), marker].map((word) => `'${word}'`).join(' ')
      const command = `[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 0 ] && exec ${words} || exec sleep 1000`
      const job = startCommand(mpi, 2, ['sh', '-c', command])
      const [pid] = await someProcesses(marker)
      while (!isInMpi(pid!)) await new Promise((resolve) => setImmediate(resolve))
      process.kill(pid!, name)
      expect((await job.ended).code).not.toBe(0)
      await gone(marker)
    },
  )

  const kills = demanded(20, 4)
  it(`kill -9 to one process at ${kills} random moments: the job ends, and no process is left`, async () => {
    const random = seededRandom(1)
    for (let n = 0; n < kills; n++) {
      const marker = markerOf(mpi, `killed-${n}`)
      const job = startJob(mpi, 4, [...ends('traffic'), marker])
      // Some before MPI is there, some while it starts, some amid messages.
      if (n % 2 === 0) await job.printed('ready')
      const pids = await someProcesses(marker)
      await new Promise((resolve) => setTimeout(resolve, random() * 500))
      process.kill(pids[Math.floor(random() * pids.length)]!, 'SIGKILL')
      expect((await job.ended).code, `run ${n}`).not.toBe(0)
      await gone(marker)
    }
  })
})

/** Whether it has loaded MPI, and left the handling of SIGTERM to the system. */
function isInMpi(pid: number): boolean {
  const [maps, status] = ['maps', 'status'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8'))
  const [, caught] = /^SigCgt:\s*(\w+)$/m.exec(status)!
  return /libmpi/.test(maps) && ((BigInt(`0x${caught}`) >> 14n) & 1n) === 0n
}

async function someProcesses(marker: string): Promise<number[]> {
  for (;;) {
    const pids = processesOf(marker)
    if (pids.length > 0) return pids
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describeMpi('a job that a test leaves behind', (mpi) => {
  it('is killed with all of its processes', async () => {
    const marker = markerOf(mpi, 'left')
    const stays = [
      '-e',
      'console.log("ready"); process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)',
      marker,
    ]
    const job = startJob(mpi, 2, stays)
    await job.printed('ready\nready')
    endRunning()
    expect((await job.ended).code).toBe(null)
    await gone(marker)
  })
})
