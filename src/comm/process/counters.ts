/** What one rank did on any communicator since the world started. */
export interface RankCounters {
  messagesSent: number
  messagesReceived: number
  bytesSent: number
  bytesReceived: number
  collectives: number
}

/** What one process did: frames are what its fabric really carried, copies what this layer moved in memory. */
export interface ProcessCounters {
  framesSent: number
  framesReceived: number
  frameBytesSent: number
  frameBytesReceived: number
  /** Point-to-point messages between ranks of this process, which no frame carried. */
  messagesInProcess: number
  /** Payload bytes copied by sends, receives and collectives of this process. */
  bytesCopied: number
}
