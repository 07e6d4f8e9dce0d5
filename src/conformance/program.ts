// The workers of a world on threads load this module to run conformance cases.
import { installNeighborhood } from '../topology-communicator/install.js'

installNeighborhood()

export { checkCases as default, checkHostedCases as hosted } from './world-conformance.js'
