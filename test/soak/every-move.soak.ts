import { testEveryCall } from '../support/complete-walk.js'

testEveryCall('barrier', 'bcast', 'scatter', 'gather', 'allgather', 'alltoall')
