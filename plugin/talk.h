/* SPDX-License-Identifier: BSD-2-Clause */
/* One question and one answer over a Unix socket, within a time that is set. */
#ifndef WEFT_TALK_H
#define WEFT_TALK_H

#include <stdint.h>
#include <sys/types.h>

#include "net.h"
#include "tables.h"

struct daemon {
	char socket[108]; /* path */
	uid_t owner;	  /* whom the daemon may run as, besides root and this process's user */
	int deadline_ms;  /* for everything: connecting, sending, waiting, receiving */
};

/* What became of a question. */
enum reply {
	TABLES,	 /* there are some */
	REFUSAL, /* the daemon has none, and says why */
	ABSENT,	 /* there is no daemon, or there was one and it is gone: it may be started anew */
	FAILURE, /* no time left, or what came is no answer */
};

/*
 * ask_daemon sends a request and returns the tables of the answer, well formed
 * but not proven. NULL: reply and, in words, why say what happened. It gives
 * up when the file stop can be read; -1: there is none.
 */
struct tables *ask_daemon(const struct daemon *d, const uint8_t *request, size_t size, const struct net *n, int stop, enum reply *reply, char *why);

int64_t now_ms(void); /* of a clock that is never set */

#endif
