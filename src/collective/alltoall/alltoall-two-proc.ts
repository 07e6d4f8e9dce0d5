import type { Algorithm } from '../patterns/algorithm.js'
import { onlyTwo } from '../patterns/check-shape.js'
import { alltoallLinear } from './alltoall-linear.js'

/**
 * An all-to-all of two ranks: they exchange what each has for the other. It takes one phase and 2 messages per segment.
 *
 * @see Open MPI's `two_proc`
 */
export const alltoallTwoProc: Algorithm = {
  id: 'alltoall-two-proc',
  collective: 'alltoall',
  catalog: { source: 'Open MPI `two_proc`', phases: '1', messages: '2', sent: '1', serves: 'two ranks' },
  refuses: onlyTwo,
  emit: alltoallLinear.emit,
}
