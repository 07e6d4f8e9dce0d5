export type Direction = 'to server' | 'to client'

/** One message on its way through a proxy. */
export interface PassingMessage {
  /** Of the proxy, in the order of their acceptance. */
  readonly connection: number
  readonly link: string
  readonly direction: Direction
  /** 0-based, in its direction of its connection. */
  readonly index: number
  readonly isBinary: boolean
  readonly data: Buffer
}

/** What is passed instead of a message: that same buffer, others, several, none. */
export type MessageFault = (message: PassingMessage) => readonly Buffer[]

/** Which messages a fault changes. */
export type MessageChoice = (message: PassingMessage) => boolean

export const passAll: MessageFault = ({ data }) => [data]

export const repeated =
  (chosen: MessageChoice): MessageFault =>
  (message) =>
    chosen(message) ? [message.data, message.data] : [message.data]

/** Cut to `bytes`, or without its last byte if it has no more. */
export const truncated =
  (chosen: MessageChoice, bytes: number): MessageFault =>
  (message) =>
    chosen(message)
      ? [message.data.subarray(0, Math.min(bytes, Math.max(0, message.data.length - 1)))]
      : [message.data]

/** A chosen message waits until the next one of its direction has passed. */
export function overtaken(chosen: MessageChoice): MessageFault {
  const waiting = new Map<string, Buffer>()
  return (message) => {
    const lane = `${message.connection} ${message.direction}`
    const late = waiting.get(lane)
    if (late !== undefined) {
      waiting.delete(lane)
      return [message.data, late]
    }
    if (!chosen(message)) return [message.data]
    waiting.set(lane, message.data)
    return []
  }
}
