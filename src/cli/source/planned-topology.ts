import { statSync } from 'node:fs'
import {
  longestServedBytes,
  type PlanRequest,
  type TopologyInfo,
  type UploadFormat,
} from '../../client/protocol/http.js'
import { type PlanWords, planOptions, wordOf } from '../../client/protocol/plan-words.js'
import { ServiceClient } from '../../client/service-client.js'
import { RankweaveError, shortened } from '../../errors.js'
import { planDirectory } from '../../launch/plan-directory.js'
import { builtInProfiles } from '../../machine/built-in-profiles.js'
import type { Machine } from '../../machine/machine.js'
import { formatMachine } from '../../machine/machine-text.js'
import {
  type PlanHooks,
  type PlanReport,
  reportedPlan,
  type UnderstoodRequest,
} from '../../neighborhood/choose/plan-request.js'
import { storedPlan } from '../../neighborhood/plan/plan-store.js'
import type { PlanView } from '../../report/plan-view.js'
import { scheduleText } from '../../schedule/file/schedule-file.js'
import type { NeighborSchedule } from '../../schedule/ir.js'
import { type RecordedExchange, recordedExchange } from '../../shim/recorded-graphs.js'
import { withSource } from '../../text/source-file.js'
import { parseTopologySpec } from '../../topology/files/spec-text.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { openInput } from '../input/open-input.js'
import type { ServerAddress } from '../input/server-options.js'
import { noteViolations } from '../output/proof-report.js'
import { groupProgress, type Reporter, readProgress } from '../output/reporter.js'

/** A plan of a topology, made here or by a service. */
interface PlannedTopology {
  /** The JSON object of the plan, the same from every source. */
  readonly report: PlanReport
  readonly verified: boolean
  /** The time of reading a plan from a cache; null for a plan that was made. */
  readonly cachedMs: number | null
  /** Returns the schedule as JSON Lines. */
  text(version: 1 | 2): Promise<Iterable<string>>
}

export function builtTopology(report: Reporter, spec: string): ProcessTopology {
  report.step(`building ${spec}`)
  return buildTopology(spec, { open: openInput, onProgress: readProgress(report, spec) })
}

/** The bytes of a file in which comments at its head are sought. */
const longestHead = 2 ** 16

/**
 * Returns what a program exchanged over a topology that `rankweave record` wrote; null for other topologies. It reads
 * the comments at the head of a file, and nothing of pipes, which can be read only once.
 *
 * @throws ERR_FILE for a file that cannot be read
 */
