import { readFileSync } from 'node:fs'
import { RankweaveError } from '../../errors.js'
import { parseMachine } from '../../machine/machine-text.js'
import { requestedPlan } from '../../neighborhood/choose/plan-request.js'
import { ownVersion, pageFile } from '../../package-paths.js'
import { mostListedRanks, type PlanView, planView } from '../../report/plan-view.js'
import { reportHtml } from '../../report/report-html.js'
import { topologyView } from '../../report/topology-view.js'
import { readScheduleFile } from '../../schedule/file/schedule-file.js'
import { isNeighborSchedule, type NeighborSchedule } from '../../schedule/ir.js'
import { fileError } from '../../text/whole-file.js'
import type { Tasks, ViewedPlan, WorkerSettings } from './task.js'
import { buildUpload } from './uploaded-topology.js'

/** The tasks of a worker that gather the data of pictures, and make the file that holds them. */
export const viewWork = {
  async topologyView(
    { upload, name, rank }: Tasks['topologyView']['input'],
    { expandedBytes }: WorkerSettings,
  ) {
    const { topology } = buildUpload(upload, expandedBytes)
    return { json: JSON.stringify(topologyView(topology, { name, ...(rank === null ? {} : { rank }) })) }
  },

  async planView({ viewed }: Tasks['planView']['input']) {
    return { json: JSON.stringify(await viewOf(await neighborSchedule(viewed.schedule), viewed)) }
  },

  async report({ viewed }: Tasks['report']['input']) {
    const schedule = await neighborSchedule(viewed.schedule)
    const html = reportHtml(template(), {
      topology: topologyView(schedule.topology, { name: viewed.name, adjacency: true }),
      plan: await viewOf(schedule, viewed),
      madeBy: `rankweave ${ownVersion()}`,
    })
    return { html }
  },
}

async function viewOf(schedule: NeighborSchedule, viewed: ViewedPlan): Promise<PlanView> {
  const { name, machine, bytes, rank, planMs } = viewed
  return planView(
    schedule.topology,
    { schedule, groups: await groupsOf(schedule, viewed), planMs: planMs ?? 0 },
    machine === null ? null : parseMachine(machine),
    {
      name,
      isMeasured: planMs !== null,
      ...(bytes === null ? {} : { bytes }),
      ...(rank === null ? {} : { ranks: [rank] }),
    },
  )
}

/** The most milliseconds of planning for which a plan is made again for the colors of a picture. */
const longestAgainMs = 5_000

/**
 * Returns the friend groups of a plan, which its schedule does not hold: it is planned again. Null if that would take
 * long.
 */
async function groupsOf({ topology }: NeighborSchedule, { friends, planMs }: ViewedPlan) {
  if (friends === null || planMs === null || planMs > longestAgainMs) return null
  if (topology.ranks > mostListedRanks) return null
  const { strategy, machine } = friends
  const request = { strategy, operation: 'neighbor-allgather', comparedBytes: null, map: null } as const
  const planned = await requestedPlan(topology, request, machine === null ? null : parseMachine(machine))
  const { groups } = planned.plan
  return groups?.count === friends.groups ? groups : null
}

/** @throws ERR_SCHEDULE for a schedule without a topology */
async function neighborSchedule(path: string): Promise<NeighborSchedule> {
  const schedule = await readScheduleFile(path)
  if (isNeighborSchedule(schedule)) return schedule
  throw new RankweaveError('ERR_SCHEDULE', 'expected the schedule of a neighborhood collective')
}

/** @throws ERR_FILE if the page has not been built */
function template(): string {
  const file = pageFile('report.html')
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw fileError('read', 'report.html', cause)
  }
}
