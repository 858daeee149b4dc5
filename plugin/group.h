/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree of a multicast group, a part of the spanning tree of the tables in use. */
#ifndef WEFT_GROUP_H
#define WEFT_GROUP_H

#include <opensm/osm_multicast.h>
#include <opensm/osm_subnet.h>

#include "tables.h"

/*
 * group_build fills the multicast tables of all switches for the groups of an MLID, which
 * OpenSM has emptied. 0: it is not proven that they may be filled, and they stay empty: why
 * says what is wrong.
 */
int group_build(const osm_subn_t *subn, const struct tables *t, const osm_mgrp_box_t *box, char *why);

#endif
