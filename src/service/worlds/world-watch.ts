import type { Clock } from '../../base/clock.js'
import type { WorldEvent } from '../../client/protocol/world-events.js'
import type { AskedWorld } from './asked-world.js'

export type WatchEvent = WorldEvent<'world' | 'worldEnded'>
export type WatchListener = (event: WatchEvent) => void

/**
 * Tells listeners of changed worlds, each at most once per interval: a world that changes often costs no more than
 * that.
 */
export class WorldWatch {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #listeners = new Set<WatchListener>()
  readonly #dirty = new Set<AskedWorld>()
  #cancel: (() => void) | undefined

  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock
    this.#intervalMs = intervalMs
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** @returns a function that stops it */
  add(listener: WatchListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.stop()
    }
  }

  changed(world: AskedWorld): void {
    if (this.#listeners.size === 0) return
    this.#dirty.add(world)
    this.#cancel ??= this.#clock.later(this.#intervalMs, () => {
      this.#cancel = undefined
      const worlds = [...this.#dirty]
      this.#dirty.clear()
      for (const each of worlds) this.#tell({ event: 'world', world: each.info() })
    })
  }

  ended(world: AskedWorld): void {
    this.#dirty.delete(world)
    this.#tell({ event: 'worldEnded', world: world.id })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#dirty.clear()
  }

  #tell(event: WatchEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}
