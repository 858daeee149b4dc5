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

/*
 * ask_daemon sends a request and returns the tables of the answer, well formed
 * but not proven. NULL: why says what happened; a refusal is among that. It gives
 * up when the file stop can be read; -1: there is none.
 */
struct tables *ask_daemon(const struct daemon *d, const uint8_t *request, size_t size, const struct net *n, int stop, char *why);

/* With these begins why: the daemon has no tables; nobody took the call; the daemon was there and is gone. */
#define REFUSES "the daemon refuses: "
#define ABSENT "no daemon at "
#define HUNG_UP "the daemon hung up "

int64_t now_ms(void); /* of a clock that is never set */

#endif
