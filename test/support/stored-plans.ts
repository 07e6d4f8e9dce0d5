import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { JobRecord, PlanRecord, TopologyRecord } from '../../src/service/store/database.js'
import type { Store } from '../../src/service/store/store.js'
import type { Tenant } from '../../src/service/tenant.js'

const hexOf = (of: string) => createHash('sha256').update(of).digest('hex')

/** Ids as the service makes them: of anything, by a number. */
export const idOf = (kind: 't' | 'p' | 'j', of: number | string) => `${kind}-${hexOf(String(of))}`

/** Later ones have later times. */
const timeOf = (index: number) => new Date(1_700_000_000_000 + index * 1000).toISOString()

function recorded(store: Store, body: string) {
  const path = store.temporaryFile()
  writeFileSync(path, body)
  return { path, body: { bytes: Buffer.byteLength(body), sha256: hexOf(body) } }
}

/** Stores a topology whose body is a text. @returns its id */
export async function addTopology(
  store: Store,
  tenant: Tenant,
  index: number,
  text = `moore:${index}`,
  needed: (tenant: string, topology: string) => boolean = () => false,
): Promise<string> {
  const { path, body } = recorded(store, text)
  const id = idOf('t', index)
  const record: TopologyRecord = {
    format: 'rankweave topology 1',
    info: {
      ...{ id, ranks: 4, edges: 4, name: '', format: 'spec' },
      ...{ bytes: body.bytes, createdAt: timeOf(index) },
    },
    ranks: null,
    body,
  }
  await store.add('topologies', tenant, record, path, needed)
  return id
}

/** Stores a plan whose schedule is a text. @returns its id */
export async function addPlan(
  store: Store,
  tenant: Tenant,
  index: number,
  text = `schedule ${index}`,
  needed: (tenant: string, topology: string) => boolean = () => false,
): Promise<string> {
  const { path, body } = recorded(store, text)
  const id = idOf('p', index)
  const record: PlanRecord = {
    format: 'rankweave plan 1',
    info: {
      id,
      request: { topology: idOf('t', 0), strategy: 'direct', operation: 'neighbor-allgather', k: 4 },
      createdAt: timeOf(index),
      ...body,
      statistics: {},
    },
    body,
  }
  await store.add('plans', tenant, record, path, needed)
  return id
}

/** What the store keeps of the job of a plan. */
export const jobRecord = (index: number, state: JobRecord['state'] = 'queued'): JobRecord => ({
  ...{ format: 'rankweave job 1', id: idOf('j', index), plan: idOf('p', index), error: null, starts: 0 },
  request: { topology: idOf('t', 0), strategy: 'direct', operation: 'neighbor-allgather', k: 4 },
  ...{ state, createdAt: '2026-01-01T00:00:00.000Z' },
})
