import { entriesByRow, rowStarts } from '../../topology/compressed-rows.js'
import { type RunRecord, type Tell, tellFrame, tellJob } from './activities.js'
import { type Activity, activities, type Timeline } from './simulation.js'

export function timelineOf(record: RunRecord, rankOf: Int32Array): Timeline {
  let count = 0
  tellAll(record, () => count++)
  const rank = new Int32Array(count)
  const activity = new Uint8Array(count)
  const peer = new Int32Array(count)
  const message = new Int32Array(count)
  const bytes = new Float64Array(count)
  const startUs = new Float64Array(count)
  const endUs = new Float64Array(count)
  let at = 0
  tellAll(record, (what, process, other, frame, startNs, endNs) => {
    rank[at] = rankOf[process]
    activity[at] = numberOf.get(what)!
    peer[at] = other === -1 ? -1 : rankOf[other]
    message[at] = frame
    bytes[at] = frame === -1 ? 0 : record.frames.bytes[frame]
    startUs[at] = startNs / 1000
    endUs[at] = endNs / 1000
    at++
  })
  const order = byRankAndStart(rank, startUs)
  return {
    rank: rank.map((_, i) => rank[order[i]]),
    activity: activity.map((_, i) => activity[order[i]]),
    peer: peer.map((_, i) => peer[order[i]]),
    message: message.map((_, i) => message[order[i]]),
    bytes: bytes.map((_, i) => bytes[order[i]]),
    startUs: startUs.map((_, i) => startUs[order[i]]),
    endUs: endUs.map((_, i) => endUs[order[i]]),
  }
}

/**
 * Returns intervals by rank, then start, then number. It sorts within each rank, because sorting all together takes ten
 * times as long.
 */
function byRankAndStart(rank: Int32Array, startUs: Float64Array): Int32Array {
  const ranks = rank.reduce((most, of) => Math.max(most, of + 1), 0)
  const first = rowStarts(ranks, rank)
  const order = entriesByRow(first, rank)
  for (let of = 0; of < ranks; of++)
    order.subarray(first[of], first[of + 1]).sort((a, b) => startUs[a] - startUs[b] || a - b)
  return order
}

const numberOf: ReadonlyMap<Activity, number> = new Map(activities.map((name, i) => [name, i]))

function tellAll(record: RunRecord, tell: Tell): void {
  const { frames, log } = record
  for (let process = 0; process < frames.processes; process++) {
    for (let job = log.last[process]; job !== -1; job = log.before[job]) {
      tellJob(record, process, job, tell)
      const frame = log.wokenBy[job]
      if (frame === -1) continue
      const before = log.before[job]
      const idleSince = before === -1 ? 0 : log.endNs[before]
      const other = frames.from[frame] === process ? frames.to[frame] : frames.from[frame]
      if (log.startNs[job] > idleSince) tell('wait', process, other, frame, idleSince, log.startNs[job])
    }
  }
  for (let frame = 0; frame < frames.from.length; frame++) tellFrame(record, frame, tell)
}
