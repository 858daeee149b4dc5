/* SPDX-License-Identifier: BSD-2-Clause */
/* The fabric that OpenSM discovered, written as a request to the daemon. */
#ifndef WEFT_REQUEST_H
#define WEFT_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include <opensm/osm_port.h>
#include <opensm/osm_subnet.h>

#include "tables.h"

/*
 * request_new is a whole message, to be freed. in_use is what OpenSM has of ours, NULL:
 * nothing. Where switches have not confirmed it, the message says what they have.
 * NULL: out of memory.
 */
struct asked {
	uint64_t sweep;
	int deadline_ms;
	const char *version;
	const struct tables *in_use;
};
uint8_t *request_new(const osm_subn_t *subn, const struct asked *a, size_t *size);

#endif
