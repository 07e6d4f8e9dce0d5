import type { FastifyInstance } from 'fastify'
import { jsonDepth } from '../../base/json-depth.js'
import { maxMessageDepth } from '../../client/protocol/world-limits.js'
import { RankweaveError } from '../../errors.js'

/**
 * Reads bodies of the type `application/json`: their nesting is counted before they are parsed, and members
 * that name a prototype are refused.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (jsonDepth(body, maxMessageDepth) <= maxMessageDepth) return parse(request, body, done)
    const expected = `request: expected nesting of at most ${maxMessageDepth}`
    done(new RankweaveError('ERR_ARGUMENT', expected))
  })
}
