import { expect, it } from 'vitest'
import { decisionSteps } from '../../../src/tuning/decision-steps.js'
import { openMpiRules } from '../../../src/tuning/open-mpi-rules.js'
import { treeSelector } from '../../../src/tuning/packed-tree.js'
import { treeBySize, tuningFileOf } from '../../support/mpi-tuning-file.js'
import { exampleTrees } from '../../support/tuning-trees.js'

const name = 'Open MPI 4.1.4'
const layout = { nodes: [2, 4], processesPerNode: 2 }

it('openMpiRules writes algorithm, fan-out and segment by ranks and bytes', () => {
  const file = tuningFileOf(name, {
    bcast: treeBySize('bcast', ['default', 'chain', 'pipeline:segment=8192'], [10, 1000]),
    allgather: treeBySize('allgather', ['bruck', 'two_proc'], [100]),
  })
  expect(openMpiRules(file, layout).split('\n')).toEqual([
    '# Open MPI 4.1.4 on tests',
    '# for 2, 4 nodes of 2 processes',
    '2 # collectives',
    '7 # bcast',
    '2 # numbers of ranks',
    '0 # from this number of ranks on',
    '3 # sizes',
    '0 0 0 0 # default',
    '11 2 4 0 # chain',
    '1001 3 0 8192 # pipeline:segment=8192',
    '5 # from this number of ranks on',
    '3 # sizes',
    '0 0 0 0 # default',
    '11 2 4 0 # chain',
    '1001 3 0 8192 # pipeline:segment=8192',
    '0 # allgather',
    '2 # numbers of ranks',
    '0 # from this number of ranks on',
    '2 # sizes',
    '0 2 0 0 # bruck',
    '404 0 0 0 # two_proc',
    '5 # from this number of ranks on',
    '2 # sizes',
    '0 2 0 0 # bruck',
    '808 0 0 0 # two_proc',
    '',
  ])
})

it.each([
  ['another library', tuningFileOf('MPICH 4.0.2', {}), /source\.name: expected Open MPI 4\.1, got MPICH/],
  [
    'an algorithm that is not there',
    tuningFileOf(name, { bcast: treeBySize('bcast', ['imaginary']) }),
    /decisions\.bcast\.settings\[0\]\.algorithm: expected one of .*got imaginary/,
  ],
  [
    'bytes of a gather',
    tuningFileOf(name, { gather: treeBySize('gather', ['binomial', 'basic_linear'], [9]) }),
    /decisions\.gather: expected one setting for 4 ranks/,
  ],
  [
    'a number of requests',
    tuningFileOf(name, { alltoall: treeBySize('alltoall', ['linear_sync:requests=4']) }),
    /rules cannot say requests=4 of linear_sync/,
  ],
  ['a scan', tuningFileOf(name, { scan: treeBySize('scan', ['linear']) }), /rules cannot say scan/],
])('openMpiRules refuses %s', (_, file, message) => {
  expect(() => openMpiRules(file, layout)).toThrow(
    expect.objectContaining({ code: 'ERR_TUNING', message: expect.stringMatching(message) }),
  )
})

it.each([[[]], [[2, 2]], [[0]], [[1.5]]])('openMpiRules refuses nodes %j', (nodes) => {
  const file = tuningFileOf(name, { bcast: treeBySize('bcast', ['pipeline']) })
  expect(() => openMpiRules(file, { nodes, processesPerNode: 2 })).toThrow(
    expect.objectContaining({ code: 'ERR_TUNING' }),
  )
})

it.each(['composite', 'plain', 'distributed', 'large_limits', 'one_leaf'])(
  'decisionSteps are the decisions of the tree %s at every number of bytes',
  (title) => {
    const tree = exampleTrees().get(title)!
    const decide = treeSelector(tree)
    for (const nodes of [1, 2, 3, 5, 8]) {
      const call = {
        collective: 'allgather',
        nodes,
        processesPerNode: 3,
        isMemoryShared: nodes === 1,
      } as const
      const steps = decisionSteps(tree, { ...call, bytes: 0 }, 'tree')
      for (const { fromBytes, setting } of steps) {
        expect(decide({ ...call, bytes: fromBytes })).toBe(setting)
        if (fromBytes > 0) expect(decide({ ...call, bytes: fromBytes - 1 })).not.toBe(setting)
      }
      for (let bytes = 0; bytes <= 2 ** 16; bytes = bytes * 2 + 1) {
        const step = steps.findLast(({ fromBytes }) => fromBytes <= bytes)
        expect(step!.setting).toBe(decide({ ...call, bytes }))
      }
    }
  },
)

it('decisionSteps refuses a tree that tests the operation or its order', () => {
  const tree = exampleTrees().get('every_attribute')!
  const calls = [1, 2, 3, 4, 5, 6, 7, 8].map(
    (nodes) => () =>
      decisionSteps(tree, { collective: 'reduce', nodes, processesPerNode: 2, bytes: 0 }, 'decisions.reduce'),
  )
  expect(calls.some((call) => /cannot say$/.test(refusalOf(call)))).toBe(true)
})

function refusalOf(call: () => unknown): string {
  try {
    call()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
