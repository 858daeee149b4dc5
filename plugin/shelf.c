/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <time.h>

#include "shelf.h"

#define TRIES 100 /* to meet a moment without readers, a tenth of a millisecond apart */

static int sweep_up(struct shelf *s)
{
	for (int tries = 0; atomic_load(&s->readers) != 0; tries++) {
		struct timespec nap = {.tv_nsec = 100 * 1000};
		if (tries == TRIES)
			return 0;
		nanosleep(&nap, NULL);
	}
	for (int i = 0; i < SHELF_OLD; i++) {
		tables_free(s->old[i]);
		s->old[i] = NULL;
	}
	return 1;
}

int shelf_put(struct shelf *s, struct tables *t)
{
	if (s->old[SHELF_OLD - 1] && !sweep_up(s))
		return 0;
	memmove(s->old + 1, s->old, (SHELF_OLD - 1) * sizeof *s->old);
	s->old[0] = atomic_exchange(&s->live, t);
	sweep_up(s);
	return 1;
}

void shelf_empty(struct shelf *s)
{
	tables_free(atomic_exchange(&s->live, NULL));
	for (int i = 0; i < SHELF_OLD; i++)
		tables_free(s->old[i]);
}
