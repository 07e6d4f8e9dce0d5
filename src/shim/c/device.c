/*
 * Finds whether a buffer is in the memory of a device, by the libraries of CUDA or HIP, if the process has loaded
 * one. The processor cannot read such memory; the functions of an MPI for devices can.
 */
#include "shim.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

/*
 * The value is CU_POINTER_ATTRIBUTE_MEMORY_TYPE of cuda.h and HIP_POINTER_ATTRIBUTE_MEMORY_TYPE of
 * hip_runtime_api.h.
 */
enum { MEMORY_TYPE = 2 };
/*
 * CUDA_HOST is CU_MEMORYTYPE_HOST. A type of 1 is hipMemoryTypeDevice before HIP 6, and hipMemoryTypeHost from
 * then on, so buffers of all types above 0 are left to MPI.
 */
enum { CUDA_HOST = 1, HIP_HOST = 0 };

typedef int attribute_of(void *data, int attribute, uintptr_t pointer);

/* The count of loaded libraries at the last search: the search is repeated when the process has loaded more. */
static unsigned long long sought_at;
static attribute_of *cuda, *hip;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int count_loaded(struct dl_phdr_info *info, size_t size, void *loaded) {
  (void)size;
  *(unsigned long long *)loaded = info->dlpi_adds;
  return 1;
}

static int begins(const char *path, const char *name) {
  const char *base = strrchr(path, '/');
  return strncmp(base == NULL ? path : base + 1, name, strlen(name)) == 0;
}

typedef struct {
  char cuda[4096], hip[4096];
} paths;

static int note_path(struct dl_phdr_info *info, size_t size, void *found) {
  paths *p = found;
  (void)size;
  if (begins(info->dlpi_name, "libcuda.so") && strlen(info->dlpi_name) < sizeof p->cuda) strcpy(p->cuda, info->dlpi_name);
  if (begins(info->dlpi_name, "libamdhip64.so") && strlen(info->dlpi_name) < sizeof p->hip) strcpy(p->hip, info->dlpi_name);
  return 0;
}

/* Returns the function of a loaded library. The library stays loaded, because its handle is not closed. */
static attribute_of *function_of(const char *path, const char *name) {
  void *library = path[0] == '\0' ? NULL : dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  void *found = library == NULL ? NULL : dlsym(library, name);
  attribute_of *function;
  memcpy(&function, &found, sizeof found);
  return function;
}

static void seek(unsigned long long loaded) {
  pthread_mutex_lock(&lock);
  if (sought_at != loaded) {
    paths found = {{0}, {0}};
    dl_iterate_phdr(note_path, &found);
    if (cuda == NULL) cuda = function_of(found.cuda, "cuPointerGetAttribute");
    if (hip == NULL) hip = function_of(found.hip, "hipPointerGetAttribute");
    __atomic_store_n(&sought_at, loaded, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
}

/* A buffer that begins at MPI_BOTTOM may be anywhere. */
int rw_is_on_device(const void *pointer) {
  unsigned long long loaded = 0;
  unsigned int type = 0;
  dl_iterate_phdr(count_loaded, &loaded);
  if (__atomic_load_n(&sought_at, __ATOMIC_ACQUIRE) != loaded) seek(loaded);
  if (cuda == NULL && hip == NULL) return 0;
  if (pointer == MPI_BOTTOM) return 1;
  if (cuda != NULL && cuda(&type, MEMORY_TYPE, (uintptr_t)pointer) == 0 && type > CUDA_HOST) return 1;
  return hip != NULL && hip(&type, MEMORY_TYPE, (uintptr_t)pointer) == 0 && type > HIP_HOST;
}
