import type { Clock } from '../../base/clock.js'
import type { WorldServiceLimits } from '../../client/protocol/world-limits.js'
import type { Log } from '../log.js'
import type { Tenant } from '../tenant.js'

export interface WorldServiceOptions {
  /** Says whose a token is. @throws ERR_TOKEN for a wrong one */
  readonly tenants: { find(token: string | undefined): Tenant }
  readonly limits?: Partial<WorldServiceLimits>
  /** What is logged holds no token. */
  readonly log: Log
  /** For tests. */
  readonly clock?: Clock
}
