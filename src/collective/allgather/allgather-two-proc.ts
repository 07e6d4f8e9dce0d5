import type { Algorithm } from '../patterns/algorithm.js'
import { onlyTwo } from '../patterns/check-shape.js'
import { allgatherLinear } from './allgather-linear.js'

/**
 * An allgather of two ranks: they exchange their blocks. It takes one phase and 2 messages per segment.
 *
 * @see Open MPI's `two_proc`
 */
export const allgatherTwoProc: Algorithm = {
  id: 'allgather-two-proc',
  collective: 'allgather',
  catalog: { source: 'Open MPI `two_proc`', phases: '1', messages: '2', sent: '1', serves: 'two ranks' },
  refuses: onlyTwo,
  emit: allgatherLinear.emit,
}
