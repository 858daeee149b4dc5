/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cost, for S switches, D LIDs in scope and G groups of senders that a switch treats alike, of
 * which most switches have one: O(D (S + G)), times the service levels that differ in some map.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prove.h"
#include "walk.h"

#define BLOCK 64 /* LIDs taken at a time: the tables are by switch, the proof by LID */
#define NONE UINT32_MAX

enum fate { UNKNOWN, ARRIVES, NOWHERE, ON_THE_WAY };

/* What senders send through tables, or through a mixture of these and others. */
struct senders {
	struct walk walk;
	uint32_t *group; /* [slot] NONE: nobody in scope sends there */
	uint32_t *one;	 /* [group] slot of one of the group, all of which are on one row */
	uint32_t groups;
	uint16_t *back;	    /* [row of the destination * groups + group] service levels of the way back, as bits */
	uint8_t *confirmed; /* [row * lids + LID] out-ports where a switch confirmed others; NULL: none did */
};

struct proof {
	const struct tables *t;
	const struct tables *was; /* of a step: the tables in use; else NULL */
	int goes_on;		  /* it is a step of a plan that an OpenSM before this one began */
	const struct net *n;
	struct senders now, step; /* step: while was is replaced */
	uint8_t *out, *sl;	  /* [LID of the block][row] */
	uint8_t *fate;		  /* [row] */
	uint32_t *way;		  /* rows on the way, a stack */
	uint32_t *depth;	  /* [row] switches from there to where packets end */
	struct found found;
	uint32_t dead; /* slot by which a switch sends the LID at hand into nothing; NONE */
};

/* level is the service level from a row to a LID, as a bit, in some tables; 0: they do not know both. */
static uint16_t level(const struct tables *t, uint32_t row, uint32_t lid)
{
	if (row == NO_ROW || lid >= t->lids || t->row_at[lid] == NO_ROW)
		return 0;
	return (uint16_t)(1u << (t->sl[(size_t)row * t->lids + lid] % WIRE_SLS));
}

/* levels is the service levels, as bits, of a path in any of the tables. */
static uint16_t levels(const struct walk *w, uint32_t row, uint32_t lid)
{
	uint16_t all = level(w->t, row, lid);

	for (int k = 0; k < OLD && w->was[k]; k++)
		all |= level(w->was[k], w->old[k][row], lid);
	return all;
}

/*
 * answers is the service levels on which a sender may answer what is on another row. A passive
 * side of a connection uses the service level of the request that it got, which is the
 * requester's: path records are reversible.
 */
static uint16_t answers(const struct walk *w, uint32_t in, uint32_t other)
{
	const struct link *l = &w->n->link[in];
	uint16_t all = 0;

	for (uint32_t lid = l->lid; !w->t->terms.directed && lid < (uint32_t)l->lid + l->lids; lid++)
		all |= levels(w, other, lid);
	return all;
}

/* same_maps says whether a row treats what comes by two ports alike. */
static int same_maps(const struct tables *t, uint32_t row, uint32_t a, uint32_t b)
{
	size_t ports = t->slot[row + 1] - t->slot[row];
	const uint8_t *map_of = t->map_of + 2 * (size_t)t->pair[row];

	return t->pairs == 0 || memcmp(map_of + 2 * a * ports, map_of + 2 * b * ports, 2 * ports) == 0;
}

static int alike(const struct walk *w, uint32_t row, uint32_t a, uint32_t b)
{
	uint32_t first = w->n->slot[row];
	int same = same_maps(w->t, row, a - first, b - first);

	for (int k = 0; same && k < OLD && w->was[k]; k++)
		same = w->old[k][row] == NO_ROW || same_maps(w->was[k], w->old[k][row], a - first, b - first);
	return same;
}

