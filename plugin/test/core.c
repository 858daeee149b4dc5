/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plugin without OpenSM, for tests:
 *
 *	weft-core prove REQUEST ANSWERS     a verdict for each message of a file
 *	weft-core ask REQUEST - SOCKET      ask a daemon for at most a second, a verdict
 *	weft-core late REQUEST OTHER SOCKET ask, stop waiting, ask the other, take that when it is late
 *	weft-core better REQUEST - SOCKET   take the best so far, again, and the better tables that follow
 *	weft-core keep REQUEST ANSWER LATER a verdict on the answer for a later request
 *	weft-core left REQUEST ANSWER LATER a verdict on what is left of the answer for a later request
 *	weft-core step REQUEST IN-USE STEPS a verdict for each message of a file as a step from another
 *	weft-core levels REQUEST ANSWER     for each hint, the path SL from a LID that nobody has to the first
 *	weft-core cases FILE -              a line for each case of a file: p proven, n proven of nobody (both with hops, pairs cut, what the
 *	                                    tree is for and a part of it), u unproven, m malformed (both with the reason)
 *	weft-core time REQUEST ANSWER       seconds for the proof, path SLs a second
 *	weft-core swap REQUEST ANSWER N     replace the tables N times under two readers
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "ask.h"
#include "left.h"
#include "prove.h"
#include "shelf.h"
#include "tree.h"

static uint8_t *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *b;

	if (!f || fseek(f, 0, SEEK_END) != 0) {
		perror(path);
		exit(2);
	}
	*size = (size_t)ftell(f);
	rewind(f);
	b = malloc(*size + 1);
	if (!b || fread(b, 1, *size, f) != *size) {
		perror(path);
		exit(2);
	}
	fclose(f);
	return b;
}

/* body copies the body of a message, for tables_new to take. */
static uint8_t *body(const uint8_t *message, size_t size)
{
	uint8_t *b = malloc(size ? size : 1);

	if (!b)
		exit(2);
	memcpy(b, message + WIRE_HEADER_SIZE, size);
	return b;
}

static void verdict(struct tables *t, const struct net *n, const char *why)
{
	char wrong[WHY_SIZE];

	if (!t)
		printf("malformed: %s\n", why);
	else if (tables_prove(t, n, wrong) != 0 || tree_prove(t, &(struct before){0}, n, wrong) != 0)
		printf("unproven: %s\n", wrong);
	else
		printf("proven\n");
	tables_free(t);
}

/* what_is_left says whether what is left of an answer for a later request is proven. */
static void what_is_left(const uint8_t *request, const uint8_t *answer, const char *path, const struct net *then)
{
	char why[WHY_SIZE];
	size_t size;
	uint8_t *later = slurp(path, &size);
	struct net *now = net_new(later, size);
	struct tables *t = tables_new(body(answer, get64(answer + 8)), get64(answer + 8), get64(request + WIRE_HEADER_SIZE), then, why);
	struct tables *left;

	if (!now || !t)
		exit(2);
	left = tables_left(t, &(struct before){.in_use = t}, now, why);
	if (left)
		printf("%s, %llu cut\n", left->meanwhile ? "proven" : "proven once it is written", (unsigned long long)left->found.cut);
	else
		printf("unproven: %s\n", why);
	tables_free(left);
	tables_free(t);
	net_free(now);
	free(later);
}

/* steps says of each answer of a file whether it is a proven step from the tables of another request's. */
static void steps(const uint8_t *request, size_t size, const uint8_t *was, const char *path, const struct net *n)
{
	/* The file: the request that the tables in use answered, these tables, the steps. */
	struct before b = {.count = get32(request + WIRE_HEADER_SIZE + 36)};
	size_t left;
	uint8_t *file = slurp(path, &left), *m = file;
	uint64_t first = WIRE_HEADER_SIZE + get64(was + 8);
	struct net *then = net_new(was, first);
	const uint8_t *old = was + first;
	char why[WHY_SIZE] = "", wrong[WHY_SIZE];
	struct tables *in_use = tables_new(body(old, get64(old + 8)), get64(old + 8), get64(was + WIRE_HEADER_SIZE), then, why);

	b.in_use = in_use;
	b.blocks = request + size - (size_t)b.count * WIRE_BLOCK_SIZE - get16(request + WIRE_HEADER_SIZE + 22);
	if (!in_use) {
		printf("malformed: %s\n", why);
		exit(1);
	}
	while (left >= WIRE_HEADER_SIZE) {
		uint64_t length = get64(m + 8);
		struct tables *t = tables_new(body(m, length), length, get64(request + WIRE_HEADER_SIZE), n, why);
		struct found found;
		if (!t)
			printf("malformed: %s\n", why);
		else if (tables_prove_from(t, &b, n, &found, wrong) != 0 || tree_prove(t, &b, n, wrong) != 0)
			printf("unproven: %s\n", wrong);
		else
			printf("proven, %u hops, %llu cut\n", found.hops, (unsigned long long)found.cut);
		tables_free(t);
		m += WIRE_HEADER_SIZE + length;
		left -= WIRE_HEADER_SIZE + length;
	}
	tables_free(in_use);
	net_free(then);
	free(file);
}

