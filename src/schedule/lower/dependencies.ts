import type { Combinations, Dependencies, Gates, ReceiveFrames, SendFrames } from './program.js'

/** The starts of the kinds of tasks and of bringers, which are numbered as in {@link Dependencies}. */
export interface TaskNumbers {
  readonly firstGate: number
  /** The posts of receive frames; there are none without gates. */
  readonly firstPost: number
  readonly combined: number
  readonly opened: number
  /** The completions of send frames; there are none without gates. */
  readonly sent: number
}

export function taskNumbers(
  send: SendFrames,
  receive: ReceiveFrames,
  combine: Combinations,
  { sends: gates }: Gates,
): TaskNumbers {
  const combinations = combine.left.length
  const firstGate = send.peer.length + combinations
  const combined = receive.peer.length
  const opened = combined + combinations
  return { firstGate, firstPost: firstGate + gates.length, combined, opened, sent: opened + gates.length }
}

/**
 * Computes what every send frame, every combination and every gate waits for: each receive frame or combination once,
 * however many of its values they need.
 */
export function dependenciesOf(
  send: SendFrames,
  receive: ReceiveFrames,
  combine: Combinations,
  gates: Gates,
): Dependencies {
  const sends = send.peer.length
  const receives = receive.peer.length
  const combinations = combine.left.length
  const hasGates = gates.sends.length > 0
  const { firstGate, firstPost, opened, sent } = taskNumbers(send, receive, combine, gates)
  const bringerOf = bringers(receive, combine.firstValue)
  const needs = new Int32Array(hasGates ? firstPost + receives : firstPost)
  const bringerCount = hasGates ? sent + sends : sent
  const useStart = new Int32Array(bringerCount + 1)
  /** By bringer, the last task that was found to wait for it. */
  const marked = new Int32Array(receives + combinations).fill(-1)

  const forEach = (visit: (task: number, bringer: number) => void): void => {
    marked.fill(-1)
    const wait = (task: number, value: number): void => {
      const bringer = bringerOf(value)
      if (bringer === -1 || marked[bringer] === task) return
      marked[bringer] = task
      visit(task, bringer)
    }
    for (let frame = 0; frame < sends; frame++) {
      for (let i = send.valueStart[frame]; i < send.valueStart[frame + 1]; i++) wait(frame, send.value[i])
    }
    for (let c = 0; c < combinations; c++) {
      wait(sends + c, combine.left[c])
      wait(sends + c, combine.right[c])
    }
    if (hasGates) forEachOfGates(visit)
  }
  /** Visits the waits of gates: each waits for the one before it and for the frames that it adds. */
  const forEachOfGates = (visit: (task: number, bringer: number) => void): void => {
    let [s, r] = [0, 0]
    for (let gate = 0; gate < gates.sends.length; gate++) {
      const task = firstGate + gate
      if (gate > 0) visit(task, opened + gate - 1)
      for (; s < gates.sends[gate]; s++) visit(task, sent + s)
      for (; r < gates.receives[gate]; r++) visit(task, r)
    }
    for (let frame = 0; frame < sends; frame++)
      if (gates.ofSend[frame] >= 0) visit(frame, opened + gates.ofSend[frame])
    for (let frame = 0; frame < receives; frame++)
      if (gates.ofReceive[frame] >= 0) visit(firstPost + frame, opened + gates.ofReceive[frame])
  }
  forEach((task, bringer) => {
    needs[task]++
    useStart[bringer + 1]++
  })
  for (let b = 0; b < bringerCount; b++) useStart[b + 1] += useStart[b]
  const next = useStart.slice()
  const use = new Int32Array(useStart[bringerCount])
  forEach((task, bringer) => {
    use[next[bringer]++] = task
  })
  return { needs, useStart, use }
}

/** Returns the receive frame of a value, `receive frames + c` for combination c, -1 for contributions. */
function bringers({ peer, valueStart }: ReceiveFrames, firstCombined: number): (value: number) => number {
  const first = valueStart[0]
  const frameOf = new Int32Array(firstCombined - first)
  for (let frame = 0; frame < peer.length; frame++) {
    frameOf.fill(frame, valueStart[frame] - first, valueStart[frame + 1] - first)
  }
  return (value) => {
    if (value < first) return -1
    return value < firstCombined ? frameOf[value - first] : peer.length + value - firstCombined
  }
}
