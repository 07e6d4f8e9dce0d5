/** An operation of a rank in GOAL: what txt2bin of LogGOPSim reads. */
export interface GoalOperation {
  readonly kind: 'send' | 'recv' | 'calc'
  /** Bytes of a message, nanoseconds of a `calc`. */
  readonly size: number
  /** -1 of a `calc`. */
  readonly peer: number
  readonly tag: number
  readonly requires: string[]
}

/** Operations by label, of every rank. */
export type GoalRanks = readonly ReadonlyMap<string, GoalOperation>[]

const operation = /^(\w+): (?:(send|recv) (\d+)b (to|from) (\d+) tag (\d+)|calc (\d+))$/
const dependency = /^([a-z]\w*) requires ([a-z]\w*)$/

/** Reads GOAL text as strictly as the grammar of txt2bin; labels must be defined before they are used. */
export function parseGoal(text: string): GoalRanks {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('//'))
  const count = Number(/^num_ranks (\d+)$/.exec(lines[0])?.[1])
  const ranks: Map<string, GoalOperation>[] = []
  let own: Map<string, GoalOperation> | null = null
  for (const line of lines.slice(1)) {
    if (own === null) {
      if (line !== `rank ${ranks.length} {`) throw new Error(`expected the next rank, got ${line}`)
      own = new Map()
      ranks.push(own)
    } else if (line === '}') own = null
    else addLine(own, line)
  }
  if (ranks.length !== count || own !== null) throw new Error(`expected ${count} ranks, got ${ranks.length}`)
  return ranks
}

function addLine(own: Map<string, GoalOperation>, line: string): void {
  const [, name, message, bytes, direction, peer, tag, duration] = operation.exec(line) ?? []
  if (name !== undefined) {
    if (own.has(name)) throw new Error(`label defined twice: ${line}`)
    if (message === undefined) {
      own.set(name, { kind: 'calc', size: Number(duration), peer: -1, tag: 0, requires: [] })
      return
    }
    if (direction !== (message === 'send' ? 'to' : 'from')) throw new Error(`not GOAL: ${line}`)
    const kind = message === 'send' ? 'send' : 'recv'
    own.set(name, { kind, size: Number(bytes), peer: Number(peer), tag: Number(tag), requires: [] })
    return
  }
  const [, waiting, needed] = dependency.exec(line) ?? []
  const [first, second] = [own.get(waiting ?? ''), own.get(needed ?? '')]
  if (first === undefined || second === undefined || needed === undefined)
    throw new Error(`not GOAL, or an undefined label: ${line}`)
  first.requires.push(needed)
}

/**
 * Runs what is ready until nothing is: every message needs its send, matched by pair, tag and length. What
 * never runs is left.
 */
export function stuckOperations(ranks: GoalRanks): string[] {
  const waiting = new Set(ranks.flatMap((own, rank) => [...own.keys()].map((name) => `${rank}.${name}`)))
  const inFlight = new Map<string, number>()
  const key = (from: number, to: number, { tag, size }: GoalOperation) => `${from} ${to} ${tag} ${size}`
  for (let before = -1; before !== waiting.size; ) {
    before = waiting.size
    for (const [rank, own] of ranks.entries()) {
      for (const [name, operation] of own) {
        const id = `${rank}.${name}`
        if (!waiting.has(id) || operation.requires.some((needed) => waiting.has(`${rank}.${needed}`)))
          continue
        if (operation.kind === 'send') {
          const message = key(rank, operation.peer, operation)
          inFlight.set(message, (inFlight.get(message) ?? 0) + 1)
        } else if (operation.kind === 'recv') {
          const message = key(operation.peer, rank, operation)
          const sent = inFlight.get(message) ?? 0
          if (sent === 0) continue
          inFlight.set(message, sent - 1)
        }
        waiting.delete(id)
      }
    }
  }
  const unreceived = [...inFlight].filter(([, count]) => count > 0).map(([message]) => message)
  return [...waiting, ...unreceived]
}
