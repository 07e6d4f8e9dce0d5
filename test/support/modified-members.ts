import { bytesOf, wordsOf } from '../../src/base/bytes.js'
import type { Authority } from '../../src/fabric/fabric.js'
import type { Communicator } from '../../src/handles/communicator.js'
import { frameKind, headerWord } from '../../src/messages/process/frames.js'
import { breakCauses } from '../../src/websocket/protocol/messages.js'
import { BrokenLinks } from '../../src/websocket/rendezvous/broken-links.js'
import { hostSession } from '../../src/world/world.js'
import { MemoryWorld } from './memory-membership.js'
import { VirtualClock } from './virtual-clock.js'

/** What a modified member does otherwise than the library. */
export interface Modified {
  /** What it contributes to a decision, given what the library would. */
  readonly contribute?: (key: string, own: Uint8Array) => Uint8Array
  /** The payload of a frame, or null for a frame that it does not send. */
  readonly payload?: (peer: number, header: Int32Array, payload: Uint8Array) => Uint8Array | null
}

/** How the ranks of one process ended. */
export type Ended<T> = { readonly result: T } | { readonly code: string; readonly message: string }

export interface ModifiedRun<T> {
  /** By process. */
  readonly ended: readonly Ended<T>[]
  /** Processes that were lost, in order, and why. */
  readonly lost: readonly { readonly process: number; readonly reason: string }[]
}

/**
 * Runs `main` with a rank on each process, some of which run a modified library. Broken links are judged as
 * the rendezvous does it; a turn of the event loop counts as a millisecond.
 */
export async function withModified<T>(
  processes: number,
  modified: Readonly<Record<number, Modified>>,
  main: (world: Communicator, kill: (process: number) => void) => Promise<T>,
): Promise<ModifiedRun<T>> {
  const world = await MemoryWorld.open(processes)
  const lost: { readonly process: number; readonly reason: string }[] = []
  const clock = new VirtualClock()
  const lose = (process: number, reason: string) => {
    lost.push({ process, reason })
    links.forget(process)
    world.lose(process, reason)
  }
  const links: BrokenLinks = new BrokenLinks(clock, world.members[0].limits, {
    living: () => processes - lost.length,
    isOverdue: () => false,
    lose,
  })
  for (const member of world.members)
    member.reportBroken = (peer, reason, cause) => {
      if (lost.some(({ process }) => process === peer || process === member.process)) return
      links.report({
        ...{ reporter: member.process, peer, reason },
        ...{ fault: breakCauses[cause], isSilent: cause === 'silent' },
      })
    }
  for (const [process, { contribute, payload }] of Object.entries(modified)) {
    const authority = world.members[Number(process)].authority as { decide: Authority['decide'] }
    const { decide } = authority
    if (contribute !== undefined)
      authority.decide = (key, members, own) => decide(key, members, contribute(key, own))
    const [fabric] = world.sessions[Number(process)].hosted
    const send = fabric.send.bind(fabric)
    if (payload !== undefined)
      fabric.send = (peer, header, bytes) => {
        const sent = payload(peer, header, bytes ?? new Uint8Array(0))
        if (sent !== null) send(peer, header, sent)
      }
  }
  let isDone = false
  const judge = async () => {
    for (; !isDone; clock.pass(1)) await new Promise((resolve) => setImmediate(resolve))
  }
  const ended = Promise.all(
    world.sessions.map((session) =>
      hostSession(session, (comm) => main(comm, (process) => lose(process, 'killed')), {
        ranks: processes,
      }).then(
        ([result]): Ended<T> => ({ result }),
        ({ code, message }): Ended<T> => ({ code, message }),
      ),
    ),
  ).then((all) => {
    isDone = true
    return all
  })
  await judge()
  links.stop()
  return { ended: await ended, lost }
}

export interface Caught {
  readonly code: string
  readonly message?: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** The error of a call; of one that succeeds, `ok`. */
export function caught(promise: Promise<unknown>): Promise<Caught> {
  return promise.then(
    () => ({ code: 'ok' }),
    (error) => error as Caught,
  )
}

/** The contributions to calls of survivors, among all of a world. */
export const isCall = (key: string) => /^survivors .* #\d+$/.test(key)

/** A contribution to the survivors' calls with one word changed. */
export const changedWord =
  (at: number, value: number): NonNullable<Modified['contribute']> =>
  (key, own) => {
    if (!isCall(key)) return own
    const words = own.slice()
    new DataView(words.buffer).setInt32(4 * at, value, true)
    return words
  }

/** Other rows of survivors than the library sends, by receiver. */
export const otherRows = (wordsFor: (own: readonly number[], to: number) => readonly number[]): Modified => ({
  payload: (peer, header, payload) => {
    if (header[headerWord.kind] !== frameKind.survivorRows) return payload
    const words = Int32Array.from(wordsFor([...wordsOf(payload)], peer))
    header[4] = words.length
    return bytesOf(words)
  },
})

/** A copy of the world with a distributed table, in which every rank is `stride` times as far as in the world. */
export const distributed = async (world: Communicator, stride: number): Promise<Communicator> =>
  (await world.split(0, (world.rank * stride) % world.size, { table: 'distributed' }))!

/** World ranks of the members, in the order of their ranks. */
export const membersOf = async (comm: Communicator, world: Communicator): Promise<number[]> => [
  ...(await comm.allgather(Int32Array.of(world.rank))),
]

/** What a modified member does: it must not end the world by an error of its program. */
export async function untilLost(world: Communicator, call: () => Promise<unknown>): Promise<never[]> {
  await caught(call())
  await caught(world.recv(world.rank === 0 ? 2 : 0, 99))
  return []
}
