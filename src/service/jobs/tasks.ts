import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { RankProgram } from '../../client/protocol/http.js'
import { simulate } from '../../cost/simulate/simulate.js'
import { simulationObject } from '../../cost/simulate/simulation.js'
import { RankweaveError } from '../../errors.js'
import { cProgramPieces } from '../../export/c-program.js'
import { goalPieces } from '../../export/goal-text.js'
import { nodeOf } from '../../machine/machine.js'
import { formatMachine, parseMachine } from '../../machine/machine-text.js'
import { profileOf } from '../../machine/network.js'
import { reportedPlan, requestedPlan } from '../../neighborhood/choose/plan-request.js'
import { ownVersion, pageFile } from '../../package-paths.js'
import { mostListedRanks, type PlanView, planView } from '../../report/plan-view.js'
import { reportHtml } from '../../report/report-html.js'
import { topologyView } from '../../report/topology-view.js'
import { rankLine } from '../../schedule/file/format-schedule.js'
import { versionFor } from '../../schedule/file/header.js'
import { readScheduleFile, scheduleText } from '../../schedule/file/schedule-file.js'
import { isNeighborSchedule, type NeighborSchedule, opKind, type Schedule } from '../../schedule/ir.js'
import { waitsAfter } from '../../schedule/walk.js'
import { chunksOf, fileError } from '../../text/whole-file.js'
import { mapFromCommunities } from '../../topology/mapping/communities.js'
import { mappingText } from '../../topology/mapping/mapping-file.js'
import type { Body, TaskKind, TaskProgress, Tasks, ViewedPlan, WorkerSettings } from './task.js'
import { buildUpload, describedUpload } from './uploads.js'

type Report = (progress: TaskProgress) => void

type Work = {
  readonly [K in TaskKind]: (
    input: Tasks[K]['input'],
    settings: WorkerSettings,
    report: Report,
  ) => Promise<Tasks[K]['output']>
}

