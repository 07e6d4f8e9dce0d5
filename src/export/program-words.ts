import { concatenateWords } from '../base/packing.js'
import type { ProcessProgram } from '../schedule/lower/program.js'

/**
 * Returns the program of a process that hosts one rank as the words that `rw_program_of_words` reads
 * (c/rankweave_program.h). Frames without values are omitted: both ends know that they are empty, and nothing waits for
 * them.
 *
 * @param waits the schedule has waits: its empty frames may be tokens
 */
export function programWords(program: ProcessProgram, ranks: number, waits = false): Int32Array {
  const { send, receive, combine, gates, fillStart, fillSlot, ranks: hosted, ownStart, valueTerm } = program
  const isFilled = (start: Int32Array) => (_: number, frame: number) =>
    waits || start[frame + 1] > start[frame]
  const sendPeer = send.peer.filter(isFilled(send.valueStart))
  const receivePeer = receive.peer.filter(isFilled(receive.valueStart))
  const slotValue = new Int32Array(fillSlot.length)
  for (let value = 0; value < valueTerm.length; value++) {
    for (let fill = fillStart[value]; fill < fillStart[value + 1]; fill++) slotValue[fillSlot[fill]] = value
  }
  const head = [
    ...[ranks, hosted[0], ownStart[1], slotValue.length],
    ...[sendPeer.length, receivePeer.length, combine.left.length, send.value.length],
  ]
  return concatenateWords([
    head,
    sendPeer,
    waits ? send.valueStart : distinct(send.valueStart),
    send.value,
    receivePeer,
    waits ? receive.valueStart : distinct(receive.valueStart),
    slotValue,
    combine.left,
    combine.right,
    ...(gates.sends.length === 0
      ? []
      : [[gates.sends.length], gates.sends, gates.receives, gates.ofSend, gates.ofReceive]),
  ])
}

/** Drops the repeated starts, which belong to empty frames. */
function distinct(starts: Int32Array): Int32Array {
  return starts.filter((start, i) => i === 0 || start !== starts[i - 1])
}
