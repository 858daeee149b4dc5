/* SPDX-License-Identifier: BSD-2-Clause */
#include <opensm/osm_config.h>

#include <string.h>

#include "switches.h"

/* lanes_of decodes VLCap, max_op_vls and the like; 0: not known. */
static uint8_t lanes_of(uint8_t code)
{
	static const uint8_t lanes[] = {0, 1, 2, 4, 8, 15};

	return code < sizeof lanes ? lanes[code] : 0;
}

static uint8_t least(uint8_t a, uint8_t b) { return a < b ? a : b; }

uint8_t port_capacity(const osm_physp_t *port) { return lanes_of(ib_port_info_get_vl_cap(&port->port_info)); }

uint8_t lanes_allowed(const osm_subn_t *subn)
{
	uint8_t lanes = lanes_of(subn->opt.max_op_vls);

	return lanes ? lanes : WIRE_MAX_LANES;
}

uint8_t port_lanes(const osm_physp_t *port, const osm_subn_t *subn)
{
	const osm_physp_t *far = osm_physp_get_remote(port);
	uint8_t lanes = least(port_capacity(port), lanes_allowed(subn));

	if (far)
		lanes = least(lanes, port_capacity(far));
	return lanes ? lanes : 1;
}

/* What the proof is about is below lanes; of the rest OpenSM would take the lowest bits. */
static void fill(ib_slvl_table_t *to, const uint8_t *map, uint8_t lanes)
{
	for (uint8_t sl = 0; sl < WIRE_SLS; sl++)
		ib_slvl_table_set(to, sl, map[sl] == WIRE_DROPPED ? WIRE_DROPPED : map[sl] % lanes);
}

void adapter_map(const osm_subn_t *subn, const osm_physp_t *port, const struct tables *t, ib_slvl_table_t *map)
{
	fill(map, t->adapters, port_lanes(port, subn));
}

void switch_map(const osm_subn_t *subn, osm_node_t *node, const struct tables *t, uint8_t in, uint8_t out, ib_slvl_table_t *map)
{
	const osm_physp_t *sends = osm_node_get_physp_ptr(node, out);
	uint32_t row = tables_row(t, cl_ntoh64(osm_node_get_node_guid(node)));

	if (row != NO_ROW && in < t->slot[row + 1] - t->slot[row] && out < t->slot[row + 1] - t->slot[row])
		fill(map, tables_map(t, row, in, out), sends ? port_lanes(sends, subn) : 1);
}

int switch_has_block(const osm_subn_t *subn, const osm_switch_t *s, const struct tables *t, uint32_t row, uint32_t from)
{
	for (uint32_t lid = from; lid < from + WIRE_BLOCK_LIDS && lid < t->lids && lid < s->lft_size; lid++) {
		uint8_t has = s->lft[lid], want = t->out[(size_t)row * t->lids + lid];
		if (has != want && !(has == OSM_NO_PATH && (lid == 0 || !osm_get_port_by_lid_ho(subn, (uint16_t)lid))))
			return 0;
	}
	return 1;
}

/* cabled says whether packets pass a port of a switch. */
static int cabled(osm_node_t *node, uint8_t number)
{
	const osm_physp_t *port = osm_node_get_physp_ptr(node, number);

	return port && osm_physp_get_remote(port);
}

/* has_maps says whether a switch has confirmed its SL2VL maps from cable to cable. */
static int has_maps(const osm_subn_t *subn, osm_node_t *node, const struct tables *t)
{
	for (uint8_t out = 1; out < osm_node_get_num_physp(node); out++) {
		if (!cabled(node, out))
			continue;
		for (uint8_t in = 1; in < osm_node_get_num_physp(node); in++) {
			const ib_slvl_table_t *has = osm_physp_get_slvl_tbl(osm_node_get_physp_ptr(node, out), in);
			ib_slvl_table_t want = *has;
			if (in == out || !cabled(node, in))
				continue;
			switch_map(subn, node, t, in, out, &want);
			if (memcmp(&want, has, sizeof want) != 0)
				return 0;
		}
	}
	return 1;
}

/*
 * LinearFDBTop is the largest LID that a switch forwards to; OpenSM asks for it when it discovers
 * the switch, and sets it with the first tables. 0: it was restarted, or never had any.
 */
int switches_filled(const osm_subn_t *subn)
{
	const cl_qmap_t *switches = &subn->sw_guid_tbl;

	for (cl_map_item_t *i = cl_qmap_head(switches); subn->first_time_master_sweep && i != cl_qmap_end(switches); i = cl_qmap_next(i))
		if (((const osm_switch_t *)i)->switch_info.lin_top != 0)
			return 1;
	return 0;
}

uint64_t switches_lack(const osm_subn_t *subn, const struct tables *t)
{
	const cl_qmap_t *switches = &subn->sw_guid_tbl;

	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches); i = cl_qmap_next(i)) {
		const osm_switch_t *s = (const osm_switch_t *)i;
		uint64_t guid = cl_ntoh64(osm_node_get_node_guid(s->p_node));
		uint32_t row = tables_row(t, guid);
		for (uint32_t from = 0; row != NO_ROW && from < t->lids && from < s->lft_size; from += WIRE_BLOCK_LIDS)
			if (!switch_has_block(subn, s, t, row, from))
				return guid;
		if (subn->opt.qos && !has_maps(subn, s->p_node, t))
			return guid;
	}
	return 0;
}
