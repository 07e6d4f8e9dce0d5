import { addToList } from '../../base/maps.js'
/** Items in the order of arrival within each tenant; tenants take turns. */
export class TenantQueue<T> {
  /** The tenant at the front is next. None is empty. */
  readonly #items = new Map<string, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  sizeOf(tenant: string): number {
    return this.#items.get(tenant)?.length ?? 0
  }

  add(tenant: string, item: T): void {
    addToList(this.#items, tenant, item)
    this.#size++
  }

  take(): T | undefined {
    const first = this.#items.entries().next()
    if (first.done) return undefined
    const [tenant, items] = first.value
    const item = items.shift()
    this.#size--
    this.#items.delete(tenant)
    if (items.length > 0) this.#items.set(tenant, items)
    return item
  }

  /** @returns whether it was there */
  remove(tenant: string, item: T): boolean {
    const items = this.#items.get(tenant)
    const at = items?.indexOf(item) ?? -1
    if (items === undefined || at < 0) return false
    items.splice(at, 1)
    this.#size--
    if (items.length === 0) this.#items.delete(tenant)
    return true
  }
}
