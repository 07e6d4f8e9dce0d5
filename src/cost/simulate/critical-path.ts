import { type RunRecord, type Tell, tellFrame, tellJob } from './activities.js'
import type { PathStep } from './simulation.js'

/**
 * Returns the steps that determined the end of a process, from its last job back. The step before a job is the job of
 * the same processor before it or, if the processor was idle, the frame that ended the idle time.
 */
export function criticalPath(record: RunRecord, process: number, rankOf: Int32Array): PathStep[] {
  const { log, frames } = record
  const steps: PathStep[] = []
  let told: PathStep[] = []
  const tell: Tell = (activity, by, other, _frame, startNs, endNs) => {
    const peer = other === -1 ? -1 : rankOf[other]
    told.push({ activity, rank: rankOf[by], peer, startUs: startNs / 1000, endUs: endNs / 1000 })
  }
  /** The path is built backwards, so later intervals come first. */
  const append = (): void => {
    while (told.length > 0) steps.push(told.pop()!)
    told = []
  }
  let at = process
  let job = log.last[process]
  while (job !== -1) {
    tellJob(record, at, job, tell)
    append()
    let frame = log.wokenBy[job]
    if (frame === -1) {
      job = log.before[job]
      continue
    }
    for (;;) {
      tellFrame(record, frame, tell)
      append()
      const awaited = log.awaited[frame]
      if (awaited <= -2) {
        frame = -2 - awaited
        continue
      }
      job = awaited === -1 ? frame : awaited
      at = awaited === -1 ? frames.from[frame] : frames.to[frame]
      break
    }
  }
  return steps.reverse()
}