export function recordedIn(spec: string): RecordedExchange | null {
  const file = /^edges:(.+)$/s.exec(spec)?.[1] ?? '-'
  if (file === '-' || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null
  return withSource(
    file,
    (source) => {
      const head = new Uint8Array(longestHead)
      let length = 0
      for (let count = -1; count !== 0 && length < longestHead; length += count)
        count = source.read(head.subarray(length))
      return recordedExchange(new TextDecoder().decode(head.subarray(0, length)))
    },
    { open: openInput },
  )
}

/** @param cache a directory that retains plans */
export async function planHere(
  report: Reporter,
  spec: string,
  request: UnderstoodRequest,
  { machine, cache }: { readonly machine?: Machine | undefined; readonly cache?: string | undefined },
): Promise<PlannedTopology> {
  const topology = builtTopology(report, spec)
  const planned = await reportedPlan(topology, request, machine ?? null, {
    onStep: report.step,
    onProgress: groupProgress(report),
    ...(cache === undefined ? {} : { retained: retainedIn(report, cache) }),
  })
  const { plan, verification, retainedMs } = planned
  noteViolations(report, verification)
  return {
    report: planned.report,
    verified: verification.ok,
    cachedMs: retainedMs,
    text: async (version) => scheduleText(plan.schedule, { version }),
  }
}

function retainedIn(report: Reporter, directory: string): NonNullable<PlanHooks['retained']> {
  const store = planDirectory(directory, { onProblem: ({ message }) => report.note(message) })
  return (...wanted) => storedPlan(store, ...wanted)
}

/** A plan of a service, which verifies its plans. */
export interface ServedPlan extends PlannedTopology {
  schedule(): Promise<NeighborSchedule>
  /**
   * Returns the friend groups, which the schedule does not hold; null for plans without, and for those that took long.
   */
  groups(): Promise<PlanView['groups']>
}

const fileFormats = { mtx: 'mtx', metis: 'metis', csv: 'csv', graphology: 'json', edges: 'edges' } as const

/**
 * Lets a service plan: uploads the topology, unless the service has it, and waits for the plan, which it may also have.
 *
 * @throws ERR_USAGE for blocks that are longer than a service plans for, and for a mapping file; ERR_SPEC, ERR_FILE;
 *   ERR_SERVICE, ERR_TOKEN and the codes of the plan's job
 */
export async function servedPlan(
  report: Reporter,
  server: ServerAddress,
  spec: string,
  words: PlanWords,
): Promise<ServedPlan> {
  requireServedMap(words)
  requireServedProfile(words)
  if (words.bytes !== undefined && words.bytes > longestServedBytes) {
    const expected = `--bytes: expected at most ${longestServedBytes} with --server`
    throw new RankweaveError('ERR_USAGE', `${expected}, got ${words.bytes}`)
  }
  const client = new ServiceClient(server)
  report.step(`uploading ${spec}`)
  const { id } = await uploaded(client, spec)
  const info = await client.plan(requestOf(id, words), ({ state, progress }) =>
    report.step(progress?.step ?? state),
  )
  // The service reports plans as the command does.
  const { topology: _topology, verified: _verified, ...facts } = info.statistics
  return {
    report: facts as PlanReport,
    verified: true,
    cachedMs: null,
    text: async (version) => [await client.scheduleText(info.id, version)],
    schedule: async () => (await client.schedule(info.id)) as NeighborSchedule,
    groups: async () => (await client.planView(info.id)).groups,
  }
}

/** @throws ERR_USAGE for a mapping file: a service computes mappings */
function requireServedMap({ map }: PlanWords): void {
  if (map === undefined || map === 'auto') return
  const message = `--map: expected auto with --server, got '${shortened(map.file)}'; a file is for plans that are made here`
  throw new RankweaveError('ERR_USAGE', message)
}

/** @throws ERR_USAGE for a profile from a file, whose name means nothing to a service */
function requireServedProfile({ machine }: PlanWords): void {
  const name = machine?.profile?.name.split(',')[0]
  if (name === undefined || builtInProfiles.some((profile) => profile.name === name)) return
  const message = `--machine: expected a built-in profile with --server, got '${shortened(name)}'; a file is for plans that are made here`
  throw new RankweaveError('ERR_USAGE', message)
}

function requestOf(topology: string, words: PlanWords): PlanRequest {
  const { strategy, machine, operation } = words
  const names = Object.keys(planOptions) as (keyof typeof planOptions)[]
  return {
    ...{ topology, strategy, operation },
    ...Object.fromEntries(names.map((name) => [wordOf(name), words[name]])),
    machine: machine === undefined ? undefined : formatMachine(machine),
    map: words.map === 'auto' ? words.map : undefined,
  }
}

function uploaded(client: ServiceClient, text: string): Promise<TopologyInfo> {
  const spec = parseTopologySpec(text)
  const name = text.split('/').at(-1)!.slice(0, 200)
  if (!('file' in spec)) return client.upload(text, { format: 'spec', name })
  const format: UploadFormat = fileFormats[spec.kind]
  return client.upload(contentOf(spec.file), {
    format,
    name,
    ...(spec.kind === 'mtx' ? { ranks: spec.ranks } : {}),
  })
}

/** Returns the bytes of a file, compressed or not, unchanged. @throws ERR_FILE */
function contentOf(file: string): Blob {
  const source = openInput(file)
  try {
    const pieces: Uint8Array<ArrayBuffer>[] = []
    for (;;) {
      const piece = new Uint8Array(pieceBytes)
      const count = source.read(piece)
      if (count === 0) return new Blob(pieces)
      pieces.push(piece.subarray(0, count))
    }
  } finally {
    source.close()
  }
}

const pieceBytes = 1 << 20
