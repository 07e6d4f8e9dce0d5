/* Attributes of MPI, by which this library finds what it knows of a communicator. */
#include "shim.h"

#include <pthread.h>

static int delete_value(MPI_Comm comm, int key, void *value, void *attribute) {
  (void)comm;
  (void)key;
  ((const rw_attribute *)attribute)->destroy(value);
  return MPI_SUCCESS;
}

void *rw_attribute_get(const rw_attribute *attribute, MPI_Comm comm, int *code) {
  void *value;
  int is_there = 0;
  *code = attribute->key == MPI_KEYVAL_INVALID ? MPI_SUCCESS : PMPI_Comm_get_attr(comm, attribute->key, &value, &is_there);
  return *code == MPI_SUCCESS && is_there ? value : NULL;
}

int rw_attribute_set(rw_attribute *attribute, MPI_Comm comm, void *value) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int code = MPI_SUCCESS;
  pthread_mutex_lock(&lock);
  if (attribute->key == MPI_KEYVAL_INVALID)
    code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_value, &attribute->key, attribute);
  pthread_mutex_unlock(&lock);
  return code == MPI_SUCCESS ? PMPI_Comm_set_attr(comm, attribute->key, value) : code;
}
