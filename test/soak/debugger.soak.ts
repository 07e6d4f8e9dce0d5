import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { ownFolder } from '../support/temporary-folder.js'
import { command } from '../unit/cli/spawn-cli.js'

// What docs/shared-memory.md says of debuggers, by the protocol that editors and Chrome use.

const folder = ownFolder('debugger')
writeFileSync(
  join(folder, 'stops.mjs'),
  `export default async (world) => {
     const part = world.rank + 1
     debugger
     return world.allreduce(part, 'sum')
   }`,
)

interface Message {
  readonly method?: string
  readonly params?: {
    readonly sessionId: string
    readonly message: string
    readonly reason: string
    readonly callFrames: readonly { readonly callFrameId: string }[]
  }
  readonly result?: { readonly result?: { readonly value?: unknown } }
}

it.each(['local', 'threads'])(
  'a debugger stops at every rank on %s, and reads its variables',
  async (fabric) => {
    const [node, ...fixed] = command
    const words = ['run', 'stops.mjs', '-n', '2', '--fabric', fabric, '--processes', '2']
    const child = spawn(node, ['--inspect-brk=127.0.0.1:0', ...fixed, ...words], {
      ...{ cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    let url: string | undefined
    for await (const line of createInterface(child.stderr)) {
      url = /ws:\S+/.exec(line)?.[0]
      if (url !== undefined) break
    }
    child.stderr.resume()
    const socket = new WebSocket(url!)
    await once(socket, 'open')

    let sent = 0
    const send = (method: string, params: object = {}, sessionId?: string): void => {
      const message = JSON.stringify({ id: ++sent, method, params })
      if (sessionId === undefined) socket.send(message)
      else send('NodeWorker.sendMessageToWorker', { sessionId, message })
    }
    const start = (sessionId?: string) => {
      for (const method of ['Debugger.enable', 'Runtime.enable', 'Runtime.runIfWaitingForDebugger'])
        send(method, {}, sessionId)
    }
    const parts: unknown[] = []
    const handle = ({ method, params, result }: Message, sessionId?: string): void => {
      if (method === 'NodeWorker.attachedToWorker') start(params!.sessionId)
      else if (method === 'NodeWorker.receivedMessageFromWorker')
        handle(JSON.parse(params!.message) as Message, params!.sessionId)
      else if (method === 'Debugger.paused') {
        const [{ callFrameId }] = params!.callFrames
        if (params!.reason !== 'Break on start')
          send('Debugger.evaluateOnCallFrame', { callFrameId, expression: 'part' }, sessionId)
        send('Debugger.resume', {}, sessionId)
      } else if (result?.result?.value !== undefined) {
        parts.push(result.result.value)
      }
    }
    // Node.js waits for the debugger before it ends.
    child.stdout.on('data', () => output.includes('rank 1 returned 3') && socket.close())
    socket.on('message', (data: Buffer) => handle(JSON.parse(data.toString()) as Message))
    send('NodeWorker.enable', { waitForDebuggerOnStart: true })
    start()
    expect(await once(child, 'close')).toEqual([0, null])
    expect(parts.sort()).toEqual([1, 2])
  },
)
