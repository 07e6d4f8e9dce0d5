import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawnPermutation, mulberry32 } from '../../src/base/random.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { rankPlacesText } from '../../src/machine/host-list.js'
import { cluster, nodeOf } from '../../src/machine/machine.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { hopsBetween } from '../../src/machine/network.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { lower } from '../../src/schedule/lower/lower.js'
import { upTo } from '../../src/schedule/specification.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { mapTopology } from '../../src/topology/mapping/map-topology.js'
import { placementCosts } from '../../src/topology/mapping/placement-costs.js'
import { relabelledTopology } from '../../src/topology/mapping/relabel.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import { type BenchOptions, type Figure, ownFigure } from '../bench.js'
import { BuiltPrograms } from '../build-programs.js'
import { type Case, figuresOf, type Implementation } from '../comparison.js'
import { bytesText } from '../message-plans.js'
import { runWithTimeout } from '../run-with-timeout.js'
import { missingSimgrid, Simgrid } from '../simgrid/simgrid.js'

const limitSeconds = 600

/** A Moore grid whose ranks have lost their order, so that hardly any neighbors share a node. */
function shuffledMoore(spec: string): ProcessTopology {
  const topology = buildTopology(spec)
  return relabelledTopology(topology, drawnPermutation(mulberry32(1), topology.ranks))
}

/** Whether a mapping is as much faster in another simulator as ours says, with direct sends. */
export async function* mappedInSimgrid(): AsyncGenerator<Figure> {
  const spec = 'moore:16x16:r=2'
  const bytes = 4096
  const name = `shuffled ${spec}, direct sends of ${bytesText(bytes)}: time mapped / in order of ranks`
  const missing = missingSimgrid()
  if (missing !== null) {
    yield { ...ownFigure(name, 'ratio', [0], null, { failed: missing }), ours: null, met: false }
    return
  }
  const topology = shuffledMoore(spec)
  const machine = parseMachine('cluster:nodes=16,cores=16,profile=simgrid-fast')
  const { slotOf } = mapTopology(topology, { nodeOfSlot: nodeOf(machine, topology.ranks) })
  const placed = [topology, relabelledTopology(topology, slotOf)]
  const runs = placed.map((each) => {
    const { schedule } = plan(each, { kind: 'direct' })
    return { lowered: lower(schedule, upTo(topology.ranks)), bytes: [bytes] }
  })
  const [before, after] = runs.map(({ lowered }) => simulate(lowered, machine, { bytes }).timeUs)
  const simgrid = new Simgrid()
  try {
    const { timesUs } = await simgrid.simulate(machine, runs, limitSeconds)
    const [peerBefore, peerAfter] = timesUs.map(([timeUs]) => timeUs)
    const [ours, peer] = [after / before, peerAfter / peerBefore]
    const details = { ...{ before, after, peerBefore, peerAfter }, baseline: simgrid.version }
    const error = Math.abs(ours / peer - 1)
    yield {
      ...{ case: name, unit: 'ratio', ours, peer, ratio: ours / peer, target: 1.15 },
      ...{ met: error <= 0.15 && peer < 1, runs: 1, ...details },
    }
  } finally {
    simgrid.close()
  }
}

const fourNodes = fileURLToPath(new URL('../four-nodes.sh', import.meta.url))
const processes = 32
const nodes = 4
const sizes = [1024, 8192, 65536]

/**
 * `MPI_Neighbor_allgather` of Open MPI between 32 processes on four nodes: where a mapping places them, and in the order
 * of ranks; messages between nodes as their links carry them.
 */
