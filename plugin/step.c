/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The proof of a step: that no credit loop can close while OpenSM replaces the tables
 * in use by others. It writes switch by switch and block by block, and packets meet any
 * mixture: at each switch the out-port of the tables in use, the one that the switch
 * has confirmed where that is another, or the new one; the old SL2VL map or the new;
 * the old service level or the new. All that can follow from any of these is followed,
 * and the rank of the lane must rise with every trunk. That is one acyclic graph for
 * all orders of writes (J. Duato and others, IEEE TPDS 16(5), 2005).
 *
 * Packets are followed together: by trunk, service level and lane, whoever sent them,
 * since that is all that decides about the next lane. A packet that comes to a switch
 * twice may find two entries there, so this is all that can happen, and more.
 *
 * Cost, for S switches, D LIDs in scope and N senders: O(D (S + N)), times the service
 * levels that differ in some map.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

#define OLD 2  /* tables that packets may have been sent by, at most: those in use, and those before */
#define WAYS 4 /* out-ports that a switch may have for a LID */

struct mixture {
	const struct tables *t;
	const struct tables *was[OLD]; /* NULL: none, nor any behind it */
	const struct net *n;
	char *why;
	uint32_t *old[OLD];	    /* [row] row in the tables of before; NO_ROW */
	uint8_t *confirmed;	    /* [row * lids + LID] out-ports where a switch confirmed others; NULL: none did */
	uint8_t distinct[WIRE_SLS]; /* [SL] the lowest SL with the same lanes everywhere, old and new */
	uint16_t *lanes;	    /* [slot * 16 + SL] lanes on which packets come by a trunk, as bits */
	uint32_t *seen;		    /* indices into lanes that are not 0 */
	uint32_t seen_count;
	uint32_t *left; /* (index into lanes) * 16 + lane, still to follow: a stack */
	size_t left_count, left_size;
	uint32_t lid;
};

static int wrong(const struct mixture *m, uint32_t row, const char *what, ...)
{
	va_list args;
	int used = snprintf(m->why, WHY_SIZE, "switch 0x%016llx, LID %u: ", (unsigned long long)m->n->guid[row], m->lid);

	va_start(args, what);
	vsnprintf(m->why + used, WHY_SIZE - (size_t)used, what, args);
	va_end(args);
	return -1;
}

static int32_t rank(const struct tables *t, uint32_t slot, uint8_t lane)
{
	return (int32_t)get32(t->rank + 4 * ((size_t)slot * t->lanes + lane));
}

/* ways is the trunks by which a row may send the LID on, as slots; how many there are. */
static int ways(const struct mixture *m, uint32_t row, uint32_t *slots)
{
	const struct net *n = m->n;
	uint8_t out[WAYS];
	int given = 0, count = 0;

	out[given++] = m->t->out[(size_t)row * m->t->lids + m->lid];
	for (int k = 0; k < OLD && m->was[k]; k++)
		if (m->old[k][row] != NO_ROW && m->lid < m->was[k]->lids)
			out[given++] = m->was[k]->out[(size_t)m->old[k][row] * m->was[k]->lids + m->lid];
	if (m->confirmed)
		out[given++] = m->confirmed[(size_t)row * n->lids + m->lid];
	for (int i = 0; i < given; i++) {
		uint32_t x = n->slot[row] + out[i];
		int again = 0;
		for (int j = 0; j < i; j++)
			again |= out[j] == out[i];
		if (!again && out[i] != WIRE_NO_PORT && x < n->slot[row + 1] && n->link[x].peer >= 0)
			slots[count++] = x;
	}
	return count;
}

