/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins and leaves multicast groups on behalf of ports, as the subnet manager sees it: one
 * MCMemberRecord to its SA for every line of standard input,
 *
 *	join GROUP PORT-GUID SL
 *	leave GROUP PORT-GUID 0
 *
 * of which it prints the SA's status and the group's MLID. A group is created by who joins first.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/umad.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SA_CLASS = 3, SA_VERSION = 2, SET = 2, DELETE = 0x15, ANSWER = 0x80, MCMEMBER = 0x38, WAIT_MS = 5000, TRIES = 5 };

/* Components that the SA looks at (IBA 15.2.5.17). */
enum { MGID = 1 << 0, PORT_GID = 1 << 1, QKEY = 1 << 2, MTU = 3 << 4, TCLASS = 1 << 6, PKEY = 1 << 7, RATE = 3 << 8, SL = 1 << 12, FLOW = 1 << 13, JOIN_STATE = 1 << 16 };

struct record {
	uint8_t mgid[16], port_gid[16];
	uint32_t qkey;
	uint16_t mlid;
	uint8_t mtu, tclass;
	uint16_t pkey;
	uint8_t rate, life;
	uint32_t sl_flow_hop;
	uint8_t scope_state, proxy, pad[6];
} __attribute__((packed));

struct mad {
	uint8_t base, class, version, method;
	uint16_t status, specific;
	uint64_t tid;
	uint16_t attribute, reserved;
	uint32_t modifier;
	uint8_t rmpp[12];
	uint64_t sm_key;
	uint16_t offset, reserved2;
	uint64_t components;
	uint8_t data[200];
} __attribute__((packed));

static void fill(struct mad *m, const char *what, unsigned group, uint64_t port, unsigned sl, uint32_t tid)
{
	static const uint8_t prefix[] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0};
	struct record *r = (struct record *)m->data;
	int leaves = strcmp(what, "leave") == 0;

	memset(m, 0, sizeof *m);
	m->base = 1;
	m->class = SA_CLASS;
	m->version = SA_VERSION;
	m->method = leaves ? DELETE : SET;
	m->tid = htobe64(tid);
	m->attribute = htons(MCMEMBER);
	m->components = htobe64(leaves ? MGID | PORT_GID | JOIN_STATE : MGID | PORT_GID | JOIN_STATE | QKEY | MTU | TCLASS | PKEY | RATE | SL | FLOW);
	r->mgid[0] = 0xff;
	r->mgid[1] = 0x12; /* transient, link-local */
	r->mgid[2] = 0xa0;
	r->mgid[14] = (uint8_t)(group >> 8);
	r->mgid[15] = (uint8_t)group;
	memcpy(r->port_gid, prefix, sizeof prefix);
	port = htobe64(port);
	memcpy(r->port_gid + 8, &port, 8);
	r->qkey = htonl(0x1234);
	r->pkey = htons(0xffff);
	r->mtu = 2 << 6 | 1;  /* exactly 256 bytes, which every port takes */
	r->rate = 2 << 6 | 2; /* exactly 2.5 Gb/s, likewise */
	r->sl_flow_hop = htonl(sl << 28);
	r->scope_state = 0x21; /* full member */
}

/* ask sends a request and waits for its answer; 0: none came. */
static int ask(int port, int agent, int sm_lid, struct mad *m)
{
	uint8_t buffer[1024];
	void *umad = buffer;

	for (int tries = 0; tries < TRIES; tries++) {
		int length = sizeof *m;
		memset(buffer, 0, sizeof buffer);
		umad_set_addr(umad, sm_lid, 1, 0, 0x80010000);
		memcpy(umad_get_mad(umad), m, sizeof *m);
		if (umad_send(port, agent, umad, sizeof *m, WAIT_MS, 0) < 0)
			continue;
		while (umad_recv(port, umad, &length, WAIT_MS) >= 0) {
			const struct mad *answer = umad_get_mad(umad);
			if ((uint32_t)be64toh(answer->tid) != (uint32_t)be64toh(m->tid))
				continue;
			if (umad_status(umad) != 0)
				break; /* the request got lost */
			*m = *answer;
			if (tries > 0 && m->method == (DELETE | ANSWER))
				m->status = 0; /* the answer to the first may have got lost, and who has left cannot leave */
			return 1;
		}
	}
	return 0;
}

int main(void)
{
	umad_port_t about;
	char what[8];
	unsigned group, sl;
	unsigned long long guid;
	uint32_t tid = 1;
	int port, agent;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &about) < 0 || (port = umad_open_port(NULL, 0)) < 0 ||
	    (agent = umad_register(port, SA_CLASS, SA_VERSION, 0, NULL)) < 0) {
		fprintf(stderr, "no port\n");
		return 1;
	}
	while (scanf("%7s %u %llx %u", what, &group, &guid, &sl) == 4) {
		struct mad m;
		fill(&m, what, group, guid, sl, tid++);
		if (!ask(port, agent, (int)about.sm_lid, &m)) {
			fprintf(stderr, "no answer to %s %u\n", what, group);
			return 1;
		}
		printf("%s %u 0x%llx status 0x%x mlid 0x%x\n", what, group, guid, ntohs(m.status), ntohs(((struct record *)m.data)->mlid));
	}
	return 0;
}
