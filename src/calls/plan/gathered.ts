/** `data` holds the blocks of all ranks in rank order; block r has `counts[r]` elements from `displs[r]`. */
export interface Gathered<T = unknown> {
  readonly data: T
  readonly counts: Int32Array
  readonly displs: Int32Array
}
