/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cost, for S switches, D LIDs and paths of h trunks: O(S D) to see that all
 * arrive, O(S D h) for the ranks, times the service levels that differ in some
 * map if the contract lets clients use any, or up to twice where a path and its
 * opposite have different ones.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

#define BLOCK 64	   /* LIDs taken at a time: the tables are by switch, the proof by LID */
#define BAD INT32_MAX	   /* a first lane that does not exist */
#define NO_TRUNK INT32_MIN /* a first step that leads to no switch */

enum fate { UNKNOWN, ARRIVES, NOWHERE, ON_THE_WAY };

struct proof {
	const struct tables *t;
	const struct tables *was; /* of a step: the tables in use; else NULL */
	int goes_on;		  /* it is a step of a plan that an OpenSM before this one began */
	const struct net *n;
	char *why;
	int32_t *start;		   /* [slot * 16 + SL] the highest rank on which senders begin */
	uint16_t *varied;	   /* [slot] service levels, as bits, on which they begin differently */
	uint16_t *back;		   /* [row of the destination * rows + row] service levels of the way back, as bits */
	uint8_t distinct[WIRE_SLS]; /* [SL] the lowest SL with the same lanes everywhere */
	uint8_t *out, *sl;	   /* [LID of the block][row] */
	uint8_t *fate;		   /* [row] */
	uint32_t *way;		   /* rows on the way, a stack */
	uint32_t *depth;	   /* [row] switches from there to where packets end */
	struct found found;
	uint32_t dead;		   /* slot by which a switch sends the LID at hand into nothing; NONE */
};

#define NONE UINT32_MAX

static int wrong(const struct proof *p, uint32_t row, uint32_t lid, const char *what, ...)
{
	va_list args;
	int used = snprintf(p->why, WHY_SIZE, "switch 0x%016llx, LID %u: ", (unsigned long long)p->n->guid[row], lid);

	va_start(args, what);
	vsnprintf(p->why + used, WHY_SIZE - (size_t)used, what, args);
	va_end(args);
	return -1;
}

int tables_in_scope(const struct tables *t, uint8_t owner)
{
	return owner == HOST || (owner == OTHER_ADAPTER && t->terms.scope >= 1) || (owner == SWITCH && t->terms.scope >= 2);
}

static int32_t rank(const struct tables *t, uint32_t slot, uint8_t lane)
{
	return (int32_t)get32(t->rank + 4 * ((size_t)slot * t->lanes + lane));
}

/* lane_ok says whether a lane of a trunk exists and has a rank. */
static int lane_ok(const struct proof *p, uint32_t slot, uint8_t lane)
{
	return lane < p->t->lanes && lane < p->n->link[slot].lanes && rank(p->t, slot, lane) >= 0;
}

/* first ranks the lane on which packets from an in-port begin; out is a slot as well. */
static int32_t first(const struct proof *p, uint32_t row, uint32_t in, uint32_t out, uint8_t sl)
{
	const struct net *n = p->n;
	uint8_t lane = tables_map(p->t, row, (uint8_t)(in - n->slot[row]), (uint8_t)(out - n->slot[row]))[sl];

	if (lane == WIRE_DROPPED)
		return BAD;
	if (n->link[out].peer < 0)
		return NO_TRUNK;
	return lane_ok(p, out, lane) ? rank(p->t, out, lane) : BAD;
}

/* starts ranks the lanes on which the senders of a switch begin. */
static void starts(struct proof *p, uint32_t row)
{
	const struct net *n = p->n;

	for (uint32_t x = n->slot[row]; x < n->slot[row + 1]; x++)
		for (uint8_t sl = 0; sl < WIRE_SLS; sl++) {
			int32_t *s = &p->start[(size_t)x * WIRE_SLS + sl];
			int senders = 0;
			*s = NO_TRUNK;
			for (uint32_t in = n->slot[row]; in < n->slot[row + 1]; in++) {
				if (!tables_in_scope(p->t, n->link[in].sends) || in == x || x == n->slot[row])
					continue;
				int32_t r = first(p, row, in, x, sl);
				if (senders++ > 0 && r != *s)
					p->varied[x] |= (uint16_t)(1u << sl);
				if (r > *s)
					*s = r;
			}
		}
}

