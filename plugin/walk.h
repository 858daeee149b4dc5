/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets followed through tables, or through any mixture of tables and those that they replace:
 * by trunk, service level and lane, whoever sent them, since that is all that decides about the
 * next lane. The rank of the lane must rise with every trunk. That is one acyclic graph for all
 * packets, and for all orders in which tables are written (J. Duato and others, IEEE TPDS 16(5),
 * 2005). What packets may leave a switch by is for the caller to say: it is the same for all that
 * are at that switch, whichever way they came.
 */
#ifndef WEFT_WALK_H
#define WEFT_WALK_H

#include "tables.h"

#define OLD 2 /* tables that packets may have been sent by, at most: those in use, and those before */

struct walk {
	const struct tables *t;	       /* whose ranks are to rise */
	const struct tables *was[OLD]; /* that they replace; NULL: none, nor any behind it */
	uint32_t *old[OLD];	       /* [row] row there; NO_ROW */
	const struct net *n;
	char *why;
	uint32_t lid;	 /* where packets go; 0: all along the tree, but never back by the port that they came by */
	uint32_t *ways;	 /* [row] how many slots packets may leave by */
	uint32_t *way;	 /* [slot of the row + i] slot */
	uint8_t *strict; /* [row] the maps of t may drop nothing there */

	uint8_t kind[WIRE_SLS]; /* [SL] the lowest SL with the same lanes everywhere, old and new */
	uint8_t sent[WIRE_SLS]; /* [the lowest of those alike] one of them that is in use, which is what a text names */
	uint16_t *lanes;	/* [slot * 16 + SL] lanes on which packets came by a trunk, as bits */
	uint32_t *seen;		/* indices into lanes that are not 0 */
	uint32_t seen_count;
	uint32_t *left; /* (index into lanes) * 16 + lane, still to follow: a stack */
	size_t left_count, left_size;
};

/* walk_begin makes a walk through tables ready, that replace those of before, if any; 0: why says why not. */
int walk_begin(struct walk *w, const struct tables *t, const struct before *b, const struct net *n, char *why);
void walk_end(struct walk *w);

/* walk_to has packets go to a LID; where they go on has to be said anew. */
void walk_to(struct walk *w, uint32_t lid);

/* walk_way says that packets may leave a row by a port; if nothing is there that takes them on, they do not. */
void walk_way(struct walk *w, uint32_t row, uint8_t port);

/* walk_has says whether they may leave it by a slot. */
int walk_has(const struct walk *w, uint32_t row, uint32_t slot);

/* walk_send has packets begin behind an in-port, on service levels that are given as bits; -1: why says what is wrong. */
int walk_send(struct walk *w, uint32_t row, uint32_t in, uint16_t levels);

/* walk_on follows all packets to their ends; -1: why says what is wrong. */
int walk_on(struct walk *w);

/* walk_wrong says what is wrong at a row, and is -1. */
int walk_wrong(const struct walk *w, uint32_t row, const char *what, ...) __attribute__((format(printf, 3, 4)));

#endif