export async function* mappedOnNodes(options: BenchOptions): AsyncGenerator<Figure> {
  const spec = 'moore:8x4:r=1'
  const topology = shuffledMoore(spec)
  const machine = cluster({ nodes, cores: processes / nodes })
  const { slotOf, nodeOf: after } = mapTopology(topology, { nodeOfSlot: nodeOf(machine, processes) })
  const before = nodeOf(machine, processes)
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-placed-'))
  const built = new BuiltPrograms(['Open MPI'])
  try {
    const hosts = Array.from({ length: nodes }, (_, node) => `10.79.0.${node + 1}`)
    const graph = built.graphFile('shuffled', topology)
    const program = [built.baseline('Open MPI', 'neighborhoods'), String(limitSeconds)]
    const sides = [
      { name: 'in order of ranks', coreOf: upTo(processes), nodeOfRank: before },
      { name: 'mapped', coreOf: slotOf, nodeOfRank: after },
    ].map(({ name, coreOf, nodeOfRank }) => {
      const rankfile = join(folder, `rankfile of ${name}`)
      // Nodes have more ranks than this machine has cores, and Open MPI ends at a core that it does not find.
      const text = [...rankPlacesText('openmpi', { coreOf, machine, hosts })].join('')
      writeFileSync(rankfile, text.replace(/slot=\d+/g, `slot=0-${availableParallelism() - 1}`))
      return { name, nodeOfRank, flags: ['--rankfile', rankfile] }
    })
    const implementations = sides.map(
      ({ name, flags }): Implementation => ({
        name,
        how: `${processes} processes of Open MPI on four nodes, ${name}`,
        run: () => onNodes([...flags, ...program, `swept:200:${graph}`]),
      }),
    )
    for (const { name, flags, nodeOfRank } of sides) {
      const counted = await blocksBetweenNodes([...flags, ...program], graph)
      const { edges } = placementCosts(topology, nodeOfRank, hopsBetween(machine))
      const ratio = edges / counted
      yield {
        ...{ case: `messages between nodes of a neighbor allgather of shuffled ${spec}, ${name}` },
        ...{ unit: 'messages', ours: edges, peer: counted, ratio, target: 1.03 },
        ...{ met: Math.abs(ratio - 1) <= 0.03, runs: 1, baseline: 'bytes that Linux counts, in blocks' },
      }
    }
    const cases = sizes.map(
      (bytes): Case => ({
        ...{ case: `neighbor allgather of ${bytesText(bytes)}, shuffled ${spec}, mapped`, unit: 'us' },
        ...{ ours: 'mapped', key: `b${bytes}`, baselines: ['in order of ranks'], intervalLimit: 1 },
      }),
    )
    yield* figuresOf([{ name: 'nodes', implementations, cases, runs: 9 }], { ...options, only: '' })
  } finally {
    built.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function onNodes(words: readonly string[]) {
  return besideNodes(`"$FOUR_NODES_MPIRUN" ${quoted(words)}`)
}

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ')

function besideNodes(line: string) {
  return runWithTimeout(fourNodes, [String(processes), 'sh', '-c', line], limitSeconds)
}

/**
 * Messages of one call that leave a node, as bytes that the links of nodes carry: headers of TCP make it some more. The
 * component of Open MPI that counts messages, `pml_monitoring`, ends 4.1.4 in the first neighbor allgather.
 */
async function blocksBetweenNodes(program: readonly string[], graph: string): Promise<number> {
  const [few, many] = [32, 96]
  const left: number[] = []
  for (const calls of [few, many]) {
    const sum = `awk '{ sum += $1 } END { printf "%.0f", sum }' /sys/class/net/rwlink[1-4]/statistics/rx_bytes`
    const job = `"$FOUR_NODES_MPIRUN" ${quoted([...program, `swept:${calls}:${graph}`])} >&2`
    const { bytes } = await besideNodes(
      `before=$(${sum}); ${job} && echo "{\\"bytes\\": $(($(${sum}) - before))}"`,
    )
    left.push(bytes)
  }
  return (left[1] - left[0]) / (sweptBytes(many) - sweptBytes(few))
}

/** Bytes that a rank sends to each destination in `swept:CALLS` of baselines/neighborhoods.c. */
function sweptBytes(calls: number): number {
  let bytes = 0
  for (let power = 0; power <= 20; power++) {
    const times = power < 12 ? calls : calls >> Math.trunc((power - 10) / 2)
    bytes += 2 * times * 2 ** power
  }
  return bytes
}
