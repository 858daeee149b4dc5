/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

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

int tables_in_scope(const struct tables *t, uint8_t owner)
{
	return owner == HOST || (owner == OTHER_ADAPTER && t->terms.scope >= 1) || (owner == SWITCH && t->terms.scope >= 2);
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

uint32_t tables_row_then(const struct tables *t, const struct net *n, uint32_t row)
{
	uint32_t old = tables_row(t, n->guid[row]);

	return old != NO_ROW && t->slot[old + 1] - t->slot[old] != n->slot[row + 1] - n->slot[row] ? NO_ROW : old;
}

const uint8_t *tables_map(const struct tables *t, uint32_t row, uint8_t in, uint8_t out)
{
	uint32_t slots = t->slot[row + 1] - t->slot[row];

	if (t->pairs == 0)
		return t->map;
	return t->map + (size_t)get16(t->map_of + 2 * ((size_t)t->pair[row] + in * slots + out)) * WIRE_SLS;
}
