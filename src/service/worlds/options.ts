import type { Clock } from '../../base/clock.js'
import type { WorldServiceLimits } from '../protocol/world-limits.js'

/** Whoever has one token. */
export interface Tenant {
  /** Unique, and not the token. */
  readonly id: string
}

export interface WorldServiceOptions {
  /** Says whose a token is. @throws ERR_TOKEN for a wrong one */
  readonly tenants: { find(token: string | undefined): Tenant }
  readonly limits?: Partial<WorldServiceLimits>
  /** What is logged holds no token and no address. */
  readonly log: WorldLog
  /** For tests. */
  readonly clock?: Clock
}

/** The shape of pino. */
export interface WorldLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