/*
 * answer_starts is starts for those senders of a row that answer on a service level:
 * the ones with a LID to which what is on another row may send on it.
 */
static int32_t answer_starts(const struct proof *p, uint32_t row, uint32_t x, uint8_t sl, uint32_t other)
{
	const struct net *n = p->n;
	const uint8_t *sls = p->t->sl + (size_t)other * p->t->lids;
	int32_t highest = NO_TRUNK;

	for (uint32_t in = n->slot[row]; in < n->slot[row + 1]; in++) {
		const struct link *l = &n->link[in];
		uint32_t lid = l->lid;
		if (!tables_in_scope(p->t, l->sends) || in == x || x == n->slot[row])
			continue;
		while (lid < (uint32_t)l->lid + l->lids && sls[lid] != sl)
			lid++;
		if (lid == (uint32_t)l->lid + l->lids)
			continue;
		int32_t r = first(p, row, in, x, sl);
		if (r > highest)
			highest = r;
	}
	return highest;
}

/*
 * ways_back collects the service levels on which senders may answer. A passive side of
 * a connection uses the service level of the request that it got, which is the
 * requester's: path records are reversible.
 */
static void ways_back(struct proof *p)
{
	const struct tables *t = p->t;
	const struct net *n = p->n;

	for (uint32_t h = 0; h < n->rows; h++)
		for (uint32_t l = 0; l < n->lids && !t->terms.directed; l++)
			if (tables_in_scope(t, n->owner[l]))
				p->back[(size_t)h * n->rows + n->row_of[n->home[l]]] |= (uint16_t)(1u << (t->sl[(size_t)h * t->lids + l] % WIRE_SLS));
}

/* tell_apart finds the service levels that no map treats differently. */
static void tell_apart(struct proof *p)
{
	for (uint8_t a = 0; a < WIRE_SLS; a++)
		for (uint8_t b = 0; b <= a; b++) {
			uint32_t m = 0;
			while (m < p->t->maps && p->t->map[m * WIRE_SLS + a] == p->t->map[m * WIRE_SLS + b])
				m++;
			if (m == p->t->maps) {
				p->distinct[a] = b;
				break;
			}
		}
}

/* was_out is the out-port of the tables in use at a row of the fabric. */
static uint8_t was_out(const struct proof *p, uint32_t row, uint32_t lid)
{
	uint32_t old = tables_row(p->was, p->n->guid[row]);

	return old == NO_ROW || lid >= p->was->lids ? WIRE_NO_PORT : p->was->out[(size_t)old * p->was->lids + lid];
}

/* delivered says whether the tables in use deliver what is sent from a row. */
static int delivered(const struct proof *p, uint32_t row, uint32_t lid)
{
	const struct net *n = p->n;

	for (uint32_t left = n->rows; left > 0; left--) {
		uint8_t out = was_out(p, row, lid);
		uint32_t x = n->slot[row] + out;
		if (out == WIRE_NO_PORT || x >= n->slot[row + 1])
			return 0;
		if (x == n->home[lid])
			return 1;
		if (n->link[x].peer < 0)
			return 0;
		row = n->row_of[n->link[x].peer];
	}
	return 0;
}

/*
 * may_be_cut says whether pairs of a row and a LID may be cut until a later step: by a step that may
 * cut pairs, or as they were; nobody knows how they were where an OpenSM before this one began the plan.
 */
static int may_be_cut(const struct proof *p, uint32_t row, uint32_t lid)
{
	return p->goes_on || (p->was && (p->t->terms.drops || !delivered(p, row, lid)));
}

