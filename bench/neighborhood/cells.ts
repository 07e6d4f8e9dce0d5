import { readFileSync } from 'node:fs'
import { parseMachine } from '../../src/machine/machine-text.js'
import { chooseStrategy } from '../../src/neighborhood/choose/choose-strategy.js'
import { parseStrategy } from '../../src/neighborhood/strategies/strategies.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import type { BenchOptions, Figure } from '../bench.js'
import { missingSimgrid, Simgrid } from '../simgrid/simgrid.js'
import { fastest, simulatedTimes, type Timed, tried } from './best-of.js'
import { candidatesOf } from './candidates.js'

const cores = 16
const limitSeconds = 1800

/** One cell of the reference table: microseconds. */
export interface Cell {
  readonly topology: string
  readonly nodes: number
  readonly bytes: number
  readonly network: 'fast' | 'slow'
  readonly direct: number | null
  readonly commonNeighbor: number | null
  readonly allgather: number | null
  /** The best that was found, and by what. */
  readonly best: number
  readonly by: string
}

export const reference = JSON.parse(readFileSync(new URL('reference.json', import.meta.url), 'utf8')) as {
  readonly source: string
  readonly cells: readonly Cell[]
}

/** As its figure is called. */
export function caseOf({ topology, bytes, network }: Cell): string {
  return `${topology} ${bytes} B ${network}`
}

/**
 * Every cell: the strategy that `auto` chooses, and its time in SimGrid, which moves the data; the best of
 * all candidates beside it.
 *
 * @param options `only`: what the names of the cells begin with; `quick`: fewer candidates, and direct sends
 *   as we predict them
 */
export async function* compareCells({ quick = false, only = '' }: BenchOptions): AsyncIterable<Figure> {
  const missing = missingSimgrid()
  const simgrid = missing === null ? new Simgrid() : null
  const done: Figure[] = []
  try {
    const wanted = reference.cells.filter((cell) => caseOf(cell).startsWith(only))
    for (const name of new Set(wanted.map(({ topology }) => topology))) {
      const cells = wanted.filter(({ topology }) => topology === name)
      if (quick && only === '' && cells[0].nodes > 16) continue
      for await (const figure of cellsOf(name, cells, simgrid, missing ?? '', quick)) {
        done.push(figure)
        yield figure
      }
    }
    if (only === '') yield* summaries(done)
  } finally {
    simgrid?.close()
  }
}

async function* cellsOf(
  name: string,
  cells: readonly Cell[],
  simgrid: Simgrid | null,
  missing: string,
  quick: boolean,
): AsyncGenerator<Figure> {
  const topology = buildTopology(name)
  const machineOf = ({ nodes, network }: Cell) =>
    parseMachine(`cluster:nodes=${nodes},cores=${cores},profile=simgrid-${network}`)
  const runs = cells.map((cell) => ({ machine: machineOf(cell), bytes: cell.bytes }))
  const setting = { topology: name, nodes: cells[0].nodes, cores }
  const times = simulatedTimes(topology, candidatesOf(setting, quick), runs)
  for (const [i, cell] of cells.entries()) {
    const choice = chooseStrategy(topology, runs[i].machine, { bytes: cell.bytes }).chosen
    const chosen = times[i].find(({ strategy }) => strategy === choice.strategy) ?? {
      ...choice,
      networkMessages: null,
      networkBytes: choice.bytes.network,
    }
    const best = fastest([...times[i], chosen])
    const direct = times[i].find(({ strategy }) => strategy === 'direct')!
    let simulatedUs: number | null = null
    let directUs: number | null = null
    let bestUs: number | null = null
    let failed = missing
    if (simgrid !== null) {
      try {
        const run = async (strategy: string) => {
          const { lowered } = tried(topology, parseStrategy(strategy), runs[i].machine)
          const { timesUs } = await simgrid.simulate(
            runs[i].machine,
            [{ lowered, bytes: [cell.bytes] }],
            limitSeconds,
          )
          return timesUs[0][0]
        }
        simulatedUs = await run(chosen.strategy)
        bestUs = best.strategy === chosen.strategy ? simulatedUs : await run(best.strategy)
        directUs = quick ? null : await run('direct')
      } catch (error) {
        failed = error instanceof Error ? error.message : String(error)
      }
    }
    yield cellFigure(cell, { chosen, best, direct }, { simulatedUs, bestUs, directUs }, failed)
  }
}

/** What is chosen need not be among the candidates: then its messages between nodes are not counted. */
type Predicted = Omit<Timed, 'networkMessages'> & { readonly networkMessages: number | null }

function cellFigure(
  cell: Cell,
  { chosen, best: found, direct }: Readonly<Record<'chosen' | 'best' | 'direct', Predicted>>,
  { simulatedUs, bestUs, directUs }: Readonly<Record<'simulatedUs' | 'bestUs' | 'directUs', number | null>>,
  failed: string,
): Figure {
  const { best, by, nodes } = cell
  const ratio = simulatedUs === null ? null : simulatedUs / best
  const plain = Math.min(directUs ?? direct.timeUs, cell.allgather ?? Number.POSITIVE_INFINITY)
  return {
    case: caseOf(cell),
    unit: 'us',
    ours: simulatedUs,
    peer: best,
    ratio,
    target: 1.05,
    targetOf: 'ratio',
    met: ratio !== null && ratio <= 1.05 && simulatedUs! <= 1.03 * plain,
    runs: 1,
    strategy: chosen.strategy,
    by,
    ranks: nodes * cores,
    predictedUs: chosen.timeUs,
    candidate: found.strategy,
    candidateUs: bestUs,
    candidateMessages: found.messages,
    candidateNetworkMessages: found.networkMessages,
    candidateNetworkBytes: found.networkBytes,
    messages: chosen.messages,
    networkMessages: chosen.networkMessages,
    networkBytes: chosen.networkBytes,
    directUs: directUs ?? direct.timeUs,
    directIsSimgrid: directUs !== null,
    directMessages: direct.messages,
    directNetworkMessages: direct.networkMessages,
    directNetworkBytes: direct.networkBytes,
    allgatherUs: cell.allgather,
    commonNeighborUs: cell.commonNeighbor,
    ...(simulatedUs === null ? { failed } : {}),
  }
}

/** Of all cells that were run. */
export function* summaries(cells: readonly Figure[]): Iterable<Figure> {
  const ratios = cells.map(({ ratio }) => ratio ?? Number.POSITIVE_INFINITY)
  const candidates = cells.map(({ candidateUs, peer }) =>
    typeof candidateUs === 'number' ? candidateUs / peer! : Number.POSITIVE_INFINITY,
  )
  const isFaster = (ratio: number): boolean => ratio <= 0.95
  const isSlower = (ratio: number): boolean => ratio > 1.05
  const third = Math.ceil(cells.length / 3)
  const count = (name: string, ours: number, target: number | null, met: boolean | null): Figure => ({
    case: name,
    ...{ unit: 'cells', ours, peer: null, ratio: null, target, met, runs: 1, cells: cells.length },
  })
  const faster = ratios.filter(isFaster).length
  const slower = ratios.filter(isSlower).length
  yield {
    ...count('cells at least 5% faster than the best of the reference', faster, third, faster >= third),
    targetIs: 'at least',
  }
  yield count('cells more than 5% slower than the best of the reference', slower, 0, slower === 0)
  yield count('the same of the best candidate: faster', candidates.filter(isFaster).length, null, null)
  yield count('the same of the best candidate: slower', candidates.filter(isSlower).length, null, null)
}
