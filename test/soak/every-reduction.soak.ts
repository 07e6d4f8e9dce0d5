import { testEveryCall } from '../support/complete-walk.js'

testEveryCall('reduce', 'allreduce', 'reduce-scatter', 'scan', 'exscan')
