/* SPDX-License-Identifier: BSD-2-Clause */
/* Cost, for S switches of which d cables each are in the tree: O(S d²), times the service levels of groups. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"
#include "walk.h"

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

/* kept says whether the tree of the tables in use is part of the new one, but for cables that are gone. */
static int kept(const struct walk *w, const struct tables *was)
{
	const struct net *n = w->n;

	if (was->groups & ~w->t->groups) {
		snprintf(w->why, WHY_SIZE, "the tree for multicast is for service levels 0x%04x, that in use for 0x%04x", w->t->groups, was->groups);
		return 0;
	}
	for (uint32_t r = 0; was->groups && r < was->rows; r++) {
		uint32_t now = tables_row(w->t, was->guid[r]), x;
		if (was->tree[r] == 0 || now == NO_ROW)
			continue;
		x = n->slot[now] + was->tree[r];
		if (x >= n->slot[now + 1] || n->link[x].peer < 0 || walk_has(w, now, x))
			continue;
		if (n->guid[n->row_of[n->link[x].peer]] == was->guid[was->above[r]]) {
			walk_wrong(w, now, "the cable at port %u is in the tree in use and not in this one", was->tree[r]);
			return 0;
		}
	}
	return 1;
}

int tree_prove(const struct tables *t, const struct before *b, const struct net *n, char *why)
{
	struct walk w;
	int ok;

	if (t->groups == 0)
		return 0;
	ok = walk_begin(&w, t, t->step && !t->new_tree ? b : NULL, n, why);
	for (uint32_t r = 0; ok && r < t->rows; r++) {
		w.strict[r] = 1;
		if (t->above[r] == NO_ROW)
			continue;
		walk_way(&w, r, t->tree[r]);
		walk_way(&w, t->above[r], t->back[r]);
	}
	ok = ok && (!w.was[0] || kept(&w, w.was[0]));
	for (uint32_t in = 0; ok && in < n->slots; in++)
		if (n->link[in].sends != NOBODY)
			ok = walk_send(&w, n->row_of[in], in, t->groups) == 0;
	ok = ok && walk_on(&w) == 0;
	walk_end(&w);
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
