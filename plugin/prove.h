/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The proof of tables. Nothing in an answer is believed: what every sender sends to every LID is
 * followed through the tables themselves, in the fabric that OpenSM found, and they pass only if
 * all of it arrives, on lanes that exist, and the rank of its lane rises from trunk to trunk. A
 * rank that always rises cannot come back to where it was, so no circle of packets that wait for
 * one another can close (Dally and Seitz, IEEE Trans. Computers 36(5), 1987, Theorem 1).
 *
 * Of a step it is proven as well that none can close while OpenSM replaces the tables in use. It
 * writes switch by switch and block by block, and packets meet any mixture: at each switch the
 * out-port of the tables in use, the one that the switch has confirmed where that is another, or
 * the new one; the old SL2VL map or the new; the old service level or the new. It is the same
 * proof: a step from no tables is the plain one.
 */
#ifndef WEFT_PROVE_H
#define WEFT_PROVE_H

#include "tables.h"

/* tables_prove is 0 if the tables are good for the fabric; else why says why not. */
int tables_prove(const struct tables *t, const struct net *n, char *why);

/*
 * tables_prove_from proves tables that are to replace others: of a step also that the
 * ranks rise while they do, whatever part of them has arrived.
 */
int tables_prove_from(const struct tables *t, const struct before *b, const struct net *n, struct found *found, char *why);

#endif
