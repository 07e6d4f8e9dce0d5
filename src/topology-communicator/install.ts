import { installTopologyMethods } from './topology-methods.js'

/**
 * Adds the methods of {@link TopologyMethods} to communicators. What plans and executes neighborhood
 * collectives is loaded by the first creation. Idempotent.
 */
export function installNeighborhood(): void {
  installTopologyMethods(() => import('./creation-modules.js'))
}
