/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"
#include "tree.h"

uint64_t tables_size_max(const struct net *n)
{
	return WIRE_TABLES_SIZE + n->rows + 2 * (uint64_t)n->rows * n->lids + 65535ull * WIRE_SLS + 2ull * n->pairs +
	       4ull * n->slots * WIRE_MAX_LANES;
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
	else if ((t->body[30] & ~(WIRE_SO_FAR | WIRE_DIRECTED | WIRE_STEP | WIRE_DROPS | WIRE_NEW_TREE)) != 0 || (t->new_tree && (!t->step || t->groups == 0)) || (get64(t->body + 88) >> 16) != 0 || (t->terms.drops && !t->step) || (t->terms.directed && t->terms.contract != 0))
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

int tables_place(struct tables *t, const struct net *n)
{
	t->guid = malloc((n->rows + 1) * sizeof *t->guid);
	t->slot = malloc((n->rows + 1) * sizeof *t->slot);
	t->pair = malloc((n->rows + 1) * sizeof *t->pair);
	t->row_at = malloc((n->lids + 1) * sizeof *t->row_at);
	t->peer_row = malloc((n->slots + 1) * sizeof *t->peer_row);
	t->peer_port = calloc(n->slots + 1, 1);
	if (!t->guid || !t->slot || !t->pair || !t->row_at || !t->peer_row || !t->peer_port)
		return 0;
	memcpy(t->guid, n->guid, n->rows * sizeof *t->guid);
	memcpy(t->slot, n->slot, (n->rows + 1) * sizeof *t->slot);
	memcpy(t->pair, n->pair, n->rows * sizeof *t->pair);
	for (uint32_t l = 0; l < n->lids; l++)
		t->row_at[l] = n->owner[l] == NOBODY ? NO_ROW : (uint16_t)n->row_of[n->home[l]];
	for (uint32_t x = 0; x < n->slots; x++) {
		int32_t peer = n->link[x].peer;
		t->peer_row[x] = peer < 0 ? NO_ROW : (uint16_t)n->row_of[peer];
		if (peer >= 0)
			t->peer_port[x] = (uint8_t)((uint32_t)peer - n->slot[n->row_of[peer]]);
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

struct tables *tables_hold(struct tables *t)
{
	if (t)
		atomic_fetch_add(&t->holders, 1);
	return t;
}

void tables_free(struct tables *t)
{
	if (!t || atomic_fetch_sub(&t->holders, 1) > 1)
		return;
	free(t->body);
	free(t->guid);
	free(t->slot);
	free(t->pair);
	free(t->row_at);
	free(t->peer_row);
	free(t->peer_port);
	tables_free(t->of);
	free(t->above);
	free(t->back);
	free(t->order);
	free(t);
}

uint8_t tables_path_sl(const struct tables *t, uint16_t slid, uint16_t dlid, uint8_t hint)
{
	uint8_t sl = tables_sl(t, slid, dlid);

	if (sl != NO_SL)
		return sl;
	if (hint < WIRE_SLS && t->terms.contract >> hint & 1)
		return hint;
	for (sl = 0; sl < WIRE_SLS; sl++)
		if (t->adapters[sl] == WIRE_DROPPED)
			return sl;
	return NO_SL;
}

void terms_text(const struct terms *t, char *text)
{
	static const char *const scopes[] = {"hca", "ca", "all"};
	char contract[32];

	if (t->contract == 0)
		snprintf(contract, sizeof contract, t->directed ? "directed" : "honored");
	else if (t->contract == 0xFFFF)
		snprintf(contract, sizeof contract, "any");
	else if ((t->contract & (t->contract - 1)) == 0)
		snprintf(contract, sizeof contract, "single:%d", __builtin_ctz(t->contract));
	else
		snprintf(contract, sizeof contract, "service levels 0x%04x", t->contract);
	snprintf(text, TERMS_SIZE, "contract %s, endpoints %s", contract, scopes[t->scope]);
}

int tables_suffice(const struct tables *t, const struct terms *wanted, char *why)
{
	char has[TERMS_SIZE], wants[TERMS_SIZE];

	if (t->terms.drops && !wanted->drops) {
		snprintf(why, WHY_SIZE, "a step that may cut pairs; event_plugin_options has no weft.drops=allowed");
		return 0;
	}
	if ((t->terms.contract & wanted->contract) == wanted->contract && t->terms.directed <= wanted->directed && t->terms.scope >= wanted->scope)
		return 1;
	terms_text(&t->terms, has);
	terms_text(wanted, wants);
	snprintf(why, WHY_SIZE, "they are proven for %s; event_plugin_options wants %s", has, wants);
	return 0;
}

unsigned tables_used(const struct tables *t)
{
	uint16_t used = 0;
	unsigned lanes = 0;

	for (size_t i = 0; i < (size_t)t->slots * t->lanes; i++)
		if ((int32_t)get32(t->rank + 4 * i) != WIRE_UNUSED)
			used |= (uint16_t)(1u << i % t->lanes);
	for (; used; used &= (uint16_t)(used - 1))
		lanes++;
	return lanes ? lanes : 1;
}

uint32_t tables_row(const struct tables *t, uint64_t guid)
{
	uint32_t low = 0, high = t->rows;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (t->guid[mid] < guid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->rows && t->guid[low] == guid ? low : NO_ROW;
}

const uint8_t *tables_map(const struct tables *t, uint32_t row, uint8_t in, uint8_t out)
{
	uint32_t slots = t->slot[row + 1] - t->slot[row];

	if (t->pairs == 0)
		return t->map;
	return t->map + (size_t)get16(t->map_of + 2 * ((size_t)t->pair[row] + in * slots + out)) * WIRE_SLS;
}
