import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { reportedCalls } from '../../support/reported-calls.js'
import { describeShim, right } from '../../support/shim.js'
import { perTier } from '../../support/soak.js'

describeShim('all-to-alls whose counts are mostly zero', (shim) => {
  const isMpich = shim.mpi.name === 'MPICH'
  const seeds = Array.from({ length: perTier({ test: 1, soak: 2, long: 10 }) }, (_, seed) => seed)
  const calls = isMpich ? 60 : 400
  const example = () => {
    const source = fileURLToPath(new URL('../../../examples/c/sparse-exchange.c', import.meta.url))
    const program = shim.path('sparse-exchange')
    execFileSync(shim.mpicc, ['-std=c99', '-O2', '-Wall', '-Wextra', '-Werror', '-o', program, source])
    return program
  }

  // On one node or nodes of two or three ranks. Two communicators take turns; counts are zero, of one rank, to itself, few or all; also in place and by datatypes.
  describe.each(isMpich ? [1, 3] : [1, 2, 5, 8])('on %i ranks', (ranks) => {
    it.each([
      [{ RANKWEAVE_SHIM: 'always' }, ''],
      [{ RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_CORES: '2' }, ''],
      [{ RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_CORES: '3' }, ' threads'],
      [{ RANKWEAVE_SHIM_PATIENCE: '0', RANKWEAVE_SHIM_CORES: '2' }, ' threads'],
      [{ RANKWEAVE_SHIM_PATIENCE: '0' }, ''],
    ])('are right with %o%s', async (env, threads) => {
      // A trial needs calls of one function.
      const form = 'RANKWEAVE_SHIM' in env ? 'mixed' : 'v'
      const cases = seeds.map((seed) => `sparse mixed ${form} ${seed} ${calls}${threads}`)
      expect(await shim.run(ranks, cases, env)).toEqual({ ...right(...cases), stderr: '' })
    })
  })

  it('are sent directly in every call by the mode always, whatever their counts', async () => {
    const cases = ['sparse dense v 1 20', 'sparse sparse w 1 20']
    const ended = await shim.run(isMpich ? 2 : 5, cases, { RANKWEAVE_SHIM: 'always,report' })
    expect(ended).toMatchObject(right(...cases))
    const outcomes = reportedCalls(ended.stderr).map((line) => line.outcomes)
    // The world's counts stay until the end.
    expect(outcomes).toEqual([10, 10, 10, 10].map((count) => ({ 'sent directly': count })))
  })

  it('of one rank that MPI refuses are not counted, so that all ranks still agree in the same calls', async () => {
    const cases = ['sparse refused v 1 100']
    const ended = await shim.run(2, cases, { RANKWEAVE_SHIM_PATIENCE: '0' })
    expect(ended).toEqual({ ...right(...cases), stderr: '' })
  })

  // Messages that wait for their receiver, and blocks that are combined by node.
  it.each([
    ['100000', { RANKWEAVE_SHIM: 'always' }],
    ['10', { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_CORES: '2' }],
  ])(
    'fail on the rank whose message MPI refuses, with blocks of %s, and no other call',
    async (block, env) => {
      const ended = await shim.start(isMpich ? 3 : 5, [shim.program('refusing'), block], env)
      expect(ended).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^right: 0 wrong after [1-9]\d* failures\n$/),
      })
    },
  )

  if (isMpich) console.warn('no all-to-alls of MPICH are combined by node: they stay its own')
  it.skipIf(isMpich)('are combined by node where blocks go to another one', async () => {
    const env = { RANKWEAVE_SHIM: 'always,report', RANKWEAVE_SHIM_CORES: '2' }
    const ended = await shim.run(5, ['sparse sparse v 1 20'], env)
    expect(ended).toMatchObject(right('sparse sparse v 1 20'))
    const outcomes = reportedCalls(ended.stderr).map((line) => line.outcomes)
    expect(outcomes).toEqual([10, 10].map((count) => ({ 'by plan': count })))
  })

  it('of the example are tried, and counted by what became of them', async () => {
    const env = { RANKWEAVE_SHIM: 'report', RANKWEAVE_SHIM_PATIENCE: '0' }
    const ended = await shim.start(isMpich ? 2 : 8, [example(), '2', isMpich ? '20' : '200'], env)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^right: /) })
    const [{ name, outcomes }] = reportedCalls(ended.stderr)
    expect(name).toBe('MPI_Alltoallv')
    if (isMpich) expect(outcomes).toEqual({ 'left to MPI: MPI itself sends nothing for counts of zero': 20 })
    else
      expect(outcomes).toMatchObject({
        'left to MPI: too few calls yet for a plan to pay': 32,
        'sent directly': expect.any(Number),
      })
  })
})
