// The entry of a process of the operating system that `run` starts: one process of a world on `websocket`.
// Like worker.ts not the whole library.
import { hostChild } from './launch/websocket/child.js'

await hostChild()
