import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { fabricConformance } from '../../src/conformance/fabric-conformance.js'
import { collectiveConformance } from '../../src/conformance/world-conformance.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { timelineSvg } from '../../src/cost/simulate/timeline-svg.js'
import { traceEvents } from '../../src/cost/simulate/trace-events.js'
import { goalText } from '../../src/export/goal-text.js'
import { local } from '../../src/fabric/local/local.js'
import { clos } from '../../src/machine/clos.js'
import { machineFromHostList } from '../../src/machine/host-list.js'
import { machineFromHwloc } from '../../src/machine/hwloc.js'
import { cluster } from '../../src/machine/machine.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { simgridFast } from '../../src/machine/simgrid-profiles.js'
import { machineFromSlurm } from '../../src/machine/slurm.js'
import { torus } from '../../src/machine/torus.js'
import { createOperation } from '../../src/messages/datatype/operation.js'
import { strided } from '../../src/messages/datatype/strided-view.js'
import { chooseStrategy } from '../../src/neighborhood/choose/choose-strategy.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { formatSchedule } from '../../src/schedule/file/format-schedule.js'
import { parseScheduleSlice } from '../../src/schedule/file/reader.js'
import { sliceSchedule } from '../../src/schedule/file/slice.js'
import { treeAssociation } from '../../src/schedule/verify/tree-association.js'
import { verify, verifySlice } from '../../src/schedule/verify/verify.js'
import { makeStudy } from '../../src/study/make-study.js'
import { adjacencySvg } from '../../src/topology/files/adjacency-picture.js'
import { formatMatrixMarket } from '../../src/topology/files/format-matrix-market.js'
import { topologyFromGraph, topologyToGraph } from '../../src/topology/files/graphology.js'
import { readMatrixMarket } from '../../src/topology/files/matrix-market.js'
import { topologyFromMatrix } from '../../src/topology/files/matrix-topology.js'
import { compressTriplets } from '../../src/topology/files/sparse-matrix.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { commonNeighbors } from '../../src/topology/friends/common-neighbors.js'
import { countHyperedges } from '../../src/topology/friends/hyperedges.js'
import { erdosRenyiTopology } from '../../src/topology/generate/erdos-renyi.js'
import { mooreTopology } from '../../src/topology/generate/moore.js'
import { powerLawTopology } from '../../src/topology/generate/power-law.js'
import { randomGeometricTopology } from '../../src/topology/generate/random-geometric.js'
import { rmatTopology } from '../../src/topology/generate/rmat.js'
import { smallWorldTopology } from '../../src/topology/generate/small-world.js'
import { stencilTopology } from '../../src/topology/generate/stencil.js'
import { findTranslations } from '../../src/topology/generate/translations.js'
import { forecastCombining } from '../../src/topology/grouping/combining-forecast.js'
import { groupFriends } from '../../src/topology/grouping/group-friends.js'
import { simulateGrouping } from '../../src/topology/grouping/simulate-grouping.js'
import { refusal } from '../support/refusal.js'

const topology = mooreTopology({ dims: [4, 4], radius: 1 })
const machine = cluster({ nodes: 4, cores: 4, profile: simgridFast })
const { schedule } = plan(topology, { kind: 'direct' })
const simulation = simulate(schedule, machine, { bytes: 8, timeline: true })
const [zero, one] = [new Int32Array(1), new Float64Array([1])]
const matrix = compressTriplets({ rows: 1, cols: 1, count: 1, row: zero, col: zero, values: one, imag: null })
const hwloc = readFileSync(new URL('../machines/16em64t-4s2c2t.xml', import.meta.url), 'utf8')

