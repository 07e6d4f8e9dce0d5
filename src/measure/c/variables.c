/* Control variables of the library (MPI-4.1 15.3.6). */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int index;
    MPI_T_cvar_handle handle;
    MPI_Datatype type;
} Opened;

void openVariables(void)
{
    int provided;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) fail("the tool interface of MPI does not start");
}

static int indexOf(const char *name)
{
    int index;
    return MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS ? index : -1;
}

static MPI_T_cvar_handle handleOf(const char *name, MPI_Datatype *type)
{
    int index = indexOf(name), nameSize = 0, textSize = 0, verbosity, bind, scope, count;
    MPI_T_enum names;
    MPI_T_cvar_handle handle;
    if (index < 0) fail("the library has no control variable %s", name);
    MPI_T_cvar_get_info(index, NULL, &nameSize, &verbosity, type, &names, NULL, &textSize, &bind, &scope);
    if (bind != MPI_T_BIND_NO_OBJECT || MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS || count != 1)
        fail("control variable %s is not a number of the library", name);
    return handle;
}

void exchangeVariables(Variables *variables)
{
    for (int i = 0; i < variables->count; i++) {
        Variable *variable = &variables->variables[i];
        MPI_Datatype type;
        MPI_T_cvar_handle handle = handleOf(variable->name, &type);
        int size, before = 0;
        long long room = 0;
        MPI_Type_size(type, &size);
        if (size == (int)sizeof(int)) {
            int error = MPI_T_cvar_read(handle, &before);
            if (error == MPI_SUCCESS) error = MPI_T_cvar_write(handle, &variable->value);
            if (error != MPI_SUCCESS) fail("control variable %s cannot be set", variable->name);
        } else if (size == (int)sizeof room) {
            long long wanted = variable->value;
            int error = MPI_T_cvar_read(handle, &room);
            if (error == MPI_SUCCESS) error = MPI_T_cvar_write(handle, &wanted);
            if (error != MPI_SUCCESS) fail("control variable %s cannot be set", variable->name);
            before = (int)room;
        } else {
            fail("control variable %s is not an integer", variable->name);
        }
        variable->value = before;
        MPI_T_cvar_handle_free(&handle);
    }
}

static void describeNames(MPI_T_enum names, char *answer, int length)
{
    int count, ignored = 0, at = snprintf(answer, (size_t)length, "enum");
    if (MPI_T_enum_get_info(names, &count, NULL, &ignored) != MPI_SUCCESS) count = 0;
    for (int i = 0; i < count && at < length; i++) {
        char name[nameLength];
        int nameSize = nameLength, value;
        if (MPI_T_enum_get_item(names, i, &value, name, &nameSize) != MPI_SUCCESS) continue;
        at += snprintf(answer + at, (size_t)(length - at), " %d=%s", value, name);
    }
}

void describeVariable(const char *name, char *answer, int length)
{
    int index = indexOf(name), nameSize = 0, textSize = length, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    char *text = malloc((size_t)length);
    if (text == NULL) fail("memory is exhausted");
    text[0] = '\0';
    if (index < 0 ||
        MPI_T_cvar_get_info(index, NULL, &nameSize, &verbosity, &type, &names, text, &textSize, &bind, &scope) != MPI_SUCCESS) {
        snprintf(answer, (size_t)length, "none");
    } else if (names != MPI_T_ENUM_NULL) {
        describeNames(names, answer, length);
    } else {
        snprintf(answer, (size_t)length, "text %.*s", length - 8, text);
        for (char *at = answer; *at != '\0'; at++)
            if (*at == '\n' || *at == '\r') *at = ' ';
    }
    free(text);
}
