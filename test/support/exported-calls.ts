import { topologyToGraph } from '../../src/entry/graphology.js'
import * as machines from '../../src/entry/machine.js'
import * as models from '../../src/entry/models.js'
import { Rendezvous } from '../../src/entry/rendezvous.js'
import * as schedules from '../../src/entry/schedule.js'
import { rowsOfDense, rowsOfMatrix } from '../../src/entry/spmm.js'
import * as topologies from '../../src/entry/topology.js'
import { local } from '../../src/fabric/local/local.js'
import type { Communicator } from '../../src/handles/communicator.js'
import { parseTopologySpec } from './inner-functions.js'
import { doublingStages } from './published-stages.js'

const { builtInProfiles, cluster } = machines
const { mooreTopology, readMatrixMarket, sourceOf } = topologies

const profile = builtInProfiles[0]
const machine = cluster({ nodes: 2, cores: 8, profile })
const nodeOf = machines.nodeOf(machine, 16)
const topology = mooreTopology({ dims: [4, 4], radius: 1 })
const shape = { dims: [2, 2], periods: [true, false] }
const matrixText = '%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 1 3\n'
const matrix = readMatrixMarket(sourceOf(matrixText))
const dense = { rows: 2, cols: 1, values: Float64Array.of(1, 2) }
const planned = schedules.plan(topology, { kind: 'direct' })
const { schedule } = planned
const placement = new Int32Array(16)
const lines = [...schedules.formatSchedule(schedule)]
const linear = schedules.algorithmOf('bcast-linear')
const hockney = { model: 'hockney', latencyNs: 1, nsPerByte: 1 } as const
const logGP = { model: 'loggp', latencyNs: 1, overheadNs: 1, gapNs: 1, nsPerByte: 1 } as const
const pLogP = models.pLogPOf(logGP)
const simulation = schedules.simulate(schedule, machine, { bytes: 8, timeline: true })
const network = models.torusNetwork([2, 2, 2])
const isend = (world: Communicator) => world.isend(null, world.rank)

const ofLibrary = 'not made by users'

/** The arguments of a call that succeeds, in order; fresh where a call may change them. */
export type ExportedCall = (world: Communicator) => readonly unknown[]

/**
 * A call of every function that an entry exports, and of those `inside`; a text says why it is not called with
 * odd arguments. The world is one of one rank.
 */
