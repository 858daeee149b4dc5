/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fuzz driver over the wire format, for libFuzzer or, as a program of its own, for files:
 *
 *	weft-fuzz FILE…   try each file, and each in each folder, as the fuzzer would
 *
 * An input is messages, one behind the other: a request and an answer to it, and up to twice an
 * earlier request with its answer, whose tables are in use then, and were in use before those.
 * Requests are this process's own, so that one which is not as the plugin writes them is left
 * alone; answers are anybody's. They are received over a socket and proven, as a step too, what is
 * left of those in use is proven, and all that is looked up in tables is looked up. What is proven
 * is followed once more, in the simplest way: whatever was sent arrives, or was cut before.
 */
#include <limits.h>

#include "../talk.c"
#include "../left.h"
#include "../prove.h"
#include "../tree.h"

#define MESSAGES 3

struct pair {
	const uint8_t *request;
	size_t size;
	struct net *net;
	struct tables *tables;
};

/* port_of finds the record of a port; NULL: there is none. */
static const uint8_t *port_of(const uint8_t *node, const uint8_t *ports, uint8_t number)
{
	for (uint16_t k = 0; k < get16(node + 18); k++, ports += WIRE_PORT_SIZE)
		if (ports[15] == number)
			return ports;
	return NULL;
}

/* own says whether the plugin could have written a request: cables have two ends, records are in order. */
static int own(const uint8_t *body, size_t size)
{
	uint32_t count = get32(body + 8), all = get32(body + 12), seen = 0;
	const uint8_t *nodes = body + WIRE_REQUEST_SIZE, *ports = nodes + (size_t)count * WIRE_NODE_SIZE;
	uint32_t first[64];

	if (count > 63 || all > 1024 || get32(body + 36) > 64 ||
	    size != WIRE_REQUEST_SIZE + (size_t)count * WIRE_NODE_SIZE + (size_t)all * WIRE_PORT_SIZE + (size_t)get32(body + 36) * WIRE_BLOCK_SIZE + get16(body + 22))
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *n = nodes + (size_t)i * WIRE_NODE_SIZE;
		first[i] = seen;
		seen += get16(n + 18);
		if (n[16] > 2 || n[17] > 254 || get16(n + 18) > n[17] + 1u || seen > all || (i > 0 && get64(n - WIRE_NODE_SIZE) >= get64(n)))
			return 0;
	}
	for (uint32_t i = 0; seen == all && i < count; i++)
		for (uint32_t p = first[i]; p < first[i] + get16(nodes + (size_t)i * WIRE_NODE_SIZE + 18); p++) {
			const uint8_t *n = nodes + (size_t)i * WIRE_NODE_SIZE, *x = ports + (size_t)p * WIRE_PORT_SIZE, *far;
			uint32_t peer = get32(x + 8);
			if (x[15] > n[17] || (p > first[i] && x[15] <= x[15 - WIRE_PORT_SIZE]) || x[14] > 7 || get16(x + 12) + (1u << x[14]) > 0xC000)
				return 0;
			if (x[15] == 0 ? n[16] != 0 || peer != WIRE_NO_PEER : peer >= count || x[16] == 0)
				return 0;
			if (x[15] == 0)
				continue;
			far = port_of(nodes + (size_t)peer * WIRE_NODE_SIZE, ports + (size_t)first[peer] * WIRE_PORT_SIZE, x[16]);
			if (!far || get32(far + 8) != i || far[16] != x[15])
				return 0;
		}
	return seen == all;
}

/* received is an answer as it comes over a socket. */
static struct tables *received(const uint8_t *message, size_t size, const struct pair *p)
{
	char why[WHY_SIZE];
	int fds[2];
	struct tables *t = NULL;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
		abort();
	if (write(fds[1], message, size) == (ssize_t)size) {
		struct line l = {.fd = fds[0], .stop = -1, .end = now_ms() + 10000};
		shutdown(fds[1], SHUT_WR);
		t = receive(&l, p->request, p->net, why);
	}
	close(fds[0]);
	close(fds[1]);
	return t;
}

/* next reads a request and its answer; how much that was, 0: nothing that is of use. */
static size_t next(const uint8_t *data, size_t size, struct pair *p)
{
	uint64_t length, used;

	if (size < WIRE_HEADER_SIZE + WIRE_REQUEST_SIZE)
		return 0;
	length = get64(data + 8);
	if (length > size - WIRE_HEADER_SIZE || length < WIRE_REQUEST_SIZE || !own(data + WIRE_HEADER_SIZE, length))
		return 0;
	p->request = data;
	p->size = used = WIRE_HEADER_SIZE + length;
	p->net = net_new(data, p->size);
	if (!p->net)
		abort();
	length = size - used < WIRE_HEADER_SIZE ? 0 : get64(data + used + 8);
	length = length > size - used ? size - used : length + WIRE_HEADER_SIZE;
	length = length > size - used ? size - used : length;
	p->tables = received(data + used, length, p);
	return used + length;
}

