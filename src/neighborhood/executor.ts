import type { Exchange } from '../comm/collective-engine.js'
import type { ProcessProgram } from '../schedule/lower.js'
import type { BlockStore } from './block-store.js'
import type { ReceiveBuffers } from './receive-buffers.js'
import { copyWords, newWords, type Words } from './words.js'

/** What neighborhood collectives really sent, counted where it is sent. */
export interface NeighborTraffic {
  /** Calls and starts that this process took part in, once for all its ranks. */
  calls: number
  /** Messages of the schedule that left this process in frames. */
  messagesSent: number
  /** Messages of the schedule between ranks of this process, which became copies. */
  messagesInProcess: number
  framesSent: number
  blocksSent: number
}

/**
 * Runs one process's program: the store holds the contributed values, and afterwards all. At once where no other
 * process is involved, else when the last frame has arrived.
 *
 * A frame is the words of its values one after another; where the store does not know lengths, before them comes the
 * number of words of each, as 32-bit integers, filled up to a multiple of 8 bytes.
 */
export function runProgram(
  program: ProcessProgram,
  exchange: Exchange,
  store: BlockStore,
  traffic: NeighborTraffic,
): Promise<void> | undefined {
  traffic.calls++
  traffic.messagesInProcess += program.counts.messagesInside
  const { send, receive } = program
  if (send.peer.length === 0 && receive.peer.length === 0) return undefined
  return runRounds(program, exchange, store, traffic)
}

async function runRounds(
  program: ProcessProgram,
  exchange: Exchange,
  store: BlockStore,
  traffic: NeighborTraffic,
): Promise<void> {
  const { send, receive, rounds } = program
  for (let round = 0; round < rounds; round++) {
    for (let j = send.roundStart[round]; j < send.roundStart[round + 1]; j++) {
      exchange.send(send.peer[j], round, packFrame(program, j, store))
      traffic.framesSent++
      traffic.messagesSent += send.messages[j]
      traffic.blocksSent += send.valueStart[j + 1] - send.valueStart[j]
    }
    // In the order of the frames, which is that of the values they bring.
    for (let j = receive.roundStart[round]; j < receive.roundStart[round + 1]; j++) {
      unpackFrame(program, j, await exchange.receive(receive.peer[j], round), store)
    }
  }
}

function packFrame({ send }: ProcessProgram, frame: number, store: BlockStore): Uint8Array {
  const { value } = send
  const from = send.valueStart[frame]
  const to = send.valueStart[frame + 1]
  const headWords = store.sized ? 0 : lengthWords(to - from, store.elementSizeBytes)
  let total = headWords
  for (let i = from; i < to; i++) total += store.lengthOf(value[i])
  const words = newWords(store.elementSizeBytes, total)
  if (!store.sized) {
    const lengths = new Int32Array(words.buffer, 0, to - from)
    for (let i = from; i < to; i++) lengths[i - from] = store.lengthOf(value[i])
  }
  let at = headWords
  const { words: arena, start } = store
  for (let i = from; i < to; i++) {
    const v = value[i]
    const length = start[v + 1] - start[v]
    copyWords(arena, start[v], words, at, length)
    at += length
  }
  return new Uint8Array(words.buffer, 0, words.byteLength)
}

function unpackFrame({ receive }: ProcessProgram, frame: number, bytes: Uint8Array, store: BlockStore): void {
  const from = receive.valueStart[frame]
  const to = receive.valueStart[frame + 1]
  const words: Words =
    store.elementSizeBytes >= 4
      ? new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
      : bytes
  if (store.sized) {
    store.put(from, to, words)
    return
  }
  const lengths = new Int32Array(bytes.buffer, bytes.byteOffset, to - from)
  for (let v = from; v < to; v++) store.extend(v, lengths[v - from])
  store.put(from, to, words, lengthWords(to - from, store.elementSizeBytes))
}

/** Words, of elements of this size, that the lengths of so many values take. */
function lengthWords(values: number, elementSizeBytes: number): number {
  const sizeBytes = (4 * values + 7) & ~7
  return elementSizeBytes >= 4 ? sizeBytes >>> 2 : sizeBytes
}

/**
 * Copies every value into the slots it fills.
 *
 * @param receive where the receive buffer of every hosted rank is
 * @param fillTo where in its rank's buffer each fill of the program goes
 */
export function fillSlots(
  { fillStart, fillRank }: ProcessProgram,
  { words, start }: BlockStore,
  receive: Pick<ReceiveBuffers, 'words' | 'base'>,
  fillTo: Int32Array,
): void {
  for (let v = 0; v + 1 < fillStart.length; v++) {
    const from = start[v]
    const length = start[v + 1] - from
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) {
      const rank = fillRank[f]
      copyWords(words, from, receive.words[rank], receive.base[rank] + fillTo[f], length)
    }
  }
}
