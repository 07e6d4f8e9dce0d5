/** Adds methods to the objects of a class, under names that begin with `prefix`. They are not enumerable. */
export function addMethods(prototype: object, methods: object, prefix = ''): void {
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(prototype, `${prefix}${name}`, { value, writable: true, configurable: true })
  }
}