/* look looks everything up. */
static unsigned look(const struct tables *t, const struct net *n)
{
	char text[WHY_SIZE];
	struct terms wanted = {.contract = 1, .scope = 1};
	uint8_t *has = calloc(n->rows + 1, 1), *part = calloc(n->rows + 1, 1);
	unsigned sum = tables_used(t) + (unsigned)tables_suffice(t, &wanted, text);

	terms_text(&t->terms, text);
	tree_text(t, text);
	for (uint32_t r = 0; r < n->rows; r++) {
		uint32_t ports = n->slot[r + 1] - n->slot[r];
		sum += tables_row(t, n->guid[r]);
		has[r] = (uint8_t)(r % 2);
		for (uint32_t p = 0; p < ports * ports; p++)
			sum += tables_map(t, r, (uint8_t)(p / ports), (uint8_t)(p % ports))[p % WIRE_SLS];
	}
	for (uint32_t l = 0; l <= n->lids; l++)
		sum += tables_path_sl(t, (uint16_t)l, (uint16_t)(n->lids - l), (uint8_t)l);
	if (t->groups)
		sum += (unsigned)tree_part(t, has, part);
	free(has);
	free(part);
	return sum;
}

/* arrives follows a LID from a row to where it has to be. */
static int arrives(const struct tables *t, const struct net *n, uint32_t row, uint32_t lid)
{
	for (uint32_t steps = 0; steps <= n->rows; steps++) {
		uint8_t out = t->out[(size_t)row * t->lids + lid];
		uint32_t x = n->slot[row] + out;
		if (out == WIRE_NO_PORT || x >= n->slot[row + 1])
			return 0;
		if (x == n->home[lid])
			return 1;
		if (n->link[x].peer < 0)
			return 0;
		row = n->row_of[n->link[x].peer];
	}
	return 0;
}

/* hold ends the program where tables that are proven, and are no step, lose a packet. */
static void hold(const struct tables *t, const struct net *n)
{
	for (uint32_t r = 0; r < n->rows; r++)
		for (uint32_t l = 0; l < n->lids; l++)
			if (n->owner[l] != NOBODY && n->adapters[r] != NOBODY && !arrives(t, n, r, l))
				abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pair p[MESSAGES] = {0};
	char why[WHY_SIZE];
	size_t at = 0;
	volatile unsigned sum = 0;
	int count = 0, proven = 0;

	for (size_t used; count < MESSAGES && (used = next(data + at, size - at, &p[count])) != 0; at += used)
		count++;
	/* Only what is proven gets into use. */
	for (int i = count - 1; i > 0; i--) {
		struct before b = {.in_use = i + 1 < count ? p[i + 1].tables : NULL};
		if (p[i].tables && (tables_prove_from(p[i].tables, &b, p[i].net, &p[i].tables->found, why) != 0 || tree_prove(p[i].tables, &b, p[i].net, why) != 0)) {
			tables_free(p[i].tables);
			p[i].tables = NULL;
		}
	}
	if (count > 0) {
		const uint8_t *body = p->request + WIRE_HEADER_SIZE;
		struct before b = {.in_use = p[1].tables, .earlier = p[1].tables ? p[2].tables : NULL, .count = get32(body + 36)};
		struct tables *left;
		struct found found;
		b.blocks = p->request + p->size - (size_t)b.count * WIRE_BLOCK_SIZE - get16(body + 22);
		if (p->tables) {
			sum = look(p->tables, p->net);
			proven = tables_prove(p->tables, p->net, why) == 0;
			if (proven && !p->tables->step)
				hold(p->tables, p->net);
			proven += tables_prove_from(p->tables, &b, p->net, &found, why) == 0;
			proven += tree_prove(p->tables, &b, p->net, why) == 0;
		}
		left = p[1].tables ? tables_left(p[1].tables, &b, p->net, why) : NULL;
		if (left)
			sum = sum + look(left, p->net);
		tables_free(left);
	}
	for (int i = 0; i < count; i++) {
		tables_free(p[i].tables);
		net_free(p[i].net);
	}
	return count > 0 && (p->tables || proven) ? 0 : -1; /* what is not even tables teaches little */
}

#ifndef LIBFUZZER
#include <dirent.h>

static int try_file(const char *path)
{
	static uint8_t data[1 << 20];
	FILE *f = fopen(path, "rb");
	size_t size = f ? fread(data, 1, sizeof data, f) : 0;
	uint8_t *copy = malloc(size ? size : 1); /* as large as it is, so that reads beyond it are seen */

	if (!f || !copy) {
		perror(path);
		exit(2);
	}
	fclose(f);
	memcpy(copy, data, size);
	int read = LLVMFuzzerTestOneInput(copy, size) == 0;
	free(copy);
	return read;
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	int files = 0, read = 0;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		if (!dir) {
			files++;
			read += try_file(argv[i]);
			continue;
		}
		for (struct dirent *e; (e = readdir(dir));)
			if (e->d_name[0] != '.') {
				snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
				files++;
				read += try_file(path);
			}
		closedir(dir);
	}
	printf("%d files, %d of them with tables\n", files, read);
	return 0;
}
#endif
