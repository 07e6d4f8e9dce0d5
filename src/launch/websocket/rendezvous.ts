import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { checkOptions, givenOptions } from '../../base/option-table.js'
import { ownVersion } from '../../package-paths.js'
import type { WorldLimits } from '../../websocket/protocol/limits.js'
import {
  type AwaitedWorldOptions,
  Rendezvous,
  type WorldHandle,
} from '../../websocket/rendezvous/rendezvous.js'
import { listenRendezvous, requireRendezvous } from '../../websocket/rendezvous/server-nodejs.js'
import { type ListenOptions, type RanksOptions, ranksOptions, settingsOf } from './settings.js'

interface RendezvousWorld {
  readonly url: string
  readonly world: WorldHandle
  /** Ends the world, if it has not ended, and stops listening. */
  close(reason: string): Promise<void>
}

/**
 * Opens a rendezvous for one world, in this process.
 * @throws ERR_WORLD, ERR_ARGUMENT for options; ERR_FABRIC when it cannot listen
 */
export async function openRendezvous(
  options: AwaitedWorldOptions,
  listen: ListenOptions = {},
): Promise<RendezvousWorld> {
  const rendezvous = new Rendezvous()
  const world = rendezvous.createWorld({ version: ownVersion(), ...options })
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

export interface OpenWorldOptions extends RanksOptions {
  /** The SHA-256 of the program's file, in hex, that processes must run. Default: that of the first to join. */
  readonly program?: string
  /**
   * The checksum of the tuning file that processes must have. Default: that of the first to join, which may have none.
   */
  readonly tuning?: string
  /** The limits. Default: those of docs/websocket.md. */
  readonly limits?: Partial<WorldLimits>
  /** @internal The number of processes of the host's own: see `WorldOptions`. */
  readonly own?: number
  /** @internal Reports a lost process, before the others learn it. */
  readonly onLost?: (process: number, reason: string) => void
}

/** A world of a mounted rendezvous. */
export interface MountedWorld extends WorldHandle {
  readonly ranks: number
  readonly processes: number
}

/**
 * Opens a world of ranks on a rendezvous, for processes that `join` it, by `rankweave join` or from code. They must
 * have this version of Rankweave. It waits for its processes for as long as it takes; `close` ends the wait.
 *
 * @throws ERR_WORLD for numbers that do not agree; ERR_ARGUMENT for options; ERR_LIMIT when there are too many worlds;
 *   ERR_WORLD_LOST when the rendezvous is closed
 */
export function openWorld(rendezvous: Rendezvous, options: OpenWorldOptions): MountedWorld {
  requireRendezvous('openWorld', rendezvous)
  checkOptions('openWorld', openWorldOptions, options)
  const { program, tuning, limits, own = 0, onLost, ...ofRanks } = options
  const { processes, settings } = settingsOf('openWorld', ofRanks)
  const world = rendezvous.createWorld({
    ...{ processes, own, settings, version: ownVersion() },
    ...givenOptions({ program, tuning, limits, onLost }),
  })
  return { ...world, ranks: options.ranks, processes }
}

const openWorldOptions: OptionTable<OpenWorldOptions> = {
  ...ranksOptions,
  ...uncheckedOptions('program', 'tuning', 'limits', 'own', 'onLost'),
}
