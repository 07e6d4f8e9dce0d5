import type { CollectiveCall } from '../calls/collective-call.js'
import type { CollectiveName } from '../calls/collective-name.js'
import type { SplitOptions } from './split/plan/split-plan.js'

/** What one rank passes to a split; color -1 stands for null. */
export interface ColorAndKey {
  readonly color: number
  readonly key: number
}

/** The last split of a communicator: ranks that ask for the same share its plan and its call, however many they are. */
export interface PlannedSplit {
  readonly name: CollectiveName
  readonly options: SplitOptions | undefined
  readonly call: CollectiveCall<ColorAndKey, unknown>
}