/* step is the slot by which a row sends a LID on; -1: no path, -2: why says what is wrong. */
static int64_t step(struct proof *p, const uint8_t *out, uint32_t row, uint32_t lid)
{
	const struct net *n = p->n;
	uint32_t x = n->slot[row] + out[row];

	if (out[row] == WIRE_NO_PORT)
		return -1;
	if (x >= n->slot[row + 1])
		return wrong(p, row, lid, "out-port %u of %u", out[row], n->slot[row + 1] - n->slot[row] - 1), -2;
	if (x == n->home[lid])
		return x;
	if (n->link[x].peer >= 0)
		return x;
	if (p->dead == NONE)
		p->dead = x;
	return -1;
}

/* does_not_arrive says where packets are lost. */
static int does_not_arrive(const struct proof *p, uint32_t row, uint32_t lid)
{
	uint32_t x = p->dead, at = x == NONE ? row : p->n->row_of[x];

	if (x == NONE)
		return wrong(p, row, lid, "packets do not arrive");
	return wrong(p, at, lid, p->n->link[x].lanes == 0 ? "out-port %u has no cable" : "out-port %u leads to another node", x - p->n->slot[at]);
}

/* arrive settles for every row whether packets to a LID arrive. */
static int arrive(struct proof *p, const uint8_t *out, uint32_t lid)
{
	const struct net *n = p->n;

	p->dead = NONE;
	memset(p->fate, UNKNOWN, n->rows);
	for (uint32_t s = 0; s < n->rows; s++) {
		uint32_t depth = 0, r = s;
		uint8_t end;
		while (p->fate[r] == UNKNOWN) {
			int64_t x = step(p, out, r, lid);
			if (x == -2)
				return -1;
			p->fate[r] = ON_THE_WAY;
			p->way[depth++] = r;
			if (x < 0)
				p->fate[r] = NOWHERE;
			else if ((uint32_t)x == n->home[lid])
				p->fate[r] = ARRIVES;
			else
				r = n->row_of[n->link[x].peer];
		}
		end = p->fate[r];
		if (end == ON_THE_WAY)
			return wrong(p, r, lid, "packets circle for ever");
		for (uint32_t deep = depth > 0 && p->way[depth - 1] == r ? 0 : p->depth[r]; depth > 0;) {
			p->fate[p->way[--depth]] = end;
			p->depth[p->way[depth]] = ++deep;
			if (end == ARRIVES && deep > p->found.hops)
				p->found.hops = deep;
		}
	}
	return 0;
}

/* climb follows one path and demands that the ranks rise, from the one on which senders begin. */
static int climb(const struct proof *p, const uint8_t *out, uint32_t row, uint32_t lid, uint8_t sl, int32_t last)
{
	const struct tables *t = p->t;
	const struct net *n = p->n;
	uint32_t x = n->slot[row] + out[row], home = n->home[lid];

	if (last == BAD)
		return wrong(p, row, lid, "on SL %u senders begin on a lane that does not exist or has no rank", sl);
	while (x != home) {
		uint32_t in = (uint32_t)n->link[x].peer, r = n->row_of[in];
		uint8_t lane = tables_map(t, r, (uint8_t)(in - n->slot[r]), out[r])[sl];

		x = n->slot[r] + out[r];
		if (x == home) {
			if (out[r] != 0 && lane == WIRE_DROPPED)
				return wrong(p, r, lid, "SL %u is dropped", sl);
			break;
		}
		if (!lane_ok(p, x, lane))
			return wrong(p, r, lid, "SL %u goes on by port %u on lane %u, which does not exist or has no rank", sl, out[r], lane);
		if (rank(t, x, lane) <= last)
			return wrong(p, r, lid, "the rank does not rise at port %u, lane %u: a credit loop is not ruled out", out[r], lane);
		last = rank(t, x, lane);
	}
	return 0;
}

/*
 * climb_all follows one path on every service level on which packets may take it:
 * those that the contract allows, that of the path record, and those of the way back.
 */
