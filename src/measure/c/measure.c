/* The job: see measure.h. */
#include "measure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Slot {
    long id;
    MPI_Comm comm;
    Variables variables;
    struct Slot *next;
} Slot;

static int process, processes;
static MPI_Comm members = MPI_COMM_NULL; /* the ranks of the spread */
static MPI_Comm control = MPI_COMM_NULL; /* a duplicate, for barriers that no setting changes */
static Call call;
static int hasCall;
static Slot *slots;

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("failed ");
    vprintf(format, arguments);
    printf("\n");
    fflush(stdout);
    va_end(arguments);
    /* Launchers may drop pending output when a job is aborted. */
    sleep(1);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Completes a request without keeping a core busy: processes that make no calls wait here while others are measured. */
static void waitAsleep(MPI_Request *request)
{
    struct timespec pause = {0, 100000};
    for (;;) {
        int isDone;
        MPI_Test(request, &isDone, MPI_STATUS_IGNORE);
        if (isDone) return;
        if (process > 0) nanosleep(&pause, NULL);
    }
}

/* Returns the next order, the same in every process, or NULL at the end of the input. */
static char *nextOrder(void)
{
    static char *line;
    static size_t room;
    long length = 0;
    MPI_Request request;
    if (process == 0) {
        length = getline(&line, &room, stdin);
        while (length > 0 && line[length - 1] == '\n') line[--length] = '\0';
    }
    MPI_Ibcast(&length, 1, MPI_LONG, 0, MPI_COMM_WORLD, &request);
    waitAsleep(&request);
    if (length < 0) return NULL;
    if (process > 0 && room < (size_t)length + 1) {
        room = (size_t)length + 1;
        line = realloc(line, room);
        if (line == NULL) fail("memory is exhausted");
    }
    MPI_Ibcast(line, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    waitAsleep(&request);
    line[length] = '\0';
    return line;
}

static void answer(const char *text)
{
    if (process > 0) return;
    printf("%s\n", text);
    fflush(stdout);
}

/* Checks that a variable has one value: a command or a file may have set it for some processes only. */
static void answerValue(const char *name)
{
    enum { valueLength = 4096 };
    char own[valueLength], first[valueLength];
    int ignored = 0, sum;
    readVariable(name, own, valueLength);
    memcpy(first, own, valueLength);
    MPI_Bcast(first, valueLength, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (strcmp(own, first) != 0)
        fail("control variable %s differs between processes: '%s' in process 0, '%s' in process %d", name, first, own, process);
    /* Process 0 answers when all have agreed. */
    MPI_Reduce(&ignored, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    answer(own);
}

static void freeSettings(void)
{
    while (slots != NULL) {
        Slot *slot = slots;
        slots = slot->next;
        if (slot->comm != MPI_COMM_NULL) MPI_Comm_free(&slot->comm);
        free(slot);
    }
    if (hasCall) freeCall(&call);
    hasCall = 0;
}

static void spreadOver(char *ranks)
{
    int place = MPI_UNDEFINED, count = 0;
    for (char *word = strtok(ranks, " "); word != NULL; word = strtok(NULL, " "), count++)
        if (atoi(word) == process) place = count;
    freeSettings();
    if (members != MPI_COMM_NULL) MPI_Comm_free(&members);
    if (control != MPI_COMM_NULL) MPI_Comm_free(&control);
    MPI_Comm_split(MPI_COMM_WORLD, place == MPI_UNDEFINED ? MPI_UNDEFINED : 0, place == MPI_UNDEFINED ? 0 : place, &members);
    if (members != MPI_COMM_NULL) MPI_Comm_dup(members, &control);
}

static void beginCall(char *words)
{
    char *collective = strtok(words, " "), *type = strtok(NULL, " "), *bytes = strtok(NULL, " ");
    int rank, size;
    if (bytes == NULL) fail("expected a call");
    freeSettings();
    if (members == MPI_COMM_NULL) return;
    MPI_Comm_rank(members, &rank);
    MPI_Comm_size(members, &size);
    hasCall = makeCall(&call, collective, type, atol(bytes), rank, size);
    if (!hasCall) fail("expected a call, got %s of %s bytes as %s", collective, bytes, type);
}

static void addSetting(char *words)
{
    Slot *slot = calloc(1, sizeof *slot);
    char *word = strtok(words, " ");
    if (slot == NULL || word == NULL) fail("expected a setting");
    slot->id = atol(word);
    slot->comm = MPI_COMM_NULL;
    while ((word = strtok(NULL, " ")) != NULL) {
        Variable *variable = &slot->variables.variables[slot->variables.count++];
        char *value = strchr(word, '=');
        if (value == NULL || slot->variables.count > mostVariables || value - word >= nameLength) fail("expected NAME=VALUE, got %s", word);
        memcpy(variable->name, word, (size_t)(value - word));
        variable->value = atoi(value + 1);
    }
    slot->next = slots;
    slots = slot;
    if (members == MPI_COMM_NULL) return;
    exchangeVariables(&slot->variables);
    MPI_Comm_dup(members, &slot->comm);
    MPI_Comm_set_errhandler(slot->comm, MPI_ERRORS_RETURN);
    exchangeVariables(&slot->variables);
}

static Slot *slotOf(const char *word)
{
    for (Slot *slot = slots; slot != NULL && word != NULL; slot = slot->next)
        if (slot->id == atol(word)) return slot;
    fail("expected a setting of the call, got %s", word == NULL ? "none" : word);
    return NULL;
}

/* If one rank refuses a call, every rank refuses it; if one has a wrong result, all report the call as wrong. */
static void verify(char *words)
{
    static const char *const verdicts[] = {"right", "wrong", "refused"};
    Slot *slot = slotOf(strtok(words, " "));
    int verdict = 0, worst;
    if (members != MPI_COMM_NULL) {
        exchangeVariables(&slot->variables);
        clearResult(&call);
        verdict = runCall(&call, slot->comm) != MPI_SUCCESS ? 2 : isResultRight(&call) ? 0 : 1;
        exchangeVariables(&slot->variables);
    }
    MPI_Reduce(&verdict, &worst, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (process == 0) answer(verdicts[worst]);
}

static void dissemination(void)
{
    for (int distance = 1; distance < call.size; distance *= 2) {
        int to = (call.rank + distance) % call.size, from = (call.rank - distance + call.size) % call.size;
        MPI_Sendrecv(NULL, 0, MPI_BYTE, to, 1, NULL, 0, MPI_BYTE, from, 1, control, MPI_STATUS_IGNORE);
    }
}

static void timeCalls(char *words)
{
    Slot *slot = slotOf(strtok(words, " "));
    const char *word = strtok(NULL, " ");
    int repetitions = word == NULL ? 0 : atoi(word);
    if (repetitions < 1) fail("expected repetitions");
    double *own = calloc(4 * (size_t)repetitions, sizeof *own), *longest = own + 2 * repetitions;
    if (own == NULL) fail("memory is exhausted");
    if (members != MPI_COMM_NULL) {
        exchangeVariables(&slot->variables);
        dissemination();
        for (int i = 0; i < repetitions; i++) {
            double before = MPI_Wtime(), entered;
            dissemination();
            entered = MPI_Wtime();
            if (runCall(&call, slot->comm) != MPI_SUCCESS) fail("a call that was right before fails");
            dissemination();
            own[i] = MPI_Wtime() - entered;
            own[repetitions + i] = entered - before;
        }
        exchangeVariables(&slot->variables);
    }
    MPI_Reduce(own, longest, 2 * repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (process == 0) {
        printf("times");
        for (int i = 0; i < 2 * repetitions; i++) printf(" %.3f", longest[i] * 1e6);
        answer("");
    }
    free(own);
}

static void follow(const char *kind, char *words)
{
    static char text[16384];
    if (strcmp(kind, "describe") == 0) {
        if (process == 0) describeVariable(words, text, sizeof text);
        answer(text);
        return;
    }
    if (strcmp(kind, "read") == 0) {
        answerValue(words);
        return;
    }
    if (strcmp(kind, "verify") == 0) {
        verify(words);
        return;
    }
    if (strcmp(kind, "time") == 0) {
        timeCalls(words);
        return;
    }
    if (strcmp(kind, "spread") == 0) spreadOver(words);
    else if (strcmp(kind, "call") == 0) beginCall(words);
    else if (strcmp(kind, "setting") == 0) addSetting(words);
    else if (strcmp(kind, "done") == 0) freeSettings();
    else fail("expected an order, got %s", kind);
    answer("ok");
}

/* Prints the name of the library, and the node of every process as the lowest process there. */
static void introduce(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, lowest = process, *nodes = NULL;
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, process, MPI_INFO_NULL, &node);
    MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    if (process == 0) nodes = calloc((size_t)processes, sizeof *nodes);
    MPI_Gather(&lowest, 1, MPI_INT, nodes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (process > 0) return;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    printf("rankweave-measure %s\nnodes", version);
    for (int i = 0; i < processes; i++) printf(" %d", nodes[i]);
    answer("");
    free(nodes);
}

int main(int argc, char **argv)
{
    /* Open MPI reads the variables of its component `tuned` only if its rules may change. */
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
    MPI_Init(&argc, &argv);
    openVariables();
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    introduce();
    for (char *line = nextOrder(); line != NULL && strcmp(line, "end") != 0; line = nextOrder()) {
        char *words = strchr(line, ' ');
        if (words != NULL) *words++ = '\0';
        follow(line, words == NULL ? line + strlen(line) : words);
    }
    freeSettings();
    if (members != MPI_COMM_NULL) MPI_Comm_free(&members);
    if (control != MPI_COMM_NULL) MPI_Comm_free(&control);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
