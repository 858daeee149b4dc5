/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the administrator says in event_plugin_options of opensm.conf. Words are
 * apart by commas or blanks; those that do not begin with "weft." are for other
 * plugins:
 *
 *	weft.socket    path of the daemon's socket; /run/weft/opensm.sock
 *	weft.deadline  seconds for the whole answer, 1 to 3600; 60
 *	weft.wait      seconds of them that OpenSM waits, and path records with it,
 *	               while the tables in use are proven; 3
 *	weft.owner     number or name of the user that the daemon runs as; weft
 *	weft.contract  what clients may do at least in the daemon's proof: honored,
 *	               directed, single:N or any; honored
 *	weft.scope     whom the proof must be about at least: hca, ca or all; hca
 *	weft.drops     allowed or never: whether a step may cut pairs until the next, where
 *	               tables that are routed anew cannot replace others otherwise; never
 *
 * Tables whose proof is for less than weft.contract and weft.scope are refused,
 * whatever the daemon's configuration says.
 */
#ifndef WEFT_OPTIONS_H
#define WEFT_OPTIONS_H

#include <opensm/osm_log.h>
#include <opensm/osm_subnet.h>

#include "talk.h"

#define ENGINE "weft"

#define SAY_TO(log, level, ...) osm_log(log, level, ENGINE ": " __VA_ARGS__)

struct options {
	struct daemon daemon;
	int wait_ms;
	struct terms wanted;
};

/* options_read reads them; 0: one of them is wrong, and the log says which. */
int options_read(struct options *o, const osm_subn_t *subn, osm_log_t *log);

#endif