static int climb_all(const struct proof *p, const uint8_t *out, uint32_t row, uint32_t lid, uint8_t sl)
{
	const struct net *n = p->n;
	uint32_t x = n->slot[row] + out[row], home = n->row_of[n->home[lid]];
	uint16_t own = (uint16_t)(p->t->terms.contract | 1u << sl), seen = 0;
	uint16_t answers = (uint16_t)(p->back[(size_t)home * n->rows + row] & ~own);

	for (uint8_t s = 0; s < WIRE_SLS; s++) {
		uint16_t kind = (uint16_t)(1u << p->distinct[s]);
		if (!(own >> s & 1) || seen & kind)
			continue;
		seen |= kind;
		if (climb(p, out, row, lid, s, p->start[(size_t)x * WIRE_SLS + s]) != 0)
			return -1;
	}
	for (uint8_t s = 0; s < WIRE_SLS; s++) {
		int some = row == home || p->varied[x] >> s & 1; /* it depends on who answers */
		if (!(answers >> s & 1) || seen & 1u << p->distinct[s])
			continue;
		if (!some)
			seen |= (uint16_t)(1u << p->distinct[s]);
		if (climb(p, out, row, lid, s, some ? answer_starts(p, row, x, s, home) : p->start[(size_t)x * WIRE_SLS + s]) != 0)
			return -1;
	}
	return 0;
}

/* destination proves all paths to one LID. */
static int destination(struct proof *p, const uint8_t *out, const uint8_t *sl, uint32_t lid)
{
	const struct tables *t = p->t;
	const struct net *n = p->n;

	if (arrive(p, out, lid) != 0)
		return -1;
	for (uint32_t r = 0; r < n->rows; r++) {
		if (sl[r] >= WIRE_SLS)
			return wrong(p, r, lid, "SL %u", sl[r]);
		if (n->adapters[r] == NOBODY && t->terms.scope < 2)
			continue;
		if (p->fate[r] != ARRIVES && may_be_cut(p, r, lid)) {
			p->found.cut++;
			continue;
		}
		if (p->fate[r] != ARRIVES)
			return does_not_arrive(p, r, lid);
		if (!tables_in_scope(t, n->owner[lid]) || (t->terms.scope < 2 && !tables_in_scope(t, n->adapters[r])))
			continue;
		if (climb_all(p, out, r, lid, sl[r]) != 0)
			return -1;
	}
	return 0;
}

/* all proves every LID, a block of columns of the tables at a time. */
static int all(struct proof *p)
{
	const struct tables *t = p->t;
	const struct net *n = p->n;

	for (uint32_t from = 0; from < n->lids; from += BLOCK) {
		uint32_t width = n->lids - from < BLOCK ? n->lids - from : BLOCK;
		for (uint32_t r = 0; r < n->rows; r++)
			for (uint32_t k = 0; k < width; k++) {
				p->out[(size_t)k * n->rows + r] = t->out[(size_t)r * t->lids + from + k];
				p->sl[(size_t)k * n->rows + r] = t->sl[(size_t)r * t->lids + from + k];
			}
		for (uint32_t k = 0; k < width; k++)
			if (n->owner[from + k] != NOBODY &&
			    destination(p, p->out + (size_t)k * n->rows, p->sl + (size_t)k * n->rows, from + k) != 0)
				return -1;
	}
	return 0;
}

/* same_homes says whether every LID hangs on the switch for which the tables know it. */
static int same_homes(const struct tables *t, const struct net *n, char *why)
{
	for (uint32_t l = 0; l < n->lids; l++) {
		if (n->owner[l] == NOBODY || t->row_at[l] == n->row_of[n->home[l]])
			continue;
		if (t->row_at[l] == NO_ROW)
			snprintf(why, WHY_SIZE, "LID %u is new since", l);
		else
			snprintf(why, WHY_SIZE, "LID %u was on switch 0x%016llx and is on 0x%016llx", l,
				 (unsigned long long)t->guid[t->row_at[l]], (unsigned long long)n->guid[n->row_of[n->home[l]]]);
		return 0;
	}
	return 1;
}

