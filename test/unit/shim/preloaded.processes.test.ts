import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { plan } from '../../../src/neighborhood/plan/plan.js'
import { parseStrategy, strategyKind } from '../../../src/neighborhood/strategies/strategies.js'
import { collectives } from '../../../src/schedule/specification.js'
import { packedMapping } from '../../../src/shim/packed-files.js'
import { planWords } from '../../../src/shim/plan-words.js'
import { parseEdgeList } from '../../../src/topology/files/edge-list.js'
import { buildTopology } from '../../../src/topology/files/topology-from-spec.js'
import { mapTopology } from '../../../src/topology/mapping/map-topology.js'
import { PlacedPairs } from '../../../src/topology/mapping/placed-graph.js'
import { distinctIn, distinctOut } from '../../../src/topology/neighbors.js'
import type { ProcessTopology } from '../../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../../src/topology/topology-builders.js'
import { bestNumber, openGrid } from '../../../src/tuning/models/decision-grid.js'
import { readTuningFile } from '../../../src/tuning/models/read-tuning-file.js'
import { treeOfDecisions } from '../../../src/tuning/models/tuning-file.js'
import {
  callDraw,
  GridSelection,
  tunedLogic,
  tuningLogic,
} from '../../../src/tuning/online/grid-selection.js'
import { callFilesOf, disagreements } from '../../support/call-folders.js'
import { describeEitherMpi, installedMpis } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { childKey, otherChoices, worldKey } from '../../support/mpi-online.js'
import { settingOf, treeBySize } from '../../support/mpi-tuning-file.js'
import { oddDecisions } from '../../support/odd-decisions.js'
import { randomGrid } from '../../support/random-grids.js'
import { matchingIn, operationWords, otherMatchesOf } from '../../support/recorded-calls.js'
import {
  printedSlots,
  recordedGraph,
  reorderedKinds,
  shifted,
  writeSlots,
} from '../../support/reordered-program.js'
import { reportedCalls } from '../../support/reported-calls.js'
import { describeShim, right, Shim } from '../../support/shim.js'
import { leafOf } from '../../support/tree-walks.js'
import { exampleTrees } from '../../support/tuning-trees.js'
import { cli } from '../cli/run-cli.js'

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)
const sum = (counts: Iterable<number>) => [...counts].reduce((all, count) => all + count, 0)