/** The tasks of a worker that gather the data of pictures, and make the file that holds them. */
const viewWork = {
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

/** The work of a worker thread, by the kind of its task. Every function throws errors of Rankweave for bad input. */
export const work: Work = {
  async topology({ upload }, { expandedBytes }, report) {
    const described = describedUpload(upload, expandedBytes, readProgress(report))
    return { ...described, body: bodyOf(upload.path) }
  },

  async plan({ upload, request, into }, { expandedBytes, arraysMb }, report) {
    const machine = request.machine === null ? null : parseMachine(request.machine)
    const { topology } = buildUpload(upload, expandedBytes, readProgress(report))
    requirePlannable(topology.ranks, topology.outRank.length, arraysMb)
    const planned = await reportedPlan(topology, request, machine, {
      onStep: (step) => {
        requireMemory(arraysMb)
        report({ step, done: 0, total: null })
      },
      onProgress: ({ searches, groups, activity, possible }) => {
        requireMemory(arraysMb)
        const step =
          activity === 'solving'
            ? `choosing among ${possible} friend groups`
            : `searching for friend groups, ${groups} found`
        report({ step, done: searches, total: null })
      },
    })
    const { verification, plan } = planned
    if (!verification.ok)
      throw new RankweaveError(
        'ERR_SCHEDULE',
        `planning has made an invalid schedule: ${verification.violations[0]?.message}`,
      )
    report({ step: 'writing the schedule', done: 0, total: null })
    const body = writeFile(into, scheduleText(plan.schedule))
    return { statistics: { topology: request.topology, ...planned.report, verified: true }, body }
  },

  async mapping({ upload, machine: words, into }, { expandedBytes, arraysMb }, report) {
    const machine = parseMachine(words)
    const { topology } = buildUpload(upload, expandedBytes, readProgress(report))
    requirePlannable(topology.ranks, topology.outRank.length, arraysMb)
    const mapping = mapFromCommunities([{ topology }], { nodeOfSlot: nodeOf(machine, topology.ranks) })
    return writeFile(into, mappingText(topology, mapping, 'pairs'))
  },

  async text({ schedule: path, as, bytes, into }) {
    const schedule = await readScheduleFile(path)
    if (as === 'version 1') return writeFile(into, scheduleText(schedule, { version: 1 }))
    if (as === 'c') return writeFile(into, cProgramPieces(schedule))
    if (bytes === null) throw new RankweaveError('ERR_USAGE', 'expected bytes, the length of a contribution')
    return writeFile(into, goalPieces(schedule, { bytes }))
  },

  async simulation({ schedule: path, machine: words, bytes }, { answerBytes }) {
    const machine = parseMachine(words)
    profileOf(machine)
    const schedule = await readScheduleFile(path)
    const { collective, ranks } = schedule.specification
    const simulation = simulate(schedule, machine, { bytes, progress: 'dependencies' })
    return bounded(answerBytes, {
      source: null,
      collective,
      strategy: schedule.strategy,
      parameters: schedule.parameters,
      ranks,
      processes: ranks,
      machine: formatMachine(machine),
      bytesPerContribution: bytes,
      progress: 'dependencies',
      ...simulationObject(simulation),
    })
  },

  async rank({ schedule: path, rank }, { answerBytes }) {
    const schedule = await readScheduleFile(path)
    if (rank >= schedule.specification.ranks)
      throw new RankweaveError(
        'ERR_RANK',
        `expected a rank from 0 to ${schedule.specification.ranks - 1}, got ${rank}`,
      )
    const line = JSON.parse(rankLine(schedule, rank, versionFor(schedule))) as Omit<RankProgram, 'operations'>
    const program: RankProgram = { ...line, operations: operationsOf(schedule, rank) }
    return bounded(answerBytes, program)
  },

  ...viewWork,
}

const kinds = Object.keys(opKind) as readonly (keyof typeof opKind)[]

/**
 * Lists the operations of a rank in order; blocks are named as in the schedule: an origin, or `~p` for a partial result
 * of part p.
 */
function operationsOf(schedule: Schedule, rank: number): RankProgram['operations'] {
  const { opStart, opPhase, opPeer, opTag, entryStart, entryBlock } = schedule
  return Array.from({ length: opStart[rank + 1] - opStart[rank] }, (_, index) => {
    const op = opStart[rank] + index
    const kind = kinds.find((name) => opKind[name] === schedule.opKind[op])!
    const after = waitsAfter(schedule, op)
    const hasPeer = kind === 'send' || kind === 'receive'
    return {
      phase: opPhase[op],
      kind,
      peer: hasPeer ? opPeer[op] : null,
      tag: hasPeer ? opTag[op] : null,
      after: after === -1 ? null : after,
      blocks: [...entryBlock.subarray(entryStart[op], entryStart[op + 1])],
    }
  })
}

function readProgress(report: Report) {
  return (done: number, total: number | null) => report({ step: 'reading the topology', done, total })
}

/** Writes a file anew, whose bytes are on the disk when this returns: a task may be started again. */
function writeFile(path: string, pieces: Iterable<string>): Body {
  const file = openSync(path, 'w', 0o600)
  try {
    const hash = createHash('sha256')
    let bytes = 0
    for (const chunk of chunksOf(pieces)) {
      const data = Buffer.from(chunk)
      for (let at = 0; at < data.length; ) at += writeSync(file, data, at)
      hash.update(data)
      bytes += data.length
    }
    fsyncSync(file)
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    closeSync(file)
  }
}

/** Returns length and digest of a file; its bytes are on the disk when this returns. */
function bodyOf(path: string): Body {
  const file = openSync(path, 'r+')
  try {
    const hash = createHash('sha256')
    const buffer = Buffer.alloc(1 << 20)
    let bytes = 0
    for (let count = readSync(file, buffer); count > 0; count = readSync(file, buffer)) {
      hash.update(buffer.subarray(0, count))
      bytes += count
    }
    fsyncSync(file)
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    closeSync(file)
  }
}

function bounded(most: number, object: unknown): { readonly json: string } {
  const json = JSON.stringify(object)
  if (json.length > most)
    throw new RankweaveError('ERR_LIMIT', `the answer is longer than ${most} bytes (answerBytes)`)
  return { json }
}

async function viewOf(schedule: NeighborSchedule, viewed: ViewedPlan): Promise<PlanView> {
  const { name, machine, bytes, rank, planMs, choiceMs } = viewed
  return planView(
    schedule.topology,
    { schedule, groups: await groupsOf(schedule, viewed), planMs: planMs ?? 0 },
    machine === null ? null : parseMachine(machine),
    {
      ...{ name, choiceMs },
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

const megabyte = 2 ** 20

/** The bytes of a rank: neighbors in both directions, places, and notes of planning. */
const rankBytes = 256
/**
 * The bytes of an edge: in both directions, its send and its receive in the schedule of direct sends, with which every
 * plan is compared, and their proof.
 */
const edgeBytes = 256

/** Returns the least bytes of arrays that planning takes, whatever the strategy: 256 per rank and 256 per edge. */
export function planningBytes(ranks: number, edges: number): number {
  return rankBytes * ranks + edgeBytes * edges
}

/**
 * Refuses a topology that cannot be planned within the bound, before anything is planned.
 *
 * @throws ERR_LIMIT
 */
export function requirePlannable(ranks: number, edges: number, arraysMb: number): void {
  const needed = Math.ceil(planningBytes(ranks, edges) / megabyte)
  if (needed > arraysMb)
    throw new RankweaveError(
      'ERR_LIMIT',
      `planning ${edges} edges of ${ranks} ranks takes about ${needed} MB of arrays: expected at most ${arraysMb} (jobArraysMb)`,
    )
}

/**
 * Returns the bytes of each list that grows while a strategy plans. Some 14 of them grow together with the moves of a
 * strategy (the columns of its moves, operations and entries). Each is copied once while it grows and once into the
 * schedule.
 */
export function mostListBytes(arraysMb: number): number {
  return (arraysMb * megabyte) / 32
}

/**
 * Bounds the memory of this thread's arrays; V8 bounds its heap only. Unused arrays, of an earlier job perhaps, do not
 * count: they are collected before a job is refused.
 *
 * @param usedBytes bytes of arrays that are in use or not collected yet
 * @throws ERR_LIMIT
 */
export function requireMemory(
  arraysMb: number,
  usedBytes = () => process.memoryUsage().arrayBuffers,
  collect = collectGarbage,
): void {
  const most = arraysMb * megabyte
  if (usedBytes() <= most) return
  collect()
  if (usedBytes() > most)
    throw new RankweaveError('ERR_LIMIT', `the job needs more than ${arraysMb} MB for arrays (jobArraysMb)`)
}

let gc: (() => void) | undefined

/** Collects twice: arrays of the first time are swept concurrently with the program, and the second waits for that. */
function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString('--expose-gc')
    gc = runInNewContext('gc') as () => void
  }
  gc()
  gc()
}
