import { expect, it } from 'vitest'
import type { TuningFile } from '../../src/tuning/models/tuning-file.js'
import { treeBySize } from '../support/mpi-tuning-file.js'
import { describeShim, right } from '../support/shim.js'
import { inTurn } from '../support/soak.js'

type Decisions = TuningFile['decisions']

/** One setting of every collective. */
const plainOf = (isMpich: boolean): Decisions => ({
  bcast: treeBySize('bcast', ['binomial']),
  scatter: treeBySize('scatter', ['binomial']),
  gather: treeBySize('gather', ['binomial']),
  allgather: treeBySize('allgather', ['ring']),
  reduce: treeBySize('reduce', ['binomial']),
  'reduce-scatter': treeBySize('reduce-scatter', [isMpich ? 'pairwise' : 'ring']),
  alltoall: treeBySize('alltoall', ['pairwise']),
})

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

describeShim('tuned collectives whose arguments differ between ranks', (shim) => {
  const isMpich = shim.mpi.name === 'MPICH'
  const plain = plainOf(isMpich)
  const run = (decisions: Decisions, ranks: number, cases: readonly string[]) =>
    shim.run(ranks, cases, {
      RANKWEAVE_SHIM: `tune:${shim.writeTuning('tuning.json', decisions)},report`,
      RANKWEAVE_SHIM_TUNE_AFTER: '0',
    })

  it('give right data where ranks reduce in place, and do not look at arguments that MPI ignores', async () => {
    const cases = ['differing in-place 3', 'differing ignored 2']
    const ended = await run(plain, 4, cases)
    expect(ended).toMatchObject(right(...cases))
    expect(ended.stderr).toMatch(/reduce-scatter (ring|pairwise): 15 calls: 15 in the setting/)
    expect(ended.stderr).toMatch(/scatter binomial: 2 calls: 2 in the setting/)
    for (const collective of ['bcast', 'scatter', 'gather', 'reduce'])
      expect(ended.stderr).toContain(
        `${collective}: 2 calls left to MPI: a communicator of one rank, of two groups`,
      )
  })

  it('give right data where ranks have other datatypes', async () => {
    const ended = await run(plain, 3, ['differing types 6'])
    expect(ended).toMatchObject(right('differing types 6'))
    for (const collective of ['bcast', 'scatter', 'gather', 'allgather', 'alltoall'])
      expect(ended.stderr).toMatch(new RegExp(`shim: ${collective} .* in the setting`))
  })

  if (!isMpich)
    it.each(inTurn(cutting, 2))('cut other datatypes alike: %s %s', async (collective, setting) => {
      const settings = [setting, setting.replace(/segment=\d+/, 'segment=65536')]
      const cases = [`differing types 6 ${collective}`]
      const ended = await run({ [collective]: treeBySize(collective, settings, [100_000]) }, 4, cases)
      expect(ended).toMatchObject(right(...cases))
      expect(ended.stderr).toMatch(/calls: \d+ in the setting$/m)
    })

  // Ranks that are no power of two end the job in it, and elements with a gap at their end get other data.
  if (isMpich)
    it('leave what noncommutative does not serve', async () => {
      const decisions = { 'reduce-scatter': treeBySize('reduce-scatter', ['noncommutative']) }
      const ended = await run(decisions, 4, ['differing sums 1'])
      expect(ended).toMatchObject(right('differing sums 1'))
      expect(ended.stderr).toMatch(/32 in the setting; \d+ left to MPI: it does not know the setting/)
    })

  // MPICH's processes keep their cores.
  if (isMpich)
    it.each([
      ['binomial', 'recursive_doubling', 'pairwise'],
      ['smp', 'smp', 'recursive_doubling'],
      ['reduce_scatter_gather', 'reduce_scatter_allgather', 'recursive_halving'],
    ])('reduce by %s, %s and %s on up to 5 ranks', async (reduce, allreduce, scatter) => {
      const decisions = {
        reduce: treeBySize('reduce', [reduce]),
        allreduce: treeBySize('allreduce', [allreduce]),
        'reduce-scatter': treeBySize('reduce-scatter', [scatter]),
      }
      const ended = await run(decisions, 5, ['differing sums 1'])
      expect(ended).toMatchObject(right('differing sums 1'))
      expect(ended.stderr).toContain(`reduce ${reduce}: 32 calls: 32 in the setting`)
      expect(ended.stderr).toContain(`reduce-scatter ${scatter}: 96 calls: 96 in the setting`)
    })

  it('scan in settings', async () => {
    const [first, second] = isMpich ? ['smp', 'recursive_doubling'] : ['linear', 'linear']
    const decisions = {
      scan: treeBySize('scan', [first, 'recursive_doubling'], [100]),
      exscan: treeBySize('exscan', [second]),
    }
    const ended = await run(decisions, 3, ['differing sums 1'])
    expect(ended).toMatchObject(right('differing sums 1'))
    expect(ended.stderr).toMatch(/scan recursive_doubling: \d+ calls: \d+ in the setting$/m)
    expect(ended.stderr).toContain(`scan ${first}: 10 calls: 10 in the setting`)
    expect(ended.stderr).toContain(`exscan ${second}: 16 calls: 16 in the setting`)
  })
})
