import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { plan } from '../../../src/neighborhood/plan/plan.js'
import { planWords } from '../../../src/shim/plan-words.js'
import { parseEdgeList } from '../../../src/topology/files/edge-list.js'
import { describeEitherMpi, startCommand } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { compileExchanges, compileProgram, compileShim, runPreloaded } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

describeEitherMpi('the preloaded library', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('shim')
  let library: string
  let neighbors: string
  let ends: string
  let exchanges: string

  beforeAll(() => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    neighbors = compileProgram(folder(), mpicc, 'neighbors')
    ends = compileProgram(folder(), mpicc, 'ends')
    exchanges = compileExchanges(folder(), mpicc)
  })

  const run = (ranks: number, args: readonly number[], env: Readonly<Record<string, string>>) =>
    runPreloaded(mpi, ranks, library, [neighbors, ...args.map(String)], env)

  it.skipIf(mpicc === null)(
    'gives right data on interleaved communicators, records their graphs, and runs plans of files',
    async () => {
      const recorded = join(folder(), 'recorded')
      const first = await run(5, [3, 3, 4], {
        RANKWEAVE_SHIM: `always,report,record:${recorded}`,
        RANKWEAVE_SHIM_CORES: '2',
        RANKWEAVE_SHIM_STRATEGY: 'hierarchical:between=2.2,inside=2',
      })
      expect(first).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
      expect(first.stderr).toContain('8 by the plan (hierarchical:between=2.2,inside=2)')
      const text = readFileSync(recorded, 'utf8')
      const planFile = join(folder(), 'plan.rwplan')
      const { schedule } = plan(parseEdgeList(text), { kind: 'routed' })
      const words = planWords(schedule)
      writeFileSync(planFile, words)
      const env = { RANKWEAVE_SHIM: 'always,report', RANKWEAVE_SHIM_PLAN: planFile }
      const second = await run(5, [3, 3, 4], env)
      expect(second).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
      expect(second.stderr).toContain('8 by the plan (plan file 1')
      expect(second.stderr).toContain(`${planFile} is not used on a communicator: it is for another graph`)
      // One word of one rank.
      words[words.length - 1] ^= 1
      writeFileSync(planFile, words)
      const third = await run(5, [3, 3, 4], env)
      expect(third).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
      expect(third.stderr).not.toContain('plan file 1')
      expect(third.stderr).toContain('8 by the plan (shared)')
    },
  )

  it.skipIf(mpicc === null)(
    'runs plans at ends of grids, and after a block too long for its place',
    async () => {
      const ended = await runPreloaded(mpi, 4, library, [ends], {
        RANKWEAVE_SHIM: 'always,report',
        RANKWEAVE_SHIM_STRATEGY: 'routed',
        RANKWEAVE_SHIM_BLOCK_LIMIT: '16',
      })
      expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
      const byPlan = [...ended.stderr.matchAll(/communicator (\d), .* calls of (.*), (\d+) by the plan/g)]
      expect(byPlan.map((line) => line.slice(1).join(' ')).sort()).toEqual([
        '0 neighbor allgather 3',
        '0 neighbor alltoall 6',
        '1 neighbor allgather 15',
        '1 neighbor alltoall 3',
      ])
    },
  )

  it.skipIf(mpicc === null).each([
    ['many', '6', {}],
    ['many', '6', { RANKWEAVE_SHIM_CORES: '2', RANKWEAVE_SHIM_REGION: '262144' }],
    ['ahead', '1', {}],
    ['rooms', '4', {}],
    ['again', '20', {}],
    ['freed', '10', {}],
    ['many', '6', { RANKWEAVE_SHIM_BLOCK_LIMIT: '32' }],
    ['many', '6', { RANKWEAVE_SHIM_LENDS: '0' }],
    ['rooms', '4', { RANKWEAVE_SHIM_BLOCK_LIMIT: '0' }],
    ['late', '1', { RANKWEAVE_SHIM_BLOCK_LIMIT: '0' }],
    ['late', '60', { RANKWEAVE_SHIM_BLOCK_LIMIT: '0' }],
    ['late', '60', { RANKWEAVE_SHIM_LENDS: '0' }],
  ])('publishes blocks: %s, %s, %o', async (name, count, env) => {
    const ended = await startCommand(mpi, 3, [exchanges, name, count, '1'], env).ended
    expect(ended).toEqual({ code: 0, stdout: 'right: 0 wrong elements\n', stderr: '' })
  })

  it.skipIf(mpicc === null)('plans a graph once that comes again, and not before call 32', async () => {
    const again = compileProgram(folder(), mpicc!, 'again')
    const env = { RANKWEAVE_SHIM: 'report', RANKWEAVE_SHIM_PATIENCE: '0' }
    const ended = await runPreloaded(mpi, 3, library, [again, '5', '250'], env)
    expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
    const lines = [...ended.stderr.matchAll(/communicator (\d), 3 ranks: .* planned in (\S+) ms/g)]
    const plannedMs = new Map(lines.map(([, number, ms]) => [Number(number), ms]))
    // Number 0 lives from the first round to the last; graphs are in turn.
    expect([plannedMs.get(3), plannedMs.get(5)]).toEqual([plannedMs.get(1), plannedMs.get(1)])
    expect(plannedMs.get(4)).toBe(plannedMs.get(2))
    expect(plannedMs.get(1)).not.toBe(plannedMs.get(0))
    const few = await runPreloaded(mpi, 3, library, [again, '3', '31'], env)
    expect(few).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
    expect(few.stderr.match(/planned in 0\.000 ms/g)).toHaveLength(4)
  })
})