/* group_up finds the senders of a row that begin alike, whichever of the tables it has. */
static void group_up(struct senders *s, uint32_t row)
{
	const struct net *n = s->walk.n;
	uint32_t first = s->groups;

	for (uint32_t in = n->slot[row]; in < n->slot[row + 1]; in++) {
		uint32_t g = first;
		s->group[in] = NONE;
		if (!tables_in_scope(s->walk.t, n->link[in].sends))
			continue;
		while (g < s->groups && !alike(&s->walk, row, s->one[g], in))
			g++;
		if (g == s->groups)
			s->one[s->groups++] = in;
		s->group[in] = g;
	}
}

/* overlay is what switches have confirmed otherwise; NULL: out of memory. */
static uint8_t *overlay(const struct before *before, const struct net *n)
{
	uint8_t *confirmed = malloc((size_t)n->rows * n->lids + 1);

	if (confirmed)
		memset(confirmed, WIRE_NO_PORT, (size_t)n->rows * n->lids + 1);
	for (uint32_t i = 0; confirmed && i < before->count; i++) {
		const uint8_t *b = before->blocks + (size_t)i * WIRE_BLOCK_SIZE;
		uint32_t row = get32(b), from = (uint32_t)get16(b + 4) * WIRE_BLOCK_LIDS;
		for (uint32_t k = 0; row < n->rows && k < WIRE_BLOCK_LIDS && from + k < n->lids; k++)
			confirmed[(size_t)row * n->lids + from + k] = b[8 + k];
	}
	return confirmed;
}

/* senders_begin makes those of tables ready, that replace those of before, if any; 0: why says why not. */
static int senders_begin(struct senders *s, const struct tables *t, const struct before *b, const struct net *n, char *why)
{
	int ok = walk_begin(&s->walk, t, b, n, why);

	s->group = malloc((n->slots + 1) * sizeof *s->group);
	s->one = malloc((n->slots + 1) * sizeof *s->one);
	for (uint32_t r = 0; ok && s->group && s->one && r < n->rows; r++)
		group_up(s, r);
	s->back = calloc((size_t)n->rows * s->groups + 1, sizeof *s->back);
	s->confirmed = b && b->count > 0 ? overlay(b, n) : NULL;
	if (ok && !(s->group && s->one && s->back && (!b || b->count == 0 || s->confirmed)))
		return snprintf(why, WHY_SIZE, "out of memory"), 0;
	for (uint32_t r = 0; ok && r < n->rows; r++)
		for (uint32_t in = 0; in < n->slots; in++)
			if (s->group[in] != NONE)
				s->back[(size_t)r * s->groups + s->group[in]] |= answers(&s->walk, in, r);
	return ok;
}

static void senders_end(struct senders *s)
{
	walk_end(&s->walk);
	free(s->group);
	free(s->one);
	free(s->back);
	free(s->confirmed);
}

