/**
 * `rankweave/browser`: what a page needs to be a process of a world. Imports no module of Node, and what is not `join` is that
 * of `rankweave`.
 *
 * @module rankweave/browser
 */
import { installNeighborhood } from '../neighborhood/install.js'

// As in `rankweave`: communicators get `createCart` and its like.
installNeighborhood()

// joining a world, and worlds in one page

export { type JoinOptions, join } from '../browser/join.js'
export { worldReport } from '../comm/world/deadlock.js'
export { hostSession, type Main, type WorldOptions } from '../comm/world/world.js'
export { type LocalFactory, type LocalOptions, local } from '../fabric/local/local.js'
export type { Joined } from '../launch/websocket/joined.js'

// communicators

export { PersistentRequest } from '../comm/calls/program/persistent-request.js'
export { Communicator } from '../comm/communicator.js'
export { type Comparison, Group, type RankRange } from '../comm/table/group.js'
export { CartCommunicator } from '../neighborhood/cart-communicator.js'
export { NeighborRequest } from '../neighborhood/execute/tune/neighbor-request.js'
// Also what makes these methods part of `Communicator` for users of the types.
export type { TopologyMethods } from '../neighborhood/install.js'
export { TopologyCommunicator } from '../neighborhood/topology-communicator.js'

// messages, data and operations

export { createOperation, type Operation } from '../comm/datatype/operation.js'
export type { OperationName } from '../comm/datatype/operation-names.js'
export type { Sendable, SendableValue } from '../comm/datatype/sendable.js'
export { type ReceiveBuffer, type StridedShape, StridedView, strided } from '../comm/datatype/strided-view.js'
export { MatchedMessage } from '../comm/p2p/matched-message.js'
export type { Message, RecvOptions, Status } from '../comm/p2p/message/received-message.js'
export { Request, testall, testany, waitall, waitany, waitsome } from '../comm/p2p/request.js'
export { ANY_SOURCE, ANY_TAG, maxTag, PROC_NULL } from '../matching/wildcards.js'

// errors

export * from './errors.js'
