/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of an answer: reading them, proving them, looking things up.
 *
 * Nothing in an answer is believed. tables_prove follows the path of every
 * sender to every LID through the tables themselves, in the fabric that OpenSM
 * found, and lets them pass only if each arrives, on lanes that exist, and the
 * rank of its lane rises from trunk to trunk. A rank that always rises cannot
 * come back to where it was, so no circle of packets that wait for one another
 * can close (Dally and Seitz, IEEE Trans. Computers 36(5), 1987, Theorem 1).
 */
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

/* tables_size_max is the largest body of tables that a fabric can call for. */
uint64_t tables_size_max(const struct net *n);

/*
 * tables_new reads the body of an answer, of tables, and takes it over: it is
 * freed even if the tables are malformed. NULL: why says what is wrong.
 */
struct tables *tables_new(uint8_t *body, uint64_t size, uint64_t sweep, const struct net *n, char *why);

/* tables_hold says that one more has the tables, each of whom frees them once. */
struct tables *tables_hold(struct tables *t);
void tables_free(struct tables *t);

/*
 * tables_left is what is left of tables on a fabric that they are not for: all entries and
 * maps of switches that are still there, but none to a LID that is on another switch now, and
 * none over a cable that leads elsewhere. Pairs that these do not serve are cut; for all others it is proven as any tables are, with
 * hosts that are new or elsewhere among the senders; where that can be, together with what packets
 * may follow before it is written (meanwhile). NULL: why says why it cannot be proven.
 */
struct tables *tables_left(struct tables *t, const struct before *b, const struct net *n, char *why);

/* tables_place keeps where switches, LIDs and cables are, so that the fabric need not be kept; 0: out of memory. */
int tables_place(struct tables *t, const struct net *n);

/* tables_prove is 0 if the tables are good for the fabric; else why says why not. */
int tables_prove(const struct tables *t, const struct net *n, char *why);

/*
 * tables_prove_from proves tables that are to replace others: of a step also that the
 * ranks rise while they do, whatever part of them has arrived (step.c).
 */
int tables_prove_from(const struct tables *t, const struct before *b, const struct net *n, struct found *found, char *why);

/* step_prove is the part of that which is about mixtures; some tables are in use. */
int step_prove(const struct tables *t, const struct before *b, const struct net *n, char *why);

/* Of every proof: who counts, and which service levels stay together. */
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