/* follow has all senders send to the LID, on every service level on which they may, and follows what they send. */
static int follow(struct proof *p, struct senders *s, const uint8_t *out, uint32_t lid)
{
	const struct net *n = p->n;
	struct walk *w = &s->walk;
	uint32_t home = n->row_of[n->home[lid]];

	walk_to(w, lid);
	for (uint32_t r = 0; r < n->rows; r++) {
		walk_way(w, r, out[r]);
		for (int k = 0; k < OLD && w->was[k]; k++)
			if (w->old[k][r] != NO_ROW && lid < w->was[k]->lids)
				walk_way(w, r, w->was[k]->out[(size_t)w->old[k][r] * w->was[k]->lids + lid]);
		if (s->confirmed)
			walk_way(w, r, s->confirmed[(size_t)r * n->lids + lid]);
		w->strict[r] = s == &p->now && p->fate[r] == ARRIVES;
	}
	for (uint32_t g = 0; g < s->groups; g++) {
		uint32_t r = n->row_of[s->one[g]];
		uint16_t own = (uint16_t)(p->t->terms.contract | levels(w, r, lid));
		if (r == home)
			continue;
		p->found.about = 1;
		if (walk_send(w, r, s->one[g], own | s->back[(size_t)home * s->groups + g]) != 0)
			return -1;
	}
	for (uint32_t in = n->slot[home]; in < n->slot[home + 1]; in++) {
		if (s->group[in] == NONE || in == n->home[lid]) /* who has the LID sends nothing to it */
			continue;
		p->found.about = 1;
		if (walk_send(w, home, in, p->t->terms.contract | levels(w, home, lid) | answers(w, in, home)) != 0)
			return -1;
	}
	return walk_on(w);
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

/* onward is the slot by which a row sends a LID on; -1: no path, -2: why says what is wrong. */
static int64_t onward(struct proof *p, const uint8_t *out, uint32_t row, uint32_t lid)
{
	const struct net *n = p->n;
	uint32_t x = n->slot[row] + out[row];

	if (out[row] == WIRE_NO_PORT)
		return -1;
	if (x >= n->slot[row + 1])
		return walk_wrong(&p->now.walk, row, "out-port %u of %u", out[row], n->slot[row + 1] - n->slot[row] - 1), -2;
	if (x == n->home[lid])
		return x;
	if (n->link[x].peer >= 0)
		return x;
	if (p->dead == NONE)
		p->dead = x;
	return -1;
}

/* does_not_arrive says where packets are lost. */
static int does_not_arrive(const struct proof *p, uint32_t row)
{
	uint32_t x = p->dead, at = x == NONE ? row : p->n->row_of[x];

	if (x == NONE)
		return walk_wrong(&p->now.walk, row, "packets do not arrive");
	return walk_wrong(&p->now.walk, at, p->n->link[x].lanes == 0 ? "out-port %u has no cable" : "out-port %u leads to another node", x - p->n->slot[at]);
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
			int64_t x = onward(p, out, r, lid);
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
			return walk_wrong(&p->now.walk, r, "packets circle for ever");
		for (uint32_t deep = depth > 0 && p->way[depth - 1] == r ? 0 : p->depth[r]; depth > 0;) {
			p->fate[p->way[--depth]] = end;
			p->depth[p->way[depth]] = ++deep;
			if (end == ARRIVES && deep > p->found.hops)
				p->found.hops = deep;
		}
	}
	return 0;
}

/* destination proves all paths to one LID. */
static int destination(struct proof *p, const uint8_t *out, const uint8_t *sl, uint32_t lid)
{
	const struct tables *t = p->t;
	const struct net *n = p->n;

	p->now.walk.lid = lid;
	if (arrive(p, out, lid) != 0)
		return -1;
	for (uint32_t r = 0; r < n->rows; r++) {
		if (sl[r] >= WIRE_SLS)
			return walk_wrong(&p->now.walk, r, "SL %u", sl[r]);
		if ((n->adapters[r] == NOBODY && t->terms.scope < 2) || p->fate[r] == ARRIVES)
			continue;
		if (!may_be_cut(p, r, lid))
			return does_not_arrive(p, r);
		p->found.cut++;
	}
	if (!tables_in_scope(t, n->owner[lid]))
		return 0;
	return follow(p, &p->now, out, lid) != 0 || (p->was && follow(p, &p->step, out, lid) != 0) ? -1 : 0;
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
	struct proof p = {.t = t, .n = n};
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
	p.out = malloc((size_t)BLOCK * (n->rows + 1));
	p.sl = malloc((size_t)BLOCK * (n->rows + 1));
	p.fate = malloc(n->rows + 1);
	p.way = malloc((n->rows + 1) * sizeof *p.way);
	p.depth = malloc((n->rows + 1) * sizeof *p.depth);
	if (!p.out || !p.sl || !p.fate || !p.way || !p.depth)
		snprintf(why, WHY_SIZE, "out of memory");
	else if (senders_begin(&p.now, t, NULL, n, why) && (!p.was || senders_begin(&p.step, t, b, n, why)))
		result = all(&p);
	if (found)
		*found = p.found;
	senders_end(&p.now);
	senders_end(&p.step);
	free(p.out);
	free(p.sl);
	free(p.fate);
	free(p.way);
	free(p.depth);
	return result;
}
