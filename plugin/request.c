/* SPDX-License-Identifier: BSD-2-Clause */
#include <opensm/osm_config.h>

#include <stdlib.h>
#include <string.h>

#include <opensm/osm_node.h>
#include <opensm/osm_switch.h>

#include "wire.h"
#include "net.h"
#include "request.h"
#include "switches.h"

#define NDR 8 /* LinkSpeedExtActive of 100 Gb/s a lane, later than these headers */

static uint8_t width_of(const osm_physp_t *port)
{
	switch (port->port_info.link_width_active) {
	case IB_LINK_WIDTH_ACTIVE_1X:
		return 1;
	case IB_LINK_WIDTH_ACTIVE_2X:
		return 2;
	case IB_LINK_WIDTH_ACTIVE_4X:
		return 4;
	case IB_LINK_WIDTH_ACTIVE_8X:
		return 8;
	case IB_LINK_WIDTH_ACTIVE_12X:
		return 12;
	}
	return 0;
}

/* speed_of is the number in the wire format. */
static uint8_t speed_of(const osm_physp_t *port)
{
	switch (ib_port_info_get_link_speed_ext_active(&port->port_info)) {
	case IB_LINK_SPEED_EXT_ACTIVE_14:
		return 5;
	case IB_LINK_SPEED_EXT_ACTIVE_25:
		return 6;
	case IB_LINK_SPEED_EXT_ACTIVE_50:
		return 7;
	case NDR:
		return 8;
	}
	if (port->ext_port_info.link_speed_active & 1)
		return 4; /* FDR10 */
	switch (ib_port_info_get_link_speed_active(&port->port_info)) {
	case IB_LINK_SPEED_ACTIVE_2_5:
		return 1;
	case IB_LINK_SPEED_ACTIVE_5:
		return 2;
	case IB_LINK_SPEED_ACTIVE_10:
		return 3;
	}
	return 0;
}

/* external_ports leaves out the port 0 that OpenSM counts for every node. */
static uint8_t external_ports(const osm_node_t *node) { return (uint8_t)(osm_node_get_num_physp(node) - 1); }

static int is_switch(const osm_node_t *node) { return osm_node_get_type(node) == IB_NODE_TYPE_SWITCH; }

/* has_lid says whether anything can be addressed to the node by this port. */
static int has_lid(const osm_node_t *node, const osm_physp_t *port)
{
	return is_switch(node) || osm_physp_get_base_lid(port) != 0;
}

/* cabled says whether a port has a cable that counts. */
static int cabled(osm_node_t *node, uint8_t number)
{
	const osm_physp_t *port = osm_node_get_physp_ptr(node, number), *far = port ? osm_physp_get_remote(port) : NULL;

	return far && osm_physp_is_valid(far) && osm_physp_get_port_num(far) != 0 && has_lid(node, port) &&
	       has_lid(osm_physp_get_node_ptr(far), far);
}

static int by_guid(const void *a, const void *b)
{
	uint64_t x = cl_ntoh64(osm_node_get_node_guid(*(osm_node_t *const *)a));
	uint64_t y = cl_ntoh64(osm_node_get_node_guid(*(osm_node_t *const *)b));

	return x < y ? -1 : x > y;
}

static uint32_t index_of(osm_node_t *const *nodes, size_t count, const osm_node_t *node)
{
	osm_node_t *const *at = bsearch(&node, nodes, count, sizeof *nodes, by_guid);

	return at ? (uint32_t)(at - nodes) : WIRE_NO_PEER;
}

static void put_node(uint8_t *b, osm_node_t *node, uint16_t records)
{
	const ib_node_info_t *info = &node->node_info;

	put64(b, cl_ntoh64(info->node_guid));
	put64(b + 8, cl_ntoh64(info->sys_guid));
	b[16] = is_switch(node) ? 0 : osm_node_get_type(node) == IB_NODE_TYPE_ROUTER ? 2 : 1;
	b[17] = external_ports(node);
	put16(b + 18, records);
	put32(b + 20, cl_ntoh32(ib_node_info_get_vendor_id(info)));
	put32(b + 24, cl_ntoh16(info->device_id));
	memcpy(b + 32, node->node_desc.description, WIRE_NAME_SIZE);
}

static void put_port(uint8_t *b, osm_node_t *node, uint8_t number, osm_node_t *const *nodes, size_t count)
{
	const osm_physp_t *port = osm_node_get_physp_ptr(node, number);

	if (number == 0 || !is_switch(node)) {
		put64(b, cl_ntoh64(osm_physp_get_port_guid(port)));
		put16(b + 12, cl_ntoh16(osm_physp_get_base_lid(port)));
		b[14] = osm_physp_get_lmc(port);
	}
	b[15] = number;
	b[17] = port_capacity(port);
	put32(b + 8, WIRE_NO_PEER);
	if (number == 0)
		return;
	const osm_physp_t *far = osm_physp_get_remote(port);
	put32(b + 8, index_of(nodes, count, osm_physp_get_node_ptr(far)));
	b[16] = osm_physp_get_port_num(far);
	b[18] = width_of(port);
	b[19] = speed_of(port);
}

