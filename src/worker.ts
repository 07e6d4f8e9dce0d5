// The entry of a worker thread: one process of a world on `threads`. Not the whole library: what of it a
// program needs, the program imports, and every thread has to load what is imported here.
import { hostProcess } from './launch/threads-host.js'

await hostProcess()
