import { expect, it } from 'vitest'
import { compiled } from '../../support/compiled.js'
import { endRunning } from '../../support/end-with-file.js'
import {
  describeEitherMpi,
  gone,
  type Job,
  processesOf,
  rankweave,
  runJob,
  startJob,
} from '../../support/mpi.js'

const ends = (how: string) =>
  rankweave('run', compiled('mpi-ends.ts'), '-n', '4', '--fabric', 'mpi', '--', how)

const times = (text: string, part: string) => text.split(part).length - 1

// Jobs wait for their launcher most of the time, so these run at the same time.
describeEitherMpi('how a job ends', (mpi) => {
  it.concurrent.each([
    { how: 'throw', said: 'Error: thrown on purpose', code: 3 },
    { how: 'uncaught', said: 'nobody catches this', code: 3 },
    { how: 'deadlock', said: 'ERR_DEADLOCK: deadlock: 4 ranks are blocked', code: 3 },
    { how: 'forgotten', said: 'cannot continue: nothing is left in this process to wake them', code: 3 },
    { how: 'function', said: 'ERR_CLONE: the value that rank 3 returned', code: 3 },
  ])('$how: the reason once, and the exit code', async ({ how, said, code }) => {
    const ended = await runJob(mpi, 2, ends(how))
    expect(times(ended.stderr, said), ended.stderr).toBe(1)
    expect(ended.code).toBe(code)
  })

  it.concurrent('a signal to one process, and kill -9', async () => {
    const marker = `job-${process.pid}-${mpi.name}`
    const start = async (): Promise<readonly [Job, number[]]> => {
      const job = startJob(mpi, 2, [...ends('traffic'), marker])
      await job.printed('ready')
      return [job, processesOf(marker)]
    }
    const [interrupted, [first]] = await start()
    process.kill(first, 'SIGTERM')
    const ended = await interrupted.ended
    expect(times(ended.stderr, 'the world was interrupted by SIGTERM'), ended.stderr).toBe(1)
    expect(ended.code).not.toBe(0)
    await gone(marker)
    const [killed, pids] = await start()
    expect(pids).toHaveLength(2)
    process.kill(pids[1], 'SIGKILL')
    expect((await killed.ended).code).not.toBe(0)
    await gone(marker)
  })
})

describeEitherMpi('a signal for the whole job', (mpi) => {
  const traffic = async (marker: string): Promise<Job> => {
    const job = startJob(mpi, 2, [...ends('traffic'), marker])
    await job.printed('ready')
    expect(processesOf(marker)).toHaveLength(2)
    return job
  }

  it.concurrent.each(['SIGINT', 'SIGTERM'] as const)(
    '%s to the launcher is reported and leaves no process behind',
    async (name) => {
      const marker = `job-${process.pid}-${mpi.name}-${name}`
      const job = await traffic(marker)
      job.signal(name)
      const { code, stderr } = await job.ended
      // Open MPI's launcher ends the processes for good. Hydra hands the signal on, and ends with 0 at times
      // even though they do not.
      if (mpi.name === 'Open MPI') expect(code).not.toBe(0)
      else expect(stderr).toContain(`the world was interrupted by ${name}`)
      await gone(marker)
    },
  )

  it.concurrent('Ctrl-C, which a terminal sends to every process, leaves none behind', async () => {
    const marker = `job-${process.pid}-${mpi.name}-terminal`
    const job = await traffic(marker)
    process.kill(-job.pid, 'SIGINT')
    await job.ended
    await gone(marker)
  })
})

describeEitherMpi('a job that a test leaves behind', (mpi) => {
  it('is killed with all of its processes', async () => {
    const marker = `job-${process.pid}-${mpi.name}-left`
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
