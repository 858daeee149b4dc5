/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "wire.h"
#include "net.h"

/* Offsets into the records of a request; wire/doc.go is the specification. */
#define NODE(i) (nodes + (size_t)(i) * WIRE_NODE_SIZE)
#define PORT(i) (ports + (size_t)(i) * WIRE_PORT_SIZE)
#define IS_SWITCH(node) ((node)[16] == 0)

static uint8_t least(uint8_t a, uint8_t b) { return a < b ? a : b; }

/*
 * owner_of is HOST for a host adapter. Aggregation nodes are told by what device
 * they are: a name can be set by every host's root.
 */
static enum owner owner_of(const uint8_t *node)
{
	if (IS_SWITCH(node))
		return SWITCH;
	if (node[16] == 1 && (get32(node + 20) != WIRE_AGGREGATION_VENDOR || get32(node + 24) != WIRE_AGGREGATION_DEVICE))
		return HOST;
	return OTHER_ADAPTER;
}

static int allocate(struct net *n)
{
	n->guid = calloc(n->rows + 1, sizeof *n->guid);
	n->slot = calloc(n->rows + 1, sizeof *n->slot);
	n->pair = calloc(n->rows + 1, sizeof *n->pair);
	n->adapters = calloc(n->rows + 1, 1);
	n->row_of = calloc(n->slots + 1, sizeof *n->row_of);
	n->link = calloc(n->slots + 1, sizeof *n->link);
	n->home = calloc(n->lids + 1, sizeof *n->home);
	n->owner = calloc(n->lids + 1, 1);
	return n->guid && n->slot && n->pair && n->adapters && n->row_of && n->link && n->home && n->owner;
}

/* own notes that the LIDs of a port are delivered through a slot. */
static void own(struct net *n, const uint8_t *port, uint32_t slot, enum owner owner)
{
	uint32_t lid = get16(port + 12), end = lid + (1u << port[14]);

	if (lid == 0)
		return;
	n->link[slot].lid = (uint16_t)lid;
	n->link[slot].lids = (uint16_t)(end - lid);
	for (uint32_t l = lid; l < end; l++) {
		n->home[l] = slot;
		n->owner[l] = (uint8_t)owner;
	}
}

/* plug fills the slot of one port of a switch. */
static void plug(struct net *n, const uint8_t *nodes, const uint8_t *ports, const uint32_t *first, const uint32_t *row,
		 uint32_t r, const uint8_t *port, uint8_t max_lanes)
{
	uint32_t slot = n->slot[r] + port[15], peer = get32(port + 8);
	struct link *l = &n->link[slot];

	if (peer == WIRE_NO_PEER) {
		own(n, port, slot, SWITCH);
		l->sends = SWITCH;
		return;
	}
	const uint8_t *far = NODE(peer);
	for (uint32_t p = first[peer]; p < first[peer + 1]; p++) {
		const uint8_t *other = PORT(p);
		if (other[15] != port[16])
			continue;
		l->lanes = least(least(port[17], other[17]), max_lanes);
		if (l->lanes == 0)
			l->lanes = 1; /* as OpenSM does */
		if (IS_SWITCH(far)) {
			l->peer = (int32_t)(n->slot[row[peer]] + other[15]);
			return;
		}
		l->sends = (uint8_t)owner_of(far);
		own(n, other, slot, l->sends);
		if (l->sends == HOST || n->adapters[r] == NOBODY)
			n->adapters[r] = l->sends;
	}
}

struct net *net_new(const uint8_t *request, size_t size)
{
	const uint8_t *body = request + WIRE_HEADER_SIZE, *nodes = body + WIRE_REQUEST_SIZE;
	uint32_t count = get32(body + 8), all = get32(body + 12);
	const uint8_t *ports = nodes + (size_t)count * WIRE_NODE_SIZE;
	struct net *n = calloc(1, sizeof *n);
	uint32_t *first = calloc(count + 1, sizeof *first), *row = calloc(count + 1, sizeof *row);
	int ok = 0;

	if (!n || !first || !row || size < WIRE_HEADER_SIZE + WIRE_REQUEST_SIZE)
		goto out;
	n->qos = body[21] & WIRE_QOS;
	n->replaces = get64(body + 24) != 0;
	n->filled = (body[21] & WIRE_FILLED) != 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slots = NODE(i)[17] + 1u;
		first[i + 1] = first[i] + get16(NODE(i) + 18);
		if (!IS_SWITCH(NODE(i)))
			continue;
		row[i] = n->rows++;
		n->slots += slots;
		n->pairs += slots * slots;
	}
	for (uint32_t p = 0; p < all; p++) {
		uint32_t lid = get16(PORT(p) + 12), end = lid + (1u << PORT(p)[14]);
		if (lid != 0 && end > n->lids)
			n->lids = end;
	}
	if (!allocate(n))
		goto out;
	for (uint32_t i = 0, slot = 0, pair = 0; i < count; i++) {
		uint32_t slots = NODE(i)[17] + 1u, r = row[i];
		if (!IS_SWITCH(NODE(i)))
			continue;
		n->guid[r] = get64(NODE(i));
		n->slot[r] = slot;
		n->pair[r] = pair;
		n->slot[r + 1] = slot + slots;
		for (uint32_t p = slot; p < slot + slots; p++) {
			n->row_of[p] = r;
			n->link[p].peer = -1;
		}
		slot += slots;
		pair += slots * slots;
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t p = first[i]; IS_SWITCH(NODE(i)) && p < first[i + 1]; p++)
			plug(n, nodes, ports, first, row, row[i], PORT(p), body[20]);
	ok = 1;
out:
	free(first);
	free(row);
	if (ok)
		return n;
	net_free(n);
	return NULL;
}

void net_free(struct net *n)
{
	if (!n)
		return;
	free(n->guid);
	free(n->slot);
	free(n->pair);
	free(n->row_of);
	free(n->link);
	free(n->home);
	free(n->owner);
	free(n->adapters);
	free(n);
}
