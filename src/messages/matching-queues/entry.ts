/** An entry of a matching queue: a posted receive (source and tag may be wildcards) or a message (both are exact). */
export interface Entry {
  readonly source: number
  readonly tag: number
  /** The place in the order of its list. These four belong to the list. */
  order: number
  listed: boolean
  previous: Entry | undefined
  next: Entry | undefined
}
