/** Whether two types are the same, not only assignable to each other. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles where the value has this type; `expectType<Equal<A, B>>(true)` where two types are the same. */
export declare function expectType<T>(value: T): void

export interface Json {
  readonly name: string
  readonly nested: { readonly at: readonly number[] }
}
