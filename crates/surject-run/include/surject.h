/* Compiled programs of Surject, run without a compiler.
 *
 * `surject compile PROGRAM -o PROGRAM.sjx --target cuda:sm_90a` (or cpu:host) writes an archive; link with
 * -lsurject_run. Functions that fail leave a text for surject_last_error. A program is used by one thread at a time. */
#ifndef SURJECT_H
#define SURJECT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct surject_program surject_program;

enum { SURJECT_ARGUMENT = 0, SURJECT_RESULT = 1 };

/* Why the last call of this thread failed; it stays until the next failure. */
const char *surject_last_error(void);

/* Loads an archive; one for a GPU onto the device "0", "1", ... (NULL: "0"), or
 * "simulated", an interpreter. NULL where that fails. */
surject_program *surject_load(const char *path, const char *device);

/* Forgets a program. */
void surject_free(surject_program *program);

/* How many arguments or results there are. */
size_t surject_count(const surject_program *program, int32_t side);

/* The type of one: the name of its elements (such as "f32"), how many sizes there are, and these. 0, or -1 where there
 * is none of that number. Pointers may be NULL; what comes back stays as long as the program. */
int32_t surject_type(const surject_program *program, int32_t side, size_t number, const char **dtype, size_t *rank,
                     const size_t **sizes);

/* Runs a program: reads arguments and writes results, row-major elements each. 0, or -1 where that fails. */
int32_t surject_run(surject_program *program, const void *const *args, void *const *results);

#ifdef __cplusplus
}
#endif

#endif
