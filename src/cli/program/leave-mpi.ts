import { joinedMpiJob } from '../../fabric/mpi/mpi-job.js'

/** Every process has left the world and is about to exit, with whatever code. */
export async function leaveMpi(): Promise<void> {
  ;(await joinedMpiJob())?.expectJointExit()
}
