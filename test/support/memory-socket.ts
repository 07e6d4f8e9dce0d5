import { socketState } from '../../src/websocket/socket/socket.js'
import { type Network, PairedSocket } from './socket-pair.js'

/** Delivers each message in a later turn of the event loop, in order. */
const turns = {
  deliver: (_: PairedSocket, run: () => void) => void setImmediate(run),
} as Network

/** A connection in memory that is open, and delivers by itself. */
export class MemorySocket extends PairedSocket {
  /** While false, what the other end sends counts as not taken by the network. */
  reads = true
  declare peer: MemorySocket

  private constructor() {
    super(turns)
    this.readyState = socketState.open
  }

  /** Two ends. */
  static pair(): readonly [MemorySocket, MemorySocket] {
    const [a, b] = [new MemorySocket(), new MemorySocket()]
    a.peer = b
    b.peer = a
    return [a, b]
  }

  override send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.peer.reads) super.send(data)
    else if (this.readyState === socketState.open) this.bufferedAmount += data.length
  }
}
