/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "prove.h"
#include "tree.h"

#define LOOK_UP 100	  /* ms between looks whether the process ends */
#define SETTLE 20	  /* ms between looks whether earlier packets are gone */
#define PAUSE 1000	  /* ms before a question is asked again, at least */
#define PAUSE_MOST 60000  /* ms, at most */
#define BETTER_MS 3600000 /* ms to wait for better tables; the daemon limits its search */

/* receive receives tables, better ones than those there are if the question is for these. */
static struct tables *receive(const struct asker *a, struct question *q)
{
	struct daemon d = a->daemon;
	struct tables *t;
	uint8_t *request;

	if (!q->again)
		return ask_daemon(&d, q->request, q->size, q->net, a->stop, &q->reply, q->why);
	q->reply = FAILURE;
	request = malloc(q->size);
	if (!request)
		return snprintf(q->why, WHY_SIZE, "out of memory"), NULL;
	memcpy(request, q->request, q->size);
	d.deadline_ms = BETTER_MS;
	put32(request + WIRE_HEADER_SIZE + 16, BETTER_MS);
	request[WIRE_HEADER_SIZE + 21] |= WIRE_AGAIN;
	t = ask_daemon(&d, request, q->size, q->net, a->stop, &q->reply, q->why);
	free(request);
	return t;
}

struct before question_before(const struct question *q)
{
	const uint8_t *body = q->request + WIRE_HEADER_SIZE;
	uint32_t count = get32(body + 36);
	size_t rest = (size_t)count * WIRE_BLOCK_SIZE + get16(body + 22); /* the version is behind them */

	return (struct before){q->in_use, q->earlier, q->request + q->size - rest, count};
}

/*
 * settle waits until the packets of earlier tables are gone, before the next step; nobody
 * who waits for the answer is kept longer than otherwise. 0: nobody wants it any more.
 */
static int settle(const struct asker *a, const struct tables *t, const struct question *q)
{
	struct pollfd p = {.fd = a->stop, .events = POLLIN};

	while (t->step && (t->number != tables_number(q->in_use) || q->again) && now_ms() < atomic_load(&a->gone))
		if (poll(&p, 1, SETTLE) > 0 || *a->over)
			return 0;
	return 1;
}

/*
 * holds proves tables for now. With packets of earlier tables about, a step is proven for
 * these too, or else it waits until they are gone.
 */
static int holds(const struct asker *a, struct tables *t, const struct question *q, char *wrong)
{
	struct before b = question_before(q);

	if (!tables_suffice(t, &a->wanted, wrong))
		return 0;
	if (b.earlier && tables_prove_from(t, &b, q->net, &t->found, wrong) == 0 && tree_prove(t, &b, q->net, wrong) == 0)
		return 1;
	b.earlier = NULL;
	if (tables_prove_from(t, &b, q->net, &t->found, wrong) != 0 || tree_prove(t, &b, q->net, wrong) != 0)
		return 0;
	if (settle(a, t, q))
		return 1;
	snprintf(wrong, WHY_SIZE, "nobody waits for them any more");
	return 0;
}

/* fetch receives tables and proves them; NULL: reply and why say why there are none. */
static struct tables *fetch(const struct asker *a, struct question *q)
{
	struct tables *t = receive(a, q);
	char wrong[WHY_SIZE];

	if (!t || holds(a, t, q, wrong))
		return t;
	q->reply = FAILURE;
	snprintf(q->why, WHY_SIZE, "the daemon's tables do not hold: %.*s", WHY_SIZE / 2, wrong);
	tables_free(t);
	return NULL;
}

int asker_pause(const struct asker *a, enum reply reply)
{
	int times = atomic_load(&a->failures);
	int64_t ms = (int64_t)PAUSE << (times < 1 ? 0 : times > 7 ? 6 : times - 1);

	return reply == ABSENT ? PAUSE : ms < PAUSE_MOST ? (int)ms : PAUSE_MOST;
}

/* rest pauses before a question is asked again; 0: nobody wants it any more. */
static int rest(const struct asker *a, const struct question *q)
{
	struct pollfd p = {.fd = a->stop, .events = POLLIN};

	return poll(&p, 1, asker_pause(a, q->reply)) == 0 && !*a->over;
}

