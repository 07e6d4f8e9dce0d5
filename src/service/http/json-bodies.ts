import type { FastifyInstance } from 'fastify'
import { jsonCommas, jsonDepth } from '../../base/json-depth.js'
import { maxMessageDepth } from '../../client/protocol/world-limits.js'
import { RankweaveError } from '../../errors.js'

/** The most commas between members and elements; a plan request with all its members has 12. */
const mostCommas = 64

/**
 * Reads bodies of the type `application/json`: nesting and commas are counted before they are parsed, and members that
 * name a prototype are refused.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    const expected = exceeded(body)
    if (expected === null) return parse(request, body, done)
    done(new RankweaveError('ERR_ARGUMENT', `request: expected ${expected}`))
  })
}

/** Returns the bound that a body exceeds; null if it exceeds none. */
function exceeded(body: string): string | null {
  if (jsonDepth(body, maxMessageDepth) > maxMessageDepth) return `nesting of at most ${maxMessageDepth}`
  return jsonCommas(body, mostCommas) > mostCommas ? `at most ${mostCommas} commas between values` : null
}
