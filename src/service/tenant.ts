import { createHash, timingSafeEqual } from 'node:crypto'
import { RankweaveError } from '../errors.js'

/** The holders of one token. The topologies, plans and worlds of one tenant do not exist for another. */
export interface Tenant {
  /**
   * The id: 32 lowercase hexadecimal digits; `local` if the service has no tokens. It names a folder, and appears in
   * logs.
   */
  readonly id: string
}

/** The tenant of a service without tokens. */
const local: Tenant = { id: 'local' }

const tenantTokenPattern = /^[A-Za-z0-9_-]{32,256}$/

/** The longest token that is hashed for comparison: a client cannot make the service hash megabytes. */
const longestToken = 256

export class Tenants {
  readonly #tenants: readonly { readonly digest: Buffer; readonly tenant: Tenant }[] | null
  /** The digest of the token of metrics; null: there is none. */
  readonly #metrics: Buffer | null
  #onNeedless: (() => void) | null

  /**
   * @param tokens null: one tenant, for whom no token is needed
   * @param metricsToken null: no client may read figures, or, if no token is needed, all may
   * @param onNeedless called at the first token that is sent although none is needed
   * @throws ERR_TOKEN for a malformed token, which is not repeated, and for one that is a tenant's and that of metrics
   */
  constructor(
    tokens: readonly string[] | null,
    metricsToken: string | null = null,
    onNeedless: () => void = () => {},
  ) {
    this.#onNeedless = onNeedless
    if (tokens !== null && tokens.length === 0)
      throw new RankweaveError('ERR_TOKEN', 'expected at least one token')
    this.#tenants =
      tokens?.map((token, index) => ({
        digest: checkedDigest(`token ${index + 1}`, token),
        tenant: tenantOf(token),
      })) ?? null
    this.#metrics = metricsToken === null ? null : checkedDigest('token of metrics', metricsToken)
    if (metricsToken !== null && tokens?.includes(metricsToken))
      throw new RankweaveError('ERR_TOKEN', "token of metrics: expected one that is no tenant's")
  }

  get needToken(): boolean {
    return this.#tenants !== null
  }

  get count(): number {
    return this.#tenants?.length ?? 1
  }

  /**
   * Returns the tenant of a token. Compares digests with all tokens, each in constant time, so the time says nothing
   * about them.
   *
   * @throws ERR_TOKEN for a wrong or missing token
   */
  find(token: string | undefined): Tenant {
    if (this.#tenants === null) {
      if (token !== undefined) {
        this.#onNeedless?.()
        this.#onNeedless = null
      }
      return local
    }
    const given = digestOfGiven(token)
    let found: Tenant | null = null
    for (const { digest, tenant } of this.#tenants) if (timingSafeEqual(digest, given)) found = tenant
    if (found !== null) return found
    throw unknownToken(token)
  }

  /** Checks that a token may read the figures of all tenants. @throws ERR_TOKEN if it may not */
  checkMetrics(token: string | undefined): void {
    const metrics = this.#metrics
    if (metrics === null && this.#tenants === null) return
    if (metrics !== null && timingSafeEqual(metrics, digestOfGiven(token))) return
    const expected =
      metrics === null
        ? 'none was given to this service (--metrics-token-file)'
        : 'that of a tenant does not show the figures of all (--metrics-token-file)'
    throw new RankweaveError('ERR_TOKEN', `expected the token of metrics: ${expected}`)
  }
}

function unknownToken(token: string | undefined): RankweaveError {
  const message =
    token === undefined
      ? 'expected a token: over HTTP as Authorization: Bearer TOKEN, over WebSocket as token of hello'
      : 'the service has no tenant with this token'
  return new RankweaveError('ERR_TOKEN', message)
}

function checkedDigest(name: string, token: string): Buffer {
  if (tenantTokenPattern.test(token)) return digestOf(token)
  throw new RankweaveError('ERR_TOKEN', `${name}: expected 32 to 256 characters of A-Z, a-z, 0-9, _ and -`)
}

function digestOfGiven(token: string | undefined): Buffer {
  return digestOf(token === undefined || token.length > longestToken ? '' : token)
}

/** Reads the tokens of a file: one per line; lines that are empty or begin with `#` are skipped. */
export function tokensOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  return [...new Set(lines.filter((line) => line !== '' && !line.startsWith('#')))]
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function tenantOf(token: string): Tenant {
  return { id: digestOf(token).toString('hex').slice(0, 32) }
}
