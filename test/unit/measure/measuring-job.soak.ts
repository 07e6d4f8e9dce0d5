import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { laterTurn } from '../../../src/base/turn.js'
import { compileMeasuring, type MeasuringJob, startMeasuring } from '../../../src/measure/measuring-job.js'
import { describeMpi, launchWords } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { refusal } from '../../support/refusal.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

async function answers(job: MeasuringJob, ...orders: readonly string[]): Promise<string[]> {
  const lines: string[] = []
  for (const order of orders) lines.push(await job.ask(order))
  return lines
}

function isRunning(pid: string, program: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] === program
  } catch {
    return false
  }
}

/** Resolves when no process runs the program. A launcher may end before those it has killed are gone. */
async function gone(program: string): Promise<void> {
  while (readdirSync('/proc').some((pid) => /^\d+$/.test(pid) && isRunning(pid, program))) await laterTurn()
}

describeMpi('the program that measures a library', (mpi) => {
  const mpicc = compilerOf(mpi)
  const compiling = it.skipIf(mpicc === null)
  const folder = temporaryFolder('measuring')
  let program: string

  beforeAll(() => {
    if (mpicc !== null) program = compileMeasuring(folder(), mpicc, ['-Wall', '-Wextra', '-Werror'])
  })

  compiling('introduces library and nodes, and verifies every collective', async () => {
    const job = await startMeasuring(launchWords(mpi, 3), program)
    expect(job.library).toContain(mpi.name)
    expect(job.nodes).toEqual([0, 0, 0])
    const moves = ['barrier', 'bcast', 'scatter', 'gather', 'allgather', 'alltoall']
    const reductions = ['reduce', 'allreduce', 'reduce-scatter', 'scan', 'exscan']
    const calls = [
      ...moves.flatMap((name) => [0, 1, 1000].map((bytes) => `call ${name} byte ${bytes}`)),
      ...reductions.flatMap((name) => [`call ${name} float64 4000`, `call ${name} int32 12`]),
    ]
    // The second spread leaves a process out, the third has another order of ranks.
    for (const spread of ['0 1 2', '0 2', '2 1 0']) {
      expect(await answers(job, `spread ${spread}`)).toEqual(['ok'])
      for (const call of calls) {
        const [begun, made, verdict, done] = await answers(job, call, 'setting 0', 'verify 0', 'done')
        expect([call, begun, made, verdict, done]).toEqual([call, 'ok', 'ok', 'right', 'ok'])
      }
    }
    await job.end()
  })

  compiling('ends at once by a signal, what its launcher prints before being ignored', async () => {
    const launch = ['sh', '-c', 'echo a banner; exec "$@"', '-', ...launchWords(mpi, 2)]
    const interrupt = new AbortController()
    const job = await startMeasuring(launch, program, interrupt.signal)
    expect(job.library).toContain(mpi.name)
    const answer = job.ask('spread 0 1')
    interrupt.abort()
    await Promise.allSettled([answer])
    await job.end()
    expect(job.failure()?.code).toBe('ERR_MEASUREMENT')
  })

  compiling('ends a launcher in a shell by a signal, which is not its child', async () => {
    const launch = ['sh', '-c', '"$@"; exit 7', '-', ...launchWords(mpi, 2)]
    const interrupt = new AbortController()
    const job = await startMeasuring(launch, program, interrupt.signal)
    interrupt.abort()
    await job.stop()
    expect(job.failure()?.message).toContain('sh ended with signal SIGTERM')
  })

  compiling('reads control variables, where all processes have the same', async () => {
    const isOpen = mpi.name === 'Open MPI'
    const name = isOpen ? 'coll_libnbc_priority' : 'MPIR_CVAR_BCAST_SHORT_MSG_SIZE'
    const variable = isOpen ? `OMPI_MCA_${name}` : name
    const job = await startMeasuring(launchWords(mpi, 2, { [variable]: '77' }), program)
    expect(await answers(job, `read ${name}`, 'read dance')).toEqual(['value 77', 'none'])
    await job.end()
    const one = ['-n', '1', 'env', `${variable}=78`, program, ':', '-n', '1']
    const differing = await startMeasuring([...launchWords(mpi, 2).slice(0, -2), ...one], program)
    await expect(differing.ask(`read ${name}`)).rejects.toMatchObject(
      refusal('ERR_MEASUREMENT', `control variable ${name} differs between processes`),
    )
    await differing.stop()
  })

  if (mpi.name === 'Open MPI')
    compiling('ends where the library does not take the value of a variable', async () => {
      const job = await startMeasuring(launchWords(mpi, 2), program)
      await job.ask('spread 0 1')
      await expect(job.ask('setting 0 coll_tuned_priority=77')).rejects.toMatchObject({
        message: expect.stringContaining('control variable coll_tuned_priority cannot be set to 77'),
      })
      await job.stop()
    })

  compiling('is refused where a launcher changes its lines, and ends', async () => {
    const tag = mpi.name === 'Open MPI' ? '--tag-output' : '-l'
    await expect(startMeasuring([...launchWords(mpi, 2), tag], program)).rejects.toMatchObject({
      code: 'ERR_MEASUREMENT',
      message: expect.stringMatching(
        /lines of processes unchanged.* its first line is '\[.*rankweave-measure/,
      ),
    })
    await gone(program)
  })

  compiling('is refused where each process is a world of one, and ends', async () => {
    await expect(startMeasuring(launchWords(mpi, 1), program)).rejects.toMatchObject(
      refusal('ERR_MEASUREMENT', 'several processes in one world of MPI, got a world of one'),
    )
    await gone(program)
  })

  compiling('times a call and the barrier after it, so often as it is asked', async () => {
    const job = await startMeasuring(launchWords(mpi, 2), program)
    await answers(job, 'spread 0 1', 'call allreduce float64 64', 'setting 7')
    const times = (await job.ask('time 7 5')).split(' ')
    expect(times).toHaveLength(1 + 2 * 5)
    for (const us of times.slice(1).map(Number)) expect(us).toBeGreaterThan(0)
    await job.end()
  })

  compiling.each([
    ['an unknown order', 'dance', 'expected an order, got dance'],
    ['an unknown collective', 'call dance byte 8', 'expected a call, got dance of 8 bytes'],
    ['half an element', 'call scan float64 12', 'expected a call, got scan of 12 bytes'],
    ['an unknown variable', 'setting 0 dance=1', 'the library has no control variable dance'],
    ['an unknown setting', 'verify 3', 'expected a setting of the call'],
  ])('fails with a message after %s', async (_, order, message) => {
    const job = await startMeasuring(launchWords(mpi, 2), program)
    await job.ask('spread 0 1')
    await expect(job.ask(order)).rejects.toMatchObject(refusal('ERR_MEASUREMENT', message))
    await job.end()
  })

  if (mpi.name === 'Open MPI')
    compiling.each([
      ['basic_linear', 1, [1, 2, 3, 4, 5, 6, 7]],
      ['pipeline', 3, [1]],
      ['binomial', 6, [1, 2, 4]],
    ])('has Open MPI broadcast by %s, as its own count of messages shows', async (_, number, receivers) => {
      const counts = join(folder(), `messages-${number}`)
      const monitoring = {
        OMPI_MCA_pml: 'ob1,monitoring',
        OMPI_MCA_pml_monitoring_enable: '2',
        OMPI_MCA_pml_monitoring_enable_output: '3',
        OMPI_MCA_pml_monitoring_filename: counts,
      }
      const job = await startMeasuring(launchWords(mpi, 8, monitoring), program)
      const length = 12_345
      await answers(job, 'spread 0 1 2 3 4 5 6 7', `call bcast byte ${length}`)
      await answers(job, `setting 0 coll_tuned_bcast_algorithm=${number}`, 'time 0 20')
      await job.end()
      const sent = readFileSync(`${counts}.0.prof`, 'utf8')
        .split('\n')
        .flatMap((line) => {
          const [, to, bytes] = /^I\t0\t(\d+)\t(\d+) bytes\t/.exec(line) ?? []
          return to === undefined || Number(bytes) < 20 * length ? [] : [Number(to)]
        })
      expect(sent).toEqual(receivers)
    })

  // 3 processes: MPICH refuses what it would carry out otherwise by another algorithm.
  if (mpi.name === 'MPICH')
    compiling('has MPICH use the algorithm that is set, and no other', async () => {
      const job = await startMeasuring(
        launchWords(mpi, 3, { MPIR_CVAR_COLLECTIVE_FALLBACK: 'error' }),
        program,
      )
      const variables = (number: number) =>
        `MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM=${number} MPIR_CVAR_ALLGATHER_DEVICE_COLLECTIVE=0`
      const described = await job.ask('describe MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM')
      expect(described).toBe('enum 0=auto 1=brucks 2=nb 3=recursive_doubling 4=ring')
      await answers(job, 'spread 0 1 2', 'call allgather byte 8', `setting 3 ${variables(3)}`)
      expect(await answers(job, 'verify 3', `setting 4 ${variables(4)}`, 'verify 4')).toEqual([
        ...['refused', 'ok', 'right'],
      ])
      await job.end()
    })
})
