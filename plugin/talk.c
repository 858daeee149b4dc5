/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "talk.h"

int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A connection, and how long it may take. */
struct line {
	int fd;
	int stop;    /* file that can be read when nobody wants the answer any more, -1: none */
	int64_t end; /* as now_ms */
	enum reply reply; /* what has become of the question; FAILURE until anything else is known */
};

/* until waits for the socket, 0 when it is ready. */
static int until(const struct line *l, short events, const char *doing, char *why)
{
	struct pollfd p[] = {{.fd = l->fd, .events = events}, {.fd = l->stop, .events = POLLIN}};

	for (;;) {
		int64_t left = l->end - now_ms();
		int n = left > 0 ? poll(p, 2, (int)left) : 0;
		if (n > 0 && p[1].revents != 0)
			return snprintf(why, WHY_SIZE, "nobody waits for it any more"), -1;
		if (n > 0)
			return 0;
		if (n == 0)
			return snprintf(why, WHY_SIZE, "no time left while %s", doing), -1;
		if (errno != EINTR)
			return snprintf(why, WHY_SIZE, "%s: %s", doing, strerror(errno)), -1;
	}
}

/*
 * broken says what went wrong while doing something: as it does when it is killed, the daemon may
 * have closed the connection; no error: it has, without one.
 */
static int broken(struct line *l, int error, const char *doing, const char *when, char *why)
{
	if (error != 0 && error != EPIPE && error != ECONNRESET)
		return snprintf(why, WHY_SIZE, "%s: %s", doing, strerror(error)), -1;
	l->reply = ABSENT;
	return snprintf(why, WHY_SIZE, "the daemon hung up %s%s%s", when, error ? ": " : "", error ? strerror(error) : ""), -1;
}

static int send_all(struct line *l, const uint8_t *b, size_t size, char *why)
{
	while (size > 0) {
		if (until(l, POLLOUT, "sending the fabric", why) != 0)
			return -1;
		ssize_t n = send(l->fd, b, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return broken(l, errno, "sending the fabric", "while it was sent the fabric", why);
		if (n > 0) {
			b += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

static int receive_all(struct line *l, uint8_t *b, size_t size, char *why)
{
	while (size > 0) {
		if (until(l, POLLIN, "waiting for the answer", why) != 0)
			return -1;
		ssize_t n = recv(l->fd, b, size, MSG_DONTWAIT);
		if (n == 0)
			return broken(l, 0, "waiting for the answer", "in the middle of its answer", why);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return broken(l, errno, "waiting for the answer", "in the middle of its answer", why);
		if (n > 0) {
			b += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

/* trusted says whether the other end is a process of a user who may answer. */
static int trusted(int fd, const struct daemon *d, char *why)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return snprintf(why, WHY_SIZE, "asking who listens at %s: %s", d->socket, strerror(errno)), 0;
	if (peer.uid == 0 || peer.uid == geteuid() || peer.uid == d->owner)
		return 1;
	snprintf(why, WHY_SIZE, "user %u listens at %s; only root, user %u and user %u may (weft.owner)", peer.uid, d->socket, geteuid(), d->owner);
	return 0;
}

/* stopped waits for a moment, and says whether nobody waits any more. */
static int stopped(const struct line *l)
{
	struct pollfd p = {.fd = l->stop, .events = POLLIN};

	return poll(&p, 1, 20) > 0;
}

/* connect_to opens a socket that does not block; 0: it could not. */
static int connect_to(struct line *l, const struct daemon *d, char *why)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return snprintf(why, WHY_SIZE, "socket: %s", strerror(errno)), 0;
	memcpy(a.sun_path, d->socket, sizeof a.sun_path);
	while (connect(l->fd, (struct sockaddr *)&a, sizeof a) != 0) {
		if (errno == EINTR || (errno == EAGAIN && now_ms() < l->end && !stopped(l))) /* its queue is full */
			continue;
		snprintf(why, WHY_SIZE, "no daemon at %s: %s", d->socket, errno == EAGAIN ? "it does not take the call" : strerror(errno));
		l->reply = ABSENT;
		close(l->fd);
		return 0;
	}
	if (trusted(l->fd, d, why))
		return 1;
	close(l->fd);
	return 0;
}

/* refused puts the daemon's words into why, fit for a log. */
static void refused(const uint8_t *body, uint64_t size, char *why)
{
	int used = snprintf(why, WHY_SIZE, "the daemon refuses: ");

	for (uint64_t i = WIRE_REFUSAL_SIZE; i < size && used < WHY_SIZE - 1; i++)
		why[used++] = (char)(body[i] < ' ' || body[i] == 127 ? ' ' : body[i]);
	why[used] = 0;
}

static struct tables *receive(struct line *l, const uint8_t *request, const struct net *n, char *why)
{
	uint8_t header[WIRE_HEADER_SIZE], *body;
	uint64_t size, sweep = get64(request + WIRE_HEADER_SIZE);
	uint16_t kind;

	if (receive_all(l, header, sizeof header, why) != 0)
		return NULL;
	kind = get16(header + 6);
	size = get64(header + 8);
	if (memcmp(header, WIRE_MAGIC, 4) != 0)
		return snprintf(why, WHY_SIZE, "what answers is not weft's daemon"), NULL;
	if (get16(header + 4) != WIRE_VERSION)
		return snprintf(why, WHY_SIZE, "the daemon speaks version %u, this plugin %d: install both of one release", get16(header + 4), WIRE_VERSION), NULL;
	if ((kind != WIRE_TABLES || size > tables_size_max(n)) &&
	    (kind != WIRE_REFUSAL || size < WIRE_REFUSAL_SIZE || size > WIRE_REFUSAL_SIZE + WIRE_REASON_MAX))
		return snprintf(why, WHY_SIZE, "an answer of kind %u with %llu bytes, which no answer has", kind, (unsigned long long)size), NULL;
	body = malloc(size);
	if (!body)
		return snprintf(why, WHY_SIZE, "out of memory"), NULL;
	if (receive_all(l, body, size, why) == 0) {
		if (kind == WIRE_TABLES)
			return tables_new(body, size, sweep, n, why);
		l->reply = REFUSAL;
		refused(body, size, why);
	}
	free(body);
	return NULL;
}

struct tables *ask_daemon(const struct daemon *d, const uint8_t *request, size_t size, const struct net *n, int stop, enum reply *reply, char *why)
{
	struct line l = {.stop = stop, .end = now_ms() + d->deadline_ms, .reply = FAILURE};
	struct tables *t = NULL;

	if (connect_to(&l, d, why)) {
		if (send_all(&l, request, size, why) == 0)
			t = receive(&l, request, n, why);
		close(l.fd);
	}
	*reply = t ? TABLES : l.reply;
	return t;
}
