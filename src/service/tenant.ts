import { createHash, timingSafeEqual } from 'node:crypto'
import { RankweaveError } from '../errors.js'

/** The holders of one token. What one tenant stores, plans and joins does not exist for another. */
export interface Tenant {
  /**
   * 32 lowercase hexadecimal digits; `local` where the service has no tokens. Names a folder, and stands in
   * logs.
   */
  readonly id: string
}

/** The tenant of a service without tokens. */
const local: Tenant = { id: 'local' }

export const tenantTokenPattern = /^[A-Za-z0-9_-]{32,256}$/

/** Longest a token may be that is hashed for comparison: a client cannot make the service hash megabytes. */
const longestToken = 256

/** The tokens of a service. */
export class Tenants {
  readonly #tenants: readonly { readonly digest: Buffer; readonly tenant: Tenant }[] | null

  /**
   * @param tokens null: one tenant, for whom no token is needed
   * @throws ERR_TOKEN for a malformed token; it is not repeated
   */
  constructor(tokens: readonly string[] | null) {
    if (tokens !== null && tokens.length === 0)
      throw new RankweaveError('ERR_TOKEN', 'expected at least one token')
    this.#tenants =
      tokens?.map((token, index) => {
        if (tenantTokenPattern.test(token)) return { digest: digestOf(token), tenant: tenantOf(token) }
        throw new RankweaveError(
          'ERR_TOKEN',
          `token ${index + 1}: expected 32 to 256 characters of A-Z, a-z, 0-9, _ and -`,
        )
      }) ?? null
  }

  /** Whether requests need a token. */
  get needToken(): boolean {
    return this.#tenants !== null
  }

  get count(): number {
    return this.#tenants?.length ?? 1
  }

  /**
   * The tenant of a token. Compares digests with all tokens, each in constant time, so the time says nothing
   * about them.
   *
   * @throws ERR_TOKEN for a wrong or missing token
   */
  find(token: string | undefined): Tenant {
    if (this.#tenants === null) return local
    const given = digestOf(token === undefined || token.length > longestToken ? '' : token)
    let found: Tenant | null = null
    for (const { digest, tenant } of this.#tenants) if (timingSafeEqual(digest, given)) found = tenant
    if (found !== null) return found
    throw new RankweaveError(
      'ERR_TOKEN',
      token === undefined ? 'expected a token' : 'the token is not known here',
    )
  }
}

/** The tokens of a file: one per line; lines that are empty or begin with `#` are skipped. */
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
