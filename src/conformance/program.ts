// The workers of a world on threads load this module to run conformance cases.

export { checkCases as default, checkHostedCases as hosted } from './world-conformance.js'
