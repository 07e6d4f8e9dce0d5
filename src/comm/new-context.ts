import { bytesOf, wordsOf } from '../base/bytes.js'
import type { Exchange } from '../calls/exchange/exchange.js'
import { bcastBytes } from '../calls/exchange/exchange-patterns.js'
import { processOf } from '../messages/process/world-layout.js'
import type { CommState } from './comm-state.js'
import { madeIn } from './handle.js'
import { processesOf } from './table/process-table.js'
import type { LocalRankTable } from './table/rank-table.js'

/**
 * Makes a new context over `table`, which must be the same on every process of the parent; each calls this within the
 * same collective. Returns null if no rank of the table is hosted.
 */
export async function contextOver(
  parent: CommState,
  exchange: Exchange,
  table: LocalRankTable,
): Promise<CommState | null> {
  const { runtime, processes } = parent
  const leader = table.lookup(0)
  const root = processes.processes.indexOf(processOf(runtime.layout, leader))
  const counter = await drawCounterOn(parent, exchange, root)
  if (!processesOf(table, runtime.layout).includes(runtime.process)) return null
  const made = runtime.createContext({ leader, counter }, table, undefined, parent.matchingDesigns)
  made.made = madeIn(parent, exchange)
  return made
}

/**
 * Makes a new context over the ranks of `state`; its table need not be placed. Each process calls this within the same
 * collective.
 *
 * @param matchingDesigns of its ranks here. Default: those of `state`
 */
export async function contextLike(
  state: CommState,
  exchange: Exchange,
  matchingDesigns = state.matchingDesigns,
): Promise<CommState> {
  // Process 0 hosts rank 0, which leads the copy as it leads the original.
  const counter = await drawCounterOn(state, exchange, 0)
  const { table, processes, runtime } = state
  const numbered = state.wasDistributed ? processes.processes : undefined
  const copy = runtime.createContext({ leader: state.leader, counter }, table, numbered, matchingDesigns)
  copy.made = madeIn(state, exchange)
  return copy
}

/** The step of the exchange that a new context takes, distinct from those of the collective around it. */
const contextStep = 1_000

/** Draws a context counter on process `root`, for all processes. */
export async function drawCounterOn(
  { runtime }: CommState,
  exchange: Exchange,
  root: number,
): Promise<number> {
  const drawn = exchange.me === root ? bytesOf(Int32Array.of(runtime.drawCounter())) : null
  return wordsOf(await bcastBytes(exchange, root, drawn, contextStep))[0]
}
