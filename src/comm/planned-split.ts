import type { CollectiveCall } from '../calls/collective-call.js'
import type { CollectiveName } from '../calls/collective-name.js'
import type { SplitOptions } from './split/split-plan.js'

/** What one rank passes to a split; color -1 means null. */
export interface ColorAndKey {
  readonly color: number
  readonly key: number
}

/** The last split called on a communicator: ranks that pass the same options share its plan and its call. */
export interface PlannedSplit {
  readonly name: CollectiveName
  readonly options: SplitOptions | undefined
  readonly call: CollectiveCall<ColorAndKey, unknown>
}
