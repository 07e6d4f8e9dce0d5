// The entry of a worker thread: one process of a world on `threads`.
import './index.js'
import { hostProcess } from './comm/threads-host.js'

await hostProcess()
