import { fileURLToPath } from 'node:url'
import { run, websocket } from 'rankweave'
import { compiledUrl } from '../compiled.js'
import { type FaultEnd, faultEnd } from './fault-end.js'
import type { Fault, FaultRow } from './fault-rows.js'
import { FileNotes } from './file-notes.js'
import {
  type MessageChoice,
  type MessageFault,
  overtaken,
  passAll,
  repeated,
  truncated,
} from './message-faults.js'
import { MessageProxy } from './message-proxy.js'
import { ProxiedPrograms } from './proxied-programs.js'
import { cutTogetherAfter, type ProxiedConnection, TcpProxy } from './tcp-proxy.js'
import { heldBytes, type WebSocketFaultArgs } from './websocket-fault.js'

const program = compiledUrl('faults/websocket-fault.ts')
const otherCredit = fileURLToPath(new URL('./other-credit.cjs', import.meta.url))

/**
 * Only silence tells of these; the others are noticed at once, however long a busy machine lets a process
 * wait.
 */
const silent: readonly Fault[] = ['process stopped', 'half-open connections', 'half-open data connections']
export const isSilent = ({ fault }: FaultRow): boolean => silent.includes(fault)

const silenceMs = 5000
const slowBytesPerSecond = 8 * 2 ** 20

/** One row on `websocket`: three processes of the operating system, all of whose connections pass a proxy. */
export async function runWebSocketFault(row: FaultRow): Promise<FaultEnd> {
  const { operation, fault, victim } = row
  const notes = new FileNotes()
  const network = await FaultyNetwork.start(fault)
  const args: WebSocketFaultArgs = { operation, fault, victim, notes: notes.folder }
  const fabric = websocket({
    processes: 3,
    ...(isSilent(row) ? { silenceMs } : {}),
    execArgv: [
      ...network.execArgv,
      '--max-old-space-size=96',
      ...(fault === 'over-credit' ? ['--require', otherCredit] : []),
    ],
  })
  try {
    const world = run(program, {
      ...{ ranks: 3, fabric, args },
      ...(fault === 'over-credit' ? { creditBytes: heldBytes } : {}),
    })
    const struck = notes.wait('struck', world).then(
      () => network.strike(Number(notes.read(`pid-${victim}`))),
      // The test shows how the world has ended.
      () => {},
    )
    const end = await faultEnd(world, () => [0, 1, 2].flatMap((rank) => notes.read(`seen-${rank}`) ?? []))
    await struck
    return end
  } finally {
    await network.close()
    notes.remove()
  }
}

/** The network of one world, and what becomes of it. */
class FaultyNetwork {
  readonly #fault: Fault
  readonly #tcp: TcpProxy
  readonly #messages: MessageProxy
  readonly #programs: ProxiedPrograms
  /** The process whose connections fail. */
  readonly #struck: { pid: number | undefined }

  private constructor(
    fault: Fault,
    tcp: TcpProxy,
    messages: MessageProxy,
    programs: ProxiedPrograms,
    struck: { pid: number | undefined },
  ) {
    this.#fault = fault
    this.#tcp = tcp
    this.#messages = messages
    this.#programs = programs
    this.#struck = struck
  }

  static async start(fault: Fault): Promise<FaultyNetwork> {
    const struck: { pid: number | undefined } = { pid: undefined }
    let programs: ProxiedPrograms | undefined
    // Every message of the process to another one, until the first is noticed: who receives them blames their
    // sender.
    const chosen: MessageChoice = (message) => {
      if (struck.pid === undefined || !message.isBinary) return false
      const { dialer, listener } = programs!.linkOf(message)
      return listener !== undefined && struck.pid === (message.direction === 'to server' ? dialer : listener)
    }
    const messages = await MessageProxy.start({ fault: messageFault(fault, chosen) })
    const passesMessages = messageFault(fault, chosen) !== passAll
    const tcp = await TcpProxy.start(passesMessages ? { through: messages.url } : {})
    programs = await ProxiedPrograms.start(tcp)
    return new FaultyNetwork(fault, tcp, messages, programs, struck)
  }

  get execArgv(): readonly string[] {
    return this.#programs.execArgv
  }

  /** What is done to a process from outside. */
  strike(pid: number): void {
    this.#struck.pid = pid
    const { control, data } = this.#connectionsOf(pid)
    switch (this.#fault) {
      case 'process killed':
        process.kill(pid, 'SIGKILL')
        break
      case 'process stopped':
        process.kill(pid, 'SIGSTOP')
        break
      case 'control connection lost':
        for (const { connection } of control) connection.cut()
        break
      case 'data connections lost':
        for (const { connection } of data) connection.cut()
        break
      case 'half-open connections':
        for (const { connection } of [...control, ...data]) connection.stall()
        break
      case 'half-open data connections':
        for (const { connection } of data) connection.stall()
        break
      case 'truncated stream':
        cutTogetherAfter(
          data.map(({ connection }) => connection),
          10,
        )
        break
      case 'slow reader':
        for (const { connection, isDialer } of data) {
          const lane = isDialer ? connection.toClient : connection.toServer
          lane.slowTo(slowBytesPerSecond)
        }
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#programs.close(), this.#tcp.close(), this.#messages.close()])
  }

  /**
   * Of a process: those to the rendezvous, which is in the process of the test, and those to other processes.
   */
  #connectionsOf(pid: number) {
    const control: { readonly connection: ProxiedConnection }[] = []
    const data: { readonly connection: ProxiedConnection; readonly isDialer: boolean }[] = []
    for (const connection of this.#tcp.connections()) {
      const { dialer, listener } = this.#programs.linkOf(connection)
      if (dialer !== pid && listener !== pid) continue
      if (listener === undefined) control.push({ connection })
      else data.push({ connection, isDialer: dialer === pid })
    }
    return { control, data }
  }
}

function messageFault(fault: Fault, chosen: MessageChoice): MessageFault {
  switch (fault) {
    case 'truncated messages':
      return truncated(chosen, 2 ** 20)
    case 'repeated messages':
      return repeated(chosen)
    case 'reordered messages':
      return overtaken(chosen)
    default:
      return passAll
  }
}
