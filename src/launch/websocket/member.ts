import { ownVersion } from '../../package-paths.js'
import { PeerListener } from '../../websocket/peer-listener.js'
import { defaultWorldLimits } from '../../websocket/protocol/limits.js'
import { heartbeatWorker } from '../../websocket/rendezvous/heartbeat-worker-nodejs.js'
import type { Membership } from '../../websocket/rendezvous/join-world.js'
import { joinWorld } from '../../websocket/rendezvous/join-world.js'
import { nodeTransport } from '../../websocket/socket/transport-nodejs.js'
import { openWebSocket, type WebSocketSession } from '../../websocket/websocket.js'
import type { UserProgram } from '../../world/user-program.js'
import { hostSession, type WorldOptions } from '../../world/world.js'
import { installMailboxDesigns } from '../processes/optional-parts.js'
import { failureText, type ListenOptions } from './settings.js'

interface MemberOptions {
  /** The URL of the rendezvous. */
  readonly url: string
  readonly token: string
  /** The digest of the program. */
  readonly program: string
  /** The checksum of the tuning file. Default: it has none. */
  readonly tuning?: string
  /** The node label. */
  readonly node: string
  /** The number to ask for. Default: by order of joining. */
  readonly process?: number
  /** The address at which other members reach this one; null: through the rendezvous only. */
  readonly listen: ListenOptions | null
  /**
   * The certificates in PEM that sign those of the rendezvous and of other members. Default: those that Node trusts.
   */
  readonly ca?: string
  /** The process that started this one, and without which it is to end. Default: none. */
  readonly parentPid?: number
  readonly signal?: AbortSignal
  readonly onWaiting?: (joined: number, processes: number) => void
}

export interface OpenMember {
  readonly membership: Membership
  /** The session; closing it does not leave the world. */
  readonly session: WebSocketSession
}

/**
 * Joins a world and opens the session of this process, when all processes have joined.
 *
 * @throws what `joinWorld` throws; ERR_FABRIC when it cannot listen
 */
export async function openMember({ listen, ca, parentPid, ...request }: MemberOptions): Promise<OpenMember> {
  const trust = ca === undefined ? {} : { ca }
  const { maxMessageBytes } = defaultWorldLimits
  // The limit must be known before the world states its own; links refuse what is longer than that.
  const data = nodeTransport({ maxMessageBytes, ...trust, ...listen })
  const listener = listen === null ? undefined : await PeerListener.open({ listen: data.listen! })
  try {
    const membership = await joinWorld({
      ...request,
      version: ownVersion(),
      listenUrl: listener?.url ?? null,
      // 'welcome' names all members, and relayed messages have a header.
      transport: nodeTransport({ maxMessageBytes: 2 * maxMessageBytes, ...trust }),
      startHeartbeats: heartbeatWorker({ ...trust, ...(parentPid === undefined ? {} : { parentPid }) }),
    })
    return { membership, session: openWebSocket(membership, data, listener) }
  } catch (error) {
    await listener?.close()
    throw error
  }
}

/**
 * Runs the ranks of this process to the end of the world, and leaves it.
 *
 * @throws the world's first error
 */
export async function hostMember<T, A>(
  { membership, session }: OpenMember,
  program: UserProgram<T, A>,
  world: WorldOptions<A>,
): Promise<T[]> {
  installMailboxDesigns()
  let failure: string | undefined
  try {
    return await hostSession(session, program, world)
  } catch (error) {
    failure = failureText(error)
    throw error
  } finally {
    await membership.leave(failure)
  }
}
