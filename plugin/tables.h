/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of an answer: what is in them, and looking it up. answer.h reads them, prove.h proves them. */
#ifndef WEFT_TABLES_H
#define WEFT_TABLES_H

#include <stdatomic.h>

#include "wire.h"
#include "net.h"

#define WHY_SIZE 512 /* of the text that says what is wrong */

/* What a proof is for: what clients may do, and who sends and receives. */
struct terms {
	uint16_t contract; /* service levels, as bits, that any client may use beside the PathRecord's */
	uint8_t directed;  /* nobody uses the service level of the way back */
	uint8_t scope;	   /* 0 host adapters, 1 all adapters and routers, 2 all */
	uint8_t drops;	   /* a step may cut pairs, until the next */
};

/* What a proof finds. */
struct found {
	uint32_t hops; /* switches on the longest path */
	uint64_t cut;  /* pairs of a switch and a LID that a step leaves cut, as they were, or cuts */
	uint8_t about; /* somebody in scope sends to somebody; 0: there was nothing to prove */
};

struct tables;

/* What packets may follow beside new tables. */
struct before {
	const struct tables *in_use;  /* NULL: none, nor anything below */
	const struct tables *earlier; /* that those replaced so late that packets of theirs are about; NULL: none */
	const uint8_t *blocks;	      /* block records: what switches have confirmed otherwise than in_use */
	uint32_t count;
};

struct tables {
	uint8_t *body; /* the answer; the pointers below lead into it */
	uint64_t sweep;
	uint32_t rows, lids, slots, pairs;
	uint32_t maps;
	uint8_t lanes;
	uint8_t so_far; /* better tables, or the next step, may follow */
	uint8_t orders; /* others may be ordered at any time: a question for them stays open */
	uint8_t step;	/* the ranks are to hold while the tables in use are replaced by these */
	uint8_t more;	/* steps that are to follow */
	uint8_t new_tree; /* of a step: the tree is another, and multicast is proven once it is in use */
	uint16_t groups; /* service levels of multicast groups that the tree is for, as bits; 0: there is no tree */
	uint64_t number; /* by which the daemon knows them */
	struct found found; /* once they are proven */
	atomic_int holders;
	struct terms terms;
	const uint8_t *adapters; /* [SL] lane on which adapters send */
	const uint8_t *out;      /* [row * lids + LID] */
	const uint8_t *sl;       /* [row * lids + LID] */
	const uint8_t *map;      /* [map * 16 + SL] lane */
	const uint8_t *map_of;   /* [pair * 2] */
	const uint8_t *rank;     /* [(slot * lanes + lane) * 4] */
	const uint8_t *tree;     /* [row] port towards the root; 0: the root */
	char engine[WIRE_ENGINE_SIZE + 1];

	/* Where the switches and LIDs are, of the fabric they were proven for. */
	uint64_t *guid;   /* [row] ascending */
	uint32_t *slot;   /* [row, one more] */
	uint32_t *pair;   /* [row] */
	uint16_t *row_at; /* [LID] row it hangs on; NO_ROW */
	uint16_t *peer_row; /* [slot] row at the other end of the cable; NO_ROW: no switch */
	uint8_t *peer_port; /* [slot] the port there */
	struct tables *of;  /* of what is left of tables: these; else NULL */
	uint8_t meanwhile;  /* of what is left of tables: it is proven together with these, while it is written */

	/* Of the tree (tree.h); NULL where there is none. */
	uint16_t *above; /* [row] row at the other end of the cable towards the root; NO_ROW: the root */
	uint8_t *back;	 /* [row] the port there */
	uint32_t *order; /* rows, each before the one above it */
};

#define NO_ROW 0xFFFF
#define NO_SL 255

/* tables_hold says that one more has the tables, each of whom frees them once. */
struct tables *tables_hold(struct tables *t);
void tables_free(struct tables *t);

/* tables_place keeps where switches, LIDs and cables are, so that the fabric need not be kept; 0: out of memory. */
int tables_place(struct tables *t, const struct net *n);

/* tables_in_scope says whether a proof is about what somebody sends and receives. */
int tables_in_scope(const struct tables *t, uint8_t owner);

/* tables_suffice says whether the terms of a proof cover those wanted; else why says what is lacking. */
int tables_suffice(const struct tables *t, const struct terms *wanted, char *why);

/* terms_text says terms in the words of weft's command. */
#define TERMS_SIZE 64
void terms_text(const struct terms *t, char *text);

/* tables_used counts the lanes that carry traffic between switches, at least 1. */
unsigned tables_used(const struct tables *t);

/* tables_whole is the tables that others are left of, or the same. */
static inline struct tables *tables_whole(struct tables *t) { return t && t->of ? t->of : t; }

/* tables_number is the number of tables that are in use; NULL: 0. */
static inline uint64_t tables_number(const struct tables *t) { return t ? t->number : 0; }

/* tables_row finds the row of a switch; NO_ROW: not there. */
uint32_t tables_row(const struct tables *t, uint64_t guid);

/* tables_row_then finds the row of a switch of a fabric; NO_ROW: it was not there, or had other ports and is another one. */
uint32_t tables_row_then(const struct tables *t, const struct net *n, uint32_t row);

/* tables_rank is the rank of a lane of a slot; negative: it carries nothing. */
static inline int32_t tables_rank(const struct tables *t, uint32_t slot, uint8_t lane)
{
	return (int32_t)get32(t->rank + 4 * ((size_t)slot * t->lanes + lane));
}

/* tables_same_home says whether a LID hangs on the same switch in both; neither knows it: no. */
static inline int tables_same_home(const struct tables *a, const struct tables *b, uint16_t lid)
{
	return lid < a->lids && lid < b->lids && a->row_at[lid] != NO_ROW && b->row_at[lid] != NO_ROW && a->guid[a->row_at[lid]] == b->guid[b->row_at[lid]];
}

/* tables_map is the lane by service level from an in-port to an out-port. */
const uint8_t *tables_map(const struct tables *t, uint32_t row, uint8_t in, uint8_t out);

/* tables_sl is the service level between two LIDs; NO_SL: not among them. */
static inline uint8_t tables_sl(const struct tables *t, uint16_t slid, uint16_t dlid)
{
	if (slid >= t->lids || dlid >= t->lids || t->row_at[slid] == NO_ROW || t->row_at[dlid] == NO_ROW)
		return NO_SL;
	return t->sl[(size_t)t->row_at[slid] * t->lids + dlid];
}

/*
 * tables_path_sl is the service level that a path record carries; hint is the one that OpenSM would
 * take. Of a LID that is not among them nothing is proven but what any client may use. OpenSM cannot
 * be told to give out no record: other than that it carries a service level that adapters drop, else
 * NO_SL, and OpenSM refuses a request that names any.
 */
uint8_t tables_path_sl(const struct tables *t, uint16_t slid, uint16_t dlid, uint8_t hint);

#endif