/** Each with a valid call, its options last. */
const calls: Readonly<Record<string, (unknown: object) => unknown>> = {
  mooreTopology: (unknown) => mooreTopology({ dims: [4, 4], radius: 1, ...unknown }),
  stencilTopology: (unknown) => stencilTopology({ dims: [4], offsets: [[1]], ...unknown }),
  erdosRenyiTopology: (unknown) => erdosRenyiTopology({ ranks: 4, density: 0.5, ...unknown }),
  smallWorldTopology: (unknown) => smallWorldTopology({ ranks: 8, degree: 2, rewiring: 0.5, ...unknown }),
  powerLawTopology: (unknown) => powerLawTopology({ ranks: 8, degree: 2, ...unknown }),
  rmatTopology: (unknown) => rmatTopology({ ranks: 8, degree: 2, ...unknown }),
  randomGeometricTopology: (unknown) => randomGeometricTopology({ ranks: 8, radius: 0.5, ...unknown }),
  findTranslations: (unknown) => findTranslations(topology, unknown),
  buildTopology: (unknown) => buildTopology('moore:4x4:r=1', unknown),
  cluster: (unknown) => cluster({ nodes: 2, cores: 2, ...unknown }),
  torus: (unknown) => torus({ dims: [2, 2], ...unknown }),
  clos: (unknown) => clos({ radix: 4, levels: 2, ...unknown }),
  plan: (unknown) => plan(topology, { kind: 'direct' }, unknown),
  chooseStrategy: (unknown) => chooseStrategy(topology, machine, { bytes: 8, budget: 1, ...unknown }),
  makeStudy: (unknown) =>
    makeStudy(topology, machine, { name: 'grid', bytes: [8], strategies: [], ...unknown }),
  verify: (unknown) => verify(schedule, topology, unknown),
  formatSchedule: (unknown) => formatSchedule(schedule, unknown),
  simulate: (unknown) => simulate(schedule, machine, { bytes: 8, ...unknown }),
  groupFriends: (unknown) => groupFriends(topology, { k: 2, mode: 'agnostic', ...unknown }),
  simulateGrouping: (unknown) => simulateGrouping(topology, { k: 2, mode: 'agnostic', ...unknown }),
  commonNeighbors: (unknown) => commonNeighbors(topology, unknown),
  countHyperedges: (unknown) => countHyperedges(topology, { k: 2, theta: 2, ...unknown }),
  forecastCombining: (unknown) => forecastCombining(topology, { ks: [2], ...unknown }),
  adjacencySvg: (unknown) => adjacencySvg(topology, unknown),
  topologyFromGraph: (unknown) => topologyFromGraph(topologyToGraph(topology), unknown),
  readMatrixMarket: (unknown) => readMatrixMarket(Buffer.from(formatMatrixMarket(matrix)), unknown),
  formatMatrixMarket: (unknown) => formatMatrixMarket(matrix, unknown),
  topologyFromMatrix: (unknown) => topologyFromMatrix(matrix, { ranks: 1, ...unknown }),
  parseMachine: (unknown) => parseMachine('cluster:nodes=2,cores=2', unknown),
  machineFromHostList: (unknown) => machineFromHostList('a:2', unknown),
  machineFromHwloc: (unknown) => machineFromHwloc(hwloc, unknown),
  machineFromSlurm: (unknown) =>
    machineFromSlurm({ SLURM_JOB_NODELIST: 'a', SLURM_JOB_CPUS_PER_NODE: '2' }, unknown),
  verifySlice: (unknown) =>
    verifySlice(parseScheduleSlice(sliceSchedule(formatSchedule(schedule), [0])), unknown),
  treeAssociation: (unknown) => treeAssociation(4, unknown),
  timelineSvg: (unknown) => [...timelineSvg(simulation, unknown)],
  traceEvents: (unknown) => [...traceEvents(simulation, unknown)],
  goalText: (unknown) => goalText(schedule, { bytes: 8, ...unknown }),
  createOperation: (unknown) => createOperation((a: number, b: number) => a * b, unknown),
  fabricConformance: (unknown) => fabricConformance(local(), unknown),
  collectiveConformance: (unknown) => collectiveConformance(local(), { ranks: 2, ...unknown }),
  strided: (unknown) => strided(new Int32Array(8), { count: 2, blockLength: 1, stride: 2, ...unknown }),
}

it.each(Object.keys(calls))('%s refuses an option that it does not have', (name) => {
  expect(() => calls[name]({})).not.toThrow()
  expect(() => calls[name]({ unknwon: 1 })).toThrow(
    expect.objectContaining({
      code: 'ERR_ARGUMENT',
      message: expect.stringMatching(new RegExp(`^${name}: expected options among .*, got 'unknwon'`)),
    }),
  )
})

it.each([{ name: 7 }, { commutative: 'yes' }])('createOperation refuses %j', (options) => {
  expect(() => createOperation(Math.max, options as object)).toThrow(
    refusal('ERR_ARGUMENT', 'createOperation: expected '),
  )
})
