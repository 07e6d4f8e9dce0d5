import { open, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { listQuery, type TopologyInfo, topologyId, topologyQuery } from '../../client/protocol/http.js'
import { RankweaveError } from '../../errors.js'
import { storeError } from '../store/storing.js'
import { leaving, type ServiceContext } from './context.js'
import { parsed } from './error-answer.js'
import { listPage, notFound } from './stored-entries.js'

const params = z.strictObject({ id: topologyId })

/**
 * Adds the routes of uploads and lists of topologies. Bodies are files from their first byte: the event loop copies
 * pieces, and a worker reads them.
 */
export function addTopologyRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { store, tasks, jobs, limits, now } = context
  /** The number of uploads in flight, by tenant: each may fill a file of `uploadBytes`. */
  const uploads = new Map<string, number>()
  app.get('/topologies', ({ tenant, query }) => {
    const all = store.records('topologies', tenant).map(({ info }) => info)
    const { page: topologies, next } = listPage(all, parsed(listQuery, query))
    return { topologies, next }
  })
  app.get('/topologies/:id', (request) => {
    const { id } = parsed(params, request.params)
    const stored = store.get('topologies', request.tenant, id)
    if (stored === undefined) throw notFound('topologies', id)
    return stored.record.info
  })

  // In a separate scope, so that only here a body is passed on unparsed.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    scope.route({
      method: ['POST', 'PUT'],
      url: '/topologies',
      bodyLimit: limits.uploadBytes,
      handler: async (request, reply) => {
        const { tenant } = request
        const { format, name = '', ranks = null } = parsed(topologyQuery, request.query)
        // A claimed length beyond the limit is refused before the body arrives.
        if (Number(request.headers['content-length'] ?? 0) > limits.uploadBytes)
          throw tooLong(limits.uploadBytes)
        const before = uploads.get(tenant.id) ?? 0
        if (before >= limits.queuedTasks)
          throw new RankweaveError(
            'ERR_BUSY',
            `expected at most ${limits.queuedTasks} uploads at a time (queuedTasks)`,
          )
        uploads.set(tenant.id, before + 1)
        const path = store.temporaryFile()
        try {
          await receive(request.body as Readable | undefined, path, limits.uploadBytes)
          const upload = { path, format, ranks }
          const options = { tenant: tenant.id, signal: leaving(reply) }
          const built = await tasks.run('topology', { upload }, options)
          const id = `t-${built.digest}`
          const known = store.get('topologies', tenant, id)
          if (known !== undefined) return known.record.info
          const info: TopologyInfo = {
            ...{ id, ranks: built.ranks, edges: built.edges, name, format },
            ...{ bytes: built.body.bytes, createdAt: now().toISOString() },
          }
          const record = {
            format: 'rankweave topology 1' as const,
            info,
            ranks: built.matrixRanks,
            body: built.body,
          }
          const stored = await store.add('topologies', tenant, record, path, (...of) => jobs.needs(...of))
          return reply.code(stored === record ? 201 : 200).send(stored.info)
        } finally {
          const left = uploads.get(tenant.id)! - 1
          if (left === 0) uploads.delete(tenant.id)
          else uploads.set(tenant.id, left)
          await rm(path, { force: true })
        }
      },
    })
  })
}

function tooLong(most: number): RankweaveError {
  return new RankweaveError('ERR_MESSAGE_TOO_LARGE', `expected at most ${most} bytes (uploadBytes)`)
}

/**
 * Writes a body to a file as it arrives.
 * @throws ERR_MESSAGE_TOO_LARGE, ERR_STORE; ERR_ARGUMENT for one that ends early
 */
async function receive(body: Readable | undefined, path: string, most: number): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600)
    let bytes = 0
    try {
      for await (const piece of body ?? []) {
        bytes += (piece as Buffer).length
        if (bytes > most) throw tooLong(most)
        // `writeFile` writes all of it, unlike `write`, which stops when a disk is full.
        await file.writeFile(piece as Buffer)
      }
    } finally {
      await file.close()
    }
  } catch (cause) {
    const error = storeError(cause)
    if (error instanceof RankweaveError) throw error
    throw new RankweaveError('ERR_ARGUMENT', 'the upload ended early', { cause })
  }
}
