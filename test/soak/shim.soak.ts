import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { oddDecisions } from '../support/odd-decisions.js'
import { describeShim, right } from '../support/shim.js'
import { inTurn, sampled, tier } from '../support/soak.js'

const seeds = sampled(
  Array.from({ length: 30 }, (_, seed) => seed),
  3,
)
/** Routes, each with ranks and the ranks of a node. */
const routes = [
  ['routed', 3, 1],
  ['shared', 5, 0],
  ['routed:radices=3.3', 7, 3],
  ['hierarchical:between=3.3,inside=2.3', 8, 4],
] as const

describeShim('the preloaded library', (shim) => {
  const isMpich = shim.mpi.name === 'MPICH'
  // Processes of MPICH keep their cores.
  const rules = isMpich && tier !== 'long' ? 'rules brief' : 'rules'
  const pathOf = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))

  // With and without a trial; blocks above the limit are sent directly.
  it.each(routes)('gives right data on random graphs by %s on %i ranks', async (route, ranks, cores) => {
    const [place, isTried] = [routes.findIndex(([name]) => name === route), cores === 1]
    const own = seeds.filter((_, i) => i % routes.length === place)
    const cases = own.map((seed) => `neighbors ${seed} ${seed % 6} ${isTried ? 60 : 4}`)
    const ended = await shim.run(ranks, cases, {
      RANKWEAVE_SHIM: isTried ? 'on' : 'always',
      RANKWEAVE_SHIM_STRATEGY: route,
      RANKWEAVE_SHIM_CORES: String(cores),
      RANKWEAVE_SHIM_BLOCK_LIMIT: String(place % 2 === 0 ? 1024 : 16),
      RANKWEAVE_SHIM_PATIENCE: '0',
    })
    expect(ended).toEqual({ ...right(...cases), stderr: '' })
  })

  it('runs plans at ends of grids, and after a block too long for its place', async () => {
    const ended = await shim.run(4, ['ends'], {
      RANKWEAVE_SHIM: 'always,report',
      RANKWEAVE_SHIM_STRATEGY: 'routed',
      RANKWEAVE_SHIM_BLOCK_LIMIT: '16',
    })
    expect(ended).toMatchObject(right('ends'))
    const byPlan = [...ended.stderr.matchAll(/communicator (\d), .* calls of (.*), (\d+) by the plan/g)]
    expect(byPlan.map((line) => line.slice(1).join(' ')).sort()).toEqual([
      '0 neighbor allgather 3',
      '0 neighbor alltoall 6',
      '1 neighbor allgather 15',
      '1 neighbor alltoall 3',
    ])
  })

  it.each(['', 'shared'])(
    'plans messages where one rank cannot share memory and the user names "%s"',
    async (strategy) => {
      const cases = ['neighbors 3 3 4']
      const env = { RANKWEAVE_SHIM: 'always,report', RANKWEAVE_SHIM_STRATEGY: strategy }
      const ended = await shim.run(5, cases, env, [shim.tool('no_memory')])
      expect(ended).toMatchObject(right(...cases))
      expect(ended.stderr).toContain('8 by the plan (routed:')
      expect(ended.stderr).not.toContain('(shared)')
    },
  )

  // Each is the only failure of a run, and the first of all that follow in another. Processes of MPICH keep
  // their cores, so they are few.
  it.each(
    inTurn(
      [
        ['shared', { RANKWEAVE_SHIM_STRATEGY: 'shared' }],
        ['routed', { RANKWEAVE_SHIM_STRATEGY: 'routed', RANKWEAVE_SHIM_CORES: '1' }],
        [
          'hierarchical',
          { RANKWEAVE_SHIM_STRATEGY: 'hierarchical:between=2.2,inside=2', RANKWEAVE_SHIM_CORES: '2' },
        ],
        ['chosen by cost', { RANKWEAVE_SHIM_CORES: '2' }],
        ['recorded', { RANKWEAVE_SHIM: 'always,record:/dev/null/nowhere' }],
        ['after many calls', { RANKWEAVE_SHIM: 'on', RANKWEAVE_SHIM_PATIENCE: '0' }],
        ['repaired', { RANKWEAVE_SHIM: 'repair' }],
      ] as const,
      2,
    ),
  )('gives right data whichever allocation fails on one rank: %s', async (_, settings) => {
    const env = { RANKWEAVE_SHIM: 'always', ...settings }
    const calls = env.RANKWEAVE_SHIM === 'on' ? '40' : '2'
    const ended = await shim.start(isMpich ? 2 : 5, [shim.program('failing'), calls], env)
    expect(ended.code).toBe(0)
    expect(ended.stdout).toMatch(/^right: 0 wrong elements after [1-9]\d+ failures\n$/)
  })

  it.each(['10', '100000'])(
    'fails on the rank whose message MPI refuses, with blocks of %s',
    async (block) => {
      const env = { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_CORES: '1' }
      const ended = await shim.start(3, [shim.program('refusing'), block, 'started'], env)
      expect(ended).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^right: 0 wrong after [1-9]\d* failures\n$/),
      })
    },
  )

  it('ends the job after a refused message of a plan, for which others would wait', async () => {
    const env = { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_STRATEGY: 'routed', RANKWEAVE_SHIM_CORES: '1' }
    const { code, stdout, stderr } = await shim.start(3, [shim.program('refusing'), '1', 'planned'], env)
    expect(code).not.toBe(0)
    expect(stdout).not.toContain('goes on')
    // The launcher of MPICH may end before it has passed on what a process wrote just before it ended the job.
    if (!isMpich || stderr !== '')
      expect(stderr).toMatch(/^rankweave shim: the job ends, because other ranks would wait for this one/m)
  })

  it('chooses by scripted times: ties, noise, drift, outliers, blocks that grow', () => {
    const headers = ['export/c', 'shim/c'].map((path) => `-I${pathOf(path)}`)
    const program = shim.program('trials', '-O2', ...headers, '-Wl,--no-as-needed')
    expect(execFileSync(program, { encoding: 'utf8' })).toBe('right\n')
  })

  if (isMpich)
    console.warn('MPICH spawns no processes here: it has to be built with a process manager for that')
  // Processes of another world share no memory with these.
  const messages = { OMPI_MCA_btl: 'self,vader,tcp', OMPI_MCA_btl_tcp_if_include: 'lo' }
  it.skipIf(isMpich)('leaves communicators to MPI that have processes without the library', async () => {
    for (const mode of ['on', 'always', 'reproducible', 'repair']) {
      const env = { ...messages, RANKWEAVE_SHIM: mode, RANKWEAVE_SHIM_PATIENCE: '0' }
      expect(await shim.start(2, [shim.program('spawned')], env)).toMatchObject({
        code: 0,
        stdout: 'right\n',
      })
    }
  })

  it.skipIf(isMpich)('leaves communicators of two worlds to MPI in both of them', async () => {
    const tuning = `tune:${shim.writeTuning('spawned.json', oddDecisions[shim.mpi.name])},report`
    const online = `online:${shim.path('spawned')},seed=1,calls=1000,report`
    for (const mode of [tuning, online, 'always', 'reproducible', 'repair']) {
      const ended = await shim.start(2, [shim.program('spawned'), 'both'], {
        ...messages,
        RANKWEAVE_SHIM: mode,
      })
      expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
      const left = [...ended.stderr.matchAll(/allreduce: (\d+) calls left to MPI: .* or of another world/g)]
      expect(left.map(([, calls]) => calls)).toEqual(mode === tuning || mode === online ? ['201', '201'] : [])
    }
  })

  it('leaves programs of sessions without a world to MPI', async () => {
    const ended = await shim.start(isMpich ? 3 : 1, [shim.program('sessions')], { RANKWEAVE_SHIM: 'always' })
    expect(ended).toEqual({ code: 0, stdout: 'right\n', stderr: '' })
  })

  describe.each([1, isMpich ? 3 : 6])('keeps the rules of neighborhood collectives on %i ranks', (ranks) => {
    // In which calls a communicator has a plan, and where its blocks lie.
    it.each([
      {},
      { RANKWEAVE_SHIM: 'always' },
      { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_BLOCK_LIMIT: '0' },
      { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_CORES: '2' },
      { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_STRATEGY: 'routed', RANKWEAVE_SHIM_LENDS: '0' },
    ])('with %o', async (env) => {
      expect(await shim.run(ranks, [rules], env)).toEqual({ ...right(rules), stderr: '' })
    })
  })

  // More communicators than a region has entries, one after the other and at the same time.
  it.each([{}, { RANKWEAVE_SHIM_REGION: '262144' }])(
    'has memory for many communicators with %o',
    async (env) => {
      const cases = isMpich ? ['again 300 12', 'again 600 12 600'] : ['again 3000 12', 'again 900 12 600']
      const ended = await shim.run(isMpich ? 2 : 5, cases, { RANKWEAVE_SHIM: 'always', ...env })
      expect(ended).toEqual({ ...right(...cases), stderr: '' })
    },
  )
})
