import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { checkOptions, givenOptions } from '../../base/option-table.js'
import type { WorldLimits } from '../../websocket/protocol/limits.js'
import type { WorldEnd } from '../../websocket/rendezvous/hosted-world.js'
import { requestedTuning, type TuningOption } from '../processes/tuning-option.js'
import { type ListenOptions, type RanksOptions, ranksOptions, settingsOf } from './settings.js'

export interface HostOptions extends RanksOptions {
  /** The address to listen on. Default: this host only, at any free port. */
  readonly listen?: ListenOptions
  /** The limits. Default: those of docs/websocket.md. */
  readonly limits?: Partial<WorldLimits>
  /**
   * The tuning file that processes must join with, as of `run`. Without one, here and in RANKWEAVE_TUNING, it is that
   * of the first to join, which may have none.
   */
  readonly tuning?: TuningOption
}

/** A world that waits for its processes, or runs. */
export interface OpenWorld {
  /** The URL at which processes join. */
  readonly url: string
  /** The secret with which a process can join, with all rights of a process of the world. */
  readonly token: string
  readonly ranks: number
  readonly processes: number
  /** Resolves when every process has left or is lost, or the world was closed. */
  readonly ended: Promise<WorldEnd>
  /** Ends the world, if it has not ended (its processes fail with ERR_WORLD_LOST), and stops listening. */
  close(reason?: string): Promise<void>
}

/**
 * Opens a world for processes that `join` it from this host or others. This process is their rendezvous: it admits
 * processes, decides which are lost, and relays for those that cannot be reached. It hosts no rank, and its end ends
 * the world. Listening keeps the event loop alive until `close`.
 *
 * @throws ERR_WORLD for numbers that do not agree; ERR_ARGUMENT; ERR_FABRIC when the address cannot be listened on;
 *   ERR_FILE, ERR_TUNING for the tuning file
 */
export async function host(options: HostOptions): Promise<OpenWorld> {
  checkOptions('host', hostOptions, options)
  const { listen, limits, tuning: given, ...ofRanks } = options
  const { processes, settings } = settingsOf('host', ofRanks)
  // The module is loaded when it is needed, with packages that other fabrics do not need.
  const { openRendezvous } = await import('./rendezvous.js')
  const tuning = (await requestedTuning('host', given))?.checksum
  const world = { processes, settings, ...givenOptions({ limits, tuning }) }
  const rendezvous = await openRendezvous(world, listen)
  const { token, ended } = rendezvous.world
  return {
    url: rendezvous.url,
    token,
    ranks: options.ranks,
    processes,
    ended,
    close: (reason = 'its host has closed it') => rendezvous.close(reason),
  }
}

const hostOptions: OptionTable<HostOptions> = {
  ...ranksOptions,
  ...uncheckedOptions('listen', 'limits', 'tuning'),
}
