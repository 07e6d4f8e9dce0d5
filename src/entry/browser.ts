/**
 * `rankweave/browser`: what a page needs to be a process of a world. It imports no module of Node. Apart from `join`
 * and `run`, whose options fit a page, its exports are those of `rankweave`.
 *
 * @module rankweave/browser
 */
// joining a world, and worlds in one page

export { joinFromPage as join } from '../browser/join.js'
export { type PageRunOptions as RunOptions, runInPage as run } from '../browser/run.js'
export { type LocalFactory, type LocalOptions, local } from '../fabric/local/local.js'
export type { Joined, JoinOptions } from '../launch/websocket/joined.js'
export type { TuningFile } from '../tuning/models/tuning-file.js'
export { worldReport } from '../world/deadlock.js'
export type { HostedMain, HostedResults, Main } from '../world/user-program.js'

// communicators

export type { PersistentRequest } from '../calls/program/planned-call.js'
export { type Comparison, Group, type RankRange } from '../comm/table/group.js'
export type { CartCommunicator } from '../handles/cart-communicator.js'
export type { Communicator } from '../handles/communicator.js'
export type { TopologyCommunicator } from '../handles/topology-communicator.js'
export type { NeighborRequest } from '../topology-communicator/collectives/neighbor-call.js'

// messages, data and operations

export type { OperationName } from '../messages/datatype/operation.js'
export { createOperation, type Operation } from '../messages/datatype/operation.js'
export type { Sendable, SendableValue } from '../messages/datatype/payload.js'
export {
  type ReceiveBuffer,
  type StridedShape,
  type StridedView,
  strided,
} from '../messages/datatype/strided-view.js'
export type { Message, RecvOptions, Status } from '../messages/mailboxes/arrived.js'
export { ANY_SOURCE, ANY_TAG, PROC_NULL } from '../messages/mailboxes/envelope.js'
export type { MatchedMessage } from '../messages/p2p/matched-message.js'
export { type Request, testall, testany, waitall, waitany, waitsome } from '../messages/p2p/request.js'

// errors

export {
  type CauseRecord,
  type ErrorCode,
  type ErrorDetails,
  type ErrorRecord,
  isRankweaveError,
  RankweaveError,
} from '../errors.js'
