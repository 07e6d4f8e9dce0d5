import type { PlanRequest, TopologyInfo, UploadFormat } from '../../client/protocol/http.js'
import { ServiceClient } from '../../client/service-client.js'
import { formatMachine } from '../../machine/format-machine.js'
import type { PlanReport } from '../../neighborhood/choose/plan-request.js'
import type { StrategyWords } from '../../neighborhood/choose/strategy-choice.js'
import type { PlanView } from '../../report/plan-view.js'
import type { NeighborSchedule } from '../../schedule/ir.js'
import { parseTopologySpec } from '../../topology/files/spec-text.js'
import { openInput } from '../input/open-input.js'
import type { ServerAddress } from '../input/server-options.js'
import type { Reporter } from '../output/reporter.js'

/** What a service is asked to plan, in the words of the command line. */
export interface ServedWords extends StrategyWords {
  readonly operation?: PlanRequest['operation']
  /** For the strategy `auto`. */
  readonly bytes?: number | undefined
}

/** A plan of a service. */
export interface ServedPlan {
  /** What is printed of it as JSON, whatever printed it. */
  readonly report: PlanReport
  /** As JSON Lines, in the version asked for. */
  text(version: 1 | 2): Promise<string>
  schedule(): Promise<NeighborSchedule>
  /**
   * Its friend groups, which its schedule does not hold; null for plans without, and for those that took
   * long.
   */
  groups(): Promise<PlanView['groups']>
}

const fileFormats = { mtx: 'mtx', metis: 'metis', csv: 'csv', graphology: 'json', edges: 'edges' } as const

/**
 * Lets a service plan: uploads the topology, which it may have already, and waits for the plan, which it may
 * have, too.
 *
 * @throws ERR_SPEC, ERR_FILE; ERR_SERVICE, ERR_TOKEN and the codes of the plan's job
 */
export async function servedPlan(
  report: Reporter,
  server: ServerAddress,
  spec: string,
  words: ServedWords,
): Promise<ServedPlan> {
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
    text: (version) => client.scheduleText(info.id, version),
    schedule: async () => (await client.schedule(info.id)) as NeighborSchedule,
    groups: async () => (await client.planView(info.id)).groups,
  }
}

function requestOf(topology: string, words: ServedWords): PlanRequest {
  const { strategy, machine, operation = 'neighbor-allgather', bytes } = words
  const { k, mode, theta, dedupe, elide, engine, labels } = words
  return {
    topology,
    strategy,
    ...(strategy === 'common-neighbor' ? { k, mode, theta, dedupe, elide, engine, labels } : {}),
    machine: machine === undefined ? undefined : formatMachine(machine),
    operation,
    bytes,
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

/** An unchanged file, compressed or not. @throws ERR_FILE */
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
