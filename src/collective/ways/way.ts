/**
 * A way by which every participant's section of data gets to all others: an allgather as a list of messages, none of
 * which brings what its receiver has. Backwards it is a reduce-scatter. The way orders its result so that every message
 * carries a run of it.
 *
 * @see Sack 2011 §3.3 and §3.4
 */
export interface GatherWay {
  /** The number of stages; those of its messages are below it. */
  readonly stages: number
  /** The participant of each section, by offset in the result. */
  readonly originAt: Int32Array
  /** The offset of every participant's section. */
  readonly offsetOf: Int32Array
  /** Yields the messages that a participant sends and receives, by stage. */
  messages(participant: number): Iterable<WayMessage>
}

export interface WayMessage {
  /** The first stage that it may take. */
  readonly begin: number
  /** The last stage that it may take. */
  readonly stage: number
  /** The participant at the other end. */
  readonly peer: number
  readonly isSent: boolean
  /** The offset of the first section that it carries. */
  readonly first: number
  /** The number of sections that it carries. */
  readonly count: number
}

/** Returns the order of a way's result. @param at the participant at every position */
export function resultOrder(
  at: Int32Array,
  offsetAt: (position: number) => number,
): Pick<GatherWay, 'originAt' | 'offsetOf'> {
  const originAt = new Int32Array(at.length)
  const offsetOf = new Int32Array(at.length)
  at.forEach((participant, position) => {
    const offset = offsetAt(position)
    originAt[offset] = participant
    offsetOf[participant] = offset
  })
  return { originAt, offsetOf }
}

/** A message of several ways, from one participant to another in a stage. */
interface WayExchange extends Pick<WayMessage, 'begin' | 'stage' | 'peer' | 'isSent'> {
  /** The runs by way, then offset: the same at both ends. */
  readonly runs: readonly Run[]
}

/** The sections of a way from an offset on. */
export interface Run {
  readonly way: number
  readonly first: number
  readonly count: number
}

/**
 * The exchanges of each list of ways for the last requested participant, because an algorithm asks twice for a rank.
 */
const last = new WeakMap<readonly GatherWay[], { participant: number; exchanges: readonly WayExchange[] }>()

/** Returns the messages of a participant in all ways at once, by last stage. */
export function exchangesOf(ways: readonly GatherWay[], participant: number): readonly WayExchange[] {
  const known = last.get(ways)
  if (known?.participant === participant) return known.exchanges
  const exchanges = joinedExchanges(ways, participant)
  if (known === undefined) last.set(ways, { participant, exchanges })
  else Object.assign(known, { participant, exchanges })
  return exchanges
}

function joinedExchanges(ways: readonly GatherWay[], participant: number): WayExchange[] {
  const found = new Map<number, WayExchange & { readonly runs: Run[] }>()
  const stages = stagesOf(ways)
  const ranks = ways[0].originAt.length
  ways.forEach((way, index) => {
    for (const { begin, stage, peer, isSent, first, count } of way.messages(participant)) {
      const key = ((begin * stages + stage) * 2 + (isSent ? 1 : 0)) * ranks + peer
      const run = { way: index, first, count }
      const exchange = found.get(key)
      if (exchange === undefined) found.set(key, { begin, stage, peer, isSent, runs: [run] })
      else exchange.runs.push(run)
    }
  })
  for (const { runs } of found.values()) runs.sort((a, b) => a.way - b.way || a.first - b.first)
  return [...found.values()].sort((a, b) => a.stage - b.stage)
}

/**
 * Returns the phase up to which a rank completes everything before it begins a message; -1 if it waits only for its
 * data. With several ways it has as many messages in flight as there are ways, which do not meet on a link.
 *
 * @param begin the first stage that the message may take
 * @param phase the first phase of that stage
 */
export function waitBefore(ways: readonly GatherWay[], begin: number, phase: number): number {
  return ways.length > 1 && begin > 0 ? phase - 1 : -1
}

/** Returns the number of stages of all ways together. */
export function stagesOf(ways: readonly GatherWay[]): number {
  return ways.reduce((most, { stages }) => Math.max(most, stages), 0)
}
