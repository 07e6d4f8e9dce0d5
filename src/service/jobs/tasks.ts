import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import type { RankProgram } from '../../client/protocol/http.js'
import { simulate } from '../../cost/simulate/simulate.js'
import { simulationObject } from '../../cost/simulate/simulation.js'
import { RankweaveError } from '../../errors.js'
import { cProgramPieces } from '../../export/c-program.js'
import { goalPieces } from '../../export/goal-text.js'
import { formatMachine } from '../../machine/format-machine.js'
import { nodeOf } from '../../machine/machine.js'
import { parseMachine } from '../../machine/machine-text.js'
import { profileOf } from '../../machine/network.js'
import { reportedPlan } from '../../neighborhood/choose/plan-request.js'
import { readScheduleFile, scheduleText } from '../../schedule/file/schedule-file.js'
import { opKind, type Schedule } from '../../schedule/ir.js'
import { waitsAfter } from '../../schedule/walk.js'
import { chunksOf } from '../../text/whole-file.js'
import { mapFromCommunities } from '../../topology/mapping/communities.js'
import { mappingText } from '../../topology/mapping/mapping-file.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'
import { requireMemory, requirePlannable } from './job-memory.js'
import type { Body, TaskKind, TaskProgress, Tasks, WorkerSettings } from './task.js'
import { buildUpload } from './uploaded-topology.js'
import { viewWork } from './view-tasks.js'

type Report = (progress: TaskProgress) => void

type Work = {
  readonly [K in TaskKind]: (
    input: Tasks[K]['input'],
    settings: WorkerSettings,
    report: Report,
  ) => Promise<Tasks[K]['output']>
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
        `the plan is not right: ${verification.violations[0]?.message}`,
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
        `expected a rank below ${schedule.specification.ranks}, got ${rank}`,
      )
    const program: RankProgram = { rank, operations: operationsOf(schedule, rank) }
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
