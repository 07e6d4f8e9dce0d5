import { expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { bestNumber, cellAxes, closedGrid, countCells } from '../../../../src/tuning/models/decision-grid.js'
import { type DecisionTree, treeSelector } from '../../../../src/tuning/models/decision-tree.js'
import { decisionSteps, ruleAssumptions } from '../../../../src/tuning/texts/decision-steps.js'
import { openMpiJsonRules, openMpiRules } from '../../../../src/tuning/texts/open-mpi-rules.js'
import { settingOf, treeBySize, tuningFileOf } from '../../../support/mpi-tuning-file.js'
import { openMpiJsonChoice } from '../../../support/open-mpi-json-rules.js'
import { refusal } from '../../../support/refusal.js'
import { exampleTrees } from '../../../support/tuning-trees.js'

const name = 'Open MPI 4.1.4'
const layout = { nodes: [2, 4], processesPerNode: 2 }

const all = ruleAssumptions
/** The lines of rules, without those of numbers of ranks and sizes. */
const rulesOf = (text: string) => text.split('\n').filter((line) => /^\d+ \d+ \d+ \d+ #/.test(line))

it('openMpiRules writes algorithm, fan-out and segment by ranks and bytes', () => {
  const file = tuningFileOf(name, {
    bcast: treeBySize('bcast', ['default', 'chain', 'pipeline:segment=8192'], [10, 1000]),
    allgather: treeBySize('allgather', ['bruck', 'two_proc'], [100]),
  })
  const { text, left } = openMpiRules(file, layout, all)
  expect(left).toEqual({ commutative: 0, 'equal-arguments': 0 })
  expect(text.split('\n')).toEqual([
    '# Open MPI 4.1.4 on tests',
    '# nodes: 2, 4; processes of each: 2',
    '# assumed of all programs: commutative, equal-arguments',
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
    '0 2 2 0 # bruck',
    '404 0 0 0 # two_proc, left to the library: it is for 2 ranks',
    '5 # from this number of ranks on',
    '2 # sizes',
    '0 2 2 0 # bruck',
    '808 0 0 0 # two_proc, left to the library: it is for 2 ranks',
    '',
  ])
})

it('openMpiRules writes decisions of Open MPI 5.0, with an algorithm that 4.1 lacks', () => {
  const sparbit = { allgather: treeBySize('allgather', ['sparbit']) }
  expect(rulesOf(openMpiRules(tuningFileOf('Open MPI 5.0.9', sparbit), layout, all).text)).toEqual([
    '0 7 0 0 # sparbit',
    '0 7 0 0 # sparbit',
  ])
  expect(() => openMpiRules(tuningFileOf(name, sparbit), layout)).toThrow(
    refusal(
      'ERR_TUNING',
      /expected an algorithm of Open MPI's rules, default, linear, .*two_proc, got sparbit/,
    ),
  )
})

it.each(['allgather', 'alltoall', 'barrier'] as const)(
  'openMpiRules keeps two_proc of %s from communicators of more than 2 ranks',
  (collective) => {
    const file = tuningFileOf(name, { [collective]: treeBySize(collective, ['two_proc']) })
    const { text, left } = openMpiRules(file, { nodes: [1, 2], processesPerNode: 1 })
    expect(text.split('\n').slice(3, -1)).toEqual([
      expect.stringContaining(`# ${collective}`),
      '3 # numbers of ranks',
      '0 # from this number of ranks on',
      '1 # sizes',
      '0 0 0 0 # two_proc, left to the library: it is for 2 ranks',
      '2 # from this number of ranks on',
      '1 # sizes',
      expect.stringMatching(/^0 [56] 0 0 # two_proc$/),
      '3 # from this number of ranks on',
      '1 # sizes',
      '0 0 0 0 # two_proc, left to the library: it is for 2 ranks',
    ])
    expect(left).toEqual({ commutative: 0, 'equal-arguments': 0 })
  },
)

it.each([
  ['allreduce', 'basic_linear nonoverlapping recursive_doubling rabenseifner', 'ring segmented_ring'],
  ['reduce', 'linear in-order_binary rabenseifner', 'chain pipeline binary binomial'],
  // Halving is of both functions, and reorders in the first one only.
  ['reduce-scatter', 'non-overlapping butterfly basic_linear recursive_doubling', 'ring'],
] as const)(
  'openMpiRules leaves to the library what reorders operations of %s',
  (collective, kept, reorders) => {
    const settings = `${kept} ${reorders}`.split(' ')
    const limits = settings.slice(1).map((_, i) => i)
    const file = tuningFileOf(name, { [collective]: treeBySize(collective, settings, limits) })
    const safe = openMpiRules(file, { nodes: [4], processesPerNode: 2 })
    const leftLines = rulesOf(safe.text).filter((line) =>
      line.endsWith('left to the library: it reorders operands'),
    )
    expect(leftLines.map((line) => line.replace(/^\d+ 0 0 0 # (.*), left.*/, '$1'))).toEqual(
      reorders.split(' '),
    )
    expect(safe.left).toEqual({ commutative: leftLines.length, 'equal-arguments': 0 })
    const given = openMpiRules(file, { nodes: [4], processesPerNode: 2 }, ['commutative'])
    expect(given.text).not.toContain('reorders')
    expect(given.left.commutative).toBe(0)
  },
)

it('openMpiRules leaves recursive halving of MPI_Reduce_scatter to the library, not that of equal blocks', () => {
  const file = tuningFileOf(name, { 'reduce-scatter': treeBySize('reduce-scatter', ['recursive_halving']) })
  expect(rulesOf(openMpiRules(file, { nodes: [4], processesPerNode: 2 }).text)).toEqual([
    '0 0 0 0 # recursive_halving, left to the library: it reorders operands',
    '0 3 0 0 # recursive_halving',
  ])
})

it('openMpiRules leaves to the library what cuts data by the datatype of each rank', () => {
  const bcast = ['binomial', 'chain:fanout=2,segment=64', 'split_binary_tree', 'scatter_allgather']
  const file = tuningFileOf(name, {
    bcast: treeBySize('bcast', [...bcast, 'scatter_allgather_ring'], [1, 2, 3, 4]),
    gather: treeBySize('gather', ['linear_sync:segment=256']),
    reduce: treeBySize('reduce', ['in-order_binary:segment=256']),
  })
  const { text, left } = openMpiRules(file, { nodes: [4], processesPerNode: 2 })
  expect(
    rulesOf(text).map((line) =>
      line.replace('left to the library: it cuts by the datatype of each rank', 'left'),
    ),
  ).toEqual([
    '0 6 0 0 # binomial',
    '2 0 0 0 # chain:fanout=2,segment=64, left',
    '3 0 0 0 # split_binary_tree, left',
    '4 0 0 0 # scatter_allgather, left',
    '5 0 0 0 # scatter_allgather_ring, left',
    '0 0 0 0 # linear_sync:segment=256, left',
    // All ranks of a reduction pass the same datatype.
    '0 6 0 256 # in-order_binary:segment=256',
  ])
  expect(left).toEqual({ commutative: 0, 'equal-arguments': 5 })
})

it('openMpiRules leaves an allgather to the library where ignored arguments would choose between settings', () => {
  const bySize = tuningFileOf(name, {
    allgather: treeBySize('allgather', ['default', 'ring', 'bruck'], [8, 9]),
  })
  const one = { nodes: [4], processesPerNode: 2 }
  const safe = openMpiRules(bySize, one)
  const why = 'left to the library: ignored arguments in place would choose'
  expect(rulesOf(safe.text)).toEqual([
    '0 0 0 0 # default',
    `72 0 0 0 # ring, ${why}`,
    `80 0 0 0 # bruck, ${why}`,
  ])
  expect(safe.left).toEqual({ commutative: 0, 'equal-arguments': 2 })
  const single = tuningFileOf(name, { allgather: treeBySize('allgather', ['ring']) })
  expect(rulesOf(openMpiRules(single, one).text)).toEqual(['0 4 0 0 # ring'])
  // In place every algorithm of an alltoall is the same one.
  const alltoall = tuningFileOf(name, { alltoall: treeBySize('alltoall', ['linear', 'pairwise'], [8]) })
  expect(rulesOf(openMpiRules(alltoall, one).text)).toEqual(['0 1 0 0 # linear', '72 2 0 0 # pairwise'])
})

it.each([
  [
    'another library',
    tuningFileOf('MPICH 4.0.2', {}),
    /source\.name: expected Open MPI 4\.1 or 5\.0, got MPICH/,
  ],
  [
    'an algorithm that is not there',
    tuningFileOf(name, { bcast: treeBySize('bcast', ['imaginary']) }),
    /decisions\.bcast\.settings\[0\]\.algorithm: expected an algorithm of .*got imaginary/,
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
  expect(() => openMpiRules(file, layout)).toThrow(refusal('ERR_TUNING', message))
})

it.each([[[]], [[2, 2]], [[0]], [[1.5]]])('openMpiRules refuses nodes %j', (nodes) => {
  const file = tuningFileOf(name, { bcast: treeBySize('bcast', ['pipeline']) })
  expect(() => openMpiRules(file, { nodes, processesPerNode: 2 })).toThrow(refusal('ERR_TUNING'))
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

it('openMpiRules of a grid has the setting that a look-up finds, for every size', () => {
  const texts = [
    'default',
    'binomial',
    'chain:fanout=4,segment=1024',
    'pipeline:segment=8192',
    'knomial:radix=4',
  ]
  const settings = texts.map((text) => settingOf('bcast', text))
  const axes = cellAxes({ nodes: 4, processesPerNode: 2 })
  const draw = seededRandom(5)
  const best = Int32Array.from({ length: countCells(axes) }, () => 1 + Math.floor(draw() * texts.length))
  const grid = { settings, axes, isTrained: true, best, performances: undefined }
  const { text } = openMpiRules(tuningFileOf(name, { bcast: closedGrid(grid) }), layout, all)
  const blocks = text.split(/\n\d+ # from this number of ranks on\n/).slice(1)
  expect(blocks).toHaveLength(2)
  for (const [i, block] of blocks.entries()) {
    const rules = [...block.matchAll(/^(\d+) \d+ \d+ \d+ # (\S+)$/gm)].map(
      ([, from, setting]) => [Number(from), setting] as const,
    )
    for (const edge of axes.bytes)
      for (const bytes of [edge, edge + 1, 2 * edge + 3]) {
        const expected = texts[bestNumber(grid, bytes, layout.nodes[i], layout.processesPerNode) - 1]
        const [, setting] = rules.findLast(([from]) => from <= bytes)!
        expect(setting, `${bytes} B on ${layout.nodes[i]} nodes`).toBe(expected)
      }
  }
})

it('openMpiJsonRules chooses by nodes and size what the decisions choose', () => {
  const bySize = treeBySize('bcast', ['default', 'chain:segment=1024', 'binomial'], [10, 1000])
  const byNodes: DecisionTree = {
    settings: [...bySize.settings, settingOf('bcast', 'knomial:radix=4')],
    root: {
      ...{ kind: 'threshold', attribute: 'nodes', atMost: 1 },
      below: { kind: 'leaf', setting: 3, cases: 1, errors: 0 },
      above: bySize.root,
    },
  }
  const file = tuningFileOf(name, {
    bcast: byNodes,
    allgather: treeBySize('allgather', ['bruck', 'ring'], [100]),
    alltoall: treeBySize('alltoall', ['linear_sync:requests=8']),
    'reduce-scatter': treeBySize('reduce-scatter', ['butterfly']),
  })
  const layouts = [1, 2, 4].flatMap((nodes) => [
    { nodes, processesPerNode: 1 },
    { nodes, processesPerNode: 4 },
  ])
  const { text, left } = openMpiJsonRules(file, layouts, 4, all)
  expect(left).toEqual({ commutative: 0, 'equal-arguments': 0 })
  const choose = openMpiJsonChoice(text)
  const none = { fanout: 0, segment: 0, requests: 0 }
  expect(choose('bcast', 1, 4, 5000)).toEqual({ ...none, algorithm: 7 })
  for (const [nodes, perNode] of [
    [2, 1],
    [4, 4],
    [3, 2],
  ]) {
    expect(choose('bcast', nodes, perNode, 10)).toBeNull()
    expect(choose('bcast', nodes, perNode, 11)).toEqual({ ...none, algorithm: 2, fanout: 4, segment: 1024 })
    expect(choose('bcast', nodes, perNode, 1001)).toEqual({ ...none, algorithm: 6 })
  }
  // Sizes of an allgather are those of all ranks. A radix of 0 would let Open MPI 6 wait for ever.
  expect(choose('allgather', 4, 4, 100 * 16)).toEqual({ ...none, algorithm: 2, fanout: 2 })
  expect(choose('allgather', 4, 4, 101 * 16)).toEqual({ ...none, algorithm: 4 })
  expect(choose('alltoall', 2, 4, 8)).toEqual({ ...none, algorithm: 4, requests: 8 })
  expect(choose('reduce_scatter', 2, 4, 8)).toEqual({ ...none, algorithm: 4 })
  expect(choose('reduce_scatter_block', 2, 4, 8)).toEqual({ ...none, algorithm: 4 })
})

it('openMpiJsonRules for one process a node also decides for MPI_COMM_WORLD, which is of no known kind', () => {
  const file = tuningFileOf(name, { bcast: treeBySize('bcast', ['pipeline:segment=64']) })
  const layouts = [2, 4].flatMap((nodes) => [1, 2].map((processesPerNode) => ({ nodes, processesPerNode })))
  const distributions = (perNode: number) => {
    const { bcast } = JSON.parse(openMpiJsonRules(file, layouts, perNode, all).text).collectives
    return bcast.map((one: { comm_rank_distribution: string }) => one.comm_rank_distribution)
  }
  expect(distributions(1)).toEqual(['any', 'any'])
  expect(distributions(2)).toEqual(['one-per-node', 'one-per-node', 'any', 'any'])
})

it('openMpiJsonRules leaves communicators to the library whose kind was not measured', () => {
  const file = tuningFileOf('Open MPI 6.0.0', { barrier: treeBySize('barrier', ['two_proc']) })
  const choose = openMpiJsonChoice(openMpiJsonRules(file, [{ nodes: 1, processesPerNode: 2 }], 2).text)
  expect(choose('barrier', 1, 2, 0)).toMatchObject({ algorithm: 5 })
  expect(choose('barrier', 1, 3, 0)).toBeNull()
  expect(choose('barrier', 2, 1, 0)).toBeNull()
  expect(choose('barrier', 2, 2, 0)).toBeNull()
})

it('openMpiJsonRules counts what it leaves to the library, and refuses another library', () => {
  const file = tuningFileOf(name, { allreduce: treeBySize('allreduce', ['ring']) })
  const { text, left } = openMpiJsonRules(file, [{ nodes: 4, processesPerNode: 2 }], 2)
  expect(left).toEqual({ commutative: 1, 'equal-arguments': 0 })
  expect(openMpiJsonChoice(text)('allreduce', 4, 2, 8)).toBeNull()
  expect(() => openMpiJsonRules(tuningFileOf('MPICH 4.0.2', {}), [], 2)).toThrow(
    refusal('ERR_TUNING', /expected Open MPI 4\.1, 5 or 6, got MPICH/),
  )
})
