/* weft for C and whatever calls C: a network and its forwarding tables go in, the verdict
 * comes out, and with it the proof that the tables cannot deadlock, or a shortest credit
 * loop.
 *
 *   cc judge.c -lweft-c
 *
 * Memory. A question belongs to the caller and is only read during the call. A verdict
 * belongs to the caller until weft_verdict_free, with all that it points to; a text of an
 * error until weft_text_free. Nothing is kept between calls.
 *
 * Threads. Any may call, several at a time. Each call uses as many cores as there are (or
 * as the environment variable GOMAXPROCS says when the library is loaded).
 *
 * Processes. The library brings a Go runtime, which starts threads and handlers of signals
 * when it is loaded: a process that forks must load it behind the fork, or exec. It cannot
 * be unloaded.
 *
 * Errors are texts; a defect of weft is one too, and never ends the process. But as with
 * any Go program, a process without memory does end.
 *
 * Versions. The number in the name of the library, libweft-c.so.1, rises when a program that
 * was built before would not run; otherwise functions and members are only added, the
 * latter at the end. The function weft_version says which weft it is. */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_API 1

/* weft_api is the WEFT_API that the library was built with. */
int weft_api(void);

/* weft_version is the version of weft; it stays valid. */
const char *weft_version(void);

/* A text, or the file that it is in. */
typedef struct weft_text {
	const char *name; /* of the file, or what errors shall call the text */
	const void *text; /* NULL: it is in the file, compressed with gzip or not */
	size_t bytes;
} weft_text;

/* What is to be judged. Without name and text there is none. */
typedef struct weft_question {
	size_t size; /* sizeof (weft_question) */

	weft_text network; /* ibnetdiscover, ibsim, opensm-subnet.lst, ibdiagnet2.db_csv, GraphML, NetworkX JSON, DOT, anynet */
	weft_text lfts;    /* opensm-lfts.dump, opensm.fdbs, dump_fts, ibroute */
	weft_text list;    /* opensm-subnet.lst of the OpenSM that wrote lfts, if they speak of other LIDs; or none */
	weft_text sl2vl;   /* lanes by service level; none: SL n rides VL n */
	weft_text psl;     /* service levels of paths; none: SL 0 for all */

	const char *contract;  /* honored, directed, any, single:N; NULL: honored */
	const char *endpoints; /* hca, ca, all; NULL: hca */
} weft_question;

/* A lane that waits for the next of the loop, the last for the first. */
typedef struct weft_step {
	const char *from, *to;        /* switches */
	uint64_t from_guid, to_guid;
	int from_port, to_port;
	int vl, sl;
	const char *source, *destination; /* of packets that cause it */
	int destination_lid;
	int answer; /* 1: they are answers, on the service level of the request */
} weft_step;

typedef struct weft_verdict {
	int free;     /* 1: proven free of deadlock; 0: there is a credit loop */
	int complete; /* 1: every pair has a route, and no packet circles or is dropped */
	const char *contract, *endpoints;

	int64_t pairs;        /* source endpoints and destination LIDs */
	int64_t unreachable;  /* those of them without a route */
	int64_t circling;     /* switches and LIDs whose packets circle for ever */
	int64_t dropped;      /* turns at which a service level in use has no lane */
	int64_t dependencies; /* between lanes of cables between switches */
	int lanes;            /* that carry traffic between switches */

	size_t steps;          /* of the credit loop; 0: there is none */
	const weft_step *loop;
	const char *certificate; /* the proof, as weft verify --certificate takes it; NULL: there is none */
	size_t outside_count;    /* what the verdict is not about */
	const char *const *outside;
} weft_verdict;

/* weft_judge judges tables. A verdict is not NULL, whatever it is; without one *error says
 * why: what is wrong with which line of which file. error may be NULL. */
weft_verdict *weft_judge(const weft_question *question, char **error);

void weft_verdict_free(weft_verdict *verdict); /* NULL is fine */
void weft_text_free(char *text);               /* likewise */

#ifdef __cplusplus
}
#endif

#endif
