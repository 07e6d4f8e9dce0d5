import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { RankProgram, UploadFormat } from '../../client/protocol/http.js'
import { simulate } from '../../cost/simulate/simulate.js'
import { simulationObject } from '../../cost/simulate/simulation.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
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
import { type ByteSource, isGzip } from '../../text/byte-source.js'
import { expanded, openSourceFile, type ReadProgress } from '../../text/source-file.js'
import { TextReader } from '../../text/text-reader.js'
import { chunksOf, fileError } from '../../text/whole-file.js'
import { matrixMarketText, readMatrixMarketHeader } from '../../topology/files/matrix-market.js'
import type { TopologySpec } from '../../topology/files/spec-text.js'
import { parseTopologySpec } from '../../topology/files/spec-text.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import { mapFromCommunities } from '../../topology/mapping/communities.js'
import { mappingText } from '../../topology/mapping/mapping-file.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'
import type {
  Body,
  TaskKind,
  TaskProgress,
  Tasks,
  UploadedTopology,
  ViewedPlan,
  WorkerSettings,
} from './task.js'

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
    const { topology, matrixRanks } = buildUpload(upload, expandedBytes, readProgress(report))
    return {
      digest: digestOf(topology),
      ranks: topology.ranks,
      edges: topology.outRank.length,
      body: bodyOf(upload.path),
      matrixRanks,
    }
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

/**
 * Computes the digest from which the id of a topology is made. It covers all that planning knows of it: its neighbors
 * in order, its weights, and its shape if it is a grid.
 */
function digestOf(topology: ProcessTopology): string {
  const { cart, pairing, outWeight, inWeight } = topology
  const hash = createHash('sha256').update(topologyHash(topology)).update(JSON.stringify({ cart, pairing }))
  for (const weights of [outWeight, inWeight])
    if (weights !== null) hash.update(new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength))
  return hash.digest('hex')
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

/** Parses a topology in one line. @throws ERR_SPEC, which says what to do with a file as well */
function specOf(text: string): TopologySpec {
  try {
    return parseTopologySpec(text)
  } catch (cause) {
    if (!isRankweaveError(cause, 'ERR_SPEC')) throw cause
    throw new RankweaveError(
      'ERR_SPEC',
      `${cause.message}; for a file pass its format, such as ?format=edges`,
      {
        cause,
      },
    )
  }
}

/** The name of the upload in errors. */
const uploadName = 'the upload'

const fileKinds = { edges: 'edges', csv: 'csv', metis: 'metis', json: 'graphology' } as const

/** The most characters of a text of a topology, longer than any valid one. */
const longestSpec = 4096

/**
 * Builds what was uploaded. Limits of this thread (`lowerTopologyLimits`) hold before anything is allocated.
 *
 * @param expandedBytes what a compressed upload may expand to
 * @returns also the ranks of a matrix, which are as many as its rows unless given
 * @throws ERR_SPEC, ERR_TOPOLOGY, ERR_MATRIX_MARKET, ERR_FILE, ERR_LIMIT
 */
function buildUpload(
  { path, format, ranks }: UploadedTopology,
  expandedBytes: number,
  onProgress: ReadProgress = () => {},
): { readonly topology: ProcessTopology; readonly matrixRanks: number | null } {
  const open = () => boundedUpload(path, expandedBytes)
  try {
    return builtUpload({ path, format, ranks }, open, onProgress)
  } catch (cause) {
    const other = isRankweaveError(cause, 'ERR_TOPOLOGY') ? formatOf(read(open(), 64), format) : null
    if (other === null) throw cause
    const { code, message, details } = cause as RankweaveError
    throw new RankweaveError(code, `${message}; this looks like ${other}: pass ?format=${other}`, {
      cause,
      details,
    })
  }
}

/** Returns the format that a text has by its beginning; null for the one that was named, and where it shows none. */
function formatOf(beginning: string, named: UploadFormat): UploadFormat | null {
  const formats = [
    ['mtx', /^%%MatrixMarket/i],
    ['json', /^\s*\{/],
    ['csv', /^\s*"?\w+"?\s*[,;]/],
  ] as const
  const found = formats.find(([, pattern]) => pattern.test(beginning))?.[0]
  return found === undefined || found === named ? null : found
}

function builtUpload(
  { format, ranks }: UploadedTopology,
  open: () => ByteSource,
  onProgress: ReadProgress,
): { readonly topology: ProcessTopology; readonly matrixRanks: number | null } {
  if (format === 'spec') {
    const text = read(open(), longestSpec).trim()
    if (text.includes('\n'))
      throw new RankweaveError(
        'ERR_SPEC',
        'the upload: expected a topology in one line, got several: pass its format, such as ?format=csv',
      )
    const spec = specOf(text)
    if ('file' in spec)
      throw new RankweaveError('ERR_SPEC', 'expected a topology by parameters: of a file, upload the content')
    return { topology: buildTopology(spec), matrixRanks: null }
  }
  if (format !== 'mtx')
    return {
      topology: buildTopology({ kind: fileKinds[format], file: uploadName }, { open, onProgress }),
      matrixRanks: null,
    }
  const matrixRanks = ranks ?? rowsOf(open())
  const spec = { kind: 'mtx', file: uploadName, ranks: matrixRanks } as const
  return { topology: buildTopology(spec, { open, onProgress }), matrixRanks }
}

/** Returns the upload, expanded if it is compressed, once, and no further than the bound. */
function boundedUpload(path: string, most: number): ByteSource {
  const file = openSourceFile(path)
  const { source, isCompressed } = expanded(file, uploadName)
  let total = 0
  return {
    sizeBytes: isCompressed ? null : source.sizeBytes,
    read: (into) => {
      const count = source.read(into)
      if (isCompressed && total === 0 && isGzip(into.subarray(0, count)))
        throw new RankweaveError('ERR_FILE', 'the upload is compressed twice')
      total += count
      if (total > most)
        throw new RankweaveError('ERR_LIMIT', `the upload expands to more than ${most} bytes (expandedBytes)`)
      return count
    },
    close: () => file.close(),
  }
}

function read(source: ByteSource, most: number): string {
  try {
    const bytes = new Uint8Array(most)
    let count = 0
    for (let more = -1; more !== 0 && count < most; count += more) more = source.read(bytes.subarray(count))
    return new TextDecoder().decode(bytes.subarray(0, count))
  } finally {
    source.close()
  }
}

function rowsOf(source: ByteSource): number {
  try {
    return readMatrixMarketHeader(new TextReader(source, { file: uploadName, ...matrixMarketText })).rows
  } finally {
    source.close()
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
