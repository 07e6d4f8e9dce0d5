import { callText, type TuningCall } from '../tuning/settings/tuning-call.js'

const progressMs = 1000

/** Returns a function that reports each call that is measured, at most one line a second. */
export function progressLines(
  write: (line: string) => void,
  now: () => number = () => performance.now(),
): (call: TuningCall, settings: number, done: number, calls: number) => void {
  let shownMs = Number.NEGATIVE_INFINITY
  return (call, settings, done, calls) => {
    if (now() - shownMs < progressMs) return
    shownMs = now()
    const count = settings === 1 ? '1 setting' : `${settings} settings`
    write(`call ${done + 1} of ${calls}: ${callText(call)}, ${count}`)
  }
}
