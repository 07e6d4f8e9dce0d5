/**
 * A verifier written from docs/schedule-format.md alone: it reads the lines of a file of version 2, without
 * typed arrays, code of ours or care for time. It reports the codes of what is wrong, and whether reductions
 * combine in the demanded order.
 */
export interface NaiveVerdict {
  readonly codes: Set<string>
  readonly isOrdered: boolean
}

interface Header {
  ranks: number
  phases: number
  parts: [ranks: number, parts: number][]
  idempotent: boolean
}

type Name = number | { partial: number }
type Run = [first: number, count: number, stride: number]

interface RankLine {
  rank: number
  own: number[]
  slots: (number | { reduce: Run[] })[]
  staging: number
  phases: Phase[]
}

interface Phase {
  phase: number
  send?: { to: number; tag: number; blocks: Name[]; read: number[] }[]
  receive?: { from: number; tag: number; blocks: Name[]; write: number[] }[]
  local?: Local[]
}

type Local =
  | { copy: Name[]; read: number[]; write: number[] }
  | { combine: number[]; left: number[]; right: number[]; write: number[] }

/** A block, left op right, or what a place holds of a part after a fault. */
type Term = number | [left: Term, right: Term] | { unknownPart: number }

/** One end of a message, and what its send reads. */
interface End {
  rank: number
  phase: number
  blocks: Name[]
  sent?: Term[]
}

export function naiveVerdict(lines: readonly string[]): NaiveVerdict {
  const [header, ...ranks] = lines.map((line) => JSON.parse(line)) as [Header, ...RankLine[]]
  ranks.sort((a, b) => a.rank - b.rank)
  const codes = new Set<string>()
  const blocks = header.parts
    .flatMap(([count, parts]) => Array<number>(count).fill(parts))
    .flatMap((parts, origin) => Array.from({ length: parts }, (_, part) => ({ origin, part })))
  checkRanges(ranks, blocks, codes)
  if (codes.size > 0) return { codes, isOrdered: false }

  const matched = matchMessages(ranks, codes)
  if (!everyRankFinishes(header, matched)) codes.add('deadlock')
  const partOf = (block: number): number => blocks[block].part
  const places = follow(ranks, matched, partOf, codes)
  const isOrdered = checkEnd(header, ranks, places, partOf, codes)
  return { codes, isOrdered: isOrdered && codes.size === 0 }
}

function checkRanges(
  ranks: readonly RankLine[],
  blocks: readonly { origin: number; part: number }[],
  codes: Set<string>,
): void {
  const parts = 1 + Math.max(-1, ...blocks.map(({ part }) => part))
  const exists = (name: Name): boolean =>
    typeof name === 'number' ? name < blocks.length : name.partial < parts
  for (const { own, slots, staging, phases } of ranks) {
    const places = own.length + slots.length + staging
    for (const operation of phases.flatMap(({ send = [], receive = [], local = [] }) => [
      ...send,
      ...receive,
      ...local,
    ])) {
      for (const [key, list] of Object.entries(operation)) {
        if (key === 'combine') {
          if (!(list as number[]).every((part) => part < parts)) codes.add('structure')
        } else if (key === 'blocks' || key === 'copy') {
          if (!(list as Name[]).every(exists)) codes.add('structure')
        } else if (Array.isArray(list) && !(list as number[]).every((place) => place < places))
          codes.add('structure')
      }
    }
    for (const slot of slots) {
      if (typeof slot === 'number') continue
      const reduced = blocksOf(slot.reduce).map((block) => blocks[block])
      if (reduced.some(({ part }) => part !== reduced[0].part)) codes.add('structure')
      if (new Set(reduced.map(({ origin }) => origin)).size < reduced.length) codes.add('structure')
    }
  }
}

function blocksOf(runs: readonly Run[]): number[] {
  return runs.flatMap(([first, count, stride]) => Array.from({ length: count }, (_, n) => first + n * stride))
}

