/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "tree.h"

uint64_t tables_size_max(const struct net *n)
{
	return WIRE_TABLES_SIZE + n->rows + 2 * (uint64_t)n->rows * n->lids + 65535ull * WIRE_SLS + 2ull * n->pairs +
	       4ull * n->slots * WIRE_MAX_LANES;
}

/* flags_exist says whether the flags are known and go together, and the reserved bytes are 0. */
static int flags_exist(const struct tables *t)
{
	const int known = WIRE_SO_FAR | WIRE_DIRECTED | WIRE_STEP | WIRE_DROPS | WIRE_NEW_TREE | WIRE_ORDERS;

	if ((t->body[30] & ~known) != 0 || (get64(t->body + 88) >> 16) != 0)
		return 0;
	if ((t->new_tree || t->terms.drops) && !t->step)
		return 0; /* only a step has tables before it, whose tree another can replace and whose pairs it can cut */
	if (t->new_tree && t->groups == 0)
		return 0;
	return !t->terms.directed || t->terms.contract == 0;
}

/* fits says whether the figures of the tables are those of the fabric and of each other. */
static int fits(const struct tables *t, const struct net *n, uint64_t size, uint64_t sweep, char *why)
{
	uint64_t cells = (uint64_t)t->rows * t->lids;

	if (t->sweep != sweep)
		snprintf(why, WHY_SIZE, "the answer is to sweep %llu, not to %llu", (unsigned long long)t->sweep, (unsigned long long)sweep);
	else if (t->rows != n->rows || t->lids != n->lids || t->slots != n->slots || (t->pairs != 0 && t->pairs != n->pairs))
		snprintf(why, WHY_SIZE, "the tables are for %u switches, %u LIDs and %u ports; the fabric has %u, %u and %u",
			 t->rows, t->lids, t->slots, n->rows, n->lids, n->slots);
	else if (t->lanes < 1 || t->lanes > WIRE_MAX_LANES || t->terms.scope > 2 || t->maps < 1 || t->number == 0)
		snprintf(why, WHY_SIZE, "tables with %u lanes, scope %u, %u maps and number %llu", t->lanes, t->terms.scope, t->maps,
			 (unsigned long long)t->number);
	else if (t->step && !n->replaces && !(n->filled && t->more > 0))
		snprintf(why, WHY_SIZE, "a step from tables in use, where there are none");
	else if (!flags_exist(t))
		snprintf(why, WHY_SIZE, "a contract of service levels 0x%04x and flags %u, which there is not", t->terms.contract, t->body[30]);
	else if (size != WIRE_TABLES_SIZE + 2 * cells + (uint64_t)t->maps * WIRE_SLS + 2ull * t->pairs + 4ull * t->slots * t->lanes + (t->groups ? t->rows : 0))
		snprintf(why, WHY_SIZE, "tables of %llu bytes, which is not what their figures make", (unsigned long long)size);
	else
		return 1;
	return 0;
}

/* lanes_exist checks what no path may ever look up wrongly: lanes and numbers of maps. */
static int lanes_exist(const struct tables *t, char *why)
{
	for (uint32_t i = 0; i < t->maps * WIRE_SLS; i++)
		if (t->map[i] > WIRE_DROPPED) {
			snprintf(why, WHY_SIZE, "map %u has lane %u", i / WIRE_SLS, t->map[i]);
			return 0;
		}
	for (int i = 0; i < WIRE_SLS; i++)
		if (t->adapters[i] > WIRE_DROPPED) {
			snprintf(why, WHY_SIZE, "adapters are to send on lane %u", t->adapters[i]);
			return 0;
		}
	for (uint32_t i = 0; i < t->pairs; i++)
		if (get16(t->map_of + 2 * (size_t)i) >= t->maps) {
			snprintf(why, WHY_SIZE, "a pair of ports has map %u of %u", get16(t->map_of + 2 * (size_t)i), t->maps);
			return 0;
		}
	return 1;
}

/*
 * nobody_routed checks that there is nothing about LIDs that nobody has. A host that
 * comes up with one would have paths that nobody knew when they were proven.
 */
static int nobody_routed(const struct tables *t, const struct net *n, char *why)
{
	for (uint32_t r = 0; r < t->rows; r++)
		for (uint32_t l = 0; l < t->lids; l++) {
			size_t at = (size_t)r * t->lids + l;
			if (n->owner[l] == NOBODY && (t->out[at] != WIRE_NO_PORT || t->sl[at] != 0)) {
				snprintf(why, WHY_SIZE, "switch 0x%016llx has out-port %u and SL %u for LID %u, which nobody has",
					 (unsigned long long)n->guid[r], t->out[at], t->sl[at], l);
				return 0;
			}
		}
	return 1;
}

struct tables *tables_new(uint8_t *body, uint64_t size, uint64_t sweep, const struct net *n, char *why)
{
	struct tables *t = calloc(1, sizeof *t);
	size_t cells;

	if (!t) {
		free(body);
		snprintf(why, WHY_SIZE, "out of memory");
		return NULL;
	}
	t->body = body;
	if (size < WIRE_TABLES_SIZE) {
		snprintf(why, WHY_SIZE, "tables of %llu bytes", (unsigned long long)size);
		goto bad;
	}
	t->sweep = get64(body);
	t->rows = get32(body + 8);
	t->lids = get32(body + 12);
	t->slots = get32(body + 16);
	t->pairs = get32(body + 20);
	t->maps = get16(body + 24);
	t->lanes = body[26];
	t->terms.scope = body[27];
	t->terms.contract = get16(body + 28);
	t->terms.directed = (body[30] & WIRE_DIRECTED) != 0;
	t->terms.drops = (body[30] & WIRE_DROPS) != 0;
	t->so_far = body[30] & WIRE_SO_FAR;
	t->orders = body[30] & WIRE_ORDERS;
	t->step = (body[30] & WIRE_STEP) != 0;
	t->more = body[31];
	t->new_tree = (body[30] & WIRE_NEW_TREE) != 0;
	t->groups = get16(body + 88);
	t->number = get64(body + 80);
	atomic_init(&t->holders, 1);
	t->adapters = body + 32;
	memcpy(t->engine, body + 48, WIRE_ENGINE_SIZE);
	for (char *c = t->engine; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?'; /* it goes into a log */
	if (!fits(t, n, size, sweep, why))
		goto bad;
	cells = (size_t)t->rows * t->lids;
	t->out = body + WIRE_TABLES_SIZE;
	t->sl = t->out + cells;
	t->map = t->sl + cells;
	t->map_of = t->map + (size_t)t->maps * WIRE_SLS;
	t->rank = t->map_of + 2 * (size_t)t->pairs;
	t->tree = t->rank + 4 * (size_t)t->slots * t->lanes;
	if (!lanes_exist(t, why) || !nobody_routed(t, n, why) || (t->groups && !tree_place(t, n, why)))
		goto bad;
	if (tables_place(t, n))
		return t;
	snprintf(why, WHY_SIZE, "out of memory");
bad:
	tables_free(t);
	return NULL;
}
