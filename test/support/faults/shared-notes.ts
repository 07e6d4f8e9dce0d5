const bytesPerNote = 2048

/** Texts that ranks on other threads leave, one each, and that outlive their threads. */
export class SharedNotes {
  readonly memory: SharedArrayBuffer

  constructor(memory: SharedArrayBuffer | number) {
    this.memory = typeof memory === 'number' ? new SharedArrayBuffer(memory * bytesPerNote) : memory
  }

  write(rank: number, text: string): void {
    const bytes = new TextEncoder().encode(text)
    if (bytes.length > bytesPerNote - 4) throw new Error(`a note of ${bytes.length} bytes`)
    new Uint8Array(this.memory, rank * bytesPerNote + 4).set(bytes)
    Atomics.store(new Int32Array(this.memory), (rank * bytesPerNote) / 4, bytes.length)
  }

  /** What was written, in rank order. */
  read(): string[] {
    const texts: string[] = []
    for (let at = 0; at < this.memory.byteLength; at += bytesPerNote) {
      const length = Atomics.load(new Int32Array(this.memory), at / 4)
      // Text is not decoded from shared memory.
      if (length > 0)
        texts.push(new TextDecoder().decode(new Uint8Array(this.memory, at + 4, length).slice()))
    }
    return texts
  }
}
