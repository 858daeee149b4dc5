/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's routing engine "weft": asks the daemon for tables, proves them, and
 * hands them to OpenSM.
 *
 * In opensm.conf:
 *
 *	event_plugin_name weft
 *	event_plugin_options weft.socket=/run/weft/opensm.sock,weft.deadline=60
 *	routing_engine weft,nue
 *	qos TRUE
 *
 * The engine behind weft is what OpenSM takes when there are no tables. It should
 * take every fabric, as nue does: after one that refuses (updn without roots on a
 * torus) comes MinHop, which may deadlock.
 *
 * Options are in options.h.
 *
 * Threads: tables are built by the thread that sweeps. Path records are answered
 * by others at the same time; they only read the present tables, which never
 * change and are freed when nobody reads any more.
 *
 * The proof is about unicast. Multicast trees are OpenSM's own, by its hop counts.
 */
#include <opensm/osm_config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>

#include "options.h"
#include "request.h"
#include "shelf.h"
#include "talk.h"

#ifndef BUILT_FOR /* a test builds it for another */
#define BUILT_FOR OSM_VERSION
#endif

struct weft {
	struct osm_opensm *osm;
	struct external_routing_engine_module module;
	struct options options;
	uint64_t sweep;
	struct shelf shelf; /* what OpenSM was last given */
};

#define SAY(w, level, ...) SAY_TO(&(w)->osm->log, level, __VA_ARGS__)

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* hand_over fills OpenSM's forwarding tables, all or none; 0: one of them does not do. */
static int hand_over(struct weft *w, const struct tables *t, const struct net *n)
{
	cl_qmap_t *switches = &w->osm->subn.sw_guid_tbl;
	cl_map_item_t *i;

	for (i = cl_qmap_head(switches); i != cl_qmap_end(switches); i = cl_qmap_next(i)) {
		osm_switch_t *s = (osm_switch_t *)i;
		if (!s->new_lft || n->lids > (uint32_t)s->max_lid_ho + 1 || n->lids > s->lft_size ||
		    tables_row(t, cl_ntoh64(osm_node_get_node_guid(s->p_node))) == NO_ROW) {
			SAY(w, OSM_LOG_ERROR, "ERR W004: OpenSM has no forwarding table of %u LIDs for switch 0x%016llx\n", n->lids,
			    (unsigned long long)cl_ntoh64(osm_node_get_node_guid(s->p_node)));
			return 0;
		}
	}
	for (i = cl_qmap_head(switches); i != cl_qmap_end(switches); i = cl_qmap_next(i)) {
		osm_switch_t *s = (osm_switch_t *)i;
		uint32_t row = tables_row(t, cl_ntoh64(osm_node_get_node_guid(s->p_node)));
		memset(s->new_lft, OSM_NO_PATH, s->lft_size);
		for (uint32_t lid = 0; lid < n->lids; lid++)
			if (n->owner[lid] != NOBODY)
				s->new_lft[lid] = t->out[(size_t)row * t->lids + lid];
	}
	return 1;
}

/* fresh asks for tables and proves them; NULL: why says why there are none. */
static struct tables *fresh(struct weft *w, const uint8_t *request, size_t size, const struct net *n, char *why)
{
	struct tables *t = ask_daemon(&w->options.daemon, request, size, n, why);
	char wrong[WHY_SIZE];

	if (!t || (tables_suffice(t, &w->options.wanted, wrong) && tables_prove(t, n, wrong) == 0))
		return t;
	snprintf(why, WHY_SIZE, "the daemon's tables do not hold: %.*s", WHY_SIZE / 2, wrong);
	tables_free(t);
	return NULL;
}

/* keep says whether the last tables are proven for the fabric as it is now. */
static const struct tables *keep(struct weft *w, const struct net *n, const char *why)
{
	const struct tables *t = atomic_load(&w->shelf.live);
	char wrong[WHY_SIZE];

	if (!t) {
		SAY(w, OSM_LOG_ERROR, "ERR W001: no tables for sweep %llu: %s; there are none to keep, OpenSM goes on to its next routing engine\n",
		    (unsigned long long)w->sweep, why);
		return NULL;
	}
	if (tables_prove(t, n, wrong) != 0) {
		SAY(w, OSM_LOG_ERROR, "ERR W002: no tables for sweep %llu: %s; those of sweep %llu do not fit the fabric any more (%s), OpenSM goes on to its next routing engine\n",
		    (unsigned long long)w->sweep, why, (unsigned long long)t->sweep, wrong);
		return NULL;
	}
	SAY(w, OSM_LOG_ERROR, "ERR W003: no tables for sweep %llu: %s; those of sweep %llu are proven for the fabric as it is and stay\n",
	    (unsigned long long)w->sweep, why, (unsigned long long)t->sweep);
	return t;
}