/*
 * stands says whether a question stays open for tables that may be ordered at any time,
 * through restarts of the daemon too: a new one asks at once what there is to do.
 */
static int stands(const struct question *q)
{
	return q->again && q->in_use && q->in_use->orders && q->in_use->more == 0;
}

/* note notes what became of asking once. */
static void note(struct asker *a, struct question *q, int64_t asked)
{
	struct timespec cpu;

	q->took = now_ms() - q->began;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	q->cpu = (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9;
	if (!q->tables && !(stands(q) && q->reply != FAILURE))
		atomic_fetch_add(&a->failures, 1);
	else if (q->tables && q->tables->number != tables_number(q->in_use))
		atomic_store(&a->failures, 0);
	pthread_mutex_lock(&a->lock);
	if (!q->again)
		a->silent = !q->tables && now_ms() - asked >= a->daemon.deadline_ms;
	pthread_mutex_unlock(&a->lock);
}

/*
 * follows_on says whether a question for what is to follow tables in use is asked once more:
 * where the daemon said after a long time that there is nothing yet; and for the next step of
 * a plan, whatever is wrong, unless the daemon refuses. Then the plan has no next step, and
 * late has OpenSM ask anew.
 */
static int follows_on(const struct asker *a, const struct question *q, int64_t asked)
{
	int step = q->in_use && q->in_use->more > 0;

	if (q->tables)
		return 0;
	if (step && q->reply == REFUSAL) {
		rest(a, q);
		return 0;
	}
	return step || stands(q) || now_ms() - asked > BETTER_MS / 2;
}

/* tell tells once that a question which stays open has had no tables so far. */
static void tell(struct asker *a, struct question *q)
{
	pthread_mutex_lock(&a->lock);
	if (!q->tables && !a->awaited && !q->told && stands(q) && q->reply != ABSENT) {
		q->told = 1;
		a->late(a->context, q);
	}
	pthread_mutex_unlock(&a->lock);
}

/* goes_on says whether any other question is: until there are tables, once nobody waits for it any more. */
static int goes_on(struct asker *a, struct question *q)
{
	int due;

	pthread_mutex_lock(&a->lock);
	due = !q->tables && !a->awaited;
	if (due)
		q->persists = 1;
	else
		a->ended = 1; /* whoever stops waiting now is told so */
	pthread_mutex_unlock(&a->lock);
	if (due && q->reply != ABSENT)
		a->late(a->context, q);
	return due;
}

static void *asking(void *asker)
{
	struct asker *a = asker;
	struct question *q = a->now;
	int wanted = !q->persists || rest(a, q);

	while (wanted) {
		int64_t asked = now_ms();
		q->tables = fetch(a, q);
		note(a, q, asked);
		wanted = (q->again ? follows_on(a, q, asked) : goes_on(a, q));
		if (wanted)
			tell(a, q);
		wanted = wanted && rest(a, q);
	}
	pthread_mutex_lock(&a->lock);
	a->ended = 1;
	if (!a->awaited && (q->tables || q->again))
		a->late(a->context, q);
	pthread_cond_signal(&a->change);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static void question_free(struct question *q)
{
	tables_free(q->tables);
	tables_free(q->in_use);
	tables_free(q->earlier);
	net_free(q->net);
	free(q->request);
	free(q);
}

/* drop ends the question, with its thread. */
static void drop(struct asker *a)
{
	struct question *q = a->now;
	uint64_t one = 1;

	if (!q)
		return;
	pthread_mutex_lock(&a->lock);
	a->awaited = 1; /* whatever becomes of it is of no interest */
	pthread_mutex_unlock(&a->lock);
	while (write(a->stop, &one, sizeof one) < 0 && errno == EINTR)
		;
	pthread_join(a->thread, NULL);
	while (read(a->stop, &one, sizeof one) < 0 && errno == EINTR)
		;
	a->now = NULL;
	question_free(q);
}

/* same says whether requests differ in no more than the number of the sweep. */
static int same(const struct question *q, const uint8_t *request, size_t size)
{
	const size_t rest = WIRE_HEADER_SIZE + sizeof(uint64_t);

	return q->size == size && memcmp(q->request + rest, request + rest, size - rest) == 0;
}

/* start starts the thread, which leaves signals to the others. */
static int start(struct asker *a)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&a->thread, NULL, asking, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error == 0;
}

/* begin begins a question, and takes the request over; NULL: out of memory. */
static struct question *begin(struct asker *a, uint8_t *request, size_t size, struct tables *in_use, int again)
{
	struct question *q = calloc(1, sizeof *q);

	if (q)
		q->net = net_new(request, size);
	if (!q || !q->net)
		goto out_of_memory;
	q->request = request;
	q->size = size;
	q->in_use = tables_hold(in_use);
	if (!again && now_ms() < atomic_load(&a->gone))
		q->earlier = tables_hold(a->earlier);
	q->again = again;
	q->began = now_ms();
	a->ended = 0;
	a->awaited = !again;
	a->now = q;
	if (start(a))
		return q;
	a->now = NULL;
	question_free(q);
	return NULL;
out_of_memory:
	free(q);
	free(request);
	return NULL;
}

const struct question *asker_ask(struct asker *a, uint8_t *request, size_t size, struct tables *in_use)
{
	struct question *q = a->now;
	int useful;

	pthread_mutex_lock(&a->lock);
	useful = q && same(q, request, size) && (!a->ended || q->tables) && (a->ended || !(q->again || q->persists));
	if (useful)
		a->awaited = 1;
	pthread_mutex_unlock(&a->lock);
	if (useful) {
		free(request);
		return q;
	}
	drop(a);
	return begin(a, request, size, in_use, 0);
}

int asker_again(struct asker *a, uint8_t *request, size_t size, struct tables *in_use)
{
	drop(a);
	return begin(a, request, size, in_use, 1) != NULL;
}

void asker_persist(struct asker *a)
{
	struct question *q = a->now;

	pthread_join(a->thread, NULL);
	q->persists = 1;
	a->ended = a->awaited = 0;
	if (start(a))
		return;
	a->now = NULL;
	question_free(q);
}

int asker_wait(struct asker *a, int64_t until)
{
	int ended;

	pthread_mutex_lock(&a->lock);
	while (!a->ended && now_ms() < until && !*a->over) {
		int64_t next = now_ms() + LOOK_UP;
		struct timespec t;
		if (next > until)
			next = until;
		t.tv_sec = next / 1000;
		t.tv_nsec = next % 1000 * 1000000;
		pthread_cond_timedwait(&a->change, &a->lock, &t);
	}
	ended = a->ended;
	pthread_mutex_unlock(&a->lock);
	return ended;
}

int asker_leave(struct asker *a)
{
	int ended;

	pthread_mutex_lock(&a->lock);
	ended = a->ended;
	a->awaited = ended;
	pthread_mutex_unlock(&a->lock);
	return ended;
}

struct tables *asker_take(struct asker *a)
{
	struct tables *t = a->now->tables;

	a->now->tables = NULL;
	return t;
}

void asker_replaced(struct asker *a, struct tables *was)
{
	int settled = now_ms() >= atomic_load(&a->gone);

	tables_free(a->earlier);
	a->earlier = settled ? tables_hold(was) : NULL;
}

int asker_silent(struct asker *a)
{
	int silent;

	pthread_mutex_lock(&a->lock);
	silent = a->silent;
	pthread_mutex_unlock(&a->lock);
	return silent;
}

int asker_begin(struct asker *a)
{
	pthread_condattr_t by_clock;

	atomic_init(&a->gone, 0);
	atomic_init(&a->failures, 0);
	a->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (a->stop < 0)
		return 0;
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&by_clock);
	pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
	pthread_cond_init(&a->change, &by_clock);
	pthread_condattr_destroy(&by_clock);
	return 1;
}

void asker_end(struct asker *a)
{
	drop(a);
	tables_free(a->earlier);
	pthread_cond_destroy(&a->change);
	pthread_mutex_destroy(&a->lock);
	close(a->stop);
}
