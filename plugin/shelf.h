/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables in use. One thread replaces them, any number read them at the same
 * time and never wait. A reader counts itself before it looks which tables are
 * live: once the count has been zero after an exchange, nobody has the old ones
 * and they are freed. While readers do not pause, the old ones stay on the shelf.
 */
#ifndef WEFT_SHELF_H
#define WEFT_SHELF_H

#include <stdatomic.h>

#include "tables.h"

#define SHELF_OLD 4 /* replaced tables that may wait for their readers */

struct shelf {
	_Atomic(struct tables *) live;
	atomic_int readers;
	struct tables *old[SHELF_OLD];
};

/* shelf_put makes tables the live ones; 0: readers keep too many old ones. */
int shelf_put(struct shelf *s, struct tables *t);

/* shelf_empty frees everything; nobody may read any more. */
void shelf_empty(struct shelf *s);

/* shelf_take is the live tables, NULL: none; until shelf_return they stay. */
static inline const struct tables *shelf_take(struct shelf *s)
{
	atomic_fetch_add(&s->readers, 1);
	return atomic_load(&s->live);
}

static inline void shelf_return(struct shelf *s) { atomic_fetch_sub(&s->readers, 1); }

#endif
