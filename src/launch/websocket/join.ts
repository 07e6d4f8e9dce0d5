import { once } from 'node:events'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import {
  flagOption,
  type OptionTable,
  objectOption,
  uncheckedOption,
  uncheckedOptions,
} from '../../base/option.js'
import { checkOptions, givenOptions } from '../../base/option-table.js'
import { RankweaveError, reasonText, wrongValue } from '../../errors.js'
import { fnvHash, type TuningFile } from '../../tuning/models/tuning-file.js'
import type { OnlineOptions } from '../../tuning/online/online-process.js'
import { connectMs } from '../../websocket/socket/socket.js'
import { hostUntilEmpty } from '../../world/empty-loop.js'
import {
  type HostedMain,
  hostedOption,
  type Main,
  programOf,
  requireHostedForm,
  type UserProgram,
} from '../../world/user-program.js'
import type { WorldOptions } from '../../world/world.js'
import { loadUnlessEmpty, programDigest } from '../processes/load-program.js'
import { type ReportOptions, reportOptions } from '../processes/report-triggers.js'
import { hostHere } from '../processes/session-launcher.js'
import {
  onlineRequestOf,
  requestedTuning,
  type TuningOption,
  tuningGiven,
} from '../processes/tuning-option.js'
import { hostJoined, type Joined, type JoinOptions, memberOptions } from './joined.js'
import type { OpenMember } from './member.js'
import { failureText, type ListenOptions, parseSettings } from './settings.js'

/** The options that only a process of Node has. */
export interface NodeJoinOptions<A = unknown, T = unknown> extends JoinOptions<A> {
  /**
   * The address at which other processes reach this one; null: through the rendezvous only, which relays. Default: the
   * address of this host from which it reaches the rendezvous, at any free port; null if the rendezvous uses TLS,
   * because that takes a certificate of this host.
   */
  readonly listen?: ListenOptions | null
  /**
   * The certificates in PEM that sign those of the rendezvous and of other processes. Default: those that Node trusts.
   */
  readonly ca?: string
  /** The option of `run`, for the ranks of this process. */
  readonly hosted?: boolean | HostedMain<T, A>
  /** The option of `run`, for the calls of this process. Default: as the host of the world has it. */
  readonly diagnose?: boolean
  /** The triggers of reports on blocked ranks of this process. */
  readonly report?: ReportOptions
  /**
   * The tuning file, as of `run`: all processes of the world have the same. For online tuning each names a folder on
   * its host, with the same model; that of process 0 gets the file of the run.
   */
  readonly tuning?: TuningOption
}

/**
 * Joins the world that `host` or a server has opened, on this host or another one, and runs this process's ranks:
 * `main`, or the default export of the module, once per rank, when all processes have joined. All processes have to run
 * the same program and version of Rankweave. In a page `join` of `rankweave/browser` takes a function in the same way.
 *
 * @param main the URL of a module, or a function together with `program`
 * @throws ERR_TOKEN, ERR_PROGRAM_MISMATCH, ERR_VERSION_MISMATCH, ERR_TUNING_MISMATCH, ERR_WORLD_FULL, ERR_REPLAYED,
 *   ERR_LIMIT when the rendezvous refuses; ERR_FILE, ERR_TUNING for the tuning file; ERR_WORLD_LOST when it cannot be
 *   reached, or is lost; ERR_FABRIC when this process cannot listen; ERR_PROGRAM
 * @throws the world's first error, like `run`
 */
export async function join<T, A = undefined>(
  main: Main<T, A> | URL,
  options: NodeJoinOptions<A, T>,
): Promise<Joined<T>> {
  if (typeof main !== 'function' && !(main instanceof URL))
    throw wrongValue('ERR_ARGUMENT', 'join: expected a function, or the URL of a module, as main', main)
  checkJoin(options)
  requireHostedForm('join', main, options.hosted)
  const { program = main instanceof URL ? await programDigest(main) : undefined } = options
  if (program === undefined)
    throw new RankweaveError('ERR_ARGUMENT', 'join: expected program, a text, got undefined')
  const { hosted } = options
  const tuning = await joinedTuning(options.tuning)
  const loaded =
    main instanceof URL
      ? await loadUnlessEmpty<T, A>(main.href, { hosted: hosted !== false })
      : programOf(main, hosted)
  const { url, token, node = hostname(), process, ca, signal, onWaiting } = options
  const listen = options.listen === undefined ? await listenTowards(url, signal) : options.listen
  // The module is loaded when it is needed, with packages that other fabrics do not need.
  const { openMember } = await import('./member.js')
  const member = await openMember({
    ...{ url, token, program, node, listen },
    ...(process === undefined ? {} : { process }),
    ...(ca === undefined ? {} : { ca }),
    ...(tuning.checksum === undefined ? {} : { tuning: tuning.checksum }),
    ...(signal === undefined ? {} : { signal }),
    ...(onWaiting === undefined ? {} : { onWaiting }),
  })
  let failure: string | undefined
  try {
    return await hostedHere(member, loaded, options, tuning)
  } catch (error) {
    failure = failureText(error)
    throw error
  } finally {
    await member.session.close()
    await member.membership.leave(failure)
  }
}

