import * as z from 'zod'
import {
  exportQuery,
  jobInfo,
  listQuery,
  planAnswer,
  planList,
  planRequest,
  planViewQuery,
  rankProgram,
  scheduleQuery,
  simulationQuery,
  topologyAnswer,
  topologyList,
  topologyQuery,
  topologyViewQuery,
  uploadAnswer,
} from '../src/client/protocol/http.js'
import {
  mountedWorldInfo,
  mountedWorldList,
  mountedWorldRequest,
  openedWorld,
  worldInfo,
} from '../src/client/protocol/worlds.js'

/** A request that the service answers. */
export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** A second method with the same effect. */
  readonly also?: 'PUT'
  /** The path, in which `:topology`, `:plan`, `:job` and `:world` are ids and `:rank` is a number. */
  readonly path: string
  readonly summary: string
  readonly query?: z.ZodObject
  /** The form of the body; `bytes` is taken unchanged, compressed by gzip or not. */
  readonly body?: z.ZodObject | 'bytes'
  /** The statuses of successful answers. */
  readonly statuses: readonly number[]
  /** The form of the JSON answer, or its media type. Default: no body. */
  readonly answer?: z.ZodObject | string
}

const json = 'application/json'

/**
 * The requests of the service except those for files of the page, in the order of the documentation. Tests send each;
 * the documentation lists each.
 */
export const httpRoutes: readonly HttpRoute[] = [
  {
    ...{ method: 'GET', path: '/healthz', statuses: [200] },
    summary: 'Whether the service answers and can write; 503 while it cannot write. Needs no token.',
    answer: z.strictObject({ status: z.literal('ok') }),
  },
  {
    ...{ method: 'GET', path: '/metrics', statuses: [200], answer: 'text/plain' },
    summary: 'Counts of all tenants for Prometheus. Needs the token of metrics where the service has tokens.',
  },
  {
    ...{ method: 'POST', also: 'PUT', path: '/v1/topologies', statuses: [201, 200], answer: uploadAnswer },
    summary: 'Uploads a topology: 201, or 200 if it is there, in whatever format. `PUT` does the same.',
    query: topologyQuery,
    body: 'bytes',
  },
  {
    ...{ method: 'GET', path: '/v1/topologies', statuses: [200], answer: topologyList },
    summary: 'The topologies of the tenant by age, a page at a time.',
    query: listQuery,
  },
  {
    ...{ method: 'GET', path: '/v1/topologies/:topology', statuses: [200], answer: topologyAnswer },
    summary: 'What is known of a topology; `keys` are those of its first upload.',
  },
  {
    ...{ method: 'GET', path: '/v1/topologies/:topology/view', statuses: [200], answer: json },
    summary:
      'What pictures of a topology show, for the page; fields may change: `statistics`, `degrees`, `graph`, `adjacency`, and the `neighborhood` of `rank`.',
    query: topologyViewQuery,
  },
  {
    ...{ method: 'POST', path: '/v1/plans', statuses: [202, 200], body: planRequest, answer: jobInfo },
    summary:
      'Starts a job that makes the plan, and answers with the job: 202 while it runs, 200 once the plan exists. An impossible plan is an error, at once or of the job.',
  },
  {
    ...{ method: 'GET', path: '/v1/plans', statuses: [200], answer: planList },
    summary: 'The plans of the tenant by age, a page at a time.',
    query: listQuery,
  },
  {
    ...{ method: 'GET', path: '/v1/plans/:plan', statuses: [200], answer: planAnswer },
    summary: 'The request of a plan, and its statistics.',
  },
  {
    ...{ method: 'DELETE', path: '/v1/plans/:plan', statuses: [204] },
    summary: 'Removes a plan and its job.',
  },
  {
    ...{ method: 'GET', path: '/v1/plans/:plan/schedule', statuses: [200], query: scheduleQuery },
    summary:
      'The schedule, byte for byte as `rankweave plan` writes it; compressed where `Accept-Encoding` permits.',
    answer: 'application/x-ndjson',
  },
  {
    ...{ method: 'GET', path: '/v1/plans/:plan/ranks/:rank', statuses: [200], answer: rankProgram },
    summary: 'What one rank executes.',
  },
  {
    ...{ method: 'GET', path: '/v1/plans/:plan/mapping', statuses: [200], answer: json },
    summary:
      'Of a plan with `map`, the mapping as `rankweave map` writes it: rank `slotOf[v]` is vertex v. 404 if rank v is vertex v, or the topology was removed.',
  },
  {
    ...{ method: 'GET', path: '/v1/plans/:plan/simulation', statuses: [200], answer: json },
    summary:
      'What `rankweave simulate --json` prints: `timeUs` until the last rank is done, `waitUs` of ranks, `messages` and `bytes` by level, `criticalPath` and the number of its steps, `pathSteps`.',
    query: simulationQuery,
  },
  {
    ...{ method: 'GET', path: '/v1/plans/:plan/export', statuses: [200], answer: 'text/plain' },
    summary: 'A C program for MPI, or the input of LogGOPSim (`goal`), which needs `bytes`.',
    query: exportQuery,
  },
  {
    ...{ method: 'GET', path: '/v1/plans/:plan/view', statuses: [200], answer: json },
    summary:
      'What pictures of a plan show, for the page; fields may change: `statistics`, `traffic`, `messages` per rank, `groups`; with a machine `simulation` and speedup by block length, `sizes`.',
    query: planViewQuery,
  },
  {
    ...{ method: 'GET', path: '/v1/plans/:plan/report', statuses: [200], answer: 'text/html' },
    summary: 'These pictures as one file.',
    query: planViewQuery,
  },
  {
    ...{ method: 'GET', path: '/v1/jobs/:job', statuses: [200], answer: jobInfo },
    summary: 'The state of a job; 404 when its plan was removed.',
  },
  {
    ...{ method: 'GET', path: '/v1/jobs/:job/events', statuses: [200], answer: 'text/event-stream' },
    summary: 'Its state now and at every change, until it has ended, each as `data: ` and the JSON of a job.',
  },
  {
    ...{ method: 'DELETE', path: '/v1/jobs/:job', statuses: [200], answer: jobInfo },
    summary: 'Cancels a job for all clients that wait for it. A job that has ended stays unchanged.',
  },
  {
    ...{ method: 'GET', path: '/v1/worlds', statuses: [200] },
    summary: 'The worlds of members that ask, with their communicators.',
    answer: z.strictObject({ worlds: z.array(worldInfo) }),
  },
  {
    ...{ method: 'POST', path: '/v1/rendezvous/worlds', statuses: [201], body: mountedWorldRequest },
    summary: 'Opens a world of programs, for `rankweave join` at the WebSocket `/v1/rendezvous`.',
    answer: openedWorld,
  },
  {
    ...{ method: 'GET', path: '/v1/rendezvous/worlds', statuses: [200], answer: mountedWorldList },
    summary: 'The worlds of programs of the tenant, and the last that have ended.',
  },
  {
    ...{ method: 'GET', path: '/v1/rendezvous/worlds/:world', statuses: [200], answer: mountedWorldInfo },
    summary: 'One of them.',
  },
  {
    ...{ method: 'DELETE', path: '/v1/rendezvous/worlds/:world', statuses: [200], answer: mountedWorldInfo },
    summary: 'Ends a world for all its processes. A world that has ended stays unchanged.',
  },
]