interface Matched {
  readonly pairs: readonly (readonly [send: End, receive: End])[]
  /** The ends of the messages of a line, by the objects that list them. */
  readonly ends: ReadonlyMap<object, End>
}

/** First in, first out for each source, destination and tag. */
function matchMessages(ranks: readonly RankLine[], codes: Set<string>): Matched {
  const queues = new Map<string, { sends: End[]; receives: End[] }>()
  const ends = new Map<object, End>()
  const enqueue = (kind: 'sends' | 'receives', key: string, message: object, end: End): void => {
    ends.set(message, end)
    if (!queues.has(key)) queues.set(key, { sends: [], receives: [] })
    queues.get(key)![kind].push(end)
  }
  for (const { rank, phases } of ranks) {
    for (const { phase, send = [], receive = [] } of phases) {
      for (const message of send) {
        const { to, tag, blocks } = message
        enqueue('sends', `${rank}>${to}#${tag}`, message, { rank, phase, blocks })
      }
      for (const message of receive) {
        const { from, tag, blocks } = message
        enqueue('receives', `${from}>${rank}#${tag}`, message, { rank, phase, blocks })
      }
    }
  }
  const pairs: [End, End][] = []
  for (const { sends, receives } of queues.values()) {
    if (sends.length > receives.length) codes.add('send-unmatched')
    if (sends.length < receives.length) codes.add('receive-unmatched')
    for (let i = 0; i < Math.min(sends.length, receives.length); i++) {
      if (JSON.stringify(sends[i].blocks) !== JSON.stringify(receives[i].blocks)) codes.add('blocks-differ')
      pairs.push([sends[i], receives[i]])
    }
  }
  return { pairs, ends }
}

/**
 * Lets ranks continue as long as one can: a phase ends when the partner of each of its messages is in the
 * partner's phase.
 */
function everyRankFinishes({ ranks, phases }: Header, { pairs }: Matched): boolean {
  const entered = new Array<number>(ranks).fill(0)
  for (let moved = true; moved; ) {
    moved = false
    for (let rank = 0; rank < ranks; rank++) {
      if (entered[rank] >= phases) continue
      const isHere = (end: End): boolean => end.rank === rank && end.phase === entered[rank]
      const isStuck = pairs.some(
        ([a, b]) => (isHere(a) && entered[b.rank] < b.phase) || (isHere(b) && entered[a.rank] < a.phase),
      )
      if (isStuck) continue
      entered[rank]++
      moved = true
    }
  }
  return entered.every((phase) => phase >= phases)
}

/** What the places of a rank hold, and which of them are read. */
interface Places {
  readonly holds: Map<number, Term>
  readonly isRead: Set<number>
}

