import { ownVersion } from '../../package-paths.js'
import type { WorldLimits } from '../../rendezvous/protocol/limits.js'
import { Rendezvous, type WorldHandle } from '../../rendezvous/rendezvous.js'
import { listenRendezvous } from '../../rendezvous/rendezvous-server-node.js'
import type { ListenOptions } from './settings.js'

export interface RendezvousWorldOptions {
  readonly processes: number
  /** Digest of the program. Default: that of the first to join. */
  readonly program?: string
  /** What every member is told when the world begins. */
  readonly settings?: string
  readonly limits?: Partial<WorldLimits>
  readonly listen?: ListenOptions
}

export interface RendezvousWorld {
  readonly url: string
  readonly world: WorldHandle
  /** Ends the world, if it has not ended, and stops listening. */
  close(reason: string): Promise<void>
}

/** A rendezvous for one world, in this process. @throws ERR_WORLD, ERR_ARGUMENT for options; ERR_FABRIC when it cannot listen */
export async function openRendezvous({
  processes,
  program,
  settings,
  limits = {},
  listen = {},
}: RendezvousWorldOptions): Promise<RendezvousWorld> {
  const rendezvous = new Rendezvous()
  const world = rendezvous.createWorld({
    processes,
    version: ownVersion(),
    limits,
    ...(program === undefined ? {} : { program }),
    ...(settings === undefined ? {} : { settings }),
  })
  const { url, close } = await listenRendezvous(rendezvous, listen)
  return {
    url,
    world,
    close: (reason) => {
      rendezvous.close(reason)
      return close()
    },
  }
}
