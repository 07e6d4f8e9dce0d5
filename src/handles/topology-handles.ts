import type { MakeTopologyHandle } from '../topology-communicator/create.js'
import { CartCommunicator } from './cart-communicator.js'
import { TopologyCommunicator } from './topology-communicator.js'

// The first creation of a topology loads this module, because many programs create none.

export const graphHandle: MakeTopologyHandle<TopologyCommunicator> = (state, localIndex, neighborhood) =>
  new TopologyCommunicator(state, localIndex, neighborhood)

export const cartHandle: MakeTopologyHandle<CartCommunicator> = (state, localIndex, neighborhood) =>
  new CartCommunicator(state, localIndex, neighborhood)
