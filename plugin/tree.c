/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cost, for S switches of which d cables each are in the tree and p ports have senders: O(S d
 * (d + p)), times the service levels of groups.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define OLD 2 /* tables that packets may have been sent by, at most: those in use, and those before */

static int wrong(const struct net *n, uint32_t row, char *why, const char *what, ...)
{
	va_list args;
	int used = snprintf(why, WHY_SIZE, "tree for multicast, switch 0x%016llx: ", (unsigned long long)n->guid[row]);

	va_start(args, what);
	vsnprintf(why + used, WHY_SIZE - (size_t)used, what, args);
	va_end(args);
	return 0;
}

/* climb finds for every row the one above and counts the rows that have it below them. */
static int climb(struct tables *t, const struct net *n, uint32_t *below, char *why)
{
	uint32_t roots = 0;

	for (uint32_t r = 0; r < t->rows; r++) {
		uint32_t x = n->slot[r] + t->tree[r];
		if (t->tree[r] == 0) {
			t->above[r] = NO_ROW;
			if (roots++ > 0 && !t->of) /* what is left of a tree may be several */
				return wrong(n, r, why, "it is a root, and there is another");
			continue;
		}
		if (x >= n->slot[r + 1] || n->link[x].peer < 0)
			return wrong(n, r, why, "no cable to another switch at port %u", t->tree[r]);
		t->above[r] = (uint16_t)n->row_of[n->link[x].peer];
		t->back[r] = (uint8_t)((uint32_t)n->link[x].peer - n->slot[t->above[r]]);
		below[t->above[r]]++;
	}
	return 1;
}

int tree_place(struct tables *t, const struct net *n, char *why)
{
	uint32_t *below = calloc(t->rows + 1, sizeof *below), count = 0;
	int ok = 0;

	t->above = malloc((t->rows + 1) * sizeof *t->above);
	t->back = calloc(t->rows + 1, 1);
	t->order = malloc((t->rows + 1) * sizeof *t->order);
	if (!below || !t->above || !t->back || !t->order) {
		snprintf(why, WHY_SIZE, "out of memory");
		goto out;
	}
	if (!climb(t, n, below, why))
		goto out;
	/* From the leaves up: a row that is left lies on a ring. */
	for (uint32_t r = 0; r < t->rows; r++)
		if (below[r] == 0)
			t->order[count++] = r;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t up = t->above[t->order[i]];
		if (up != NO_ROW && --below[up] == 0)
			t->order[count++] = up;
	}
	ok = count == t->rows;
	for (uint32_t r = 0; !ok && r < t->rows; r++)
		if (below[r] > 0) {
			wrong(n, r, why, "it is on a ring");
			break;
		}
out:
	free(below);
	return ok;
}

/* What a proof of a tree needs. */
struct proof {
	const struct tables *t;
	const struct tables *was[OLD]; /* NULL: none, nor any behind it */
	uint32_t *old[OLD];	       /* [row] row there; NO_ROW */
	const struct net *n;
	char *why;
	uint8_t *in_tree; /* [slot] */
	uint16_t *held;	  /* [slot * 16 + SL] lanes of packets that leave by a slot, as bits */
};

static int32_t rank(const struct tables *t, uint32_t slot, uint8_t lane)
{
	return (int32_t)get32(t->rank + 4 * ((size_t)slot * t->lanes + lane));
}

/*
 * lanes_of is the lanes on which packets go on from an in-port to an out-port, as bits: by the
 * maps of the tables and, while they replace others, of those. 0: why says what is wrong.
 */
