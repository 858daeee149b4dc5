/* SPDX-License-Identifier: BSD-2-Clause */
/* The fabric that OpenSM discovered, written as a request to the daemon. */
#ifndef WEFT_REQUEST_H
#define WEFT_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include <opensm/osm_port.h>
#include <opensm/osm_subnet.h>

/* request_new is a whole message, to be freed. NULL: out of memory. */
uint8_t *request_new(const osm_subn_t *subn, uint64_t sweep, int deadline_ms, const char *version, size_t *size);

/* port_lanes is the data lanes that OpenSM will make usable on a port. */
uint8_t port_lanes(const osm_physp_t *port, const osm_subn_t *subn);

#endif