static int route(struct weft *w, const uint8_t *request, size_t size, const struct net *n)
{
	char why[WHY_SIZE] = "", terms[TERMS_SIZE];
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	struct tables *t = fresh(w, request, size, n, why);

	if (!t) {
		const struct tables *kept = keep(w, n, why);
		return kept && hand_over(w, kept, n) ? 0 : -1;
	}
	if (!hand_over(w, t, n))
		goto failed;
	if (!shelf_put(&w->shelf, t)) {
		SAY(w, OSM_LOG_ERROR, "ERR W005: path records still read tables of four sweeps ago\n");
		goto failed;
	}
	terms_text(&t->terms, terms);
	SAY(w, OSM_LOG_INFO, "sweep %llu: %u switches, %u lanes, engine %s, proven; %.3f s, %.3f s of them in this process; %s\n",
	    (unsigned long long)t->sweep, t->rows, t->lanes, t->engine, seconds(CLOCK_MONOTONIC) - wall,
	    seconds(CLOCK_THREAD_CPUTIME_ID) - cpu, terms);
	return 0;
failed:
	tables_free(t);
	return -1;
}

static int build_fwd_tables(void *context)
{
	struct weft *w = context;
	size_t size;
	uint8_t *request = request_new(&w->osm->subn, ++w->sweep, w->options.daemon.deadline_ms, w->osm->osm_version, &size);
	struct net *n = request ? net_new(request, size) : NULL;
	int result = -1;

	if (n)
		result = route(w, request, size, n);
	else
		SAY(w, OSM_LOG_ERROR, "ERR W006: out of memory\n");
	net_free(n);
	free(request);
	return result;
}

static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t slid, const ib_net16_t dlid)
{
	struct weft *w = context;
	const struct tables *t = shelf_take(&w->shelf);
	uint8_t sl = t ? tables_sl(t, cl_ntoh16(slid), cl_ntoh16(dlid)) : NO_SL;

	shelf_return(&w->shelf);
	return sl == NO_SL ? hint : sl; /* without an entry for the LID there is no path */
}

static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out, ib_slvl_table_t *table)
{
	struct weft *w = context;
	const osm_node_t *node = osm_physp_get_node_ptr(port);
	int is_switch = osm_node_get_type(node) == IB_NODE_TYPE_SWITCH;
	const osm_physp_t *sends = is_switch ? osm_node_get_physp_ptr((osm_node_t *)node, out) : port;
	const struct tables *t = shelf_take(&w->shelf);
	uint32_t row = t && is_switch ? tables_row(t, cl_ntoh64(osm_node_get_node_guid(node))) : NO_ROW;
	uint8_t lanes = sends ? port_lanes(sends, &w->osm->subn) : 1;

	if (t && (!is_switch || (row != NO_ROW && in < t->slot[row + 1] - t->slot[row] && out < t->slot[row + 1] - t->slot[row]))) {
		const uint8_t *map = is_switch ? tables_map(t, row, in, out) : t->adapters;
		/* What the proof is about is below lanes; for the rest OpenSM would mask bits off. */
		for (uint8_t sl = 0; sl < WIRE_SLS; sl++)
			ib_slvl_table_set(table, sl, map[sl] == WIRE_DROPPED ? WIRE_DROPPED : map[sl] % lanes);
	}
	shelf_return(&w->shelf);
}

static int setup(struct osm_routing_engine *engine, struct osm_opensm *osm)
{
	(void)osm;
	engine->ucast_build_fwd_tables = build_fwd_tables;
	engine->path_sl = path_sl;
	engine->update_sl2vl = update_sl2vl;
	/* build_lid_matrices is OpenSM's own: multicast goes by its hop counts. */
	return 0;
}

/*
 * same_layout holds addresses that OpenSM has written against where this plugin
 * sees them: an OpenSM of the same version but other build options has its parts
 * elsewhere.
 */
static int same_layout(const struct osm_opensm *osm)
{
	return osm->subn.p_osm == osm && osm->sm.p_subn == &osm->subn && osm->sm.p_log == &osm->log && osm->sa.p_subn == &osm->subn &&
	       osm->sa.p_lock == &osm->lock;
}

static void *create(struct osm_opensm *osm)
{
	char terms[TERMS_SIZE];
	struct weft *w;

	if (!same_layout(osm)) { /* the log is elsewhere too; OpenSM writes there that it cannot load the plugin */
		fprintf(stderr, ENGINE ": this plugin was built with headers of another build of %s; build it with those of the OpenSM that runs\n", BUILT_FOR);
		return NULL;
	}
	w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->osm = osm;
	if (!options_read(&w->options, &osm->subn, &osm->log)) {
		free(w);
		return NULL;
	}
	w->module.name = ENGINE;
	w->module.setup = setup;
	w->module.context = w;
	if (osm_register_external_routing_engine(osm, &w->module, w) != 0) {
		SAY(w, OSM_LOG_ERROR, "ERR W014: OpenSM does not take the routing engine\n");
		free(w);
		return NULL;
	}
	terms_text(&w->options.wanted, terms);
	SAY(w, OSM_LOG_INFO, "routing engine for %s, daemon at %s, deadline %d s; a proof is to be for %s\n", BUILT_FOR,
	    w->options.daemon.socket, w->options.daemon.deadline_ms / 1000, terms);
	return w;
}

static void delete(void *context)
{
	struct weft *w = context;

	shelf_empty(&w->shelf);
	free(w);
}

__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
	.osm_version = BUILT_FOR,
	.create = create,
	.delete = delete,
	.report = NULL,
};
