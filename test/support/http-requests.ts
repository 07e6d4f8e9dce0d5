import { type HttpRoute, httpRoutes } from '../../scripts/http-routes.js'
import { SchemaValues, schemaOf } from './schema-values.js'

export interface GeneratedRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS' | 'PATCH'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly payload?: string
}

/** Routes as often as they are drawn: plans are asked for more often. */
const routes: readonly Omit<HttpRoute, 'statuses' | 'summary'>[] = [
  ...httpRoutes,
  ...httpRoutes.flatMap(({ also, ...route }) =>
    also === undefined ? [] : [{ ...route, method: also as never }],
  ),
  ...httpRoutes.filter(({ path, method }) => path === '/v1/plans' && method === 'POST'),
]

const strategies = ['direct', 'common-neighbor', 'routed', 'auto', 'routed:radices=2.2', 'nonsense', ':::']
const machines = ['cluster:nodes=4,cores=4,profile=simgrid-fast', 'cluster:nodes=0', 'hosts:/etc/passwd', 'x']
const hosts = ['localhost', '127.0.0.1:7878', 'evil.example', '', '[::1]']
const texts = ['moore:6x6:r=1', '0 1\n1 2\n', '{}', '', '%%MatrixMarket\n', '\u0000', 'é'.repeat(40)]

/**
 * Requests of every route, made from the schemas: most valid, some with a field that is missing, of another
 * type or too many, with another method, header, host or path, and some bodies that are no JSON.
 *
 * @param known ids that answers have had, by their first character; ids of worlds by `w`
 */
export function httpRequests(seed: number, known: Readonly<Record<string, readonly string[]>>) {
  const values: SchemaValues = new SchemaValues(seed, (name) => {
    if (name === 'topology') return idOf('t')
    if (name === 'strategy') return one(strategies)
    return name === 'machine' ? one(machines) : undefined
  })
  const { random, below, one } = values
  const schemas = new Map(
    routes.flatMap(({ query, body }) =>
      [query, body].flatMap((schema) =>
        typeof schema === 'object' ? [[schema, schemaOf(schema)] as const] : [],
      ),
    ),
  )

  function idOf(kind: string): string {
    const ids = known[kind] ?? []
    if (ids.length > 0 && random() < 0.7) return one(ids)
    if (random() < 0.7) return kind === 'w' ? '0'.repeat(16) : `${kind}-${'0'.repeat(64)}`
    return encodeURIComponent(JSON.parse(values.oddity()) as string)
  }

  return (): GeneratedRequest => {
    const { method, path, query, body } = one(routes)
    const filled = path.replace(/:(\w+)/g, (_, kind: string) =>
      kind === 'rank' ? String(below(40)) : idOf(kind[0]),
    )
    const words = query === undefined ? {} : values.objectOf(schemas.get(query)!, 0.15)
    const search = Object.entries(words)
      .map(
        ([name, value]) =>
          `${name}=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`,
      )
      .join('&')
    const url = search === '' ? filled : `${filled}?${search}`
    const luck = random()
    const headers: Record<string, string> = {}
    if (luck < 0.02) headers['host'] = one(hosts)
    else if (luck < 0.04) headers['origin'] = `http://${one(hosts)}`
    else if (luck < 0.06) headers['authorization'] = one(['Bearer x', 'Basic y', 'Bearer', ''])
    else if (luck < 0.07) headers['content-length'] = one(['-1', '9', 'x'])
    const request = {
      method: luck > 0.98 ? one(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'] as const) : method,
      url:
        luck > 0.96 && luck <= 0.98 ? one([`${url}/`, `/${url}`, `${url}%`, `${url}%zz`, `/v1${url}`]) : url,
      headers,
    }
    if (body === undefined) return request
    if (body === 'bytes') return { ...request, payload: one(texts) }
    headers['content-type'] = random() < 0.97 ? 'application/json' : one(['text/plain', 'x', ''])
    const payload =
      random() < 0.95
        ? JSON.stringify(values.objectOf(schemas.get(body)!, 0.15))
        : one([values.oddity(), '{', '', '['.repeat(999)])
    return { ...request, payload }
  }
}
