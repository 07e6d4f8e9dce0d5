import type { FabricSession } from '../../src/fabric/fabric.js'
import { type LocalOptions, type LocalSession, local } from '../../src/fabric/local/local.js'

/**
 * The processes of a local world as sessions of their own, one each, as a fabric with real processes has
 * them: what they agree on they must exchange by frames.
 */
export async function separateSessions(
  options: LocalOptions,
): Promise<{ readonly whole: LocalSession; readonly sessions: readonly FabricSession[] }> {
  const whole = await local(options).open()
  let open = whole.processes
  const sessions = whole.hosted.map((fabric): FabricSession => {
    let closed = false
    return {
      kind: 'local',
      processes: whole.processes,
      nodes: whole.nodes,
      hosted: [fabric],
      // Knows nothing of the others.
      quiet: () => true,
      close: async () => {
        if (closed) return
        closed = true
        // The last one out turns off the light; what was sent before still arrives.
        if (--open === 0) await whole.close()
      },
    }
  })
  return { whole, sessions }
}
