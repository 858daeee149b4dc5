/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "walk.h"

int walk_wrong(const struct walk *w, uint32_t row, const char *what, ...)
{
	va_list args;
	char at[32] = "";
	int used;

	if (w->lid != 0)
		snprintf(at, sizeof at, ", LID %u", w->lid);
	used = snprintf(w->why, WHY_SIZE, "%sswitch 0x%016llx%s: %s", w->lid ? "" : "tree for multicast, ", (unsigned long long)w->n->guid[row], at,
			w->was[0] ? "while tables are replaced, " : "");
	va_start(args, what);
	vsnprintf(w->why + used, WHY_SIZE - (size_t)used, what, args);
	va_end(args);
	return -1;
}

/* come notes that packets come by a trunk on a lane, behind one of a rank; -1: it does not rise. */
static int come(struct walk *w, uint32_t row, uint32_t x, uint8_t sl, uint8_t lane, int32_t behind)
{
	const struct tables *t = w->t;
	uint32_t at = x * WIRE_SLS + sl, port = x - w->n->slot[row];

	if (lane == WIRE_DROPPED || w->n->link[x].peer < 0)
		return 0;
	if (lane >= t->lanes || lane >= w->n->link[x].lanes || tables_rank(t, x, lane) < 0)
		return walk_wrong(w, row, "SL %u goes on by port %u on lane %u, which does not exist or has no rank", w->sent[sl], port, lane);
	if (tables_rank(t, x, lane) <= behind)
		return walk_wrong(w, row, "the rank does not rise at port %u, lane %u: a credit loop is not ruled out", port, lane);
	if (w->lanes[at] >> lane & 1)
		return 0;
	if (w->left_count == w->left_size) {
		size_t size = w->left_size * 2 + 16; /* small, so that small cases see it grow */
		uint32_t *left = realloc(w->left, size * sizeof *left);
		if (!left)
			return snprintf(w->why, WHY_SIZE, "out of memory"), -1;
		w->left = left;
		w->left_size = size;
	}
	if (w->lanes[at] == 0)
		w->seen[w->seen_count++] = at;
	w->lanes[at] |= (uint16_t)(1u << lane);
	w->left[w->left_count++] = at * WIRE_SLS + lane;
	return 0;
}

/* pass has packets that are in a row by an in-port go on, by every way and all maps. */
static int pass(struct walk *w, uint32_t row, uint32_t in, uint8_t sl, int32_t behind)
{
	uint32_t first = w->n->slot[row];

	for (uint32_t i = 0; i < w->ways[row]; i++) {
		uint32_t x = w->way[first + i];
		uint8_t from = (uint8_t)(in - first), to = (uint8_t)(x - first), lane = tables_map(w->t, row, from, to)[sl];
		if (w->lid == 0 && x == in)
			continue;
		if (lane == WIRE_DROPPED && w->strict[row])
			return walk_wrong(w, row, "SL %u is dropped from port %u to port %u", w->sent[sl], from, to);
		if (come(w, row, x, sl, lane, behind) != 0)
			return -1;
		for (int k = 0; k < OLD && w->was[k]; k++)
			if (w->old[k][row] != NO_ROW && come(w, row, x, sl, tables_map(w->was[k], w->old[k][row], from, to)[sl], behind) != 0)
				return -1;
	}
	return 0;
}

int walk_send(struct walk *w, uint32_t row, uint32_t in, uint16_t levels)
{
	uint16_t done = 0;

	for (uint8_t sl = 0; levels >> sl != 0; sl++) {
		uint16_t kind = (uint16_t)(1u << w->kind[sl]);
		if (!(levels >> sl & 1) || done & kind)
			continue;
		done |= kind;
		w->sent[w->kind[sl]] = sl;
		if (pass(w, row, in, w->kind[sl], -1) != 0)
			return -1;
	}
	return 0;
}

int walk_on(struct walk *w)
{
	while (w->left_count > 0) {
		uint32_t item = w->left[--w->left_count], at = item / WIRE_SLS, x = at / WIRE_SLS, in = (uint32_t)w->n->link[x].peer;
		if (pass(w, w->n->row_of[in], in, (uint8_t)(at % WIRE_SLS), tables_rank(w->t, x, (uint8_t)(item % WIRE_SLS))) != 0)
			return -1;
	}
	return 0;
}

void walk_to(struct walk *w, uint32_t lid)
{
	w->lid = lid;
	memset(w->ways, 0, w->n->rows * sizeof *w->ways);
	while (w->seen_count > 0)
		w->lanes[w->seen[--w->seen_count]] = 0;
}

int walk_has(const struct walk *w, uint32_t row, uint32_t slot)
{
	for (uint32_t i = 0; i < w->ways[row]; i++)
		if (w->way[w->n->slot[row] + i] == slot)
			return 1;
	return 0;
}

void walk_way(struct walk *w, uint32_t row, uint8_t port)
{
	const struct net *n = w->n;
	uint32_t x = n->slot[row] + port;

	if (port == 0 || x >= n->slot[row + 1] || (n->link[x].peer < 0 && (w->lid == 0 || x != n->home[w->lid])) || walk_has(w, row, x))
		return;
	w->way[n->slot[row] + w->ways[row]++] = x;
}

/* match finds the rows of tables of before; a switch with other ports is another one. NULL: out of memory. */
static uint32_t *match(const struct tables *was, const struct net *n)
{
	uint32_t *old = malloc((n->rows + 1) * sizeof *old);

	for (uint32_t r = 0; old && r < n->rows; r++)
		old[r] = tables_row_then(was, n, r);
	return old;
}

/* tell_apart finds the service levels that no map treats differently, neither old nor new. */
static void tell_apart(struct walk *w)
{
	const struct tables *any[1 + OLD] = {w->t, w->was[0], w->was[1]};

	for (uint8_t a = 0; a < WIRE_SLS; a++)
		for (uint8_t b = 0; b <= a; b++) {
			int same = 1;
			for (int k = 0; k < 1 + OLD && any[k]; k++)
				for (uint32_t i = 0; same && i < any[k]->maps; i++)
					same = any[k]->map[i * WIRE_SLS + a] == any[k]->map[i * WIRE_SLS + b];
			if (same) {
				w->kind[a] = b;
				break;
			}
		}
}

int walk_begin(struct walk *w, const struct tables *t, const struct before *b, const struct net *n, char *why)
{
	int ready;

	*w = (struct walk){.t = t, .n = n, .why = why};
	if (b && b->in_use) {
		w->was[0] = b->in_use;
		w->was[1] = b->earlier;
	}
	w->ways = calloc(n->rows + 1, sizeof *w->ways);
	w->way = malloc((n->slots + 1) * sizeof *w->way);
	w->strict = calloc(n->rows + 1, 1);
	w->lanes = calloc((size_t)(n->slots + 1) * WIRE_SLS, sizeof *w->lanes);
	w->seen = malloc((size_t)(n->slots + 1) * WIRE_SLS * sizeof *w->seen);
	ready = w->ways && w->way && w->strict && w->lanes && w->seen;
	for (int k = 0; k < OLD && w->was[k]; k++)
		ready = (w->old[k] = match(w->was[k], n)) && ready;
	if (ready)
		tell_apart(w);
	else
		snprintf(why, WHY_SIZE, "out of memory");
	return ready;
}

void walk_end(struct walk *w)
{
	for (int k = 0; k < OLD; k++)
		free(w->old[k]);
	free(w->ways);
	free(w->way);
	free(w->strict);
	free(w->lanes);
	free(w->seen);
	free(w->left);
}
