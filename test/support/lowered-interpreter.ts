import type { LoweredSchedule } from '../../src/schedule/lower/lower.js'

/**
 * Runs the programs of a lowered schedule with payloads, as an executor would: round by round, frames in mailboxes.
 * Payloads are opaque; a frame is the list of its payloads.
 *
 * @returns receive buffer of every rank, the payload of each slot, and what was sent.
 */
export function interpret<T>(
  { programs, placement }: LoweredSchedule,
  contributionOf: (rank: number, place: number) => T,
): { slots: Map<number, T>[]; framesSent: number; messagesSent: number; blocksSent: number } {
  const slots = Array.from(placement, () => new Map<number, T>())
  const values = programs.map(() => new Map<number, T>())
  const mail = new Map<string, readonly T[]>()
  let framesSent = 0
  let messagesSent = 0
  let blocksSent = 0

  const arrive = (process: number, value: number, payload: T): void => {
    const program = programs[process]
    values[process].set(value, payload)
    for (let f = program.fillStart[value]; f < program.fillStart[value + 1]; f++) {
      const rank = program.ranks[program.fillRank[f]]
      const slot = program.fillSlot[f]
      if (slots[rank].has(slot)) throw new Error(`slot ${slot} of rank ${rank} filled twice`)
      slots[rank].set(slot, payload)
    }
  }
  for (const program of programs) {
    for (const [i, rank] of program.ranks.entries()) {
      for (let v = program.ownStart[i]; v < program.ownStart[i + 1]; v++) {
        arrive(program.process, v, contributionOf(rank, v - program.ownStart[i]))
      }
    }
  }
  const rounds = Math.max(0, ...programs.map((program) => program.rounds))
  for (let round = 0; round < rounds; round++) {
    for (const { process, send } of programs) {
      for (let j = send.roundStart[round]; j < send.roundStart[round + 1]; j++) {
        const key = `${process} ${send.peer[j]} ${round}`
        if (mail.has(key)) throw new Error(`two frames ${key}`)
        const frame: T[] = []
        for (let i = send.valueStart[j]; i < send.valueStart[j + 1]; i++) {
          const value = send.value[i]
          if (!values[process].has(value)) throw new Error(`process ${process} does not have value ${value}`)
          frame.push(values[process].get(value) as T)
        }
        mail.set(key, frame)
        framesSent++
        messagesSent += send.messages[j]
        blocksSent += frame.length
      }
    }
    for (const { process, receive } of programs) {
      for (let j = receive.roundStart[round]; j < receive.roundStart[round + 1]; j++) {
        const key = `${receive.peer[j]} ${process} ${round}`
        const frame = mail.get(key)
        if (frame === undefined) throw new Error(`no frame ${key}`)
        mail.delete(key)
        const first = receive.valueStart[j]
        if (receive.valueStart[j + 1] - first !== frame.length)
          throw new Error(`frame ${key} has another length`)
        for (const [i, payload] of frame.entries()) arrive(process, first + i, payload)
      }
    }
    if (mail.size > 0) throw new Error(`frames left: ${[...mail.keys()].join(', ')}`)
  }
  return { slots, framesSent, messagesSent, blocksSent }
}
