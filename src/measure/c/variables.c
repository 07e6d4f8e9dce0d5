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

/* Returns whether the library still has the number after it was written. */
static int hasTaken(MPI_T_cvar_handle handle, int size, long long value)
{
    int narrow = 0;
    long long wide = 0;
    if (MPI_T_cvar_read(handle, size == (int)sizeof narrow ? (void *)&narrow : (void *)&wide) != MPI_SUCCESS) return 0;
    return (size == (int)sizeof narrow ? narrow : wide) == value;
}

void exchangeVariables(Variables *variables)
{
    for (int i = 0; i < variables->count; i++) {
        Variable *variable = &variables->variables[i];
        MPI_Datatype type;
        MPI_T_cvar_handle handle = handleOf(variable->name, &type);
        int size, error, before = 0;
        MPI_Type_size(type, &size);
        if (size == (int)sizeof(int)) {
            error = MPI_T_cvar_read(handle, &before);
            if (error == MPI_SUCCESS) error = MPI_T_cvar_write(handle, &variable->value);
        } else if (size == (int)sizeof(long long)) {
            long long room = 0, wanted = variable->value;
            error = MPI_T_cvar_read(handle, &room);
            if (error == MPI_SUCCESS) error = MPI_T_cvar_write(handle, &wanted);
            before = (int)room;
        } else {
            fail("control variable %s is not an integer", variable->name);
            return;
        }
        if (error != MPI_SUCCESS || !hasTaken(handle, size, variable->value))
            fail("control variable %s cannot be set to %d", variable->name, variable->value);
        variable->value = before;
        MPI_T_cvar_handle_free(&handle);
    }
}

/* Writes a number as text, and text without ends of lines. */
static void valueText(MPI_T_cvar_handle handle, MPI_Datatype type, int count, char *text, int length)
{
    int size;
    MPI_Type_size(type, &size);
    char *value = calloc((size_t)count + 1, (size_t)size);
    if (value == NULL) fail("memory is exhausted");
    if (MPI_T_cvar_read(handle, value) != MPI_SUCCESS) snprintf(text, (size_t)length, "unreadable");
    else if (type == MPI_CHAR) snprintf(text, (size_t)length, "%s", value);
    else if (type == MPI_DOUBLE) snprintf(text, (size_t)length, "%g", *(double *)value);
    else if (size == 1) snprintf(text, (size_t)length, "%d", *(unsigned char *)value);
    else if (size == (int)sizeof(int)) snprintf(text, (size_t)length, "%d", *(int *)value);
    else snprintf(text, (size_t)length, "%lld", *(long long *)value);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\n' || *at == '\r') *at = ' ';
    free(value);
}

void readVariable(const char *name, char *answer, int length)
{
    static const char value[] = "value ";
    int index = indexOf(name), nameSize = 0, textSize = 0, verbosity, bind, scope, count;
    MPI_Datatype type;
    MPI_T_enum names;
    MPI_T_cvar_handle handle;
    snprintf(answer, (size_t)length, "none");
    if (index < 0 ||
        MPI_T_cvar_get_info(index, NULL, &nameSize, &verbosity, &type, &names, NULL, &textSize, &bind, &scope) != MPI_SUCCESS ||
        bind != MPI_T_BIND_NO_OBJECT || MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return;
    snprintf(answer, (size_t)length, value);
    valueText(handle, type, count, answer + strlen(value), length - (int)strlen(value));
    MPI_T_cvar_handle_free(&handle);
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
