import { addToList } from '../../base/maps.js'
/** A queue of items in the order of arrival within each tenant; tenants take turns. */
export class TenantQueue<T> {
  /** The items by tenant; the tenant at the front is next. None is empty. */
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

  /** Takes the next tenant's first item; with `accepts`, that of the next tenant that it accepts. */
  take(accepts: (tenant: string) => boolean = () => true): T | undefined {
    for (const [tenant, items] of this.#items) {
      if (!accepts(tenant)) continue
      const item = items.shift()
      this.#size--
      this.#items.delete(tenant)
      if (items.length > 0) this.#items.set(tenant, items)
      return item
    }
    return undefined
  }

  /** Returns whether a tenant that is accepted has an item. */
  hasOf(accepts: (tenant: string) => boolean): boolean {
    return [...this.#items.keys()].some(accepts)
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
