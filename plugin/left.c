/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "left.h"
#include "prove.h"
#include "tree.h"

/* elsewhere says whether a port leads to another switch than when the tables were proven. */
static int elsewhere(const struct tables *t, const struct net *n, uint32_t old, uint32_t row, uint32_t port)
{
	int32_t peer = n->link[n->slot[row] + port].peer;
	uint32_t was = t->slot[old] + port, at;

	if (peer < 0)
		return 0;
	at = n->row_of[peer];
	return t->peer_row[was] == NO_ROW || t->guid[t->peer_row[was]] != n->guid[at] || t->peer_port[was] != (uint32_t)peer - n->slot[at];
}

/* stays says whether a LID hangs on the same switch as then. */
static int stays(const struct tables *t, const struct net *n, uint32_t lid)
{
	if (n->owner[lid] == NOBODY || lid >= t->lids || t->row_at[lid] == NO_ROW)
		return 0;
	return t->guid[t->row_at[lid]] == n->guid[n->row_of[n->home[lid]]];
}

/*
 * likenesses finds for every LID one that stays on the switch that it hangs on, itself if it
 * stays: packets to it are on the service levels of packets to that one. 0: there is none.
 * NULL: out of memory.
 */
static uint32_t *likenesses(const struct tables *t, const struct net *n)
{
	uint32_t *alike = calloc(n->lids + 1, sizeof *alike), *some = calloc(n->rows + 1, sizeof *some);

	for (uint32_t lid = 0; alike && some && lid < n->lids; lid++)
		if (stays(t, n, lid))
			alike[lid] = some[n->row_of[n->home[lid]]] = lid;
	for (uint32_t lid = 0; alike && some && lid < n->lids; lid++)
		if (n->owner[lid] != NOBODY && alike[lid] == 0)
			alike[lid] = some[n->row_of[n->home[lid]]];
	if (!some) {
		free(alike);
		alike = NULL;
	}
	free(some);
	return alike;
}

/* entries fills in a row of out-ports and service levels. */
static void entries(const struct tables *t, const struct net *n, const uint32_t *alike, uint32_t row, uint8_t *out, uint8_t *sl)
{
	uint32_t old = tables_row_then(t, n, row);

	for (uint32_t lid = 0; old != NO_ROW && lid < n->lids; lid++) {
		size_t at = (size_t)old * t->lids;
		if (n->owner[lid] == NOBODY)
			continue;
		if (alike[lid] != 0)
			sl[lid] = t->sl[at + alike[lid]];
		if (stays(t, n, lid) && t->out[at + lid] != WIRE_NO_PORT && !elsewhere(t, n, old, row, t->out[at + lid]))
			out[lid] = t->out[at + lid];
	}
}

/* lanes fills in the maps between the ports of a row, and the ranks of its lanes. */
static void lanes(const struct tables *t, const struct net *n, uint32_t row, uint8_t *map_of, uint8_t *rank)
{
	uint32_t old = tables_row_then(t, n, row), ports = n->slot[row + 1] - n->slot[row];

	if (old == NO_ROW)
		return;
	if (t->pairs)
		memcpy(map_of + 2 * (size_t)n->pair[row], t->map_of + 2 * (size_t)t->pair[old], 2 * (size_t)ports * ports);
	memcpy(rank + 4 * (size_t)n->slot[row] * t->lanes, t->rank + 4 * (size_t)t->slot[old] * t->lanes, 4 * (size_t)ports * t->lanes);
}

/* branches is what is left of the tree: the port towards the root, 0 where that cable is not there any more. */
static void branches(const struct tables *t, const struct net *n, uint8_t *tree)
{
	for (uint32_t r = 0; r < n->rows; r++) {
		uint32_t old = tables_row_then(t, n, r);
		if (old != NO_ROW && t->tree[old] != 0 && n->link[n->slot[r] + t->tree[old]].peer >= 0 && !elsewhere(t, n, old, r, t->tree[old]))
			tree[r] = t->tree[old];
	}
}

/* body makes the tables as an answer would have them; NULL: out of memory. */
static uint8_t *body(const struct tables *t, const struct net *n, struct tables *left)
{
	size_t cells = (size_t)n->rows * n->lids;
	uint8_t *b = calloc(1, tables_size_max(n));
	uint32_t *alike = likenesses(t, n);
	uint8_t *out, *sl, *map, *map_of, *rank, *tree;

	if (!b || !alike) {
		free(b);
		free(alike);
		return NULL;
	}
	memcpy(b, t->body, WIRE_TABLES_SIZE);
	out = b + WIRE_TABLES_SIZE;
	sl = out + cells;
	map = sl + cells;
	map_of = map + (size_t)t->maps * WIRE_SLS;
	rank = map_of + 2 * (size_t)left->pairs;
	tree = rank + 4 * (size_t)n->slots * t->lanes;
	memset(out, WIRE_NO_PORT, cells);
	memcpy(map, t->map, (size_t)t->maps * WIRE_SLS);
	memset(rank, 0xFF, 4 * (size_t)n->slots * t->lanes); /* WIRE_UNUSED */
	for (uint32_t r = 0; r < n->rows; r++) {
		entries(t, n, alike, r, out + (size_t)r * n->lids, sl + (size_t)r * n->lids);
		lanes(t, n, r, map_of, rank);
	}
	if (t->groups)
		branches(t, n, tree);
	free(alike);
	*left = (struct tables){
		.body = b, .sweep = t->sweep, .rows = n->rows, .lids = n->lids, .slots = n->slots, .pairs = left->pairs, .maps = t->maps, .lanes = t->lanes,
		.step = 1, .groups = t->groups, .number = t->number, .terms = t->terms, .adapters = b + (t->adapters - t->body),
		.out = out, .sl = sl, .map = map, .map_of = map_of, .rank = rank, .tree = tree,
	};
	memcpy(left->engine, t->engine, sizeof left->engine);
	left->terms.drops = 1;
	return b;
}

/*
 * proven proves what is left, for as long as the tables that it is left of are in switches too: a
 * host elsewhere may be answered by entries that lead to its old place, on another service level
 * than those were proven for. Where that does not hold, it proves what is left alone.
 */
static int proven(struct tables *left, const struct before *b, const struct net *n, char *why)
{
	struct before themselves = {.in_use = left};

	if (left->groups && (!tree_place(left, n, why) || tree_prove(left, &themselves, n, why) != 0))
		left->groups = 0;
	left->meanwhile = tables_prove_from(left, b, n, &left->found, why) == 0 && tree_prove(left, b, n, why) == 0;
	return left->meanwhile || tables_prove_from(left, &themselves, n, &left->found, why) == 0;
}

struct tables *tables_left(struct tables *t, const struct before *b, const struct net *n, char *why)
{
	struct tables *left = calloc(1, sizeof *left);

	if (!left)
		goto out_of_memory;
	left->pairs = t->pairs ? n->pairs : 0;
	if (!body(t, n, left))
		goto out_of_memory;
	atomic_init(&left->holders, 1);
	left->of = tables_hold(t);
	if (!tables_place(left, n))
		goto out_of_memory;
	if (proven(left, b, n, why))
		return left;
	tables_free(left);
	return NULL;
out_of_memory:
	snprintf(why, WHY_SIZE, "out of memory");
	tables_free(left);
	return NULL;
}