describeShim('a job with the preloaded library', (shim) => {
  // Waiting processes of MPICH do not give up their core.
  const few = shim.mpi.name === 'MPICH' ? 2 : 3

  it('gets right data in every form, has its graphs recorded, and reports what became of each call', async () => {
    const recorded = shim.path('recorded')
    const cases = ['neighbors 3 3 4', 'forms 3', 'off', ...(few === 3 ? ['ends'] : [])]
    const env = {
      RANKWEAVE_SHIM: `always,report,record:${recorded}`,
      RANKWEAVE_SHIM_CORES: '2',
      RANKWEAVE_SHIM_STRATEGY: 'hierarchical:between=2,inside=2',
      RANKWEAVE_SHIM_BLOCK_LIMIT: '1024',
    }
    const { stdout, stderr, code } = await shim.run(few + 1, cases, env, [shim.tool('counting')])
    const calls = reportedCalls(stderr)
    const gathers = calls.filter(({ name }) => name === 'MPI_Neighbor_allgather')
    const ofPlans = ['by plan', 'sent directly']
    const left = gathers.flatMap(({ outcomes }) =>
      Object.entries(outcomes).flatMap(([outcome, count]) => (ofPlans.includes(outcome) ? [] : [count])),
    )
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${right(...cases).stdout}counted ${sum(left)} allgathers\n`,
    })
    for (const { calls: all, outcomes } of calls) expect(sum(Object.values(outcomes))).toBe(all)
    expect(stderr).toContain('8 by the plan (hierarchical:between=2,inside=2)')
    const forms = ['allgather', 'allgatherv', 'alltoall', 'alltoallv', 'alltoallw']
    for (const name of forms.flatMap((base) => [`MPI_Neighbor_${base}`, `MPI_Ineighbor_${base}`]))
      expect(calls.filter((line) => line.name === name)).toContainEqual({
        ...{ name, communicator: 'communicators whose creation was not intercepted', calls: 1 },
        outcomes: { 'left to MPI: no plan is known for the communicator': 1 },
      })
    const byInfo = "left to MPI: rankweave=off in the communicator's info"
    const lines = gathers.map(({ outcomes }) => outcomes)
    expect(lines.filter((outcomes) => outcomes[byInfo] === 10)).toHaveLength(3)
    expect(lines).toContainEqual({ 'by plan': 20, [byInfo]: 10 })
    const graph = parseEdgeList(readFileSync(recorded, 'utf8'))
    expect(graph.outRank.length).toBeGreaterThan(4)

    const words = planWords(plan(graph, { kind: 'routed' }).schedule)
    const [good, damaged] = ['plan.rwplan', 'damaged.rwplan'].map(shim.path.bind(shim))
    writeFileSync(good, words)
    // One word of one rank.
    words[words.length - 1] ^= 1
    writeFileSync(damaged, words)
    const again = await shim.run(few + 1, cases.slice(0, 1), {
      RANKWEAVE_SHIM: 'always,report',
      RANKWEAVE_SHIM_PLAN: `${damaged}:${good}`,
    })
    expect(again).toMatchObject(right(...cases.slice(0, 1)))
    expect(again.stderr).toContain('8 by the plan (plan file 2')
    expect(again.stderr).toContain('by the plan (shared)')
    expect(again.stderr).toContain(`${good} is not used on a communicator: it is for another graph`)
  })

  const other = installedMpis.find((mpi) => mpi !== shim.mpi)
  it.skipIf(other === undefined)('ends at its start where the library is of another MPI', async () => {
    const foreign = new Shim(other!, compilerOf(other!)!, () => shim.path(''))
    await foreign.compile()
    const { code, stdout, stderr } = await shim.start(2, shim.caseCommand('off'), {}, [foreign.library])
    expect({ code, stdout: stdout.includes('right') }).toEqual({ code: 78, stdout: false })
    expect(stderr).toMatch(
      new RegExp(
        `rankweave shim: ${foreign.library} is compiled for ${other!.name}\\b.*, ` +
          `and this program uses ${shim.mpi.name}\\b.*: compile it with the mpicc of the program`,
      ),
    )
  })

  it('keeps the rules of neighborhood collectives on every topology', async () => {
    const env = { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_STRATEGY: 'routed', RANKWEAVE_SHIM_LENDS: '0' }
    expect(await shim.run(few, ['rules brief'], env)).toEqual({ ...right('rules brief'), stderr: '' })
  })

  it('plans a graph once that comes again, and not before call 32', async () => {
    const env = { RANKWEAVE_SHIM: 'report', RANKWEAVE_SHIM_PATIENCE: '0' }
    const ended = await shim.run(few, ['again 3 31', 'again 5 250'], env)
    expect(ended).toMatchObject(right('again 3 31', 'again 5 250'))
    const lines = [...ended.stderr.matchAll(/communicator (\d), . ranks: .* planned in (\S+) ms/g)]
    const plannedMs = new Map(lines.map(([, number, ms]) => [Number(number), ms]))
    expect([0, 1, 2, 3].map((number) => plannedMs.get(number))).toEqual(Array(4).fill('0.000'))
    // Number 4 lives from the first round to the last; graphs are in turn.
    expect([plannedMs.get(7), plannedMs.get(9)]).toEqual([plannedMs.get(5), plannedMs.get(5)])
    expect(plannedMs.get(8)).toBe(plannedMs.get(6))
    expect(plannedMs.get(5)).not.toBe('0.000')
  })

  // Blocks are copied, or sent for want of a place, and lent.
  it('gives what MPI alone gives to calls in flight, in whatever call they are completed', async () => {
    const cases = ['stress 3 40']
    const without = await shim.start(few, shim.caseCommand(...cases), {}, [])
    expect(without).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^sum \w+\nstress 3 40: right\n$/),
    })
    for (const env of [
      { RANKWEAVE_SHIM_REGION: '262144', RANKWEAVE_SHIM_BLOCK_LIMIT: '64' },
      { RANKWEAVE_SHIM_BLOCK_LIMIT: '0' },
      { RANKWEAVE_SHIM_LENDS: '0', RANKWEAVE_SHIM_CORES: '2' },
    ])
      expect(await shim.run(few, cases, { RANKWEAVE_SHIM: 'always', ...env })).toEqual(without)
  })

  it('has messages, receives, probes and cancels recorded in their order, and the lengths of queues', async () => {
    const path = shim.path('matching')
    const cases = ['order', 'completions', 'probes', 'communicators'].map((kind) => `matching ${kind}`)
    const ended = await shim.run(2, cases, {
      RANKWEAVE_SHIM: `matching:${path}`,
      RANKWEAVE_SHIM_MATCHING_SAMPLE_MS: '0.001',
      // Clocks of nodes are seconds apart.
      RANKWEAVE_SHIM_CORES: '1',
      RANKWEAVE_SHIM_MATCHING_SKEW_US: '5000000',
    })
    expect(ended).toEqual({ ...right(...cases), stderr: '' })
    const matching = matchingIn(path, 2)
    expect(matching).toMatchObject({ isBounded: false, lostMessages: 0, leftOut: 0 })
    expect(otherMatchesOf(matching, 0)).toBe(0)
    const { header, isEnded, operations } = matching.process(0)
    expect({ processes: header.processes, rank: header.rank, isEnded }).toEqual({
      ...{ processes: 2, rank: 0, isEnded: true },
    })
    expect([...(header.communicatorSizes ?? [])]).toEqual([[2, 1]])
    const tags = upTo(8)
    expect(operationWords(operations)).toEqual([
      ...tags.map((tag) => `arrive 0:1/${tag}`),
      ...tags.map((tag) => `post 0:1/${7 - tag}`),
      ...tags.map((tag) => `post 0:1/${15 - tag}`),
      ...tags.map((tag) => `arrive 0:1/${8 + tag}`),
      ...tags.map(() => 'post 0:*/*'),
      ...[...tags, ...tags].map((tag) => `arrive 0:1/${tag}`),
      ...['probe 0:1/3', 'probe 0:*/*', 'probe 0:1/99', 'post 0:1/2', 'mprobe 0:*/1', 'post 0:1/100'],
      ...['cancel 25', ...[0, 3, 4, 5, 6, 7].map((tag) => `post 0:1/${tag}`)],
      ...['arrive 3:0/1', 'arrive 1:1/0', 'post 1:1/0', 'post 3:0/1', 'post 2:0/5', 'arrive 2:0/5'],
      ...upTo(3).flatMap(() => ['post 2:0/6', 'arrive 2:0/6']),
      ...['arrive 1:1/7', 'post 1:1/7'],
    ])
    const sampled = JSON.parse(readFileSync(`${path}/queues-0.json`, 'utf8'))
    const hasQueues = shim.mpi.name === 'Open MPI'
    expect(sampled).toMatchObject({
      ...{ format: 'rankweave-queues', version: 1, rank: 0, offered: hasQueues, missed: 0 },
    })
    const longest = (column: number) =>
      Math.max(0, ...sampled.samples.map((sample: number[]) => sample[column]))
    // With messages of barriers, and before the last receive of a queue.
    expect([longest(2) >= 8, longest(3) >= 7]).toEqual([hasQueues, hasQueues])
  })

  it('has its ranks reordered as a file says, or better than they were', async () => {
    const [recorded, file] = [shim.path('topology'), shim.path('topology.map')]
    const [ranks, cases] = [few + 2, reorderedKinds.map((kind) => `reorder ${kind} 3`)]
    const cores = { RANKWEAVE_SHIM_CORES: '2' }
    const own = await shim.run(ranks, cases, { RANKWEAVE_SHIM: `reorder;record:${recorded}`, ...cores })
    const topology = recordedGraph(recorded, 'adjacent', ranks)
    for (const [i, slots] of printedSlots(own, cases).entries())
      expect(slots.toSorted((a, b) => a - b)).toEqual(upTo(reorderedKinds[i] === 'grid' ? 4 : ranks))
    const placed = (slots: readonly number[]) =>
      pairsOf(
        topology,
        Int32Array.from(slots, (slot) => Math.floor(slot / 2)),
      )
    expect(placed(printedSlots(own, cases)[0])).toBeLessThan(placed(upTo(ranks)))
    writeSlots(file, topology, shifted(topology))
    const two = ['reorder adjacent 3', 'reorder grid 3']
    const given = await shim.run(ranks, two, { RANKWEAVE_SHIM: `reorder:${file}`, ...cores })
    const said = `the mapping ${file} is not used on a communicator of ${ranks} ranks: it is for another graph`
    expect(printedSlots(given, two, `rankweave shim: ${said}\n`)).toEqual([shifted(topology), upTo(4)])
  })

  it('takes the settings of a tuning file', async () => {
    const decisions = oddDecisions[shim.mpi.name]
    const file = shim.writeTuning('tuning.json', decisions)
    const differing = ['in-place', 'ignored', 'sums'].map((what) => `differing ${what} 1`)
    const cases = ['tuned all 1', 'tuned errors', 'tuned freed 5', ...differing]
    const ended = await shim.run(few, cases, {
      RANKWEAVE_SHIM: `tune:${file},report`,
      RANKWEAVE_SHIM_TUNE_AFTER: '0',
      RANKWEAVE_SHIM_TUNE_PER_COMMUNICATOR: '99',
      RANKWEAVE_SHIM_TUNE_PER_PROCESS: '999',
    })
    expect(ended).toMatchObject(right(...cases))
    for (const collective of Object.keys(decisions))
      expect(ended.stderr).toMatch(new RegExp(`shim: ${collective} .* in the setting`))
    for (const said of [
      /allgather default: .* left to MPI: the file chooses so/,
      /it does not know the setting/,
    ])
      expect(ended.stderr).toMatch(said)
    expect(ended.stderr).toMatch(/allreduce: \d+ calls left to MPI: an operation that is not commutative/)
    expect(ended.stderr).not.toContain('no shadow communicator')
  })

  it('takes the settings that a seed draws, each call once, and those that were learned of them', async () => {
    const runs = shim.path('runs')
    const ofWorld = new Map([[0, worldKey]])
    const tuning = { RANKWEAVE_SHIM: `online:${runs},seed=77,calls=200` }
    expect(await shim.run(3, ['online parts 24'], tuning)).toEqual({
      ...right('online parts 24'),
      stderr: '',
    })
    const [file] = callFilesOf(runs)
    expect(file).toMatchObject({ mode: 'tuning', model: '', seed: 77, processes: 3 })
    // The world, its even ranks and a copy of these, its last two ranks; one rank is left to MPI.
    expect(file.communicators.map(({ processes }) => processes)).toEqual([3, 2, 2, 2])
    const even = childKey(worldKey, 0, 0)
    const keys = [worldKey, even, childKey(even, 0, 0), childKey(worldKey, 1, 2)]
    expect(otherChoices(file, new Map(keys.map((key, id) => [id, key])))).toEqual([])
    expect(disagreements(file)).toEqual([])
    const ofRank = (rank: number, id: number) =>
      file.records.get(rank)!.filter(({ communicator }) => communicator === id)
    for (const rank of [0, 1, 2]) expect(ofRank(rank, 0).map(({ call }) => call)).toEqual(upTo(48))
    expect([ofRank(0, 1).length, ofRank(1, 1).length, ofRank(2, 3).length]).toEqual([24, 0, 24])

    const least = ['--least-calls', '1', '--least-settings', '1']
    expect(await cli('learn', runs, ...least)).toMatchObject({ exitCode: 0 })
    const model = readTuningFile(readFileSync(`${runs}/model.json`, 'utf8'))
    const tuned = { RANKWEAVE_SHIM: `online:${runs},seed=3,measured=2,mode=tuned` }
    const cases = ['online parts 24', 'online odd']
    expect(await shim.run(3, cases, tuned)).toEqual({ ...right(...cases), stderr: '' })
    const later = callFilesOf(runs).find(({ seed }) => seed === 3)!
    expect(later).toMatchObject({ mode: 'tuned', model: model.checksum })
    expect([...later.records.keys()]).toEqual([0, 1])
    expect(otherChoices(later, ofWorld, model)).toEqual([])
    expect(readdirSync(runs)).toHaveLength(4)
  })
})

/** Pairs of a vertex and another node. */
function pairsOf(topology: ProcessTopology, nodeOf: Int32Array): number {
  return new PlacedPairs(distinctOut(topology), distinctIn(topology), nodeOf).cost
}

/** The ranks that a block passes. The library has no steps in which no block moves. */
const way = (source: number, hops: readonly number[]) =>
  [source, ...hops].filter((rank, h, all) => h === 0 || rank !== all[h - 1])

const settings = (...texts: readonly string[]) => texts.map((text) => settingOf('bcast', text))

describeShim(
  'parts of the preloaded library',
  (shim) => {
    const parts = (input: readonly (string | number)[], ...words: readonly (string | number)[]) =>
      spawnSync(shim.parts, words.map(String), { input: input.join('\n'), encoding: 'utf8' })
    const numbers = (...given: Parameters<typeof parts>) => {
      const { status, stdout } = parts(...given)
      expect(status).toBe(0)
      return stdout.trim().split(/\s+/).map(Number)
    }

    it.each([
      ...['routed', 'routed:radices=2.2.2.2', 'routed:radices=4.4', 'routed:radices=3.5', 'hierarchical'],
      ...[
        'hierarchical:between=2.2,inside=2.2',
        'hierarchical:between=3,inside=4',
        'hierarchical:inside=2.2',
      ],
      ...['hierarchical:between=4,inside=3.2', 'hierarchical:inside=4,between=3'],
    ])('%s leads through the ranks of the strategy', (text) => {
      const cores = 4
      for (const ranks of [2, 7, 11, 12]) {
        const nodeOf = Int32Array.from({ length: ranks }, (_, rank) => Math.floor(rank / cores))
        const topology = topologyFromEdges(ranks, { sources: [], destinations: [] })
        const strategy = parseStrategy(text)
        const route = strategyKind(strategy).route(strategy, { topology, nodeOf })
        const lines = parts([], 'route', text, ranks, cores).stdout.split('\n')
        for (const [i, line] of lines.slice(0, ranks * ranks).entries()) {
          const [source, destination] = [Math.floor(i / ranks), i % ranks]
          const hops = upTo(route.hops).map((h) => route.hop(h, source, destination))
          expect(way(source, line.trim().split(' ').map(Number))).toEqual(way(source, hops))
        }
      }
    })

    it.each([
      ['routed:radices=2', 'routed:radices=2.2.2.2'],
      ['routed:radices=3.2', 'routed:radices=3.2.2'],
      ['hierarchical:between=2,inside=2', 'hierarchical:between=2.2,inside=2.2'],
      ['hierarchical:inside=2', 'hierarchical:between=2.2,inside=2.2'],
    ])('%s is refused, and %s is named', (text, whole) => {
      expect(parts([], 'route', text, 12, 4)).toMatchObject({ status: 4, stdout: `${whole}\n` })
    })

    it.each([
      ...['routed:', 'routed:radices=', 'routed:radices=1', 'routed:radix=4.4', 'routed:radices=4.4,'],
      'hierarchical:3',
    ])('%s is refused', (text) => {
      expect(parts([], 'route', text, 12, 4).status).toBe(3)
    })

    const consecutive = (cores: number) => (slot: number) => Math.floor(slot / cores)
    const uneven = (slot: number) => Math.floor(Math.sqrt(slot))
    it.each([
      ['moore:16x16:r=2', consecutive(16), [16, 16]],
      ['moore:16x16:r=1', (slot: number) => slot % 8, [16, 16]],
      ['moore:6x5x4:r=1', uneven, [6, 5, 4]],
      ['er:100:d=0.1:seed=3', uneven, []],
      ['er:60:d=0.02:seed=3', consecutive(7), []],
      ['powerlaw:256:d=4:gamma=2.3:seed=1', consecutive(16), []],
      ['er:16:d=1', consecutive(4), []],
      ['er:9:d=0', consecutive(4), []],
    ])('maps %s by a permutation that is never worse, counted right', (spec, nodeOf, dims) => {
      const topology = buildTopology(spec)
      const nodeOfSlot = Int32Array.from({ length: topology.ranks }, (_, slot) => nodeOf(slot))
      const edges = upTo(topology.ranks).flatMap((from) =>
        [...topology.outRank.subarray(topology.outStart[from], topology.outStart[from + 1])].map((to) => [
          from,
          to,
        ]),
      )
      const [before, after, ...slotOf] = numbers(
        [
          ...[topology.ranks, Math.max(...nodeOfSlot) + 1, ...nodeOfSlot, dims.length, ...dims],
          ...[edges.length, ...edges.flat()],
        ],
        'map',
      )
      expect(slotOf.toSorted((a, b) => a - b)).toEqual(upTo(topology.ranks))
      expect(before).toBe(pairsOf(topology, nodeOfSlot.slice()))
      expect(after).toBe(
        pairsOf(
          topology,
          Int32Array.from(slotOf, (slot) => nodeOfSlot[slot]),
        ),
      )
      expect(after).toBeLessThanOrEqual(before)
      // Recursive bisection and more steps are worth some percent.
      const { cost } = mapTopology(topology, { nodeOfSlot, mostWork: 4e6 })
      expect(after).toBeLessThanOrEqual(1.25 * cost)
    })

    it('decide as the library in TypeScript does by grids', () => {
      const tables = [
        settings('binomial', 'chain:fanout=2', 'pipeline:segment=1024'),
        settings('default', 'binomial'),
        settings('binomial', 'default', 'knomial:radix=4', 'chain'),
        settings('binomial'),
      ]
      for (const [i, table] of tables.entries()) {
        const grid = randomGrid(table, i + 1)
        const calls = Array.from({ length: 3000 }, (_, k) => ({
          ...({ collective: 'bcast', nodes: 1 + (k % 12), processesPerNode: 1 + ((k * 7) % 11) } as const),
          bytes: k % 50 === 0 ? 2 ** (k % 41) : (k * k) % 70_000,
          isMemoryShared: k % 12 === 0,
        }))
        const lines = calls.map(
          ({ nodes, processesPerNode, bytes }) => `1 ${nodes} ${processesPerNode} ${bytes}`,
        )
        const chosen = numbers(lines, 'decide', shim.writeTuning('grid.json', { bcast: grid }))
        const tree = treeOfDecisions(grid)
        expect(chosen).toEqual(calls.map((call) => leafOf(tree, call).setting))
        const open = openGrid('grid', grid)
        const own = table.findIndex(({ algorithm }) => algorithm === 'default')
        const best = calls.map((call) => bestNumber(open, call.bytes, call.nodes, call.processesPerNode))
        expect(chosen).toEqual(best.map((number) => (number > 0 ? number - 1 : own < 0 ? table.length : own)))
      }
    })

    it('decide as the library in TypeScript does by trees', () => {
      for (const [i, [title, { settings, root }]] of [...exampleTrees()].entries()) {
        const seed = i + 1
        const tree = {
          settings: settings.map((setting) => ({ ...setting, collective: 'bcast' as const })),
          root,
        }
        const calls = Array.from({ length: 2000 }, (_, k) => {
          const nodes = 1 + ((k * seed) % 9)
          const bytes = k % 50 === 0 ? 2 ** (k % 41) : (k * k * seed) % 70_000
          const processesPerNode = 1 + ((k * 7) % 6)
          return { collective: 'bcast', nodes, processesPerNode, bytes, isMemoryShared: nodes === 1 } as const
        })
        const lines = calls.map(
          ({ nodes, processesPerNode, bytes }) => `1 ${nodes} ${processesPerNode} ${bytes}`,
        )
        const chosen = numbers(lines, 'decide', shim.writeTuning('tree.json', { bcast: tree }))
        expect([title, chosen]).toEqual([title, calls.map((call) => leafOf(tree, call).setting)])
      }
    })

    it('draw for online tuning as the library in TypeScript does', () => {
      const table = settings('binomial', 'chain:fanout=2', 'pipeline:segment=1024', 'default', 'x', 'y', 'z')
      const calls = [0, 1, 123_456_789, 4_294_967_295].flatMap((seed) =>
        [0, 7, 0x9e3779b1, 4_294_967_295].flatMap((communicator) =>
          upTo(50).map((call) => ({ seed, communicator, call, bytes: (call * 977) % 90_000 })),
        ),
      )
      const lines = calls.map((each) => Object.values(each).join(' '))
      const place = collectives.indexOf('bcast')
      for (const [i, eligible] of [[1, 2, 3, 4, 5, 6, 7, 8], [2, 5, 8], [4], []].entries()) {
        const grid = randomGrid(table, 2 * i, i === 1 ? [5] : i === 0 ? [1, 4] : [])
        const file = shim.writeTuning('draw.json', { bcast: grid })
        for (const [mode, logic] of [tuningLogic(), tunedLogic].entries()) {
          const [nodes, perNode] = [1 + 2 * i, 1 + i]
          const selection = new GridSelection(openGrid('grid', grid), logic, eligible, nodes, perNode)
          const expected = calls.map(({ seed, communicator, call, bytes }) =>
            selection.choose(bytes, callDraw(seed, communicator, call, place)),
          )
          expect(numbers(lines, 'draw', file, mode, nodes, perNode, ...eligible)).toEqual(expected)
        }
      }
    })

    const damages: [string, (good: Buffer) => Buffer, string][] = [
      ['empty', () => Buffer.alloc(0), 'is of another kind'],
      [
        'of another kind',
        (good) => Buffer.concat([Buffer.from('{'), good.subarray(1)]),
        'is of another kind',
      ],
      ['of another version', (good) => changed(good, 8), 'is of another version: write it again'],
      ['cut off', (good) => good.subarray(0, -9), 'is cut off'],
      ['changed', (good) => changed(good, good.length - 20), 'was damaged'],
    ]
    const refused = (why: string) => `the file beside it that ends with .packed ${why}\n`
    const changed = (good: Buffer, at: number) =>
      Buffer.from(good.map((byte, i) => (i === at ? byte ^ 1 : byte)))

    it.each(damages)('refuse a mapping whose packed form is %s', (_, damage, message) => {
      const topology = parseEdgeList('ranks 7\n0 1')
      const path = writeSlots(shim.path('damaged.map'), topology, shifted(topology))
      expect(parts([], 'mapping', path)).toMatchObject({ status: 0, stdout: '' })
      writeFileSync(`${path}.packed`, damage(readFileSync(`${path}.packed`)))
      expect(parts([], 'mapping', path)).toMatchObject({ status: 1, stdout: refused(message) })
    })

    it('refuse a mapping with a slot twice, and one without a packed form', () => {
      const path = shim.path('twice.map')
      const missing = refused('cannot be opened')
      expect(parts([], 'mapping', path)).toMatchObject({ status: 1, stdout: missing })
      writeFileSync(`${path}.packed`, packedMapping('0'.repeat(32), [1, 1, 0]))
      const twice = refused('has slots that are not a permutation')
      expect(parts([], 'mapping', path)).toMatchObject({ status: 1, stdout: twice })
    })

    it.each(damages)('refuse a tuning file whose packed form is %s', (_, damage, message) => {
      const path = shim.writeTuning('damaged.json', { bcast: treeBySize('bcast', ['a', 'b'], [1000]) })
      expect(parts([], 'decide', path).status).toBe(0)
      writeFileSync(`${path}.packed`, damage(readFileSync(`${path}.packed`)))
      expect(parts([], 'decide', path)).toMatchObject({ status: 1, stdout: refused(message) })
    })

    it.each([
      ['no settings', { settings: [] }],
      ['a setting that is not there', { root: { kind: 'leaf', setting: 9, cases: 0, errors: 0 } }],
      ['settings of another collective', { settings: ['a', 'b'].map((text) => settingOf('gather', text)) }],
    ] as const)('refuse a tree with %s', (_, change) => {
      const tree = { ...treeBySize('bcast', ['a', 'b'], [1000]), ...change }
      const path = shim.writeTuning('wrong.json', { bcast: tree })
      const message = refused('has inconsistent decisions')
      expect(parts([], 'decide', path)).toMatchObject({ status: 1, stdout: message })
    })
  },
  describeEitherMpi,
)
