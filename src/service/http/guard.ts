import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { RankweaveError, shown, wrongValue } from '../../errors.js'

export interface GuardOptions {
  /** The host on which the service listens. */
  readonly host: string
  readonly isTls: boolean
  /** The URL by which clients reach it through a proxy or by another name, such as `https://plans.example.org`. */
  readonly publicUrl: string | undefined
  /** The origins of pages that may use it in addition to its own. */
  readonly allowedOrigins: readonly string[]
}

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']

/**
 * Decides which clients may ask, by the addresses of a request. A page that a browser shows can reach a service on the
 * user's own host. The origin keeps out pages of others. The name of the host keeps out pages whose name was made to
 * resolve to this host after they had been loaded (DNS rebinding).
 */
export class Guard {
  readonly #origins = new Set<string>()
  readonly #hosts = new Set<string>()

  /** @throws ERR_USAGE for an invalid origin */
  constructor({ host, isTls, publicUrl, allowedOrigins }: GuardOptions) {
    const scheme = isTls ? 'https' : 'http'
    const names = [
      isIP(host) === 6 ? `[${host}]` : host,
      ...(isLoopback(host) || isAny(host) ? loopbackNames : []),
    ]
    for (const name of names) this.#hosts.add(name.toLowerCase())
    if (publicUrl !== undefined) {
      const { origin, hostname } = originOf(publicUrl)
      this.#origins.add(origin)
      this.#hosts.add(hostname)
    }
    for (const text of allowedOrigins) this.#origins.add(originOf(text).origin)
    this.#scheme = scheme
  }

  readonly #scheme: string

  /** @throws ERR_ORIGIN */
  check({ headers }: Pick<IncomingMessage, 'headers'>): void {
    const { host = '', origin } = headers
    const name = host.replace(/:\d+$/, '').toLowerCase()
    if (!this.#hosts.has(name) && !isOwnAddress(name, this.#hosts))
      throw new RankweaveError(
        'ERR_ORIGIN',
        `Host: expected a name that --host or --public-url gives, got ${shown(host)}`,
      )
    if (origin === undefined || this.#origins.has(origin) || origin === `${this.#scheme}://${host}`) return
    throw new RankweaveError('ERR_ORIGIN', `pages of ${shown(origin)} may not use this service`)
  }

  /** Returns whether pages of this origin, which is not the service's own, may read answers. */
  isForeign(origin: string | undefined): origin is string {
    return origin !== undefined && this.#origins.has(origin)
  }
}

/**
 * Returns whether a name is an address of this service. One that listens on all addresses is reached by any of them; an
 * address cannot be rebound, a name can.
 */
function isOwnAddress(name: string, hosts: ReadonlySet<string>): boolean {
  const listensOnAll = hosts.has('0.0.0.0') || hosts.has('[::]')
  return listensOnAll && isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
}

/** Returns whether a host stands for all addresses of this host, those of loopback included. */
function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function originOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/') return url
  throw new RankweaveError(
    'ERR_USAGE',
    `expected an origin such as https://plans.example.org, got ${shown(text)}`,
  )
}

/**
 * Turns a request in absolute form, `GET http://host/path`, into one in origin form: its host counts, and the header
 * `Host` does not.
 *
 * @see RFC 9112, section 3.2.2
 */
export function toOriginForm(request: Pick<IncomingMessage, 'headers' | 'url'>): void {
  const [, host, path] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(request.url ?? '') ?? []
  if (host === undefined || path === undefined) return
  request.headers.host = host
  request.url = path.startsWith('/') ? path : `/${path}`
}

/** The form of a name or an address, and perhaps a port. */
const hostPattern = /^(\[[0-9a-f:.]+\]|([\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(:\d*)?$/i

/**
 * Refuses requests that two servers could read as requests to different hosts. HTTP/1.1 requires exactly one header
 * `Host`, whatever the target is, and both have to name a host.
 *
 * @param request in origin form, see {@link toOriginForm}
 * @throws ERR_ARGUMENT
 * @see RFC 9112, section 3.2
 */
export function requireHost({
  headers,
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'httpVersion'>): void {
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && /^host$/i.test(rawHeaders[at - 1]))
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion !== '1.0'))
    throw new RankweaveError('ERR_ARGUMENT', `Host: expected one header, got ${hosts.length || 'none'}`)
  for (const host of [...hosts, headers.host])
    if (host !== undefined && !hostPattern.test(host))
      throw wrongValue('ERR_ARGUMENT', 'Host: expected a name or an address, and perhaps a port', host)
}

/**
 * Refuses expectations that the service does not meet: all but `100-continue`, which Node meets. HTTP/1.0 has none.
 *
 * @throws an error of status 417
 * @see RFC 9110, section 10.1.1
 */
export function requireExpectation({
  headers: { expect },
  httpVersion,
}: Pick<IncomingMessage, 'headers' | 'httpVersion'>): void {
  if (expect === undefined || httpVersion === '1.0' || expectsContinueAlone(expect)) return
  const message = `Expect: expected 100-continue or none, got ${shown(expect)}`
  throw Object.assign(new Error(message), { statusCode: 417 })
}

/**
 * Refuses bodies in an encoding that the service does not decode. Only files may be compressed, by gzip, which their
 * first bytes show.
 */
export function requireEncoding({ headers }: Pick<IncomingMessage, 'headers'>, isFile: boolean): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || (isFile ? /^(identity|(x-)?gzip)$/i : /^identity$/i).test(encoding)) return
  const message = `Content-Encoding: expected ${isFile ? 'gzip or none' : 'none'}, got ${shown(encoding)}`
  throw Object.assign(new Error(message), { statusCode: 415 })
}

/** Whether a value of the header `Expect` is `100-continue` and nothing more. */
export function expectsContinueAlone(expect: string | undefined): boolean {
  return /^100-continue$/i.test(expect ?? '')
}

/** Returns the token of `Authorization: Bearer TOKEN`. */
export function bearerOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  return /^Bearer ([A-Za-z0-9_-]+)$/i.exec(headers.authorization ?? '')?.[1]
}