/* The allocations that are counted, and the one that fails; the linker has calls come here. */
static _Thread_local unsigned allocations, failing;

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);

void *__wrap_malloc(size_t size) { return ++allocations == failing ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return ++allocations == failing ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *at, size_t size) { return ++allocations == failing ? NULL : __real_realloc(at, size); }

enum { MOST = 3, LINE = 1024, KEPT = 0x80 };

/* copy is a message in memory of its own size, so that whoever watches memory sees what is read beyond its end. */
static uint8_t *copy(const uint8_t *message, size_t size)
{
	uint8_t *b = __real_malloc(size);

	if (!b)
		exit(2);
	memcpy(b, message, size);
	return b;
}

/* part says which cables the part of the tree has that joins the rows whose bit is set. */
static void part(const struct tables *t, char *line)
{
	uint8_t *has = calloc(t->rows, 1), *in = calloc(t->rows, 1);

	for (uint32_t r = 0; has && in && r < t->rows; r++)
		has[r] = t->number >> r % 10 & 1;
	if (has && in && tree_part(t, has, in))
		for (uint32_t r = 0; r < t->rows && strlen(line) < LINE - 2; r++)
			strcat(line, in[r] ? "1" : "0");
	free(has);
	free(in);
}

/* answer_one answers a case, whose pairs are behind each other, and says where the next begins; NULL: it cannot. */
static const uint8_t *answer_one(const uint8_t *m, int pairs, char *line)
{
	struct net *n[MOST] = {0}, *later = NULL;
	struct tables *t[MOST] = {0};
	struct before b = {0};
	uint8_t *requests[MOST] = {0};
	char why[WHY_SIZE] = "", text[TREE_SIZE];
	int ok = 1, kept = pairs & KEPT;

	pairs &= ~KEPT;
	for (int i = 0; i < pairs; i++) {
		const uint8_t *answer = m + WIRE_HEADER_SIZE + get64(m + 8);
		size_t size = (size_t)(answer - m), length = get64(answer + 8);
		requests[i] = copy(m, size);
		n[i] = net_new(requests[i], size);
		t[i] = n[i] ? tables_new(copy(answer + WIRE_HEADER_SIZE, length), length, get64(m + WIRE_HEADER_SIZE), n[i], why) : NULL;
		ok = ok && n[i] && (i == 0 || t[i]);
		if (i == 0) {
			b.count = get32(m + WIRE_HEADER_SIZE + 36);
			b.blocks = requests[i] + size - (size_t)b.count * WIRE_BLOCK_SIZE - get16(m + WIRE_HEADER_SIZE + 22);
		}
		m = answer + WIRE_HEADER_SIZE + length;
	}
	b.in_use = t[1];
	b.earlier = t[2];
	if (kept) { /* tables that are to stay, in the fabric as it is later */
		size_t size = WIRE_HEADER_SIZE + get64(m + 8);
		later = net_new(m, size);
		ok = ok && later;
		b = (struct before){.in_use = t[0]};
		m += size;
	}
	if (ok && !t[0])
		snprintf(line, LINE, "m %s", why);
	else if (!ok || tables_prove_from(t[0], &b, kept ? later : n[0], &t[0]->found, why) != 0 || (!kept && tree_prove(t[0], &b, n[0], why) != 0))
		snprintf(line, LINE, "u %s", why);
	else {
		tree_text(t[0], text);
		snprintf(line, LINE, "%c %u %llu %s", t[0]->found.about ? 'p' : 'n', t[0]->found.hops, (unsigned long long)t[0]->found.cut, text);
		if (t[0]->groups && !kept)
			part(t[0], strcat(line, " "));
	}
	for (int i = 0; i < MOST; i++) {
		tables_free(t[i]);
		net_free(n[i]);
		free(requests[i]);
	}
	net_free(later);
	return ok ? m : NULL;
}

/*
 * cases answers the cases of a file. A case is a number of pairs of a request and an answer: those
 * at hand, those whose tables are in use then, and those that were in use before; with KEPT the
 * one pair and the request of a later fabric, in which its tables are to stay. Some are answered once
 * more with memory that is out at some moment, which must prove nothing.
 */
