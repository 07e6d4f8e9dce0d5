import { realClock } from '../base/clock.js'
import { type OptionTable, textOption, uncheckedOption } from '../base/option.js'
import { checkOptions } from '../base/option-table.js'
import { RankweaveError, wrongValue } from '../errors.js'
import { hostJoined, type Joined, type JoinOptions, memberOptions } from '../launch/websocket/joined.js'
import { failureText, parseSettings } from '../launch/websocket/settings.js'
import { ownTuning } from '../tuning/models/read-tuning-file.js'
import type { TuningFile } from '../tuning/models/tuning-file.js'
import { refusalOf } from '../websocket/protocol/refusals.js'
import { type StartHeartbeats, startHeartbeatLoop } from '../websocket/rendezvous/heartbeats.js'
import { joinWorld } from '../websocket/rendezvous/join-world.js'
import type { Socket, SocketTransport } from '../websocket/socket/socket.js'
import { openWebSocket } from '../websocket/websocket.js'
import { warnOfUnfinished } from '../world/unfinished.js'
import type { Main } from '../world/user-program.js'
import { hostSession } from '../world/world.js'

/** The version of this package, since a page can read no file. A test compares it with package.json. */
export const version = '0.1.0'

/**
 * The options of a joining page. `program` is required, because a page has no file whose digest others could compare.
 */
type PageJoinOptions<A = unknown> = JoinOptions<A> &
  Required<Pick<JoinOptions, 'program'>> & {
    /** The content of the world's tuning file, as JSON.parse returns it; all processes of the world have the same. */
    readonly tuning?: TuningFile
  }

/**
 * Joins a world as one of its processes, and runs this page's ranks when all processes have joined. Others cannot dial
 * a page: it dials them, and the rendezvous relays between two that cannot be dialled. Closing the page is the loss of
 * a process.
 *
 * @throws ERR_TOKEN, ERR_PROGRAM_MISMATCH, ERR_VERSION_MISMATCH, ERR_TUNING_MISMATCH, ERR_WORLD_FULL, ERR_REPLAYED,
 *   ERR_LIMIT when the rendezvous refuses; ERR_TUNING for the tuning file; ERR_WORLD_LOST when it cannot be reached, or
 *   is lost; ERR_FABRIC on a page without a secure context
 * @throws the world's first error, like `run`
 */
export async function joinFromPage<T, A = undefined>(
  main: Main<T, A>,
  options: PageJoinOptions<A>,
): Promise<Joined<T>> {
  checkJoin(main, options)
  const { url, token, program, args, node = newLabel(), process, signal, onWaiting } = options
  const tuning = options.tuning === undefined ? undefined : ownTuning('join', options.tuning, 'websocket')
  const worker = await startWorker()
  const membership = await joinWorld({
    ...{ url, token, program, version, node, listenUrl: null, transport: browserTransport },
    ...(process === undefined ? {} : { process }),
    ...(tuning === undefined ? {} : { tuning: tuning.checksum }),
    ...(signal === undefined ? {} : { signal }),
    ...(onWaiting === undefined ? {} : { onWaiting }),
    startHeartbeats: browserHeartbeats(worker),
  }).catch((error: unknown) => {
    worker?.terminate()
    throw error
  })
  let failure: string | undefined
  try {
    const settings = parseSettings(membership.settings)
    const world = {
      ...settings,
      ...(args === undefined ? {} : { args }),
      ...(tuning === undefined ? {} : { tuning }),
      ...(signal === undefined ? {} : { signal }),
    }
    const session = openWebSocket(membership, browserTransport)
    try {
      return await hostJoined(membership, settings, (onFailed) =>
        hostSession(session, main, { ...world, onFailed, onUnfinished: warnOfUnfinished }),
      )
    } finally {
      await session.close()
    }
  } catch (error) {
    failure = failureText(error)
    throw error
  } finally {
    await membership.leave(failure)
  }
}

/** Returns a label of 64 random bits. */
function newLabel(): string {
  const random = globalThis.crypto.getRandomValues(new Uint32Array(2))
  return `tab-${Array.from(random, (word) => word.toString(16).padStart(8, '0')).join('')}`
}