/* come notes that packets come by a trunk on a lane, behind one of a rank; -1: it does not rise. */
static int come(struct mixture *m, uint32_t row, uint32_t x, uint8_t sl, uint8_t lane, int32_t behind)
{
	const struct tables *t = m->t;
	uint32_t at = x * WIRE_SLS + sl;

	if (lane == WIRE_DROPPED)
		return 0;
	if (lane >= t->lanes || lane >= m->n->link[x].lanes || rank(t, x, lane) < 0)
		return wrong(m, row, "while tables are replaced, SL %u goes on by port %u on lane %u, which does not exist or has no rank", sl,
			     x - m->n->slot[row], lane);
	if (rank(t, x, lane) <= behind)
		return wrong(m, row, "while tables are replaced, the rank does not rise at port %u, lane %u: a credit loop is not ruled out",
			     x - m->n->slot[row], lane);
	if (m->lanes[at] >> lane & 1)
		return 0;
	if (m->lanes[at] == 0)
		m->seen[m->seen_count++] = at;
	m->lanes[at] |= (uint16_t)(1u << lane);
	if (m->left_count == m->left_size) {
		size_t size = m->left_size * 2 + 1024;
		uint32_t *left = realloc(m->left, size * sizeof *left);
		if (!left)
			return snprintf(m->why, WHY_SIZE, "out of memory"), -1;
		m->left = left;
		m->left_size = size;
	}
	m->left[m->left_count++] = at * WIRE_SLS + lane;
	return 0;
}

/* send_on follows packets that are in a row by an in-port, by every way and both maps. */
static int send_on(struct mixture *m, uint32_t row, uint32_t in, uint8_t sl, int32_t behind)
{
	const struct net *n = m->n;
	uint32_t slots[WAYS];
	int count = ways(m, row, slots);

	for (int i = 0; i < count; i++) {
		uint8_t from = (uint8_t)(in - n->slot[row]), to = (uint8_t)(slots[i] - n->slot[row]);
		if (come(m, row, slots[i], sl, tables_map(m->t, row, from, to)[sl], behind) != 0)
			return -1;
		for (int k = 0; k < OLD && m->was[k]; k++)
			if (m->old[k][row] != NO_ROW && come(m, row, slots[i], sl, tables_map(m->was[k], m->old[k][row], from, to)[sl], behind) != 0)
				return -1;
	}
	return 0;
}

/* level is the service level from a row to a LID, as a bit, in some tables; 0: they do not know both. */
static uint16_t level(const struct tables *t, uint32_t row, uint32_t lid)
{
	if (row == NO_ROW || lid >= t->lids || t->row_at[lid] == NO_ROW)
		return 0;
	return (uint16_t)(1u << (t->sl[(size_t)row * t->lids + lid] % WIRE_SLS));
}

/* levels is the service levels, as bits, on which what is cabled to an in-port may send to the LID. */
static uint16_t levels(const struct mixture *m, uint32_t row, uint32_t in)
{
	const struct net *n = m->n;
	const struct link *l = &n->link[in];
	uint32_t home = n->row_of[n->home[m->lid]];
	int back = !m->t->terms.directed;
	uint16_t all = (uint16_t)(m->t->terms.contract | level(m->t, row, m->lid));

	for (int k = 0; k < OLD && m->was[k]; k++)
		all |= level(m->was[k], m->old[k][row], m->lid);
	for (uint32_t lid = l->lid; back && lid < (uint32_t)l->lid + l->lids; lid++) {
		all |= level(m->t, home, lid);
		for (int k = 0; k < OLD && m->was[k]; k++)
			all |= level(m->was[k], m->old[k][home], lid);
	}
	return all;
}

/* begin_on has packets begin behind an in-port, on service levels that are given as bits. */
static int begin_on(struct mixture *m, uint32_t row, uint32_t in, uint16_t all)
{
	uint16_t done = 0;

	for (uint8_t sl = 0; sl < WIRE_SLS; sl++) {
		uint16_t kind = (uint16_t)(1u << m->distinct[sl]);
		if (!(all >> sl & 1) || done & kind)
			continue;
		done |= kind;
		if (send_on(m, row, in, m->distinct[sl], -1) != 0)
			return -1;
	}
	return 0;
}

/* start has all senders of a row send to the LID; with one map for all ports they begin alike. */
static int start(struct mixture *m, uint32_t row)
{
	const struct net *n = m->n;
	int alike = m->t->pairs == 0;
	uint16_t all = 0;

	for (int k = 0; k < OLD && m->was[k]; k++)
		alike = alike && m->was[k]->pairs == 0;
	for (uint32_t in = n->slot[row]; in < n->slot[row + 1]; in++) {
		if (!tables_in_scope(m->t, n->link[in].sends) || in == n->home[m->lid])
			continue;
		if (alike)
			all |= levels(m, row, in);
		else if (begin_on(m, row, in, levels(m, row, in)) != 0)
			return -1;
	}
	return begin_on(m, row, n->slot[row], all);
}

