import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import type { TuningFile } from '../../src/tuning/models/tuning-file.js'
import { describeMpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { treeBySize, tuningFileOf } from '../support/mpi-tuning-file.js'
import { compileProgram, compileShim, runPreloaded } from '../support/shim.js'
import { temporaryFolder } from '../support/temporary-folder.js'

type Decisions = TuningFile['decisions']

/** One setting of every collective. */
const plain: Readonly<Record<string, Decisions>> = {
  'Open MPI': {
    bcast: treeBySize('bcast', ['binomial']),
    scatter: treeBySize('scatter', ['binomial']),
    gather: treeBySize('gather', ['binomial']),
    allgather: treeBySize('allgather', ['ring']),
    reduce: treeBySize('reduce', ['binomial']),
    'reduce-scatter': treeBySize('reduce-scatter', ['ring']),
    alltoall: treeBySize('alltoall', ['pairwise']),
  },
  MPICH: {
    bcast: treeBySize('bcast', ['binomial']),
    scatter: treeBySize('scatter', ['binomial']),
    gather: treeBySize('gather', ['binomial']),
    allgather: treeBySize('allgather', ['ring']),
    reduce: treeBySize('reduce', ['binomial']),
    'reduce-scatter': treeBySize('reduce-scatter', ['pairwise']),
    alltoall: treeBySize('alltoall', ['pairwise']),
  },
}

/** Settings of Open MPI that cut data. */
const cutting = [
  ['bcast', 'chain:fanout=2,segment=1000'],
  ['bcast', 'pipeline:segment=1024'],
  ['bcast', 'split_binary_tree'],
  ['bcast', 'split_binary_tree:segment=1024'],
  ['bcast', 'binary_tree:segment=1024'],
  ['bcast', 'binomial:segment=1024'],
  ['bcast', 'knomial:radix=3,segment=1024'],
  ['bcast', 'scatter_allgather'],
  ['bcast', 'scatter_allgather_ring'],
  ['gather', 'linear_sync:segment=1024'],
] as const

describeMpi('tuned collectives whose arguments differ between ranks', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('tuned-differing')
  const skipped = it.skipIf(mpicc === null)
  let library: string
  let program: string
  /** Of the running library, as files name it. */
  let name: string

  const run = (decisions: Decisions, ranks: number, args: readonly string[]) => {
    const path = join(folder(), 'tuning.json')
    writeFileSync(path, JSON.stringify(tuningFileOf(name, decisions)))
    const env = { RANKWEAVE_SHIM: `tune:${path},report`, RANKWEAVE_SHIM_TUNE_AFTER: '0' }
    return runPreloaded(mpi, ranks, library, [program, ...args], env)
  }

  beforeAll(async () => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    program = compileProgram(folder(), mpicc, 'differing')
    name = 'another library 1'
    const { stderr } = await run(plain[mpi.name], 1, ['none'])
    name = /this program uses (.*)$/m.exec(stderr)![1]
  })

  skipped('give right data where some ranks reduce and scatter in place', async () => {
    const ended = await run(plain[mpi.name], 4, ['in-place', '3'])
    expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
    expect(ended.stderr).toMatch(/reduce-scatter (ring|pairwise): 15 calls: 15 in the setting/)
  })

  skipped('do not look at arguments that MPI ignores', async () => {
    const ended = await run(plain[mpi.name], 4, ['ignored', '2'])
    expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
    expect(ended.stderr).toMatch(/scatter binomial: 2 calls: 2 in the setting/)
    for (const collective of ['bcast', 'scatter', 'gather', 'reduce'])
      expect(ended.stderr).toContain(
        `${collective}: 2 calls left to MPI: a communicator of one rank, of two groups`,
      )
  })

  skipped('give right data where ranks have other datatypes', async () => {
    const ended = await run(plain[mpi.name], 3, ['types', '6'])
    expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
    for (const collective of ['bcast', 'scatter', 'gather', 'allgather', 'alltoall'])
      expect(ended.stderr).toMatch(new RegExp(`shim: ${collective} .* in the setting`))
  })

  if (mpi.name === 'Open MPI') {
    skipped.each(cutting)('cut other datatypes alike: %s %s', async (collective, setting) => {
      const tree = treeBySize(
        collective,
        [setting, setting.replace(/segment=\d+/, 'segment=65536')],
        [100_000],
      )
      const ended = await run({ [collective]: tree }, 4, ['types', '6', collective])
      expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
      expect(ended.stderr).toMatch(/calls: \d+ in the setting$/m)
    })
  } else {
    // Ranks that are no power of two end the job in it, and elements with a gap at their end get other data.
    skipped('leave what noncommutative does not serve', async () => {
      const decisions = { 'reduce-scatter': treeBySize('reduce-scatter', ['noncommutative']) }
      const ended = await run(decisions, 4, ['sums', '1'])
      expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
      expect(ended.stderr).toMatch(/32 in the setting; \d+ left to MPI: it does not know the setting/)
    })
  }

  if (mpi.name === 'MPICH') {
    const reducing = [
      ['binomial', 'recursive_doubling', 'pairwise'],
      ['smp', 'smp', 'recursive_doubling'],
      ['reduce_scatter_gather', 'reduce_scatter_allgather', 'recursive_halving'],
    ] as const
    skipped.each(reducing)('reduce by %s, %s and %s on up to 8 ranks', async (reduce, allreduce, scatter) => {
      const decisions = {
        reduce: treeBySize('reduce', [reduce]),
        allreduce: treeBySize('allreduce', [allreduce]),
        'reduce-scatter': treeBySize('reduce-scatter', [scatter]),
      }
      const ended = await run(decisions, 8, ['sums', '1'])
      expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
      expect(ended.stderr).toContain(`reduce ${reduce}: 56 calls: 56 in the setting`)
      expect(ended.stderr).toContain(`reduce-scatter ${scatter}: 168 calls: 168 in the setting`)
    })
  }

  skipped('scan in settings', async () => {
    const [first, second] = mpi.name === 'MPICH' ? ['smp', 'recursive_doubling'] : ['linear', 'linear']
    const decisions = {
      scan: treeBySize('scan', [first, 'recursive_doubling'], [100]),
      exscan: treeBySize('exscan', [second]),
    }
    const ended = await run(decisions, 3, ['sums', '1'])
    expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
    expect(ended.stderr).toMatch(/scan recursive_doubling: \d+ calls: \d+ in the setting$/m)
    expect(ended.stderr).toContain(`scan ${first}: 10 calls: 10 in the setting`)
    expect(ended.stderr).toContain(`exscan ${second}: 16 calls: 16 in the setting`)
  })

  skipped('leave all calls where a radix is no base', async () => {
    const ended = await run({ bcast: treeBySize('bcast', ['knomial:radix=1']) }, 2, ['types', '1', 'bcast'])
    expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
    expect(ended.stderr).toMatch(
      /is not used: decisions\.bcast\.settings\[0\]\.parameters\.radix: expected an integer from 2/,
    )
  })
})
