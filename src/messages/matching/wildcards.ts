/** Receive from any rank. MPI-4.1 §3.2.4. */
export const ANY_SOURCE = -1

/** Receive a message with any tag. MPI-4.1 §3.2.4. */
export const ANY_TAG = -1

/** No process: sends to it and receives from it complete at once, without data. MPI-4.1 §3.10. */
export const PROC_NULL = -2

/** Largest tag a user may send with (MPI_TAG_UB). */
export const maxTag = 0x7fffffff
