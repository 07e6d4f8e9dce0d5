import { firstNotBelow } from '../../base/search.js'
import type { Frames } from './lower-frames.js'
import type { Gates } from './program.js'

const none = new Int32Array(0)
export const noGates: Gates = { sends: none, receives: none, ofSend: none, ofReceive: none }

/** Lists the gates of a process: one for each set of frames that others wait for. */
export function gatesOf(sent: Frames, received: Frames): Gates {
  const bounds = [...new Set([...sent.after, ...received.after])].sort((a, b) => a - b)
  const sends: number[] = []
  const receives: number[] = []
  const gateOfBound = new Map<number, number>()
  for (const bound of bounds) {
    const [before, arrived] = [framesUpTo(sent, bound), framesUpTo(received, bound)]
    const last = sends.length - 1
    if (before + arrived === 0) gateOfBound.set(bound, -1)
    else if (last >= 0 && sends[last] === before && receives[last] === arrived) gateOfBound.set(bound, last)
    else {
      gateOfBound.set(bound, sends.length)
      sends.push(before)
      receives.push(arrived)
    }
  }
  if (sends.length === 0) return noGates
  const gatesIn = ({ after }: Frames) => after.map((bound) => gateOfBound.get(bound)!)
  return {
    sends: Int32Array.from(sends),
    receives: Int32Array.from(receives),
    ofSend: gatesIn(sent),
    ofReceive: gatesIn(received),
  }
}

/** Counts the frames of rounds up to one. */
function framesUpTo({ round }: Frames, last: number): number {
  return firstNotBelow(round, last + 1, 0, round.length)
}
