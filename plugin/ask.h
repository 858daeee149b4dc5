/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A question to the daemon, asked by a thread of its own: OpenSM holds a lock that
 * the SA needs while it waits for a routing engine, so that whoever asks must be
 * able to stop waiting and take the answer later.
 *
 * There is one question at a time. asker_ask, asker_wait, asker_leave, asker_take,
 * asker_again, asker_persist and asker_end are for one thread; the answer is received and proven by another.
 */
#ifndef WEFT_ASK_H
#define WEFT_ASK_H

#include <pthread.h>

#include <stdatomic.h>

#include "talk.h"

/* What is asked, and once it has ended the answer. */
struct question {
	uint8_t *request;
	size_t size;
	struct net *net;       /* the fabric of the request */
	struct tables *in_use; /* those that the request says are in use, held; NULL: none */
	struct tables *earlier; /* whose packets are about still, beside theirs, held; NULL: none, or too many */
	int64_t began;	       /* ms, as now_ms */
	struct tables *tables; /* proven, for all of the terms wanted; NULL: reply and why say why there are none */
	enum reply reply;
	char why[WHY_SIZE];
	int64_t took; /* ms from the beginning to the end */
	double cpu;   /* s of the thread that asked */
	int again;    /* for better tables than those of the question before */
	int persists; /* asked until there are tables */
	int told;     /* that there are none for now, of one that stays open */
};

/* question_before is what packets may follow beside the tables that are asked for. */
struct before question_before(const struct question *q);

struct asker {
	struct daemon daemon;
	struct terms wanted;
	/*
	 * Called by the asking thread when there is an answer to a question that nobody waits
	 * for any more: tables, with which it ends, or none, and it may be asked again
	 * (asker_pause). It must not wait for the thread that asks.
	 */
	void (*late)(void *context, const struct question *q);
	void *context;
	const volatile unsigned *over; /* not 0: the process ends, and nobody waits */
	/*
	 * When the packets of the tables before those in use are gone, as now_ms. A step that
	 * is proven from the tables in use alone is no answer before that.
	 */
	atomic_llong gone;

	/* The rest is ask.c's own. */
	struct tables *earlier; /* that those in use replaced, if packets of no others were about; held */
	struct question *now; /* NULL: none */
	pthread_t thread;     /* that asks now */
	int stop;	      /* eventfd that ends it */
	pthread_mutex_t lock;
	pthread_cond_t change;
	int ended, awaited; /* of now, under lock */
	int silent;	    /* the last question ran out of time; under lock */
	atomic_int failures; /* questions without tables since there were some */
};

/* asker_begin makes an asker whose fields above are set ready; 0: it cannot. */
int asker_begin(struct asker *a);
void asker_end(struct asker *a);

/*
 * asker_ask asks, and takes the request over. If just that is being asked, or was
 * answered with tables that nobody took, it goes on with that: requests differ if
 * more than the number of the sweep does. in_use is the tables in use by the request.
 * NULL: out of memory.
 */
const struct question *asker_ask(struct asker *a, uint8_t *request, size_t size, struct tables *in_use);

/* asker_wait waits until the question has ended, but not past a time; 1: it has. */
int asker_wait(struct asker *a, int64_t until);

/* asker_leave leaves the question to late; 1: it has ended before that. */
int asker_leave(struct asker *a);

/* asker_take takes the tables of a question that has ended; NULL: there are none. */
struct tables *asker_take(struct asker *a);

/*
 * asker_again asks, where the tables taken are the best so far, for better ones, or for
 * the next step: the request, which it takes over, says that they are in use. That is
 * left to late; asker_ask goes on with it once there are tables. 0: out of memory.
 */
int asker_again(struct asker *a, uint8_t *request, size_t size, struct tables *in_use);

/*
 * asker_persist asks once more, after a pause, what has ended without tables, and again until
 * there are some. That is left to late; asker_ask goes on with it once there are tables.
 */
void asker_persist(struct asker *a);

/*
 * asker_pause is the pause before a question that had no tables is asked again, in ms: a
 * second where the daemon is not there, else twice as long each time, from a second to a minute.
 */
int asker_pause(const struct asker *a, enum reply reply);

/* asker_replaced says which tables others replace now; to be said before gone is set. */
void asker_replaced(struct asker *a, struct tables *was);

/* asker_silent says whether the daemon let the last question run out of time. */
int asker_silent(struct asker *a);

#endif
