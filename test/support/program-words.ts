/** One rank's program, read from its words as c/rankweave_program.h defines them. */
export interface ReadProgram {
  readonly ranks: number
  readonly rank: number
  readonly own: number
  /** Of every message to send: its peer and values. */
  readonly sends: readonly { readonly peer: number; readonly values: readonly number[] }[]
  /** Of every message to receive: its peer, and its values from `first` up to `end`. */
  readonly receives: readonly { readonly peer: number; readonly first: number; readonly end: number }[]
  readonly slotValue: readonly number[]
  readonly left: readonly number[]
  readonly right: readonly number[]
  /** Gates: the first messages sent and received that each waits for. */
  readonly gateSends: readonly number[]
  readonly gateReceives: readonly number[]
  /** The gate of every message; -1: none. */
  readonly sendGate: readonly number[]
  readonly receiveGate: readonly number[]
}

export function readWords(words: Int32Array): ReadProgram {
  const [ranks, rank, own, slots, sends, receives, combinations, sent] = words as unknown as number[]
  let at = 8
  const take = (count: number) => {
    at += count
    return [...words.subarray(at - count, at)]
  }
  const sendPeer = take(sends)
  const sendStart = take(sends + 1)
  const sendValue = take(sent)
  const receivePeer = take(receives)
  const receiveStart = take(receives + 1)
  const program = {
    ranks: ranks,
    rank: rank,
    own: own,
    sends: sendPeer.map((peer, j) => ({ peer, values: sendValue.slice(sendStart[j], sendStart[j + 1]) })),
    receives: receivePeer.map((peer, i) => ({ peer, first: receiveStart[i], end: receiveStart[i + 1] })),
    slotValue: take(slots),
    left: take(combinations),
    right: take(combinations),
  }
  const gates = at < words.length ? take(1)[0]! : 0
  const none = <T>(list: readonly T[]) => list.map(() => -1)
  const gated = {
    gateSends: take(gates),
    gateReceives: take(gates),
    sendGate: gates > 0 ? take(sends) : none(sendPeer),
    receiveGate: gates > 0 ? take(receives) : none(receivePeer),
  }
  if (at !== words.length || receiveStart[0] !== own) throw new Error('words of the wrong length')
  return { ...program, ...gated }
}

/**
 * Runs programs with texts as blocks and returns the slots of every rank. A message leaves when what it
 * carries is there and its gates are open at both ends; the k-th of a pair is received by the k-th receive.
 */
export function runWords(programs: readonly ReadProgram[], owns: readonly (readonly string[])[]): string[][] {
  const values: (string | undefined)[][] = owns.map((own) => [...own])
  const sent = programs.map(({ sends }) => sends.map(() => false))
  const nth = (messages: readonly { readonly peer: number }[], peer: number, k: number) =>
    messages.map((_, i) => i).filter((i) => messages[i].peer === peer)[k]
  const received = programs.map(({ receives }) => receives.map(() => false))
  const isOpen = (rank: number, gate: number): boolean => {
    if (gate < 0) return true
    const { gateSends, gateReceives } = programs[rank]!
    const begun = [sent[rank]!.slice(0, gateSends[gate]), received[rank]!.slice(0, gateReceives[gate])]
    return begun.every((messages) => messages.every((isDone) => isDone))
  }
  for (let isMoving = true; isMoving; ) {
    isMoving = false
    for (const [rank, program] of programs.entries()) {
      const own = values[rank]
      const firstMade = program.receives.at(-1)?.end ?? program.own
      for (const [c, left] of program.left.entries()) {
        const operands = [own[left], own[program.right[c]]]
        if (own[firstMade + c] !== undefined || operands.includes(undefined)) continue
        own[firstMade + c] = `${operands[0]}+${operands[1]}`
        isMoving = true
      }
      for (const [j, { peer, values: carried }] of program.sends.entries()) {
        if (sent[rank][j] || carried.some((value) => own[value] === undefined)) continue
        const k = program.sends.slice(0, j).filter((earlier) => earlier.peer === peer).length
        const at = nth(programs[peer].receives, rank, k) ?? -1
        const receive = programs[peer].receives[at]
        if (receive === undefined || receive.end - receive.first !== carried.length)
          throw new Error(`message ${j} of rank ${rank} has no receive of its length`)
        if (!isOpen(rank, program.sendGate[j]) || !isOpen(peer, programs[peer].receiveGate[at])) continue
        for (const [i, value] of carried.entries()) values[peer][receive.first + i] = own[value]
        sent[rank][j] = true
        received[peer][at] = true
        isMoving = true
      }
    }
  }
  if (sent.some((messages) => messages.includes(false))) throw new Error('a message was never sent')
  return programs.map(({ slotValue }, rank) => slotValue.map((value) => values[rank][value] ?? 'nothing'))
}
