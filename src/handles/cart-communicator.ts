import type { WaitOptions } from '../base/abort.js'
import { promiseTry } from '../base/turn.js'
import type { CommState } from '../comm/comm-state.js'
import { type DupOptions, dup } from '../comm/create.js'
import { RankweaveError } from '../errors.js'
import {
  type CartShape,
  cartNeighborSlots,
  cartShift,
  coordsOf,
  rankOf,
  sizeOf,
} from '../topology/cart-shape.js'
import { cartSub, cartTopology } from '../topology/generate/cartesian.js'
import { TopologyCommunicator } from './topology-communicator.js'

/**
 * A communicator over a grid; ranks are row-major, the last dimension fastest (MPI-4.1 §8.5). Receive buffers of its
 * neighborhood collectives have `2 * dims.length` blocks: per dimension first the neighbor behind, then the one ahead.
 * A neighbor beyond a border has a block too, which is not written: it is 0 in a fresh array, and its count is 0 in
 * `neighborAllgatherv`.
 */
export class CartCommunicator extends TopologyCommunicator {
  get dims(): readonly number[] {
    return this.#shape.dims
  }

  get periods(): readonly boolean[] {
    return this.#shape.periods
  }

  get #shape(): CartShape {
    return this.topology.cart!
  }

  /** The neighbors in the order of the receive buffer, PROC_NULL beyond borders. A fresh array. */
  override get sources(): Int32Array {
    return cartNeighborSlots(this.#shape, this.rank)
  }

  /** The destinations, equal to `sources` because neighbors are mutual on a grid. */
  override get destinations(): Int32Array {
    return this.sources
  }

  /**
   * Returns the coordinates of a rank, by default of this one. @throws ERR_RANK @see MPI-4.1 §8.5.5 (MPI_Cart_coords)
   */
  coords(rank: number = this.rank): number[] {
    return coordsOf(this.#shape, rank)
  }

  /**
   * Returns the rank at some coordinates, which wrap around in periodic dimensions.
   *
   * @throws ERR_DIMS beyond a border
   * @see MPI-4.1 §8.5.5 (MPI_Cart_rank)
   */
  rankOf(coords: readonly number[]): number {
    return rankOf(this.#shape, coords)
  }

  /**
   * Returns the rank `displacement` behind this one along a dimension (`source`), and the rank as far ahead (`dest`);
   * PROC_NULL beyond a border. `sendrecv` takes both to shift data along the grid.
   *
   * @throws ERR_DIMS for a dimension that the grid does not have
   * @see MPI-4.1 §8.5.6 (MPI_Cart_shift)
   */
  shift(dimension: number, displacement = 1): { readonly source: number; readonly dest: number } {
    return cartShift(this.#shape, this.rank, dimension, displacement)
  }

  /**
   * Returns the slice of the grid through this rank with the dimensions marked in `remain`, as a grid. Collective; all
   * ranks mark the same dimensions.
   *
   * @throws ERR_DIMS for another number of marks than dimensions
   * @throws ERR_COLLECTIVE_MISMATCH when ranks mark different dimensions and the size of a slice shows it
   * @see MPI-4.1 §8.5.7 (MPI_Cart_sub)
   */
  async sub(remain: readonly boolean[], options?: WaitOptions): Promise<CartCommunicator> {
    const { color, key, shape } = cartSub(this.#shape, remain, this.rank)
    const { state, localIndex } = (await this.split(color, key, options)).seat()
    if (state.size !== sizeOf(shape)) {
      const message = `sub: expected a slice of ${sizeOf(shape)} ranks, got ${state.size}: ranks marked different dimensions`
      throw new RankweaveError('ERR_COLLECTIVE_MISMATCH', message)
    }
    if (this.neighborhood.slicesChoose) await state.place()
    const neighborhood = this.neighborhood.ofSlice(state, () => cartTopology(shape))
    return new CartCommunicator(state, localIndex, neighborhood)
  }

  override dup(options?: DupOptions): Promise<CartCommunicator> {
    const { neighborhood } = this
    const make = (state: CommState, localIndex: number) =>
      new CartCommunicator(state, localIndex, neighborhood)
    return promiseTry(() => dup(this, make, options))
  }
}