static void cases(const char *path)
{
	size_t size;
	uint8_t *file = slurp(path, &size);
	const uint8_t *m = file;

	for (unsigned i = 0; m < file + size; i++) {
		char line[LINE], again[LINE];
		const uint8_t *next;
		allocations = failing = 0;
		next = answer_one(m + 1, *m, line);
		if (!next)
			exit(2);
		if (i % 4 == 0) {
			failing = 1 + i / 4 * 7919 % allocations;
			allocations = 0;
			answer_one(m + 1, *m, again);
			failing = 0;
			if ((*again == 'p' || *again == 'n') && strcmp(line, again) == 0)
				strcpy(line, "proven without memory");
		}
		puts(line);
		m = next;
	}
	free(file);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct shelf shelf;
static atomic_int stop;

/* sl is the plugin's path_sl. */
static uint8_t sl(uint16_t from, uint16_t to)
{
	const struct tables *t = shelf_take(&shelf);
	uint8_t s = t ? tables_path_sl(t, from, to, 0) : NO_SL;

	shelf_return(&shelf);
	return s;
}

static void timing(struct tables *t, const struct net *n)
{
	enum { QUERIES = 20 * 1000 * 1000 };
	char why[WHY_SIZE];
	double begin = now();
	uint64_t sum = 0, dice = 1;

	if (tables_prove(t, n, why) != 0) {
		printf("unproven: %s\n", why);
		exit(1);
	}
	printf("prove %.3f s\n", now() - begin);
	shelf_put(&shelf, t);
	begin = now();
	for (int i = 0; i < QUERIES; i++) {
		dice = dice * 6364136223846793005u + 1442695040888963407u;
		sum += sl((uint16_t)((dice >> 33) % t->lids), (uint16_t)((dice >> 48) % t->lids));
	}
	printf("path SLs %.0f a second (sum %llu)\n", QUERIES / (now() - begin), (unsigned long long)sum);
}

static void *reader(void *lids)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; !atomic_load(&stop); i++)
		sum += sl((uint16_t)(i % *(uint32_t *)lids), (uint16_t)(i * 7 % *(uint32_t *)lids));
	return (void *)(uintptr_t)(sum & 1);
}

static void swap(const uint8_t *answer, const struct net *n, int times)
{
	pthread_t threads[2];
	uint32_t lids = n->lids;
	uint64_t size = get64(answer + 8);
	char why[WHY_SIZE];
	int put = 0;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, reader, &lids) != 0)
			exit(2);
	for (int i = 0; i < times; i++) {
		struct tables *t = tables_new(body(answer, size), size, get64(answer + WIRE_HEADER_SIZE), n, why);
		if (!t)
			exit(1);
		if (shelf_put(&shelf, t))
			put++;
		else
			tables_free(t);
	}
	atomic_store(&stop, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("replaced %d of %d times\n", put, times);
}

enum { DEADLINE = 60000 }; /* ms, which no answer takes, on however busy a machine */

static atomic_int came;

static void came_late(void *context, const struct question *q)
{
	(void)context;
	printf("late: %s\n", q->tables ? "tables" : q->why);
	atomic_store(&came, 1);
}

/* pose asks. */
static const struct question *pose(struct asker *a, const uint8_t *request, size_t size)
{
	static uint64_t sweep;
	uint8_t *copy = malloc(size);
	const struct question *q;

	if (!copy)
		exit(2);
	memcpy(copy, request, size);
	put64(copy + WIRE_HEADER_SIZE, ++sweep);
	q = asker_ask(a, copy, size, NULL);
	if (!q)
		exit(2);
	return q;
}

/* again asks for better tables. */
static void again(struct asker *a, const uint8_t *request, size_t size)
{
	uint8_t *copy = malloc(size);

	if (!copy)
		exit(2);
	memcpy(copy, request, size);
	if (!asker_again(a, copy, size, NULL))
		exit(2);
}

/* question asks, and says what became of it within a tenth of a second. */
static const struct question *question(struct asker *a, const uint8_t *request, size_t size)
{
	const struct question *q = pose(a, request, size);

	printf("%s\n", asker_wait(a, now_ms() + 100) ? "answered" : "waiting");
	return q;
}

static void later(const char *socket, const uint8_t *request, size_t size, const uint8_t *other, size_t other_size)
{
	static const unsigned over;
	struct asker a = {.daemon = {.owner = geteuid(), .deadline_ms = DEADLINE}, .late = came_late, .over = &over};
	const struct question *q;
	int64_t began;

	snprintf(a.daemon.socket, sizeof a.daemon.socket, "%s", socket);
	if (!asker_begin(&a))
		exit(2);
	question(&a, request, size);
	question(&a, request, size); /* goes on with the first */
	if (asker_leave(&a))
		exit(2);
	began = now_ms();
	q = question(&a, other, other_size);
	printf("%s\n", now_ms() - began < DEADLINE / 2 ? "at once" : "the first was waited for");
	if (!asker_leave(&a))
		while (!atomic_load(&came))
			usleep(1000);
	if (question(&a, other, other_size) == q) /* with the tables that came late */
		verdict(asker_take(&a), q->net, q->why);
	question(&a, request, size);
	asker_end(&a); /* while it asks */
}