/* belongs says whether the tables are for these switches and LIDs at all. */
static int belongs(const struct tables *t, const struct net *n, char *why)
{
	if (t->rows != n->rows || t->slots != n->slots || memcmp(t->guid, n->guid, n->rows * sizeof *n->guid) != 0 ||
	    memcmp(t->slot, n->slot, (n->rows + 1) * sizeof *n->slot) != 0)
		snprintf(why, WHY_SIZE, "they are for other switches");
	else if (n->lids > t->lids)
		snprintf(why, WHY_SIZE, "they end at LID %u, the fabric has LID %u", t->lids - 1, n->lids - 1);
	else
		return same_homes(t, n, why);
	return 0;
}

/* one_lane says whether the tables leave SL2VL alone. */
static int one_lane(const struct tables *t)
{
	for (uint32_t i = 0; i < t->maps * WIRE_SLS; i++)
		if (t->map[i] != 0)
			return 0;
	return 1;
}

/*
 * adapters_send says whether adapters send all that they may send: OpenSM gives
 * their own map, of all of them, which no path above goes through.
 */
static int adapters_send(const struct tables *t, const struct net *n, char *why)
{
	uint16_t used = t->terms.contract;

	for (uint32_t r = 0; r < n->rows; r++)
		for (uint32_t l = 0; n->adapters[r] != NOBODY && l < n->lids; l++)
			if (n->owner[l] != NOBODY)
				used |= (uint16_t)(1u << (t->sl[(size_t)r * t->lids + l] % WIRE_SLS));
	for (uint8_t sl = 0; sl < WIRE_SLS; sl++)
		if (used >> sl & 1 && t->adapters[sl] == WIRE_DROPPED) {
			snprintf(why, WHY_SIZE, "adapters are to drop SL %u, which is in use", sl);
			return 0;
		}
	return 1;
}

int tables_prove(const struct tables *t, const struct net *n, char *why) { return tables_prove_from(t, &(struct before){0}, n, NULL, why); }

int tables_prove_from(const struct tables *t, const struct before *b, const struct net *n, struct found *found, char *why)
{
	struct proof p = {.t = t, .n = n, .why = why};
	int result = -1;

	/* A step is one from the tables in use; tables that stay are no step any more. */
	if (t->step)
		p.was = b->in_use;
	p.goes_on = t->step && !b->in_use && n->filled && t->more > 0;

	if (!belongs(t, n, why) || !adapters_send(t, n, why))
		return -1;
	if (!n->qos && !one_lane(t)) {
		snprintf(why, WHY_SIZE, "they use several lanes and QoS is off, so that OpenSM would not write them: set qos TRUE");
		return -1;
	}
	p.start = malloc((n->slots + 1) * WIRE_SLS * sizeof *p.start);
	p.out = malloc((size_t)BLOCK * (n->rows + 1));
	p.sl = malloc((size_t)BLOCK * (n->rows + 1));
	p.fate = malloc(n->rows + 1);
	p.way = malloc((n->rows + 1) * sizeof *p.way);
	p.depth = malloc((n->rows + 1) * sizeof *p.depth);
	p.varied = calloc(n->slots + 1, sizeof *p.varied);
	p.back = calloc((size_t)n->rows * n->rows + 1, sizeof *p.back);
	if (p.start && p.out && p.sl && p.fate && p.way && p.depth && p.varied && p.back) {
		tell_apart(&p);
		ways_back(&p);
		for (uint32_t r = 0; r < n->rows; r++)
			starts(&p, r);
		result = all(&p);
		if (found)
			*found = p.found;
	} else {
		snprintf(why, WHY_SIZE, "out of memory");
	}
	free(p.start);
	free(p.out);
	free(p.sl);
	free(p.fate);
	free(p.way);
	free(p.depth);
	free(p.varied);
	free(p.back);
	return result == 0 && p.was ? step_prove(t, b, n, why) : result;
}
