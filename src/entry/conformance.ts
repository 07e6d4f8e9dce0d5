/**
 * `rankweave/conformance`: what a fabric and a world on it must do, as cases for any test runner or none.
 *
 * @module rankweave/conformance
 */
import { installNeighborhood } from '../neighborhood/install.js'

installNeighborhood()

export { allCases } from '../conformance/all-cases.js'
export type { CaseContext, Check, ExpectedWorld, WorldCase, WorldSetting } from '../conformance/world-case.js'
export {
  type ConformanceOptions,
  checkWorld,
  collectiveConformance,
} from '../conformance/world-conformance.js'
export {
  type ConformanceCase,
  type FabricConformanceOptions,
  fabricConformance,
} from '../fabric/conformance/fabric-conformance.js'
export type { ExpectedFabric, Places } from '../fabric/conformance/process-identity.js'