/* taken is the verdict on the tables of a question, once it has ended. */
static void taken(struct asker *a, const struct question *q)
{
	struct tables *t;

	asker_wait(a, INT64_MAX);
	t = asker_take(a);
	printf("%s\n", t && t->so_far ? "so far" : "final");
	verdict(t, q->net, q->why);
}

static void better(const char *socket, const uint8_t *request, size_t size)
{
	static const unsigned over;
	struct asker a = {.daemon = {.owner = geteuid(), .deadline_ms = DEADLINE}, .late = came_late, .over = &over};

	snprintf(a.daemon.socket, sizeof a.daemon.socket, "%s", socket);
	if (!asker_begin(&a))
		exit(2);
	taken(&a, pose(&a, request, size));
	again(&a, request, size);
	taken(&a, pose(&a, request, size)); /* OpenSM sweeps meanwhile */
	again(&a, request, size);
	while (!atomic_load(&came))
		usleep(1000);
	taken(&a, pose(&a, request, size)); /* with the tables that came */
	asker_end(&a);
}

int main(int argc, char **argv)
{
	size_t size, left;
	uint8_t *request, *file = NULL, *m;
	struct net *n;
	char why[WHY_SIZE] = "";

	if (argc < 4)
		return 2;
	if (strcmp(argv[1], "cases") == 0)
		return cases(argv[2]), 0;
	request = slurp(argv[2], &size);
	n = net_new(request, size);
	if (!n)
		return 2;
	if (strcmp(argv[1], "ask") == 0 && argc > 4) {
		struct daemon d = {.owner = geteuid(), .deadline_ms = DEADLINE};
		snprintf(d.socket, sizeof d.socket, "%s", argv[4]);
		enum reply reply;
		verdict(ask_daemon(&d, request, size, n, -1, &reply, why), n, why);
		net_free(n);
		free(request);
		return 0;
	}
	if (strcmp(argv[1], "better") == 0 && argc > 4) {
		better(argv[4], request, size);
		net_free(n);
		free(request);
		return 0;
	}
	file = slurp(argv[3], &left);
	if (strcmp(argv[1], "late") == 0 && argc > 4)
		later(argv[4], request, size, file, left);
	for (m = file; strcmp(argv[1], "prove") == 0 && left >= WIRE_HEADER_SIZE;) {
		uint64_t length = get64(m + 8);
		if (length > left - WIRE_HEADER_SIZE)
			return 2;
		verdict(tables_new(body(m, length), length, get64(request + WIRE_HEADER_SIZE), n, why), n, why);
		m += WIRE_HEADER_SIZE + length;
		left -= WIRE_HEADER_SIZE + length;
	}
	if (strcmp(argv[1], "levels") == 0) {
		struct tables *t = tables_new(body(file, get64(file + 8)), get64(file + 8), get64(request + WIRE_HEADER_SIZE), n, why);
		if (!t)
			return 1;
		for (uint8_t hint = 0; hint < WIRE_SLS; hint++)
			printf("%u\n", tables_path_sl(t, (uint16_t)t->lids, 1, hint));
		tables_free(t);
	}
	if (strcmp(argv[1], "time") == 0) {
		struct tables *t = tables_new(body(file, get64(file + 8)), get64(file + 8), get64(request + WIRE_HEADER_SIZE), n, why);
		if (!t)
			return 1;
		timing(t, n);
	}
	if (strcmp(argv[1], "keep") == 0 && argc > 4) {
		struct tables *t = tables_new(body(file, get64(file + 8)), get64(file + 8), get64(request + WIRE_HEADER_SIZE), n, why);
		uint8_t *later = slurp(argv[4], &size);
		struct net *now = net_new(later, size);
		if (!now)
			return 2;
		tables_free(tables_hold(t)); /* who else held them has let go */
		verdict(t, now, why);
		net_free(now);
		free(later);
	}
	if (strcmp(argv[1], "left") == 0 && argc > 4)
		what_is_left(request, file, argv[4], n);
	if (strcmp(argv[1], "step") == 0 && argc > 4)
		steps(request, size, file, argv[4], n);
	if (strcmp(argv[1], "swap") == 0)
		swap(file, n, argc > 4 ? atoi(argv[4]) : 1000);
	shelf_empty(&shelf);
	net_free(n);
	free(request);
	free(file);
	return 0;
}
