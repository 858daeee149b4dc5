/* SPDX-License-Identifier: BSD-2-Clause */
#include <opensm/osm_config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <opensm/osm_mcast_tbl.h>
#include <opensm/osm_mcm_port.h>
#include <opensm/osm_switch.h>

#include "group.h"
#include "tree.h"

/* level_ok says whether the tree is proven for the service level of a group. */
static int level_ok(const struct tables *t, const osm_mgrp_t *group, uint16_t mlid, char *why)
{
	uint8_t sl, hops;
	uint32_t flow;

	ib_member_get_sl_flow_hop(group->mcmember_rec.sl_flow_hop, &sl, &flow, &hops);
	if (t->groups >> sl & 1)
		return 1;
	snprintf(why, WHY_SIZE, "group 0x%04x is on SL %u, for which there is no proven tree (only for service levels 0x%04x)", mlid, sl, t->groups);
	return 0;
}

/* switch_of is the switch that a port hangs on, and its port there; NULL: none. */
static osm_switch_t *switch_of(const osm_port_t *port, uint8_t *number)
{
	const osm_physp_t *own = port->p_physp, *far = own ? osm_physp_get_remote(own) : NULL;

	*number = 0;
	if (port->p_node->sw)
		return port->p_node->sw;
	if (!far || !osm_physp_get_node_ptr(far)->sw)
		return NULL;
	*number = osm_physp_get_port_num(far);
	return osm_physp_get_node_ptr(far)->sw;
}

static uint32_t row_of(const struct tables *t, const osm_switch_t *s)
{
	return tables_row(t, cl_ntoh64(osm_node_get_node_guid(s->p_node)));
}

/* each visits the member ports of all groups of the MLID, with their switches; it ends with the first that visit returns 0 for. */
static int each(const osm_mgrp_box_t *box, int (*visit)(void *context, const osm_port_t *port), void *context)
{
	for (cl_list_item_t *l = cl_qlist_head(&box->mgrp_list); l != cl_qlist_end(&box->mgrp_list); l = cl_qlist_next(l)) {
		const osm_mgrp_t *group = cl_item_obj(l, group, list_item);
		for (cl_map_item_t *i = cl_qmap_head(&group->mcm_port_tbl); i != cl_qmap_end(&group->mcm_port_tbl); i = cl_qmap_next(i)) {
			const osm_mcm_port_t *member = cl_item_obj(i, member, map_item);
			if (!visit(context, member->port))
				return 0;
		}
	}
	return 1;
}

struct building {
	const osm_subn_t *subn;
	const struct tables *t;
	uint16_t mlid;
	uint8_t *has;  /* [row] members are on it */
	uint8_t *part; /* [row] its cable towards the root belongs to the tree of the group */
	osm_switch_t **at; /* [row] */
	const osm_port_t *one; /* a member */
	int several;
	char *why;
};

/* count notes a member. */
static int count(void *context, const osm_port_t *port)
{
	struct building *b = context;
	uint8_t number;
	osm_switch_t *s = switch_of(port, &number);
	uint32_t row = s ? row_of(b->t, s) : NO_ROW;

	if (row == NO_ROW) {
		snprintf(b->why, WHY_SIZE, "group 0x%04x has member 0x%016llx, which is on no switch that the tables in use know", b->mlid,
			 (unsigned long long)cl_ntoh64(port->guid));
		return 0;
	}
	b->several = b->several || (b->one && b->one != port);
	b->one = port;
	b->has[row] = 1;
	return 1;
}

/* deliver has the switch of a member copy packets to it. */
static int deliver(void *context, const osm_port_t *port)
{
	struct building *b = context;
	uint8_t number;
	osm_switch_t *s = switch_of(port, &number);

	osm_mcast_tbl_set(osm_switch_get_mcast_tbl_ptr(s), b->mlid, number);
	return 1;
}

/* live says whether a cable of the tree leads where it did when the tree was proven. */
static int live(const struct building *b, uint32_t row)
{
	const struct tables *t = b->t;
	osm_switch_t *s = b->at[row], *up = b->at[t->above[row]];
	const osm_physp_t *port = s ? osm_node_get_physp_ptr(s->p_node, t->tree[row]) : NULL, *far = port ? osm_physp_get_remote(port) : NULL;

	if (s && up && far && osm_physp_get_node_ptr(far) == up->p_node && osm_physp_get_port_num(far) == t->back[row])
		return 1;
	snprintf(b->why, WHY_SIZE, "group 0x%04x needs the cable at port %u of switch 0x%016llx, which is not where it was when the tree was proven", b->mlid,
		 t->tree[row], (unsigned long long)t->guid[row]);
	return 0;
}

/* fill fills the tables, or none. */
static int fill(struct building *b)
{
	const struct tables *t = b->t;
	const cl_qmap_t *switches = &b->subn->sw_guid_tbl;

	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches); i = cl_qmap_next(i)) {
		uint32_t row = row_of(t, (osm_switch_t *)i);
		if (row != NO_ROW)
			b->at[row] = (osm_switch_t *)i;
	}
	for (uint32_t r = 0; r < t->rows; r++)
		if (b->part[r] && !live(b, r))
			return 0;
	for (uint32_t r = 0; r < t->rows; r++)
		if (b->part[r]) {
			osm_mcast_tbl_set(osm_switch_get_mcast_tbl_ptr(b->at[r]), b->mlid, t->tree[r]);
			osm_mcast_tbl_set(osm_switch_get_mcast_tbl_ptr(b->at[t->above[r]]), b->mlid, t->back[r]);
		}
	return 1;
}

int group_build(const osm_subn_t *subn, const struct tables *t, const osm_mgrp_box_t *box, char *why)
{
	struct building b = {.subn = subn, .t = t, .mlid = box->mlid, .why = why};
	int ok = 0;

	for (cl_list_item_t *l = cl_qlist_head(&box->mgrp_list); l != cl_qlist_end(&box->mgrp_list); l = cl_qlist_next(l)) {
		const osm_mgrp_t *group = cl_item_obj(l, group, list_item);
		if (!level_ok(t, group, box->mlid, why))
			return 0;
	}
	b.has = calloc(t->rows + 1, 1);
	b.part = calloc(t->rows + 1, 1);
	b.at = calloc(t->rows + 1, sizeof *b.at);
	if (!b.has || !b.part || !b.at)
		snprintf(why, WHY_SIZE, "out of memory");
	else if (!each(box, count, &b))
		ok = 0;
	else if (!b.several)
		ok = 1; /* nobody to send to */
	else if (!tree_part(t, b.has, b.part))
		snprintf(why, WHY_SIZE, "out of memory");
	else
		ok = fill(&b) && each(box, deliver, &b);
	free(b.has);
	free(b.part);
	free(b.at);
	return ok;
}
