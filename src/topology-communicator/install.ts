import { installTopologyMethods } from './topology-methods.js'

/**
 * Adds the methods of {@link TopologyMethods} to communicators. The first creation loads the modules that plan and
 * execute neighborhood collectives. Idempotent.
 */
export function installNeighborhood(): void {
  installTopologyMethods(() => import('./creation-modules.js'))
}
