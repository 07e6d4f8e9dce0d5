/** Returns the value of a key. If it has none, the map gets a new one. It is too slow for work per message. */
export function getOrAdd<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

export function addToList<K, T>(lists: Map<K, T[]>, key: K, item: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

/**
 * A map by number for few entries that come and go all the time. A `Map` frees memory with every deletion that leaves
 * it nearly empty, and allocates it again for the next entry. This map frees memory when it becomes empty after it was
 * large.
 *
 * It uses open addressing with linear probing (Knuth, The Art of Computer Programming 3, 6.4, algorithms L and R).
 */
export class NumberMap<T> {
  #keys = new Float64Array(fewestPlaces)
  /** The values; undefined marks a free place. */
  #values: (T | undefined)[] = new Array(fewestPlaces).fill(undefined)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: number): T | undefined {
    return this.#size === 0 ? undefined : this.#values[this.#placeOf(key)]
  }

  has(key: number): boolean {
    return this.get(key) !== undefined
  }

  /** @param value not undefined */
  set(key: number, value: T): void {
    let place = this.#placeOf(key)
    if (this.#values[place] === undefined) {
      if ((this.#size + 1) * 2 > this.#keys.length) {
        this.#resize(this.#keys.length * 2)
        place = this.#placeOf(key)
      }
      this.#keys[place] = key
      this.#size++
    }
    this.#values[place] = value
  }

  delete(key: number): void {
    let free = this.#placeOf(key)
    if (this.#values[free] === undefined) return
    if (--this.#size === 0 && this.#keys.length > mostIdlePlaces) {
      this.clear()
      return
    }
    // Entries move up if they were displaced past the place that becomes free.
    const last = this.#keys.length - 1
    for (let place = (free + 1) & last; this.#values[place] !== undefined; place = (place + 1) & last) {
      const home = this.#homeOf(this.#keys[place])
      if (((place - home) & last) < ((place - free) & last)) continue
      this.#keys[free] = this.#keys[place]
      this.#values[free] = this.#values[place]
      free = place
    }
    this.#values[free] = undefined
  }

  clear(): void {
    this.#keys = new Float64Array(fewestPlaces)
    this.#values = new Array(fewestPlaces).fill(undefined)
    this.#size = 0
  }

  /** Returns the keys, ascending. */
  keys(): number[] {
    return Array.from(this.#keys.filter((_, place) => this.#values[place] !== undefined)).sort(
      (a, b) => a - b,
    )
  }

  /** Returns the values by ascending key. */
  values(): T[] {
    return this.keys().map((key) => this.get(key)!)
  }

  /** Returns the place of the key, or the free place where it belongs. */
  #placeOf(key: number): number {
    const last = this.#keys.length - 1
    let place = this.#homeOf(key)
    while (this.#values[place] !== undefined && this.#keys[place] !== key) place = (place + 1) & last
    return place
  }

  #homeOf(key: number): number {
    // Consecutive keys get consecutive places; the upper bits separate keys that are powers of 2 apart.
    return (key ^ (key >>> 8) ^ (key >>> 16)) & (this.#keys.length - 1)
  }

  #resize(places: number): void {
    const keys = this.#keys
    const values = this.#values
    this.#keys = new Float64Array(places)
    this.#values = new Array(places).fill(undefined)
    for (let old = 0; old < keys.length; old++) {
      if (values[old] === undefined) continue
      const place = this.#placeOf(keys[old])
      this.#keys[place] = keys[old]
      this.#values[place] = values[old]
    }
  }
}

/** The number of places is always a power of 2. */
const fewestPlaces = 8
/** Memory of more places is freed when they are empty. */
const mostIdlePlaces = 256

// First-in-first-out queues by number. A queue that has become empty is removed.

interface Queues<T> {
  get(key: number): T[] | undefined
  set(key: number, queue: T[]): void
  delete(key: number): void
}

export function append<T>(queues: Queues<T>, key: number, item: T): void {
  const queue = queues.get(key)
  if (queue === undefined) queues.set(key, [item])
  else queue.push(item)
}

export function takeFirst<T>(queues: Queues<T>, key: number): T | undefined {
  const queue = queues.get(key)
  if (queue === undefined) return undefined
  if (queue.length > 1) return queue.shift()
  queues.delete(key)
  return queue[0]
}

/** An item of a queue that needs no memory besides its items: the map holds the first one. */
interface Linked<T> {
  next: T | undefined
}

export function appendLinked<T extends Linked<T>>(queues: NumberMap<T>, key: number, item: T): void {
  let last = queues.get(key)
  if (last === undefined) {
    queues.set(key, item)
    return
  }
  while (last.next !== undefined) last = last.next
  last.next = item
}

export function takeFirstLinked<T extends Linked<T>>(queues: NumberMap<T>, key: number): T | undefined {
  const first = queues.get(key)
  if (first?.next !== undefined) queues.set(key, first.next)
  else if (first !== undefined) queues.delete(key)
  return first
}

/** Lists all items, one queue after the other. */
export function linked<T extends Linked<T>>(queues: NumberMap<T>): T[] {
  const items: T[] = []
  for (const first of queues.values()) {
    for (let item: T | undefined = first; item !== undefined; item = item.next) items.push(item)
  }
  return items
}

/** The `capacity` objects added last, each with a key, for as long as something else retains it. */
export class RecentObjects<T extends object, K = undefined> {
  readonly #capacity: number
  #entries: { readonly ref: WeakRef<T>; readonly key: K | undefined }[] = []

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  find(matches: (object: T, key: K | undefined) => boolean): T | undefined {
    for (const { ref, key } of this.#entries) {
      const object = ref.deref()
      if (object !== undefined && matches(object, key)) return object
    }
    return undefined
  }

  /** Adds an object; the oldest one leaves when there are too many. */
  add(object: T, key?: K): T {
    const alive = this.#entries.filter(({ ref }) => ref.deref() !== undefined)
    this.#entries = [...alive.slice(1 - this.#capacity), { ref: new WeakRef(object), key }]
    return object
  }
}
