/*
 * To be preloaded: rank 1 of a job cannot open the memory of the preloaded library. MPI may have memory of
 * its own.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int shm_open(const char *name, int flags, mode_t mode) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  char path[256] = "/dev/shm";
  if (rank == NULL) rank = getenv("PMI_RANK");
  if (rank != NULL && strcmp(rank, "1") == 0 && strncmp(name, "/rankweave-", 11) == 0) {
    errno = ENOSYS;
    return -1;
  }
  strncat(path, name, sizeof path - sizeof "/dev/shm");
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, mode);
}