static uint16_t lanes_of(const struct proof *p, uint32_t row, uint32_t in, uint32_t out, uint8_t sl)
{
	uint8_t from = (uint8_t)(in - p->n->slot[row]), to = (uint8_t)(out - p->n->slot[row]);
	uint16_t lanes = (uint16_t)(1u << tables_map(p->t, row, from, to)[sl]);

	for (int k = 0; k < OLD && p->was[k]; k++)
		if (p->old[k][row] != NO_ROW)
			lanes |= (uint16_t)(1u << tables_map(p->was[k], p->old[k][row], from, to)[sl]);
	for (uint8_t lane = 0; lane <= WIRE_DROPPED; lane++) {
		if (!(lanes >> lane & 1))
			continue;
		if (lane == WIRE_DROPPED && p->was[0] && tables_map(p->t, row, from, to)[sl] != WIRE_DROPPED) {
			lanes &= (uint16_t)~(1u << lane); /* by a map that goes */
			continue;
		}
		if (lane >= p->t->lanes || lane >= p->n->link[out].lanes || rank(p->t, out, lane) < 0)
			return (uint16_t)wrong(p->n, row, p->why, "SL %u goes from port %u to port %u on lane %u, which does not exist or has no rank", sl, from, to, lane);
	}
	return lanes;
}

/* leave finds the lanes of packets that leave a row by a slot of the tree: of all senders there, and of all that came by the tree. */
static int leave(const struct proof *p, uint32_t row, uint32_t out)
{
	const struct net *n = p->n;

	for (uint32_t in = n->slot[row]; in < n->slot[row + 1]; in++) {
		if (in == out || (!p->in_tree[in] && n->link[in].sends == NOBODY))
			continue;
		for (uint8_t sl = 0; sl < WIRE_SLS; sl++) {
			uint16_t lanes = p->t->groups >> sl & 1 ? lanes_of(p, row, in, out, sl) : 1;
			if (lanes == 0)
				return 0;
			if (p->t->groups >> sl & 1)
				p->held[(size_t)out * WIRE_SLS + sl] |= lanes;
		}
	}
	return 1;
}

/* rises says whether the ranks rise from what comes in by one slot of the tree to what leaves by another. */
static int rises(const struct proof *p, uint32_t row, uint32_t in, uint32_t out)
{
	const struct net *n = p->n;
	uint32_t came = (uint32_t)n->link[in].peer;

	for (uint8_t sl = 0; sl < WIRE_SLS; sl++) {
		uint16_t from = p->held[(size_t)came * WIRE_SLS + sl], to;
		if (!(p->t->groups >> sl & 1))
			continue;
		to = lanes_of(p, row, in, out, sl);
		for (uint8_t a = 0; a < p->t->lanes; a++)
			for (uint8_t b = 0; from >> a & 1 && b < p->t->lanes; b++)
				if (to >> b & 1 && rank(p->t, out, b) <= rank(p->t, came, a))
					return wrong(n, row, p->why, "the rank does not rise from port %u, lane %u, to port %u, lane %u: a credit loop is not ruled out",
						     in - n->slot[row], a, out - n->slot[row], b);
	}
	return 1;
}

/* kept says whether the tree of the tables in use is part of the new one, but for cables that are gone. */
static int kept(const struct proof *p, const struct tables *was)
{
	const struct net *n = p->n;

	if (was->groups & ~p->t->groups) {
		snprintf(p->why, WHY_SIZE, "the tree for multicast is for service levels 0x%04x, that in use for 0x%04x", p->t->groups, was->groups);
		return 0;
	}
	for (uint32_t r = 0; was->groups && r < was->rows; r++) {
		uint32_t now = tables_row(p->t, was->guid[r]), x;
		if (was->tree[r] == 0 || now == NO_ROW)
			continue;
		x = n->slot[now] + was->tree[r];
		if (x >= n->slot[now + 1] || n->link[x].peer < 0 || p->in_tree[x])
			continue;
		if (n->guid[n->row_of[n->link[x].peer]] == was->guid[was->above[r]])
			return wrong(n, now, p->why, "the cable at port %u is in the tree in use and not in this one", was->tree[r]);
	}
	return 1;
}