function follow(
  ranks: readonly RankLine[],
  { pairs, ends }: Matched,
  partOf: (block: number) => number,
  codes: Set<string>,
): Places[] {
  const sendOf = new Map(pairs.map(([send, receive]) => [receive, send]))
  const partOfTerm = (term: Term) => partIn(term, partOf)
  const places = ranks.map(({ own }) => ({
    holds: new Map<number, Term>(own.entries()),
    isRead: new Set<number>(),
  }))

  const operand = ({ holds, isRead }: Places, part: number, place: number): Term | null => {
    isRead.add(place)
    const held = holds.get(place)
    if (held === undefined) codes.add('place-empty')
    else if (partOfTerm(held) !== part) codes.add('wrong-part')
    else return held
    return null
  }
  const read = (at: Places, name: Name, place: number): Term => {
    if (typeof name !== 'number') return operand(at, name.partial, place) ?? { unknownPart: name.partial }
    at.isRead.add(place)
    const held = at.holds.get(place)
    if (held === undefined) codes.add('place-empty')
    else if (held !== name && !(isUnknown(held) && partOfTerm(held) === partOf(name)))
      codes.add('wrong-block')
    return name
  }
  const write = ({ holds }: Places, place: number, term: Term): void => {
    if (holds.has(place)) codes.add('place-rewritten')
    holds.set(place, term)
  }
  const enter = (rank: number, phase: Phase | undefined): void => {
    for (const message of phase?.send ?? []) {
      ends.get(message)!.sent = message.blocks.map((name, i) => read(places[rank], name, message.read[i]))
    }
  }
  /**
   * What a receive gets: the block that it names, or the partial result that was sent; undefined before that.
   */
  const received = (message: object, name: Name, i: number): Term | undefined => {
    if (typeof name === 'number') return name
    const send = sendOf.get(ends.get(message)!)
    if (send === undefined || JSON.stringify(send.blocks[i]) !== JSON.stringify(name))
      return { unknownPart: name.partial }
    return send.sent?.[i]
  }
  const finish = (rank: number, { receive = [], local = [] }: Phase): void => {
    const at = places[rank]
    for (const message of receive) {
      for (const [i, name] of message.blocks.entries())
        write(at, message.write[i], received(message, name, i)!)
    }
    for (const operation of local) {
      if ('copy' in operation) {
        const { copy, read: from, write: to } = operation
        for (const [i, name] of copy.entries()) write(at, to[i], read(at, name, from[i]))
      } else {
        operation.combine.forEach((part, i) => {
          const left = operand(at, part, operation.left[i])
          const right = operand(at, part, operation.right[i])
          const isKnown = left !== null && right !== null
          write(at, operation.write[i], isKnown ? [left, right] : { unknownPart: part })
        })
      }
    }
  }

  const next = ranks.map(() => 0)
  for (const { rank, phases } of ranks) enter(rank, phases[0])
  for (let moved = true; moved; ) {
    moved = false
    for (const { rank, phases } of ranks) {
      const phase = phases[next[rank]]
      const isThere = phase?.receive?.every((message) =>
        message.blocks.every((name, i) => received(message, name, i) !== undefined),
      )
      if (phase === undefined || isThere === false) continue
      finish(rank, phase)
      enter(rank, phases[++next[rank]])
      moved = true
    }
  }
  return places
}

function partIn(term: Term, partOf: (block: number) => number): number {
  if (typeof term === 'number') return partOf(term)
  return Array.isArray(term) ? partIn(term[0], partOf) : term.unknownPart
}

/** Whether a fault decides what a term is. */
function isUnknown(term: Term): boolean {
  if (typeof term === 'number') return false
  return Array.isArray(term) ? term.some(isUnknown) : true
}

/** The slots at the end, and whether their reductions are in order. */
function checkEnd(
  { idempotent }: Header,
  ranks: readonly RankLine[],
  places: readonly Places[],
  partOf: (block: number) => number,
  codes: Set<string>,
): boolean {
  let isOrdered = true
  for (const { rank, own, slots, staging } of ranks) {
    const { holds, isRead } = places[rank]
    slots.forEach((demanded, slot) => {
      const held = holds.get(own.length + slot)
      if (held === undefined) codes.add('slot-missing')
      else if (isUnknown(held)) {
        const first = typeof demanded === 'number' ? demanded : demanded.reduce[0][0]
        if (partIn(held, partOf) !== partOf(first)) codes.add('slot-wrong')
        isOrdered = false
      } else if (typeof demanded === 'number') {
        if (held !== demanded) codes.add('slot-wrong')
      } else {
        const contributors = leaves(held)
        const expected = blocksOf(demanded.reduce)
        const bag = (list: readonly number[]) =>
          (idempotent ? [...new Set(list)] : [...list]).sort((a, b) => a - b).join()
        if (bag(contributors) !== bag(expected)) codes.add('slot-wrong')
        if (contributors.join() !== expected.join()) isOrdered = false
      }
    })
    for (let place = own.length + slots.length; place < own.length + slots.length + staging; place++) {
      if (holds.has(place) && !isRead.has(place)) codes.add('unused-delivery')
    }
  }
  return isOrdered
}

/** The blocks of a term from left to right. */
function leaves(term: Term): number[] {
  if (typeof term === 'number') return [term]
  return Array.isArray(term) ? [...leaves(term[0]), ...leaves(term[1])] : []
}
