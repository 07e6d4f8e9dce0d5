/**
 * `rankweave/client`: asks a service (`rankweave serve`) for topologies, plans and reports over HTTP, and is a member
 * of its worlds over WebSocket. It imports no module of Node, so pages can use it.
 *
 * @module rankweave/client
 */
export type { ServiceAddress } from '../client/answers.js'
export type {
  JobInfo,
  JobState,
  PlanInfo,
  PlanRequest,
  RankProgram,
  TopologyAnswer,
  TopologyInfo,
  UploadAnswer,
  UploadFormat as TopologyFormat,
} from '../client/protocol/http.js'
export type {
  MountedWorldInfo as ProgramWorldInfo,
  MountedWorldRequest as ProgramWorldRequest,
  WorldInfo,
} from '../client/protocol/worlds.js'
export type { OpenedProgramWorld, ProgramWorlds } from '../client/service-client.js'
export {
  type JobListener,
  ServiceClient,
  type ServiceClientOptions,
  type SimulationAnswer,
  type UploadedGraph,
  type ViewOptions,
} from '../client/service-client.js'
export type { ClientSocket, MakeSocket } from '../client/world-member.js'
export {
  type BegunWorld,
  type CreatedWorld,
  type JoinedAs,
  type MemberCommunicator,
  type MemberEvent,
  type MemberEventKind,
  WorldMember,
  type WorldMemberOptions,
} from '../client/world-member.js'
export type { PlanView } from '../report/plan-view.js'
export type { TopologyView } from '../report/topology-view.js'
export type { MappingFile } from '../topology/mapping/mapping-file.js'
