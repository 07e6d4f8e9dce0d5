import type { Exchange } from '../../comm/calls/exchange.js'
import type { ProcessProgram } from '../../schedule/lower/lower.js'
import type { BlockStore } from './block-store.js'
import type { FrameStore } from './frame-store.js'
import { copyWords } from './memory-words.js'
import type { NeighborTraffic } from './neighbor-traffic.js'
import type { ReceiveBuffers } from './receive-buffers.js'

/**
 * Runs one process's program: at first the store holds the contributed values, when `done` is called it holds all. `done`
 * is called at once where no other process is involved, else while the last frame is being delivered.
 */
export function runProgram(
  { send, receive, rounds, counts }: ProcessProgram,
  exchange: Exchange,
  store: FrameStore,
  traffic: NeighborTraffic,
  done: () => void,
): void {
  traffic.calls++
  traffic.messagesInProcess += counts.messagesInside
  let round = 0
  // In the order of the frames, which is that of their values.
  let frame = 0
  const proceed = (): void => {
    for (; round < rounds; round++) {
      const end = receive.roundStart[round + 1]
      for (; frame < end; frame++) if (!unpackNext()) return
      if (round + 1 < rounds) sendRound(round + 1)
    }
    done()
  }
  /** Unpacks the next frame if it has arrived; else proceeds once it arrives. */
  const unpackNext = (): boolean => {
    let hasArrived = false
    let isLate = false
    const awaited = frame
    exchange.take(receive.peer[awaited], round, (bytes, owned) => {
      store.unpack(awaited, bytes, owned)
      hasArrived = true
      if (!isLate) return
      frame++
      proceed()
    })
    isLate = true
    return hasArrived
  }
  const sendRound = (sending: number): void => {
    for (let j = send.roundStart[sending]; j < send.roundStart[sending + 1]; j++) {
      exchange.send(send.peer[j], sending, store.pack(j))
      traffic.framesSent++
      traffic.messagesSent += send.messages[j]
      traffic.blocksSent += send.valueStart[j + 1] - send.valueStart[j]
    }
  }
  if (rounds > 0) sendRound(0)
  proceed()
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