async function hostedHere<T, A>(
  member: OpenMember,
  program: UserProgram<T, A>,
  { args, signal, report, diagnose, tuning: option }: NodeJoinOptions<A, T>,
  { tuning, online: loaded }: JoinedTuning,
): Promise<Joined<T>> {
  const { hostMember } = await import('./member.js')
  const { membership } = member
  const settings = parseSettings(membership.settings)
  const online = loaded && (await onlineOfWorld(loaded, option, membership))
  const world: WorldOptions<A> = { ...settings, ...givenOptions({ args, diagnose, tuning, online }) }
  return hostJoined(membership, settings, (onFailed) =>
    hostHere<T, A>({ world, signal, report }, Promise.resolve(program), (ready, given) =>
      hostUntilEmpty({ ...given, onFailed }, (options) => hostMember(member, ready, options)),
    ),
  )
}

/** Returns the default address of this process. @throws ERR_WORLD_LOST, ERR_ARGUMENT, ERR_ABORTED */
async function listenTowards(url: string, signal?: AbortSignal): Promise<ListenOptions | null> {
  if (!URL.canParse(url)) throw wrongValue('ERR_ARGUMENT', 'join: expected a URL', url)
  const { protocol, hostname: host, port } = new URL(url)
  if (protocol !== 'ws:' && protocol !== 'wss:')
    throw wrongValue('ERR_ARGUMENT', 'join: expected a URL of ws: or wss:', url)
  if (protocol === 'wss:') return null
  const socket = connect({ host: host.replace(/^\[|\]$/g, ''), port: Number(port || 80) })
  // A network that drops the request would let the operating system try for two minutes.
  socket.setTimeout(connectMs, () => socket.destroy(new Error(`no connection within ${connectMs} ms`)))
  try {
    await once(socket, 'connect', signal === undefined ? {} : { signal })
    return { host: socket.localAddress! }
  } catch (cause) {
    if (signal?.aborted === true)
      throw new RankweaveError('ERR_ABORTED', 'join was aborted', { cause: signal.reason })
    const message = `the rendezvous at ${url} cannot be reached: ${reasonText(cause)}`
    throw new RankweaveError('ERR_WORLD_LOST', message, { cause: reasonText(cause) })
  } finally {
    socket.destroy()
  }
}

const joinOptions: OptionTable<NodeJoinOptions> = {
  ...memberOptions,
  ...uncheckedOptions('listen', 'ca'),
  hosted: hostedOption,
  diagnose: flagOption(),
  report: objectOption(reportOptions),
  tuning: uncheckedOption,
}

/** @throws ERR_ARGUMENT */
export function checkJoin(options: unknown): void {
  checkOptions('join', joinOptions, options)
}

/** The tuning with which a process joins a world. */
interface JoinedTuning {
  readonly tuning?: TuningFile
  readonly online?: OnlineOptions
  /** The checksum of the part that all processes of the world have alike; undefined for one without tuning. */
  readonly checksum?: string
}

/** Returns the tuning of a process that joins. @throws ERR_FILE, ERR_TUNING, ERR_ARGUMENT */
async function joinedTuning(option: TuningOption | undefined): Promise<JoinedTuning> {
  const request = onlineRequestOf(tuningGiven(option))
  if (request === undefined) {
    const tuning = await requestedTuning('join', option)
    return tuning === undefined ? {} : { tuning, checksum: tuning.checksum }
  }
  const { loadOnline, onlineChecksum } = await import('../processes/load-online.js')
  const online = await loadOnline('join', request, 'websocket')
  // A given seed must be the same everywhere.
  return { online, checksum: onlineChecksum(online, request.seed) }
}

/**
 * Returns the options of online tuning in a world that has begun: all its processes draw alike, by its name, and fail
 * alike. Its machine has the node label of process 0.
 *
 * @throws ERR_TUNING for a model of another machine
 */
async function onlineOfWorld(
  online: OnlineOptions,
  option: TuningOption | undefined,
  { world, nodes }: { readonly world: string; readonly nodes: readonly string[] },
): Promise<OnlineOptions> {
  const [machine] = nodes
  ;(await import('../processes/load-online.js')).requireLearnedOn(online, machine)
  const source = { ...online.source, machine }
  if (onlineRequestOf(tuningGiven(option))?.seed !== undefined) return { ...online, source }
  return { ...online, source, seed: Number.parseInt(fnvHash(new TextEncoder().encode(world)).slice(8), 16) }
}
