/* SPDX-License-Identifier: BSD-2-Clause */
/* What OpenSM writes into switches, and whether they have confirmed it. */
#ifndef WEFT_SWITCHES_H
#define WEFT_SWITCHES_H

#include <opensm/osm_node.h>
#include <opensm/osm_subnet.h>
#include <opensm/osm_switch.h>

#include "tables.h"

/* port_capacity is the data lanes of a port; 0: not known. */
uint8_t port_capacity(const osm_physp_t *port);

/* lanes_allowed is what max_op_vls leaves; a value that does not exist limits nothing. */
uint8_t lanes_allowed(const osm_subn_t *subn);

/* port_lanes is the data lanes that OpenSM will make usable on a port. */
uint8_t port_lanes(const osm_physp_t *port, const osm_subn_t *subn);

/* switch_map is the SL2VL map of a switch from an in-port to an out-port; left alone if the tables know neither. */
void switch_map(const osm_subn_t *subn, osm_node_t *node, const struct tables *t, uint8_t in, uint8_t out, ib_slvl_table_t *map);

/* adapter_map is the one of an adapter. */
void adapter_map(const osm_subn_t *subn, const osm_physp_t *port, const struct tables *t, ib_slvl_table_t *map);

/*
 * switch_has_block says whether a switch has confirmed a block of LIDs as the tables have
 * it at a row. What it has for a LID that nobody has any more does not count.
 */
int switch_has_block(const osm_subn_t *subn, const osm_switch_t *s, const struct tables *t, uint32_t row, uint32_t from);

/*
 * switches_filled says whether some switch forwards by tables that were written before this OpenSM
 * began; 0: none does, or it has written tables itself.
 */
int switches_filled(const osm_subn_t *subn);

/*
 * switches_lack is the GUID of a switch that has not confirmed its forwarding table or an
 * SL2VL map of the tables; 0: all have.
 */
uint64_t switches_lack(const osm_subn_t *subn, const struct tables *t);

#endif
