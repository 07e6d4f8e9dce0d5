import type { Combinations, Dependencies, ReceiveFrames, SendFrames } from './program.js'

/**
 * What every send frame and every combination waits for: each receive frame or combination once, however many
 * of its values.
 */
export function dependenciesOf(
  send: SendFrames,
  receive: ReceiveFrames,
  combine: Combinations,
): Dependencies {
  const sends = send.peer.length
  const receives = receive.peer.length
  const combinations = combine.left.length
  const bringerOf = bringers(receive, combine.firstValue)
  const needs = new Int32Array(sends + combinations)
  const useStart = new Int32Array(receives + combinations + 1)
  /** The last task that was found to wait for a bringer. */
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
  }
  forEach((task, bringer) => {
    needs[task]++
    useStart[bringer + 1]++
  })
  for (let b = 0; b < receives + combinations; b++) useStart[b + 1] += useStart[b]
  const next = useStart.slice()
  const use = new Int32Array(useStart[receives + combinations])
  forEach((task, bringer) => {
    use[next[bringer]++] = task
  })
  return { needs, useStart, use }
}

/** The receive frame of a value, `receive frames + c` for combination c, -1 for what ranks contribute. */
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
