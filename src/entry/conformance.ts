/**
 * `rankweave/conformance`: the cases that a fabric and a world on it must pass, for any test runner or none.
 *
 * @module rankweave/conformance
 */

export {
  type ConformanceCase,
  type FabricConformanceOptions,
  fabricConformance,
} from '../conformance/fabric-conformance.js'
export type {
  CaseContext,
  Check,
  ExpectedFabric,
  ExpectedWorld,
  WorldCase,
  WorldSetting,
} from '../conformance/world-case.js'
export {
  type ConformanceOptions,
  checkWorld,
  collectiveConformance,
} from '../conformance/world-conformance.js'
export type { ProcessLocation as Places } from '../fabric/fabric.js'
