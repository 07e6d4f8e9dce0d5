import { beforeAll, expect, it } from 'vitest'
import { describeMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { compileOther, compileProgram, compileShim, runPreloaded } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

/** Calls of a function on a communicator, and the calls of each outcome. */
interface ReportedCalls {
  readonly communicator: string
  readonly calls: number
  readonly outcomes: Readonly<Record<string, number>>
}

/** The lines of a report about functions. */
function callsOf(report: string): Readonly<Record<string, readonly ReportedCalls[]>> {
  const functions: Record<string, ReportedCalls[]> = {}
  for (const [, communicator, name, calls, outcomes] of report.matchAll(
    /^rankweave shim: (.*): (MPI_\w+): (\d+) calls?: (.*)$/gm,
  )) {
    const counts = outcomes.split('; ').map((part) => {
      const [, count, outcome] = /^(\d+) (.*)$/.exec(part)!
      return [outcome, Number(count)] as const
    })
    const line = { communicator, calls: Number(calls), outcomes: Object.fromEntries(counts) }
    functions[name] = [...(functions[name] ?? []), line]
  }
  return functions
}

describeMpi('the report of the preloaded library', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('shim-report')
  let library: string
  let forms: string

  beforeAll(() => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    forms = compileProgram(folder(), mpicc, 'forms')
  })

  const run = (mode: string) =>
    runPreloaded(mpi, 4, library, [forms, '3'], {
      RANKWEAVE_SHIM: mode,
      RANKWEAVE_SHIM_STRATEGY: 'routed',
    })

  it.skipIf(mpicc === null)('says of every function what became of its calls', async () => {
    const ended = await run('always,report')
    expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
    const functions = callsOf(ended.stderr)
    const names = ['allgather', 'allgatherv', 'alltoall', 'alltoallv', 'alltoallw']
    for (const name of names.flatMap((base) => [`MPI_Neighbor_${base}`, `MPI_Ineighbor_${base}`])) {
      expect(functions[name], name).toMatchObject([
        { communicator: 'communicator 0, 4 ranks', calls: 3 },
        {
          communicator: 'communicators whose creation was not intercepted',
          calls: 1,
          outcomes: { 'left to MPI: no plan is known for the communicator': 1 },
        },
      ])
    }
    expect(functions['MPI_Neighbor_allgather'][0].outcomes).toEqual({ 'by plan': 3 })
    for (const calls of Object.values(functions).flat())
      expect(Object.values(calls.outcomes).reduce((sum, count) => sum + count)).toBe(calls.calls)
  })

  it.skipIf(mpicc === null)('says that it is off', async () => {
    const ended = await run('off,report')
    expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
    expect(callsOf(ended.stderr)['MPI_Neighbor_allgather']).toMatchObject([
      { calls: 4, outcomes: { 'left to MPI: the library is off': 4 } },
    ])
  })
  const callsByPlan = (report: string) => callsOf(report)['MPI_Neighbor_allgather']?.[0].outcomes

  it.skipIf(mpicc === null)(
    'leaves another tool that is preloaded behind it what it leaves to MPI',
    async () => {
      const tool = compileOther(folder(), mpicc!, 'counting')
      const run = (preloaded: string, mode: string) =>
        runPreloaded(mpi, 4, preloaded, [forms, '3'], { RANKWEAVE_SHIM: mode })
      const planned = await run(`${library}:${tool}`, 'always,report')
      expect(planned).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\ncounted 1 allgathers\n' })
      expect(callsByPlan(planned.stderr)).toEqual({ 'by plan': 3 })
      expect(planned.stderr).not.toContain('reach')
      const left = await run(`${library}:${tool}`, 'off')
      expect(left).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\ncounted 4 allgathers\n' })
    },
  )

  it.skipIf(mpicc === null)('says which calls reach a tool that is preloaded before it', async () => {
    const tool = compileOther(folder(), mpicc!, 'counting')
    const ended = await runPreloaded(mpi, 4, `${tool}:${library}`, [forms, '3'], {
      RANKWEAVE_SHIM: 'always,report',
    })
    expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\ncounted 4 allgathers\n' })
    expect(callsByPlan(ended.stderr)).toBeUndefined()
    expect(ended.stderr).toContain(`calls of MPI_Neighbor_allgather reach ${tool} first`)
    expect(callsOf(ended.stderr)['MPI_Neighbor_alltoall'][0].outcomes).toEqual({ 'by plan': 3 })
  })

  it.skipIf(mpicc === null)('leaves communicators alone whose info says so', async () => {
    const off = compileProgram(folder(), mpicc!, 'off')
    const ended = await runPreloaded(mpi, 4, library, [off], { RANKWEAVE_SHIM: 'always,report' })
    expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong calls\n' })
    const byInfo = "left to MPI: rankweave=off in the communicator's info"
    const lines = callsOf(ended.stderr)['MPI_Neighbor_allgather']
    const of = (number: number) =>
      lines.find(({ communicator }) => communicator === `communicator ${number}, 4 ranks`)
    expect(of(0)?.outcomes).toEqual({ [byInfo]: 10 })
    expect(of(1)?.outcomes).toEqual({ [byInfo]: 10 })
    expect(of(2)?.outcomes).toEqual({ 'by plan': 20, [byInfo]: 10 })
  })

  // In the first call of a trial, and while a plan is in use.
  it.skipIf(mpicc === null).each([
    [0, { 'left to MPI: buffers are in the memory of a device': 40 }],
    [10, { 'by plan': 40 }],
  ])('touches no memory of a device, from call %i on', async (first, outcomes) => {
    const device = compileProgram(folder(), mpicc!, 'device', ['-ldl'])
    const fake = compileOther(folder(), mpicc!, 'fake_cuda', 'libcuda.so.1')
    const preloaded = `${library}:${fake}`
    const ended = await runPreloaded(mpi, 4, preloaded, [device, fake, String(first)], {
      RANKWEAVE_SHIM: 'always,report',
      RANKWEAVE_SHIM_STRATEGY: 'routed',
    })
    expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong calls\n' })
    expect(callsByPlan(ended.stderr)).toEqual(outcomes)
  })
})