/* destination follows all packets to the LID. */
static int destination(struct mixture *m)
{
	const struct net *n = m->n;

	while (m->seen_count > 0)
		m->lanes[m->seen[--m->seen_count]] = 0;
	m->left_count = 0;
	for (uint32_t r = 0; r < n->rows; r++)
		if (start(m, r) != 0)
			return -1;
	while (m->left_count > 0) {
		uint32_t item = m->left[--m->left_count], at = item / WIRE_SLS;
		uint32_t x = at / WIRE_SLS, in = (uint32_t)n->link[x].peer;
		if (send_on(m, n->row_of[in], in, (uint8_t)(at % WIRE_SLS), rank(m->t, x, (uint8_t)(item % WIRE_SLS))) != 0)
			return -1;
	}
	return 0;
}

/* tell_apart finds the service levels that no map treats differently, neither old nor new. */
static void tell_apart(struct mixture *m)
{
	const struct tables *any[1 + OLD] = {m->t, m->was[0], m->was[1]};

	for (uint8_t a = 0; a < WIRE_SLS; a++)
		for (uint8_t b = 0; b <= a; b++) {
			int same = 1;
			for (int k = 0; k < 1 + OLD && any[k]; k++)
				for (uint32_t i = 0; same && i < any[k]->maps; i++)
					same = any[k]->map[i * WIRE_SLS + a] == any[k]->map[i * WIRE_SLS + b];
			if (same) {
				m->distinct[a] = b;
				break;
			}
		}
}

/* match finds the rows of tables of before; a switch with other ports is another one. 0: out of memory. */
static int match(struct mixture *m, int k)
{
	const struct tables *was = m->was[k];

	m->old[k] = malloc((m->n->rows + 1) * sizeof *m->old[k]);
	for (uint32_t r = 0; m->old[k] && r < m->n->rows; r++) {
		uint32_t old = tables_row(was, m->n->guid[r]);
		if (old != NO_ROW && was->slot[old + 1] - was->slot[old] != m->n->slot[r + 1] - m->n->slot[r])
			old = NO_ROW;
		m->old[k][r] = old;
	}
	return m->old[k] != NULL;
}

/* overlay fills in what switches have confirmed otherwise. */
static void overlay(struct mixture *m, const struct before *before)
{
	const struct net *n = m->n;

	memset(m->confirmed, WIRE_NO_PORT, (size_t)n->rows * n->lids + 1);
	for (uint32_t i = 0; i < before->count; i++) {
		const uint8_t *b = before->blocks + (size_t)i * WIRE_BLOCK_SIZE;
		uint32_t row = get32(b), from = (uint32_t)get16(b + 4) * WIRE_BLOCK_LIDS;
		for (uint32_t k = 0; row < n->rows && k < WIRE_BLOCK_LIDS && from + k < n->lids; k++)
			m->confirmed[(size_t)row * n->lids + from + k] = b[8 + k];
	}
}

int step_prove(const struct tables *t, const struct before *b, const struct net *n, char *why)
{
	struct mixture m = {.t = t, .was = {b->in_use, b->earlier}, .n = n, .why = why};
	int result = 0, ready = 1;

	m.lanes = calloc((size_t)(n->slots + 1) * WIRE_SLS, sizeof *m.lanes);
	m.seen = malloc((size_t)(n->slots + 1) * WIRE_SLS * sizeof *m.seen);
	for (int k = 0; k < OLD && m.was[k]; k++)
		ready = ready && match(&m, k);
	if (b->count > 0)
		m.confirmed = malloc((size_t)n->rows * n->lids + 1);
	if (ready && m.lanes && m.seen && (b->count == 0 || m.confirmed)) {
		if (m.confirmed)
			overlay(&m, b);
		tell_apart(&m);
		for (m.lid = 0; result == 0 && m.lid < n->lids; m.lid++)
			if (tables_in_scope(t, n->owner[m.lid]))
				result = destination(&m);
	} else {
		result = -1;
		snprintf(why, WHY_SIZE, "out of memory");
	}
	for (int k = 0; k < OLD; k++)
		free(m.old[k]);
	free(m.confirmed);
	free(m.lanes);
	free(m.seen);
	free(m.left);
	return result;
}