export const exportedCalls: Readonly<Record<string, Readonly<Record<string, ExportedCall | string>>>> = {
  index: {
    Communicator: ofLibrary,
    Group: ofLibrary,
    RankweaveError: 'carries whatever went wrong',
    VirtualTime: () => [
      { node: { latencyNs: 1, sendOverheadNs: 1, receiveOverheadNs: 1, gapNs: 1, nsPerByte: 1 } },
    ],
    createOperation: () => [(a: number, b: number) => a + b, { name: 'sum', commutative: true }],
    isRankweaveError: () => [new Error('any'), 'ERR_TYPE'],
    local: () => [{}],
    mpi: 'from then on, an early exit of the process ends its job',
    planDirectory: () => ['plans', {}],
    host: 'listens until it is closed; test/unit/cli/commands/join.processes.test.ts',
    join: 'waits for a rendezvous; test/unit/cli/commands/join.processes.test.ts',
    run: () => [() => 0, { ranks: 1 }],
    strided: () => [new Float64Array(4), { count: 2, blockLength: 1, stride: 2 }],
    testall: (world) => [[isend(world)]],
    testany: (world) => [[isend(world)]],
    threads: () => [{}],
    together: (world) => [[world], (each: Communicator) => each.barrier()],
    waitall: (world) => [[isend(world)], {}],
    waitany: (world) => [[isend(world)], {}],
    websocket: () => [{}],
    waitsome: (world) => [[isend(world)], {}],
    worldReport: () => [],
  },
  topology: {
    adjacencySvg: () => [topology, {}],
    blockBounds: () => [10, 3],
    buildTopology: () => ['moore:4x4:r=1', {}],
    cartTopology: () => [shape],
    commonNeighbors: () => [topology, {}],
    compressTriplets: () => [
      {
        ...{ rows: 1, cols: 1, count: 1, row: new Int32Array(1), col: new Int32Array(1) },
        ...{ values: new Float64Array(1), imag: null },
      },
    ],
    countHyperedges: () => [topology, { k: 2, theta: 2 }],
    dimsCreate: () => [12, 2, [0, 0]],
    erdosRenyiTopology: () => [{ ranks: 8, density: 0.5, seed: 1 }],
    findTranslations: () => [topology, {}],
    forecastCombining: () => [topology, { ks: [2] }],
    formatMatrixMarket: () => [matrix, {}],
    groupFriends: () => [topology, { k: 2, mode: 'agnostic' }],
    inNeighbors: () => [topology, 0],
    joinedTopology: () => [[{ topology }, { topology, times: 2 }]],
    mapTopologies: () => [[{ topology, times: 2 }], { nodeOfSlot: nodeOf, mostWork: 100 }],
    mapTopology: () => [topology, { nodeOfSlot: nodeOf, mostWork: 100, seed: 1 }],
    mooreTopology: () => [{ dims: [4, 4], radius: 1 }],
    outNeighbors: () => [topology, 0],
    parseMetis: () => ['2 1\n2\n1\n', 'graph'],
    powerLawTopology: () => [{ ranks: 8, degree: 2, gamma: 2.5, seed: 1 }],
    randomGeometricTopology: () => [{ ranks: 8, radius: 0.3, seed: 1 }],
    readMatrixMarket: () => ['test/matrices/ash292.mtx', {}],
    rmatTopology: () => [{ ranks: 8, degree: 2, seed: 1 }],
    simulateGrouping: () => [topology, { k: 2, mode: 'agnostic' }],
    smallWorldTopology: () => [{ ranks: 8, degree: 2, rewiring: 0.5, seed: 1 }],
    placementCosts: () => [topology, nodeOf, () => 1],
    relabelledTopology: () => [topology, Int32Array.from({ length: 16 }, (_, v) => 15 - v)],
    sourceOf: () => ['text'],
    stencilTopology: () => [{ dims: [4], periods: [true], offsets: [[1]] }],
    topologyFromEdges: () => [2, { sources: [0], destinations: [1] }],
    topologyFromLists: () => [topology],
    topologyFromMatrix: () => [matrix, { ranks: 2 }],
    topologyHash: () => [topology],
    topologyStatistics: () => [topology],
    topologyText: () => [topology, 'csv'],
  },
  machine: {
    checkMachine: () => [machine],
    clos: () => [{ radix: 4, levels: 2 }],
    cluster: () => [{ nodes: 2, cores: 2 }],
    figuresOf: () => [profile],
    formatMachine: () => [machine],
    formatProfile: () => [profile],
    hopsBetween: () => [machine],
    linkName: () => [machine, 0],
    machineFromHostList: () => ['a slots=2', {}],
    machineFromHwloc: () => [
      '<topology version="2.0"><object type="Machine"><object type="PU"/></object></topology>',
      {},
    ],
    machineFromSlurm: () => [{ SLURM_JOB_NODELIST: 'a', SLURM_TASKS_PER_NODE: '2' }, {}],
    networkOf: () => [machine],
    nodeOf: () => [machine, 4],
    parseMachine: () => ['cluster:nodes=2,cores=2', {}],
    parseProfile: () => [machines.formatProfile(profile)],
    routeBetween: () => [machine, 0, 1],
    torus: () => [{ dims: [2, 2] }],
  },
  schedule: {
    ScheduleBuilder: () => [
      { specification: schedule.specification, strategy: 'mine', parameters: {}, phases: 1 },
    ],
    algorithmOf: () => ['bcast-linear', 'bcast'],
    cProgram: () => [schedule],
    chooseAlgorithm: () => ['bcast', machine, { bytes: 8, budget: 1 }],
    chooseStrategy: () => [topology, machine, { bytes: 8, budget: 1 }],
    forEachOperation: () => [schedule, () => {}],
    formatSchedule: () => [schedule, {}],
    formatStrategy: () => [{ kind: 'direct' }],
    goalText: () => [schedule, { bytes: 8 }],
    lower: () => [schedule, placement, 1],
    mapBySimulatedTime: () => [
      topology,
      machine,
      { bytes: 8, strategy: { kind: 'direct' }, mostWork: 100, seed: 1, swaps: 2 },
    ],
    parseSchedule: () => [lines, 'file'],
    parseScheduleSlice: () => [schedules.sliceSchedule(lines, [0, 1]), 'file'],
    parseScheduleStream: () => [streamOf(lines), 'file'],
    parseStrategy: () => ['routed'],
    partialResult: 'an operator on numbers, for inner loops',
    plan: () => [topology, { kind: 'direct' }, { operation: 'neighbor-alltoall' }],
    planStatistics: () => [planned, nodeOf],
    readScheduleFile: 'a file of a schedule would have to be written first',
    scheduleOf: () => [linear, { ranks: 2 }],
    simulate: () => [schedule, machine, { bytes: 8 }],
    sliceSchedule: () => [lines, [0]],
    timelineSvg: () => [simulation, {}],
    traceEvents: () => [simulation, {}],
    treeAssociation: () => [3, { firstRank: Int32Array.of(0, 1, 2, 3), collective: 'allreduce' }],
    verify: () => [schedule, topology, {}],
    verifySlice: () => [schedules.parseScheduleSlice(schedules.sliceSchedule(lines, [0, 1])), {}],
    writeScheduleFile: 'writes to whatever it is given as a path',
  },
  models: {
    closNetwork: () => [{ nodes: 4, nodesPerSwitch: 2, taper: 1 }],
    congestedCost: () => [network, doublingStages([0, 1, 2], 8)],
    hockneyOf: () => [logGP],
    logGPOfLevel: () => [profile, 'network'],
    logGPOfPLogP: () => [pLogP],
    pLogPOf: () => [logGP],
    predictAlgorithms: () => ['bcast', hockney, { ranks: 4, bytes: 8 }],
    predictUs: () => ['bcast-linear', hockney, { ranks: 4, bytes: 8 }],
    scheduleStages: () => [schedule, 8],
    torusNetwork: () => [[2, 2]],
  },
  spmm: {
    prepareProduct: (world) => [
      world,
      rowsOfMatrix(world, matrix),
      1,
      { strategy: { kind: 'direct' }, columnsAtOnce: 1 },
    ],
    randomRows: () => [
      { rank: 0, size: 1 },
      { rows: 2, cols: 2, seed: 1 },
    ],
    readMatrixRows: (world) => [world, 'test/matrices/ash292.mtx', {}],
    rowsOfDense: () => [{ rank: 0, size: 1 }, dense],
    rowsOfMatrix: (world) => [world, matrix],
    spmm: (world) => [
      world,
      {
        a: rowsOfMatrix(world, matrix),
        b: rowsOfDense(world, dense),
        strategy: { kind: 'direct' },
        columnsAtOnce: 1,
        compare: false,
      },
    ],
    toDenseRows: () => [rowsOfMatrix({ rank: 0, size: 1 } as Communicator, matrix)],
  },
  graphology: {
    topologyFromGraph: () => [topologyToGraph(topology), {}],
    communityStart: () => [topology, nodeOf],
    topologyToGraph: () => [topology],
  },
  rendezvous: {
    Rendezvous: () => [{}],
    openWorld: () => [new Rendezvous(), { ranks: 4, processes: 2, ranksPerProcess: [1, 3], limits: {} }],
    upgradeHandler: () => [new Rendezvous(), { maxMessageBytes: 2 ** 20 }],
  },
  conformance: {
    checkWorld: 'runs every case',
    collectiveConformance: () => [local(), { ranks: 2 }],
    fabricConformance: () => [local(), {}],
  },
  client: {
    ServiceClient: () => [{ url: 'http://127.0.0.1:9', token: 'a', fetch }],
    WorldMember: 'made by connect; test/unit/client/world-member.test.ts',
  },
  browser: {
    join: 'for pages: Node 20 has no WebSocket',
    run: () => [() => 0, { ranks: 1 }],
  },
  errors: {
    RankweaveError: 'carries whatever went wrong',
    isRankweaveError: () => [new Error('any'), 'ERR_TYPE'],
  },
  inside: {
    NeighborScheduleBuilder: () => [{ topology, strategy: 'mine', parameters: {}, phases: 1 }],
    StridedView: () => [new Float64Array(4), { count: 2, blockLength: 1, stride: 2 }],
    cProgramPieces: () => [schedule],
    cartNeighborSlots: () => [shape, 0],
    cartShift: () => [shape, 0, 0, 1],
    cartSub: () => [shape, [true, false], 0],
    checkProfile: () => [profile],
    checkTopology: () => [topology],
    clusterOf: () => [[2, 3], profile],
    countMessages: () => [schedule],
    distinctIn: () => [topology],
    distinctOut: () => [topology],
    expandHosts: () => ['n[01-03]'],
    formatAuto: () => [{ kind: 'auto' }],
    formatTopologySpec: () => [parseTopologySpec('moore:4x4:r=1')],
    goalPieces: () => [schedule, { bytes: 8 }],
    isNeighborSchedule: () => [schedule],
    levelOf: () => [machine, 0, 1],
    lowerProcess: () => [schedule, placement, 0],
    maxRelativeError: () => [Float64Array.of(1), Float64Array.of(2)],
    neighborAllgatherSpecification: () => [topology],
    neighborAlltoallSpecification: () => [topology],
    neighborReduceSpecification: () => [topology],
    packageOf: () => [machine, 4],
    pairEdges: () => [topology],
    parseAuto: () => ['auto:bytes=8'],
    parseCsv: () => ['0,1\n', {}],
    parseEdgeList: () => ['ranks 2\n0 1\n', 'edges'],
    parseGraphologyJson: () => [JSON.stringify(topologyToGraph(topology).export()), {}],
    parseMatrixMarket: () => [matrixText, 'matrix'],
    parseTopologySpec: () => ['moore:4x4:r=1'],
    serialProduct: () => [matrix, Float64Array.of(1, 2), 1],
    specificationOf: () => [linear, { ranks: 2 }],
    stencilOffsets: () => ['star', 2, 1],
    topologyFromMatrixMarket: () => [sourceOf(matrixText), { ranks: 2 }],
    translationSpec: () => [topologies.findTranslations(topology)],
    transposeTopology: () => [topology],
  },
}

async function* streamOf(all: readonly string[]): AsyncGenerator<string> {
  yield* all
}
