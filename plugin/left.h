/* SPDX-License-Identifier: BSD-2-Clause */
/* What is left of tables when the fabric has changed. */
#ifndef WEFT_LEFT_H
#define WEFT_LEFT_H

#include "tables.h"

/*
 * tables_left is what is left of tables on a fabric that they are not for: all entries and
 * maps of switches that are still there, but none to a LID that is on another switch now, and
 * none over a cable that leads elsewhere. Pairs that these do not serve are cut; for all others it is proven as any tables are, with
 * hosts that are new or elsewhere among the senders; where that can be, together with what packets
 * may follow before it is written (meanwhile). NULL: why says why it cannot be proven.
 */
struct tables *tables_left(struct tables *t, const struct before *b, const struct net *n, char *why);

#endif
