import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type ReportedCalls, reportedCalls } from '../../support/reported-calls.js'
import { describeShim, right, type Shim } from '../../support/shim.js'

type Environment = Readonly<Record<string, string>>

/** A job: the arguments of `called`, settings, and a library that is preloaded besides, before ours or behind. */
interface Job {
  readonly calls: string
  /** The program that gets them: `called` unless given. */
  readonly program?: 'called' | 'sparse'
  readonly env?: Environment
  readonly before?: string
  readonly behind?: string
}

const messages: Environment = { RANKWEAVE_SHIM_CORES: '1', RANKWEAVE_SHIM_PATIENCE: '0' }
const routed: Environment = { ...messages, RANKWEAVE_SHIM_STRATEGY: 'routed' }
const always: Environment = { RANKWEAVE_SHIM: 'always,report' }

/** By reason, as the report prints it: a program that has it, and one that differs only in what the reason says. */
const reasons: Readonly<Record<string, readonly [has: Job, hasNot: Job]>> = {
  'too few calls yet for a plan to pay': [
    { calls: 'ring Ialltoallv 40 1' },
    { calls: 'ring Ialltoallv 40 1', env: always },
  ],
  'measured in a trial': [{ calls: 'ring alltoall 60 1' }, { calls: 'ring alltoall 60 1', env: always }],
  'the last trial did not show the plan to be faster': [
    { calls: 'ring alltoall 110 1', env: routed, behind: 'slow_plans' },
    { calls: 'ring alltoall 110 1', env: { ...routed, ...always }, behind: 'slow_plans' },
  ],
  'no plan is estimated to be faster': [
    { calls: 'ring alltoall 40 1', env: messages },
    { calls: 'ring alltoall 40 1', env: routed },
  ],
  'a plan could not be made on this or another rank': [
    { calls: 'ring alltoall 5 1', env: { ...routed, ...always, RANKWEAVE_SHIM_BLOCK_LIMIT: '0' } },
    { calls: 'ring alltoall 5 1', env: { ...routed, ...always } },
  ],
  'blocks are longer than the limit': [
    { calls: 'ring alltoall 40 1000', env: routed },
    { calls: 'ring alltoall 40 10', env: routed },
  ],
  'a rank is listed twice as a neighbor': [
    { calls: 'wrap Ialltoall 40 1' },
    { calls: 'twice Ialltoall 40 1' },
  ],
  'processes share no memory': [
    { calls: 'ring Ialltoallv 40 1', env: { RANKWEAVE_SHIM_REGION: '0' } },
    { calls: 'ring Ialltoallv 40 1' },
  ],
  'the library has no plans for this function': [
    { calls: 'ring alltoallw 3 1', env: always },
    { calls: 'ring alltoall 3 1', env: always },
  ],
  'no plan is known for the communicator': [
    { calls: 'idup Ialltoallv 3 1', env: always },
    { calls: 'dup Ialltoallv 3 1', env: always },
  ],
  'MPI itself sends nothing for counts of zero': [
    { program: 'sparse', calls: 'sparse Iv 1 3', env: always },
    { program: 'sparse', calls: 'sparse v 1 3', env: always },
  ],
  'blocks are exchanged in place': [
    { program: 'sparse', calls: 'sparse place 1 3', env: always },
    { program: 'sparse', calls: 'sparse v 1 3', env: always },
  ],
  'the communicator has one rank or two groups': [
    { program: 'sparse', calls: 'self v 1 3', env: always },
    { program: 'sparse', calls: 'sparse v 1 3', env: always },
  ],
  'MPI refuses the arguments': [
    { calls: 'ring negative 3 1', env: always },
    { calls: 'ring alltoall 3 1', env: always },
  ],
  "rankweave=off in the communicator's info": [
    { calls: 'off Ialltoallv 3 1', env: always },
    { calls: 'ring Ialltoallv 3 1', env: always },
  ],
  'calls are recorded': [
    { calls: 'ring alltoall 3 1', env: { RANKWEAVE_SHIM: 'record:/dev/null/nowhere,report' } },
    { calls: 'ring alltoall 3 1', env: always },
  ],
  'the library is off': [
    { calls: 'ring alltoall 3 1', env: { RANKWEAVE_SHIM: 'off,report' } },
    { calls: 'ring alltoall 3 1', env: always },
  ],
}

async function outcomesOf(
  shim: Shim,
  { program = 'called', calls, env, before, behind }: Job,
): Promise<ReportedCalls['outcomes']> {
  const of = (tool: string | undefined) => (tool === undefined ? [] : [shim.tool(tool)])
  const preloaded = [...of(before), shim.library, ...of(behind)]
  const settings = { RANKWEAVE_SHIM: 'report', ...env }
  const ended = await shim.start(4, shim.caseCommand(`${program} ${calls}`), settings, preloaded)
  expect({ calls, ...ended }).toMatchObject({ calls, code: 0 })
  expect(ended.stdout).toContain(right(`${program} ${calls}`).stdout)
  const [{ outcomes }] = reportedCalls(ended.stderr)
  return outcomes
}

/** The reasons of the report; test/unit/shim/report.soak.ts has the one for which a device is needed. */
const ofReport = [
  ...readFileSync(new URL('../../../src/shim/c/counting.h', import.meta.url), 'utf8').matchAll(
    /X\(RW_\w+, "(.*)"\)/g,
  ),
].flatMap(([, text]) => (text.includes('device') ? [] : [text]))

describeShim('the reasons for which a call is left to MPI', (shim) => {
  const calls = shim.mpi.name === 'Open MPI' ? 'ring init 3 1' : 'ring Ialltoallv 3 1'
  const sends = { RANKWEAVE_SHIM_PATIENCE: '0' }
  const all: typeof reasons = {
    ...reasons,
    // MPICH sends nothing for counts of zero, so that calls are not tried.
    ...(shim.mpi.name === 'Open MPI' && {
      'more than half of the counts are not zero': [
        { program: 'sparse', calls: 'dense v 1 80', env: sends },
        { program: 'sparse', calls: 'sparse v 1 80', env: sends },
      ],
    }),
    'another tool intercepts functions that complete requests': [
      { calls, env: always, before: 'counting' },
      { calls, env: always, behind: 'counting' },
    ],
  }

  it.each(['ring', 'twice', 'dup'])(
    'are none from call 33 on, of a %s of one thread or several',
    async (graph) => {
      for (const threads of ['', ' threads']) {
        const outcomes = await outcomesOf(shim, { calls: `${graph} Ialltoallv 40 1${threads}` })
        expect(outcomes).toEqual({ 'by plan': 8, 'left to MPI: too few calls yet for a plan to pay': 32 })
      }
    },
  )

  if (shim.mpi.name !== 'Open MPI')
    console.warn('reasons are counted with Open MPI only, which has all of them')
  it.skipIf(shim.mpi.name !== 'Open MPI')('are all tested', () => {
    expect(['by plan', 'sent directly', ...Object.keys(all)].sort()).toEqual([...ofReport].sort())
  })

  it.each(Object.entries(all))('name "%s" where it is so, and only there', async (reason, [has, hasNot]) => {
    expect(await outcomesOf(shim, has)).toHaveProperty([`left to MPI: ${reason}`])
    expect(await outcomesOf(shim, hasNot)).not.toHaveProperty([`left to MPI: ${reason}`])
  })
})
