import { open, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import {
  listQuery,
  type TopologyAnswer,
  type TopologyInfo,
  topologyId,
  topologyQuery,
  type UploadAnswer,
  type UploadFormat,
} from '../../client/protocol/http.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import type { Tasks } from '../jobs/task.js'
import { storeError } from '../store/storing.js'
import { leaving, type ServiceContext } from './context.js'
import { parsed } from './error-answer.js'
import { listPage, notFound, readStored } from './stored-entries.js'

const params = z.strictObject({ id: topologyId })

/**
 * Adds the routes of uploads and lists of topologies. Bodies are files from their first byte: the event loop copies
 * pieces, and a worker reads them.
 */
export function addTopologyRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { store, tasks, jobs, limits, now, answers } = context
  /** The number of uploads in flight, by tenant: each may fill a file of `uploadBytes`. */
  const uploads = new Map<string, number>()
  app.get('/topologies', ({ tenant, query }) => {
    const all = store.records('topologies', tenant).map(({ info }) => info)
    const { page: topologies, next } = listPage(all, parsed(listQuery, query))
    return { topologies, next }
  })
  app.get('/topologies/:id', async (request, reply): Promise<TopologyAnswer> => {
    const { tenant } = request
    const { id } = parsed(params, request.params)
    const stored = store.get('topologies', tenant, id)
    if (stored === undefined) throw notFound('topologies', id)
    const { info } = stored.record
    if (info.format !== 'json') return { ...info, keys: null }
    // The keys are not in the record: they are read again, and remembered for a while.
    const keys = await readStored(store, 'topologies', tenant, id, ({ record: { ranks }, path }) => {
      const upload = { path, format: info.format, ranks }
      const read = async (signal: AbortSignal) =>
        JSON.stringify((await tasks.run('topology', { upload }, { tenant: tenant.id, signal })).keys)
      return answers.get(`${tenant.id}/${id}/keys`, read, leaving(reply))
    })
    return { ...info, keys: JSON.parse(keys) as TopologyAnswer['keys'] }
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
        const type = request.headers['content-type'] ?? ''
        if (/^multipart\//i.test(type)) throw notAForm()
        if (ranks !== null && format !== 'mtx')
          throw wrongValue(
            'ERR_ARGUMENT',
            `ranks: expected none with format=${format}, as only the rows of format=mtx are distributed`,
            ranks,
          )
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
          const received = await receive(request.body as Readable | undefined, path, limits.uploadBytes)
          const { bytes, hasLines, beginning } = received
          if (bytes === 0)
            throw new RankweaveError('ERR_ARGUMENT', 'the upload: expected a topology, got an empty body')
          const isForm = /^application\/x-www-form-urlencoded/i.test(type)
          const mayBeJoined = isForm && !hasLines && !isOneEdge(beginning)
          if (mayBeJoined && lineFormats.has(format)) throw linesLost()
          const upload = { path, format, ranks }
          const options = { tenant: tenant.id, signal: leaving(reply) }
          const built = await tasks.run('topology', { upload }, options)
          const id = `t-${built.digest}`
          const known = store.get('topologies', tenant, id)
          if (known !== undefined) return answerAgain(known.record.info, built, { name, format })
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
          return reply
            .code(stored === record ? 201 : 200)
            .send({ ...stored.info, ...found(built) } satisfies UploadAnswer)
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

/** The first byte of a gzip file, and of no text. */
const gzipMark = 0x1f

/** The formats whose line breaks have a meaning. */
const lineFormats: ReadonlySet<UploadFormat> = new Set(['mtx', 'edges', 'csv', 'metis'])

/** Returns whether a text is one edge without a weight; lines that were joined have more words. */
const isOneEdge = (text: string): boolean => /^\s*\d+[\s,;]+\d+\s*$/.test(text)

type Built = Tasks['topology']['output']

/** Returns what an upload was found to hold, which is not stored. */
function found({ selfLoops, parallelEdges, idleRanks, remark, keys }: Built) {
  return { selfLoops, parallelEdges, idleRanks, remark, keys }
}

/** Answers another upload of a stored topology, with a remark if it was stored as another one. */
function answerAgain(
  stored: TopologyInfo,
  built: Built,
  { name, format }: Pick<TopologyInfo, 'name' | 'format'>,
): UploadAnswer {
  const { remark, ...facts } = found(built)
  const isSame = stored.name === name && stored.format === format && stored.bytes === built.body.bytes
  const earlier = 'stored before: name, format and bytes are those of the first upload'
  const remarks = [remark, isSame ? null : earlier].filter((each) => each !== null)
  return { ...stored, ...facts, remark: remarks.length === 0 ? null : remarks.join('; ') }
}

/** `curl -F` wraps a file in a form, whose first lines are headers. */
function notAForm(): RankweaveError {
  const expected = 'expected the bytes of a file, got a form: use `curl --data-binary @FILE`'
  return new RankweaveError('ERR_ARGUMENT', `the upload is multipart/form-data: ${expected}`)
}

/**
 * `curl -d @FILE` removes the line breaks of a file, so that `0 1`, `1 2` becomes the edge `0 11` of weight 2. Its type
 * of content alone does not tell: `curl --data-binary` sends the same.
 */
function linesLost(): RankweaveError {
  return new RankweaveError(
    'ERR_ARGUMENT',
    'the upload: expected lines, got no line break: `curl -d` removes them, so use `curl --data-binary @FILE`',
  )
}

function tooLong(most: number): RankweaveError {
  return new RankweaveError('ERR_MESSAGE_TOO_LARGE', `expected at most ${most} bytes (uploadBytes)`)
}

interface Received {
  readonly bytes: number
  readonly hasLines: boolean
  /** The first 64 bytes, or more. */
  readonly beginning: string
}

/**
 * Writes a body to a file as it arrives.
 *
 * @returns whether it has a line break, or is compressed; and its first bytes
 * @throws ERR_MESSAGE_TOO_LARGE, ERR_STORE; ERR_ARGUMENT for one that ends early
 */
async function receive(body: Readable | undefined, path: string, most: number): Promise<Received> {
  try {
    const file = await open(path, 'wx', 0o600)
    let bytes = 0
    let hasLines = false
    let beginning = ''
    try {
      for await (const piece of body ?? []) {
        hasLines ||= (bytes === 0 && (piece as Buffer)[0] === gzipMark) || (piece as Buffer).includes('\n')
        if (beginning.length < 64) beginning += (piece as Buffer).toString('latin1', 0, 64)
        bytes += (piece as Buffer).length
        if (bytes > most) throw tooLong(most)
        // `writeFile` writes all of it, unlike `write`, which stops when a disk is full.
        await file.writeFile(piece as Buffer)
      }
    } finally {
      await file.close()
    }
    return { bytes, hasLines, beginning }
  } catch (cause) {
    const error = storeError(cause)
    if (error instanceof RankweaveError) throw error
    throw new RankweaveError('ERR_ARGUMENT', 'the upload ended early', { cause })
  }
}
