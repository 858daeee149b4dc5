/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric of a request, in the shape that the check of the tables wants:
 * switches are rows, ascending by GUID, and every port of every switch has a
 * slot, so that one number names a switch and a port.
 */
#ifndef WEFT_NET_H
#define WEFT_NET_H

#include <stddef.h>
#include <stdint.h>

/* Who owns a LID, and which scope it belongs to. */
enum owner { NOBODY, HOST, OTHER_ADAPTER, SWITCH };

struct link {
	int32_t peer;  /* slot at the other end, -1: no switch there */
	uint8_t lanes; /* that OpenSM will make usable; 0: no cable */
	uint8_t sends; /* enum owner of what sends into the switch here */
	uint16_t lid;  /* the first LID of what sends here */
	uint16_t lids; /* how many it has */
};

struct net {
	uint32_t rows, lids, slots, pairs;
	uint64_t *guid;     /* [row] */
	uint32_t *slot;     /* [row, one more] slot of the switch's port 0 */
	uint32_t *pair;     /* [row] first of the pairs of the switch's ports */
	uint32_t *row_of;   /* [slot] */
	struct link *link;  /* [slot] */
	uint32_t *home;     /* [LID] slot that delivers to it; port 0: the switch */
	uint8_t *owner;     /* [LID] enum owner */
	uint8_t *adapters;  /* [row] the highest enum owner below SWITCH that is cabled to it */
	int qos;
	int replaces; /* the request says that tables of ours are in use */
	int filled;   /* it says that none are, and that some switch forwards by tables of before */
};

/* net_new reads a request, which this process wrote. NULL: out of memory. */
struct net *net_new(const uint8_t *request, size_t size);
void net_free(struct net *n);

static inline uint16_t get16(const uint8_t *b) { return (uint16_t)(b[0] | b[1] << 8); }
static inline uint32_t get32(const uint8_t *b) { return get16(b) | (uint32_t)get16(b + 2) << 16; }
static inline uint64_t get64(const uint8_t *b) { return get32(b) | (uint64_t)get32(b + 4) << 32; }
static inline void put16(uint8_t *b, uint16_t v) { b[0] = (uint8_t)v; b[1] = (uint8_t)(v >> 8); }
static inline void put32(uint8_t *b, uint32_t v) { put16(b, (uint16_t)v); put16(b + 2, (uint16_t)(v >> 16)); }
static inline void put64(uint8_t *b, uint64_t v) { put32(b, (uint32_t)v); put32(b + 4, (uint32_t)(v >> 32)); }

#endif