/* old_rows finds the rows of tables of before; a switch with other ports is another one. */
static uint32_t *old_rows(const struct tables *was, const struct net *n)
{
	uint32_t *old = malloc((n->rows + 1) * sizeof *old);

	for (uint32_t r = 0; old && r < n->rows; r++) {
		old[r] = tables_row(was, n->guid[r]);
		if (old[r] != NO_ROW && was->slot[old[r] + 1] - was->slot[old[r]] != n->slot[r + 1] - n->slot[r])
			old[r] = NO_ROW;
	}
	return old;
}

/* all proves the whole tree. */
static int all(const struct proof *p)
{
	const struct net *n = p->n;

	for (uint32_t r = 0; r < n->rows; r++)
		for (uint32_t x = n->slot[r]; x < n->slot[r + 1]; x++)
			if (p->in_tree[x] && !leave(p, r, x))
				return 0;
	for (uint32_t r = 0; r < n->rows; r++)
		for (uint32_t x = n->slot[r]; x < n->slot[r + 1]; x++)
			for (uint32_t in = n->slot[r]; p->in_tree[x] && in < n->slot[r + 1]; in++)
				if (in != x && p->in_tree[in] && !rises(p, r, in, x))
					return 0;
	return 1;
}

int tree_prove(const struct tables *t, const struct before *b, const struct net *n, char *why)
{
	struct proof p = {.t = t, .n = n, .why = why};
	int ok, ready = 1;

	if (t->groups == 0)
		return 0;
	if (t->step && !t->new_tree) {
		p.was[0] = b->in_use;
		p.was[1] = b->in_use ? b->earlier : NULL;
	}
	p.in_tree = calloc(n->slots + 1, 1);
	p.held = calloc((size_t)(n->slots + 1) * WIRE_SLS, sizeof *p.held);
	for (int k = 0; k < OLD && p.was[k]; k++)
		ready = ready && (p.old[k] = old_rows(p.was[k], n));
	ok = ready && p.in_tree && p.held;
	if (!ok)
		snprintf(why, WHY_SIZE, "out of memory");
	for (uint32_t r = 0; ok && r < t->rows; r++)
		if (t->above[r] != NO_ROW) {
			p.in_tree[n->slot[r] + t->tree[r]] = 1;
			p.in_tree[n->slot[t->above[r]] + t->back[r]] = 1;
		}
	ok = ok && (!p.was[0] || kept(&p, p.was[0])) && all(&p);
	for (int k = 0; k < OLD; k++)
		free(p.old[k]);
	free(p.in_tree);
	free(p.held);
	return ok ? 0 : -1;
}

int tree_part(const struct tables *t, const uint8_t *has, uint8_t *part)
{
	uint32_t *below = calloc(t->rows + 1, sizeof *below), *members = calloc(t->rows + 1, sizeof *members);
	int ok = below && members;

	for (uint32_t i = 0; ok && i < t->rows; i++) {
		uint32_t r = t->order[i], up = t->above[r];
		below[r] += has[r] != 0;
		if (up != NO_ROW)
			below[up] += below[r];
	}
	/* A cable is needed if there are members on both sides of it, of all that the tree joins. */
	for (uint32_t i = t->rows; ok && i > 0; i--) {
		uint32_t r = t->order[i - 1], up = t->above[r];
		members[r] = up == NO_ROW ? below[r] : members[up];
		part[r] = up != NO_ROW && below[r] > 0 && below[r] < members[r];
	}
	free(below);
	free(members);
	return ok;
}

void tree_text(const struct tables *t, char *text)
{
	int used = 0;

	if (t->groups == 0) {
		snprintf(text, TREE_SIZE, "unicast; OpenSM's own multicast trees are outside");
		return;
	}
	used = snprintf(text, TREE_SIZE, "unicast and multicast%s", t->groups == 0xFFFF ? "" : " on SL ");
	for (int sl = 0; t->groups != 0xFFFF && sl < WIRE_SLS; sl++)
		if (t->groups >> sl & 1)
			used += snprintf(text + used, TREE_SIZE - (size_t)used, "%s%d", text[used - 1] == ' ' ? "" : ",", sl);
}