/* list is the nodes by GUID. */
static osm_node_t **list(const osm_subn_t *subn, size_t *count)
{
	const cl_qmap_t *map = &subn->node_guid_tbl;
	osm_node_t **nodes = calloc(cl_qmap_count(map) + 1, sizeof *nodes);
	size_t n = 0;

	for (cl_map_item_t *i = cl_qmap_head(map); nodes && i != cl_qmap_end(map); i = cl_qmap_next(i))
		nodes[n++] = (osm_node_t *)i;
	if (nodes)
		qsort(nodes, n, sizeof *nodes, by_guid);
	*count = n;
	return nodes;
}

/* has_record says whether a port is in the request. */
static int has_record(osm_node_t *node, uint8_t number)
{
	return number == 0 ? is_switch(node) && osm_node_get_physp_ptr(node, 0) != NULL : cabled(node, number);
}

/* lifetime is how long a packet may wait in a switch, in us; 0: for ever. */
static uint32_t lifetime(const osm_subn_t *subn)
{
	unsigned code = subn->opt.packet_life_time; /* 4.096 us * 2^code; 20 and more: no end */

	return code < 20 ? (uint32_t)((4096ull << code) / 1000) : 0;
}

/* put_blocks writes what switches have otherwise than the tables in use; NULL only counts. */
static uint32_t put_blocks(uint8_t *b, const osm_subn_t *subn, osm_node_t *const *nodes, size_t count, const struct asked *a)
{
	const struct tables *t = a->in_use;
	uint32_t blocks = 0, row = 0;

	for (size_t i = 0; t && i < count; i++) {
		const osm_switch_t *s = nodes[i]->sw;
		uint32_t at = row, old = tables_row(t, cl_ntoh64(osm_node_get_node_guid(nodes[i])));
		if (!is_switch(nodes[i]))
			continue;
		row++;
		for (uint32_t from = 0; s && s->lft && old != NO_ROW && from < t->lids && from < s->lft_size; from += WIRE_BLOCK_LIDS) {
			if (switch_has_block(subn, s, t, old, from))
				continue;
			if (b) {
				put32(b, at);
				put16(b + 4, (uint16_t)(from / WIRE_BLOCK_LIDS));
				memset(b + 8, WIRE_NO_PORT, WIRE_BLOCK_LIDS);
				memcpy(b + 8, s->lft + from, s->lft_size - from < WIRE_BLOCK_LIDS ? s->lft_size - from : WIRE_BLOCK_LIDS);
				b += WIRE_BLOCK_SIZE;
			}
			blocks++;
		}
	}
	return blocks;
}

uint8_t *request_new(const osm_subn_t *subn, const struct asked *a, size_t *size)
{
	size_t count, ports = 0, letters = strlen(a->version);
	uint32_t blocks;
	osm_node_t **nodes = list(subn, &count);
	uint8_t *message, *body, *node, *port;

	if (!nodes)
		return NULL;
	for (size_t i = 0; i < count; i++)
		for (unsigned p = 0; p <= external_ports(nodes[i]); p++)
			ports += (size_t)has_record(nodes[i], (uint8_t)p);
	blocks = put_blocks(NULL, subn, nodes, count, a);
	*size = WIRE_HEADER_SIZE + WIRE_REQUEST_SIZE + count * WIRE_NODE_SIZE + ports * WIRE_PORT_SIZE + (size_t)blocks * WIRE_BLOCK_SIZE + letters;
	message = calloc(1, *size);
	if (!message)
		goto out;
	memcpy(message, WIRE_MAGIC, 4);
	put16(message + 4, WIRE_VERSION);
	put16(message + 6, WIRE_REQUEST);
	put64(message + 8, *size - WIRE_HEADER_SIZE);
	body = message + WIRE_HEADER_SIZE;
	put64(body, a->sweep);
	put32(body + 8, (uint32_t)count);
	put32(body + 12, (uint32_t)ports);
	put32(body + 16, (uint32_t)a->deadline_ms);
	body[20] = lanes_allowed(subn);
	body[21] = WIRE_IMPROVES | WIRE_STANDS | (subn->opt.qos ? WIRE_QOS : 0) | (!a->in_use && switches_filled(subn) ? WIRE_FILLED : 0);
	put16(body + 22, (uint16_t)letters);
	put64(body + 24, tables_number(a->in_use));
	put32(body + 32, lifetime(subn));
	put32(body + 36, blocks);
	node = body + WIRE_REQUEST_SIZE;
	port = node + count * WIRE_NODE_SIZE;
	for (size_t i = 0; i < count; i++, node += WIRE_NODE_SIZE) {
		uint16_t records = 0;
		for (unsigned p = 0; p <= external_ports(nodes[i]); p++)
			if (has_record(nodes[i], (uint8_t)p)) {
				put_port(port, nodes[i], (uint8_t)p, nodes, count);
				port += WIRE_PORT_SIZE;
				records++;
			}
		put_node(node, nodes[i], records);
	}
	put_blocks(port, subn, nodes, count, a);
	memcpy(port + (size_t)blocks * WIRE_BLOCK_SIZE, a->version, letters);
out:
	free(nodes);
	return message;
}
