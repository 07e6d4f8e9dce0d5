import { deserialize, serialize } from 'node:v8'
import { holdListener } from '../../base/held-listener.js'
import { givenOptions } from '../../base/option-table.js'
import { wrongValue } from '../../errors.js'
import { encodeError } from '../../messages/process/error-record.js'
import { worldLayout } from '../../messages/process/world-layout.js'
import type { UserProgram } from '../../world/user-program.js'
import {
  type CallerPort,
  HostedPart,
  loadHere,
  notCloneable,
  setHostedArgs,
} from '../processes/hosted-part.js'
import { programDigest } from '../processes/load-program.js'
import { withCallRecords } from '../processes/optional-parts.js'
import {
  type ChildData,
  type FromChild,
  maxErrorBytes,
  maxResultBytes,
  type OwnMessage,
  type ToProcess,
} from '../processes/process-protocol.js'
import { hostMember, type OpenMember, openMember } from './member.js'

/** The function as Node has it, before a program's guard replaces it. */
const exit = process.exit.bind(process)

/**
 * Hosts one process of a world in this process of the operating system, until the one that started it ends
 * it.
 */
export async function hostChild(): Promise<void> {
  const part = new HostedPart(port, post)
  // The process that started this one decides what an interrupt of the terminal, which reaches both, ends.
  process.on('SIGINT', () => {})
  // The parent has ended, or wants this process to end.
  holdListener('disconnect', () => exit(0))
  process.on('uncaughtExceptionMonitor', (error) =>
    post({ kind: 'uncaught', error: encodeError(error, maxErrorBytes) }),
  )
  const { data, started } = listen((message) => part.onMessage(message))
  const { world: given, ...child } = await data
  const { hosted, ...world } = given
  const args: unknown = deserialize(child.args)
  setHostedArgs(args)
  let loaded: UserProgram<unknown, unknown>
  let member: OpenMember
  try {
    loaded = await withCallRecords(
      await loadHere(child.program, port, givenOptions({ hosted })),
      world.online,
    )
    const program = await programDigest(new URL(child.program))
    const { url, token, node } = child
    const { ppid: parentPid } = process
    const request = { url, token, node, program, process: child.process }
    member = await openMember({ ...request, parentPid, listen: {} })
  } catch (error) {
    part.failed(error)
    return
  }
  const { firstRank } = worldLayout(world.ranks, member.session.nodes, world.ranksPerProcess)
  await part.run(
    started,
    { ...world, args },
    (options) => hostMember(member, loaded, options),
    (results, without) =>
      post({ kind: 'returned', results: serialized(results, firstRank[child.process]), without }),
  )
  // The answer may still be in flight; then the caller closes the connection.
  port.ref()
}

/** The connection with the process that started this one. */
const port: CallerPort = {
  ref: () => process.channel?.ref(),
  unref: () => process.channel?.unref(),
}

function post(message: FromChild): void {
  const own: OwnMessage = { rankweave: message }
  if (process.connected) process.send!(own, undefined, undefined, () => {})
}

/** Listens to the process that started this one: its first message, the start of the world, and all others. */
function listen(other: (message: ToProcess) => void): {
  readonly data: Promise<ChildData>
  readonly started: Promise<void>
} {
  let begin!: (data: ChildData) => void
  let start!: () => void
  holdListener('message', (message: ChildData | ToProcess) => {
    if (message.kind === 'rankweave child') begin(message)
    else if (message.kind === 'start') start()
    else other(message)
  })
  return {
    data: new Promise((resolve) => {
      begin = resolve
    }),
    started: new Promise((resolve) => {
      start = resolve
    }),
  }
}

/** @throws ERR_CLONE when they cannot be serialized, or are too long */
function serialized(results: readonly unknown[], firstRank: number): Uint8Array {
  let bytes: Uint8Array
  try {
    bytes = serialize(results)
  } catch (cause) {
    throw notCloneable(results, firstRank, serialize, cause)
  }
  if (bytes.byteLength <= maxResultBytes) return bytes
  const expected = `the values that the ranks of one process returned: expected at most ${maxResultBytes} bytes`
  throw wrongValue('ERR_CLONE', expected, bytes.byteLength)
}
