/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the tables of an answer: that they are well formed is all that is known of them then. */
#ifndef WEFT_ANSWER_H
#define WEFT_ANSWER_H

#include "tables.h"

/* tables_size_max is the largest body of tables that a fabric can call for. */
uint64_t tables_size_max(const struct net *n);

/*
 * tables_new reads the body of an answer, of tables, and takes it over: it is
 * freed even if the tables are malformed. NULL: why says what is wrong.
 */
struct tables *tables_new(uint8_t *body, uint64_t size, uint64_t sweep, const struct net *n, char *why);

#endif
