/** The source of a receive from any rank. MPI-4.1 §3.2.4. */
export const ANY_SOURCE = -1

/** The tag of a receive of a message with any tag. MPI-4.1 §3.2.4. */
export const ANY_TAG = -1
