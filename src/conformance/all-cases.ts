import { algorithmChecks } from './algorithm-checks.js'
import { collectiveChecks } from './collective-checks.js'
import { communicatorChecks } from './communicator-checks.js'
import { endingChecks } from './ending-checks.js'
import { flowChecks } from './flow-checks.js'
import { formChecks } from './form-checks.js'
import { matchingChecks } from './matching-checks.js'
import { messageChecks } from './message-checks.js'
import { neighborChecks } from './neighbor-checks.js'
import { networkAlgorithmChecks } from './network-algorithm-checks.js'
import { reorderChecks } from './reorder-checks.js'
import type { WorldCase } from './world-case.js'
import { worldChecks } from './world-checks.js'

/** The cases that every world must pass, on any fabric. A case is identified by its name. */
export const allCases: readonly WorldCase[] = [
  ...worldChecks,
  ...messageChecks,
  ...matchingChecks,
  ...flowChecks,
  ...collectiveChecks,
  ...algorithmChecks,
  ...networkAlgorithmChecks,
  ...formChecks,
  ...communicatorChecks,
  ...neighborChecks,
  ...reorderChecks,
  ...endingChecks,
]