const pageOptions: OptionTable<PageJoinOptions> = {
  ...memberOptions,
  program: textOption({ required: true }),
  tuning: uncheckedOption,
}

/** @throws ERR_ARGUMENT, ERR_FABRIC */
function checkJoin(main: unknown, options: PageJoinOptions): void {
  if (typeof main !== 'function') throw wrongValue('ERR_ARGUMENT', 'join: expected a function as main', main)
  checkOptions('join', pageOptions, options)
  if (globalThis.crypto?.subtle === undefined) {
    throw new RankweaveError(
      'ERR_FABRIC',
      'join: this page has no Web Crypto, which proves membership: it has to come by TLS (https:), or from localhost',
    )
  }
}

/** The constructor that every browser has; the types of Node 20 lack it. */
declare const WebSocket: new (url: string) => Socket

/** The browser's own sockets. A page cannot listen. */
const browserTransport: SocketTransport = {
  dial: (url) => new WebSocket(url),
}

/** The parts of a browser's worker that are used here. */
interface PageWorker {
  onmessage: (event: { readonly data: unknown }) => void
  onerror: (event: { readonly message?: string }) => void
  postMessage(data: unknown): void
  terminate(): void
}

declare const Worker: new (url: string) => PageWorker

/**
 * The program of the worker: `startHeartbeatLoop` without imports, as a text, so that no bundler has to know of a
 * further file. It posts that it runs, the code with which its socket was closed, or that nothing was heard for too
 * long.
 */
const program = `postMessage({ ready: true })
onmessage = ({ data: { url, request, beat, heartbeatMs, mostTicks } }) => {
  let socket
  let ticks = 0
  const dial = () => {
    const dialled = (socket = new WebSocket(url))
    dialled.onopen = () => dialled.send(request)
    dialled.onmessage = () => {
      if (socket === dialled) ticks = 0
    }
    dialled.onclose = ({ code }) => {
      if (socket !== dialled) return
      socket = undefined
      postMessage({ closed: code })
    }
  }
  setInterval(() => {
    if (++ticks >= mostTicks) postMessage({ silent: true })
    else if (socket === undefined) dial()
    else if (socket.readyState === 1) socket.send(beat)
  }, heartbeatMs)
  dial()
}`

/**
 * Starts the worker of a page that is about to join. The promise resolves when the worker runs, because a page that
 * computes can no longer start one; undefined where the page may start none.
 */
function startWorker(): Promise<PageWorker | undefined> {
  return new Promise((resolve) => {
    try {
      const worker = new Worker(URL.createObjectURL(new Blob([program], { type: 'text/javascript' })))
      worker.onmessage = () => resolve(worker)
      worker.onerror = () => {
        worker.terminate()
        resolve(undefined)
      }
    } catch {
      resolve(undefined)
    }
  })
}

/**
 * Sends heartbeats from a worker with its own socket, so that a page stays a member while it computes. It also does so
 * in the background, where a page's timers run once a minute at best. If the page may start no worker, the page itself
 * sends them.
 */
function browserHeartbeats(worker: PageWorker | undefined): StartHeartbeats {
  return (task, silent) => {
    if (worker === undefined) return startHeartbeatLoop(task, browserTransport, realClock, silent)
    const { url, request, heartbeatMs, silenceMs } = task
    worker.onmessage = ({ data }) => {
      const { closed } = data as { readonly closed?: number }
      const refusal = closed === undefined ? undefined : refusalOf(closed)
      // The worker dials again with the next beat if its socket broke. A socket that was closed for good is reported on
      // the socket of the page.
      if (closed !== undefined && closed !== 1000 && refusal === undefined) return
      worker.terminate()
      if (closed === undefined) silent(`the rendezvous has been silent for ${silenceMs} ms`)
      else if (refusal !== undefined) silent(`the rendezvous refuses heartbeats: ${refusal}`)
    }
    const beat = JSON.stringify({ kind: 'beat' })
    const mostTicks = Math.ceil(silenceMs / heartbeatMs) + 1
    worker.postMessage({ url, request, beat, heartbeatMs, mostTicks })
    return { stop: () => worker.terminate() }
  }
}
