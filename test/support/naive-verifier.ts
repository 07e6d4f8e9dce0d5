import type { ScheduleLines } from './schedule-lines.js'

/**
 * A verifier written from docs/schedule-format.md alone: no typed arrays, no code of ours, no care for time. It
 * reports the codes of what is wrong.
 */
export function naiveViolations({ header, ranks }: ScheduleLines): Set<string> {
  const codes = new Set<string>()
  const placesOf = (rank: number): number => 1 + ranks[rank].in.length + ranks[rank].staging

  for (const { rank, phases } of ranks) {
    for (const phase of phases) {
      for (const operation of [...phase.send, ...phase.receive, ...phase.copy]) {
        const { read = [], write = [] } = operation as { read?: number[]; write?: number[] }
        if ([...read, ...write].some((place) => place >= placesOf(rank))) codes.add('structure')
        if (operation.blocks.some((block) => block >= header.ranks)) codes.add('structure')
      }
    }
  }
  if (codes.size > 0) return codes

  // Matching: queues of (rank, phase, blocks) per source, destination and tag.
  type End = { rank: number; phase: number; blocks: number[] }
  const sends = new Map<string, End[]>()
  const receives = new Map<string, End[]>()
  const enqueue = (queues: Map<string, End[]>, key: string, end: End): void => {
    queues.set(key, [...(queues.get(key) ?? []), end])
  }
  for (const { rank, phases } of ranks) {
    phases.forEach(({ send, receive }, phase) => {
      for (const { to, tag, blocks } of send) enqueue(sends, `${rank}>${to}#${tag}`, { rank, phase, blocks })
      for (const { from, tag, blocks } of receive) {
        enqueue(receives, `${from}>${rank}#${tag}`, { rank, phase, blocks })
      }
    })
  }
  const waits: [End, End][] = []
  for (const key of new Set([...sends.keys(), ...receives.keys()])) {
    const sent = sends.get(key) ?? []
    const received = receives.get(key) ?? []
    if (sent.length > received.length) codes.add('send-unmatched')
    if (sent.length < received.length) codes.add('receive-unmatched')
    for (let i = 0; i < Math.min(sent.length, received.length); i++) {
      if (sent[i].blocks.join() !== received[i].blocks.join()) codes.add('blocks-differ')
      waits.push([sent[i], received[i]])
    }
  }

  for (const { rank, in: sources, staging, phases } of ranks) {
    const holds = new Map<number, number>([[0, rank]])
    const read = new Set<number>()
    const look = (block: number, place: number): void => {
      read.add(place)
      if (!holds.has(place)) codes.add('place-empty')
      else if (holds.get(place) !== block) codes.add('wrong-block')
    }
    const put = (block: number, place: number): void => {
      if (holds.has(place)) codes.add('place-rewritten')
      holds.set(place, block)
    }
    for (const { send, receive, copy } of phases) {
      for (const { blocks, read } of send) blocks.forEach((block, i) => void look(block, read[i]))
      for (const { blocks, write } of receive) blocks.forEach((block, i) => void put(block, write[i]))
      for (const { blocks, read, write } of copy) {
        blocks.forEach((block, i) => {
          look(block, read[i])
          put(block, write[i])
        })
      }
    }
    sources.forEach((source, slot) => {
      if (!holds.has(1 + slot)) codes.add('slot-missing')
      else if (holds.get(1 + slot) !== source) codes.add('slot-wrong')
    })
    for (let place = 1 + sources.length; place < 1 + sources.length + staging; place++) {
      if (holds.has(place) && !read.has(place)) codes.add('unused-delivery')
    }
  }

  if (!everybodyFinishes(header, waits)) codes.add('deadlock')
  return codes
}

/** Lets ranks go on as long as one can: a phase ends when the partner of each of its messages is in the partner's phase. */
function everybodyFinishes(
  { ranks, phases }: { ranks: number; phases: number },
  waits: readonly (readonly [{ rank: number; phase: number }, { rank: number; phase: number }])[],
): boolean {
  const entered = new Array<number>(ranks).fill(0)
  for (let moved = true; moved; ) {
    moved = false
    for (let rank = 0; rank < ranks; rank++) {
      if (entered[rank] >= phases) continue
      const isHere = (end: { rank: number; phase: number }): boolean =>
        end.rank === rank && end.phase === entered[rank]
      const isStuck = waits.some(
        ([a, b]) => (isHere(a) && entered[b.rank] < b.phase) || (isHere(b) && entered[a.rank] < a.phase),
      )
      if (isStuck) continue
      entered[rank]++
      moved = true
    }
  }
  return entered.every((phase) => phase >= phases)
}
