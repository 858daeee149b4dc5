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
 * Locks. OpenSM 3.3.23 has one lock for all that it knows of the fabric, osm->lock,
 * which is also sa.p_lock and sm.p_lock. While OpenSM calls ...
 *	build_lid_matrices, ucast_build_fwd_tables	the sweeping thread holds it for itself
 *	update_sl2vl					the same
 *	mcast_build_stree				the same, or a thread that handles joins and leaves
 *	path_sl						threads that answer path records share it,
 *							or the sweeping thread holds it for itself
 *	create, delete, report				nobody holds it
 * So no query about nodes, ports or paths is answered while a routing engine works,
 * and as each takes one of the dispatcher's threads, of which there are as many as
 * processors, soon nothing else is either, not even the polls of a standby manager.
 * The lock cannot be let go meanwhile: OpenSM has taken note that no engine is in use,
 * and would make up service levels for path records by itself.
 *
 * Threads: tables are handed over by the thread that sweeps. Another asks the daemon
 * and proves what comes (ask.h), so that the first can stop waiting. Path records are
 * answered by others at the same time; they only read the present tables, which never
 * change and are freed when nobody reads any more.
 *
 * Multicast. With a spanning tree in the tables the trees of all groups are parts of it, made
 * here whenever somebody joins or leaves, without the daemon, and the proof is about unicast and
 * multicast. Without one they are OpenSM's own, by its hop counts, and outside of the proof.
 */
#include <opensm/osm_config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>

#include "ask.h"
#include "group.h"
#include "left.h"
#include "options.h"
#include "prove.h"
#include "request.h"
#include "shelf.h"
#include "switches.h"
#include "tree.h"

#ifndef BUILT_FOR /* a test builds it for another */
#define BUILT_FOR OSM_VERSION
#endif

struct weft {
	struct osm_opensm *osm;
	struct osm_routing_engine *engine; /* what OpenSM calls */
	struct external_routing_engine_module module;
	struct asker asker;
	int wait_ms; /* how long OpenSM may be held up while its SA answers */
	uint64_t sweep;
	struct shelf shelf; /* what OpenSM was last given */
	struct shelf levels; /* whose service levels path records carry: the same once it is written */
	int regroup; /* multicast groups have trees of other tables than the shelf's */
	int asks_on; /* there is something to ask for once they are written */
	uint64_t lacked; /* number of the last tables that some switch had not confirmed at first */
	int ours;	    /* it has these tables in use, and not another engine's */
	atomic_llong linger; /* ms that packets of the tables before may be about under these */
	atomic_int writing; /* it has been given other tables and has not said that they are written */
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
	w->ours = 1;
	return 1;
}

/* in_use is the tables that OpenSM has in use, or has what is left of, if they are ours. */
static struct tables *in_use(struct weft *w) { return w->ours ? tables_whole(atomic_load(&w->shelf.live)) : NULL; }

/* LIFETIME is that of a packet in a switch where there is no end to it, in us: OpenSM's default. */
#define LIFETIME 1073741
#define WRITES 10000 /* ms that writing tables takes at most */

/* linger is how long packets of earlier tables may be about under tables, in ms. */
static int64_t linger(const struct tables *t, const uint8_t *request)
{
	uint32_t lifetime = get32(request + WIRE_HEADER_SIZE + 32);

	return (int64_t)t->found.hops * (lifetime ? lifetime : LIFETIME) / 1000;
}

/*
 * publish has path records carry the service levels of tables; 0: it cannot. Those of
 * other tables than before are for the forwarding tables and SL2VL maps of these, so they
 * are published when all switches have confirmed them (report). At once they are only
 * where path records had none of ours before, and where a step replaces tables that
 * were never confirmed: its proof is about the service levels of these and its own.
 */
static int publish(struct weft *w, struct tables *t)
{
	if (atomic_load(&w->levels.live) == t)
		return 1;
	if (shelf_put(&w->levels, tables_hold(t)))
		return 1;
	tables_free(t);
	SAY(w, OSM_LOG_ERROR, "ERR W005: path records still read tables of four sweeps ago\n");
	return 0;
}

/*
 * build_tree makes the tree of a group. Where that is not proven the group gets none: OpenSM
 * has taken away the one that it had, and says that it could not create one.
 */
static ib_api_status_t build_tree(void *context, osm_mgrp_box_t *box)
{
	struct weft *w = context;
	const struct tables *t = shelf_take(&w->shelf);
	char why[WHY_SIZE] = "there are no tables";
	int ok = t && t->groups && group_build(&w->osm->subn, t, box, why);

	shelf_return(&w->shelf);
	if (ok)
		return IB_SUCCESS;
	SAY(w, OSM_LOG_ERROR, "ERR W008: no tree for a multicast group: %s\n", why);
	return IB_ERROR;
}

/* same_tree says whether two tables have the same tree for multicast. */
static int same_tree(const struct tables *a, const struct tables *b)
{
	return a && a->groups == b->groups && a->rows == b->rows && memcmp(a->guid, b->guid, a->rows * sizeof *a->guid) == 0 &&
	       (!a->groups || memcmp(a->tree, b->tree, a->rows) == 0);
}

/* shelve puts tables on the shelf, which it takes over; 0: it cannot. */
static int shelve(struct weft *w, struct tables *t)
{
	int regroup = !same_tree(atomic_load(&w->shelf.live), t);

	if (shelf_put(&w->shelf, t)) {
		w->regroup |= regroup;
		return 1;
	}
	tables_free(t);
	SAY(w, OSM_LOG_ERROR, "ERR W005: path records still read tables of four sweeps ago\n");
	return 0;
}

/*
 * use hands tables over. From now on, and until those of the tables before are gone,
 * there are packets that no proof of a further step is about.
 */
static int use(struct weft *w, struct tables *t, const struct net *n, const uint8_t *request)
{
	struct tables *was = tables_hold(in_use(w));
	int change = t->number != tables_number(was);

	if (!hand_over(w, t, n) || ((!was || t->step) && !publish(w, was ? was : t))) {
		tables_free(t);
		goto out;
	}
	if (!shelve(w, t))
		goto out;
	w->engine->mcast_build_stree = t->groups ? build_tree : NULL;
	if (change) {
		asker_replaced(&w->asker, was);
		atomic_store(&w->linger, linger(t, request));
		atomic_store(&w->writing, 1);
		atomic_store(&w->asker.gone, now_ms() + linger(t, request) + WRITES);
	}
	tables_free(was);
	return 1;
out:
	tables_free(was);
	return 0;
}

/* stay has OpenSM keep tables that it has in use, or what is left of them; 0: it cannot. */
static int stay(struct weft *w, struct tables *t, const struct net *n)
{
	return hand_over(w, t, n) && (atomic_load(&w->shelf.live) == t || shelve(w, tables_hold(t)));
}

/* fitting is the tables in use if they are proven for the fabric as it is now; else unfit says why not. */
static struct tables *fitting(struct weft *w, const struct net *n, char *unfit)
{
	struct tables *t = tables_whole(atomic_load(&w->shelf.live));
	struct found found;
	char wrong[WHY_SIZE] = "pairs are cut";

	/* A step may leave pairs cut until a later one; then no more than those are. */
	if (t && tables_prove_from(t, &(struct before){.in_use = t}, n, &found, wrong) == 0 && found.cut <= t->found.cut)
		return t;
	if (t)
		snprintf(unfit, WHY_SIZE, "those of sweep %llu do not fit the fabric any more (%.*s)", (unsigned long long)t->sweep, WHY_SIZE / 2, wrong);
	else
		snprintf(unfit, WHY_SIZE, "there are none to keep");
	return NULL;
}

/* and_then is what OpenSM does when there are no tables: as routing_engine says. */
static const char *and_then(const struct weft *w, char *text, size_t size)
{
	const struct osm_routing_engine *e = w->osm->routing_engine_list;

	while (e && e->context != w)
		e = e->next;
	if (e && e->next)
		snprintf(text, size, "OpenSM goes on to its next routing engine, %s", e->next->name);
	else if (w->osm->no_fallback_routing_engine)
		snprintf(text, size, "there is no other routing engine (no_fallback), and OpenSM tries again");
	else
		snprintf(text, size, "OpenSM goes on to its next routing engine, minhop (no_fallback would keep it from that)");
	return text;
}

/* alone says whether OpenSM leaves the switches as they are when there are no tables. */
static int alone(const struct weft *w)
{
	const struct osm_routing_engine *e = w->osm->routing_engine_list;

	return e && e->context == w && !e->next && w->osm->no_fallback_routing_engine;
}

/*
 * keep has the tables in use stay, if they fit, or what is left of them, if partly is not 0;
 * why says why there are no others, unfit why these do not fit.
 */
static int keep(struct weft *w, struct tables *t, const struct question *q, int partly, const char *unfit, const char *why)
{
	struct before b = question_before(q);
	char next[128], wrong[WHY_SIZE];
	struct tables *left;
	int ok;

	if (t) {
		SAY(w, OSM_LOG_ERROR, "ERR W003: no tables for sweep %llu: %s; those of sweep %llu are proven for the fabric as it is and stay\n",
		    (unsigned long long)w->sweep, why, (unsigned long long)t->sweep);
		return stay(w, t, q->net);
	}
	left = partly && in_use(w) ? tables_left(in_use(w), &b, q->net, wrong) : NULL;
	if (left) {
		SAY(w, OSM_LOG_ERROR, "ERR W002: no tables for sweep %llu: %s; %s; what is left of them is proven and stays, and cuts %llu paths from a switch to a LID%s\n",
		    (unsigned long long)w->sweep, why, unfit, (unsigned long long)left->found.cut,
		    left->meanwhile ? "" : "; nothing is proven about the time until it is written");
		ok = stay(w, left, q->net);
		tables_free(left);
		return ok;
	}
	if (partly && in_use(w))
		SAY(w, OSM_LOG_INFO, "nothing is kept of the tables in use: %s\n", wrong);
	SAY(w, OSM_LOG_ERROR, "ERR %s: no tables for sweep %llu: %s; %s, %s\n", atomic_load(&w->shelf.live) ? "W002" : "W001",
	    (unsigned long long)w->sweep, why, unfit, and_then(w, next, sizeof next));
	return 0;
}

/* reroute has OpenSM route again, without discovering the fabric again. */
static void reroute(struct weft *w)
{
	w->osm->subn.force_reroute = TRUE;
	osm_opensm_sweep(w->osm);
}

/* remnant says whether OpenSM has what is left of tables, and another engine could route all. */
static int remnant(struct weft *w)
{
	const struct tables *t = shelf_take(&w->shelf);
	int is = t && t->of && !alone(w);

	shelf_return(&w->shelf);
	return is;
}

/*
 * late is told by the asking thread of an answer that came when nobody waited for it
 * any more. Good tables are used at a sweep of their own, which discovers nothing
 * and only routes again. So is another engine, where pairs are cut that it would serve,
 * and so is a plan that has no next step, for which the daemon is asked anew.
 */
static void late(void *context, const struct question *q)
{
	struct weft *w = context;

	if (!q->tables && q->again && q->in_use && q->in_use->more > 0) {
		SAY(w, OSM_LOG_ERROR, "ERR W007: no next step after %.1f s: %s; OpenSM routes again\n", (double)q->took / 1000, q->why);
		reroute(w);
		return;
	}
	if (!q->tables && q->again) {
		SAY(w, OSM_LOG_INFO, "no better tables after %.1f s: %s\n", (double)q->took / 1000, q->why);
		return;
	}
	if (!q->tables) {
		SAY(w, OSM_LOG_ERROR, "ERR W007: no tables after %.1f s: %s; the daemon is asked again in %d s\n", (double)q->took / 1000, q->why,
		    asker_pause(&w->asker, q->reply) / 1000);
		if (remnant(w))
			reroute(w);
		return;
	}
	SAY(w, OSM_LOG_INFO, "%s tables for sweep %llu came after %.1f s; OpenSM routes again\n", q->tables->step ? "the next" : q->again ? "better" : "the",
	    (unsigned long long)q->tables->sweep, (double)q->took / 1000);
	reroute(w);
}

/*
 * held is for how long OpenSM waits for tables at most in its first sweep, in ms. Its SA
 * answers nobody before the end of that, whoever routes. A standby manager takes over when
 * this one has not answered it for so many polls, and it does not once every thread of
 * OpenSM's dispatcher waits for the lock.
 */
static int64_t held(const struct weft *w)
{
	const osm_subn_opt_t *opt = &w->osm->subn.opt;
	int64_t ms = (int64_t)opt->sminfo_polling_timeout * opt->polling_retry_number * 3 / 4;

	return ms > w->wait_ms ? ms : w->wait_ms;
}

/* until is a time after the beginning of a question; if that is past its deadline, until it ends. */
static int64_t until(const struct weft *w, const struct question *q, int64_t ms)
{
	return ms < w->asker.daemon.deadline_ms ? q->began + ms : INT64_MAX;
}

/*
 * ask_on asks for what is to follow the tables in use. These are written by then: whoever begins
 * to answer knows that no switch has any of those before, but for what the question says.
 */
static void ask_on(struct weft *w)
{
	struct asked a = {.sweep = w->sweep, .deadline_ms = w->asker.daemon.deadline_ms, .version = w->osm->osm_version, .in_use = in_use(w)};
	size_t size;
	uint8_t *request;

	if (!w->asks_on || !a.in_use)
		return;
	w->asks_on = 0;
	cl_plock_acquire(&w->osm->lock);
	request = request_new(&w->osm->subn, &a, &size);
	cl_plock_release(&w->osm->lock);
	if (!request || !asker_again(&w->asker, request, size, in_use(w)))
		SAY(w, OSM_LOG_ERROR, "ERR W006: out of memory\n");
}

/* manner says how tables replace those in use, and puts into follows what is to come. */
static const char *manner(struct weft *w, const struct tables *t, char *follows)
{
	const struct tables *was = in_use(w);

	follows[0] = 0;
	if (t->more > 0)
		snprintf(follows, WHY_SIZE, "; %u steps follow", t->more);
	else if (t->so_far)
		snprintf(follows, WHY_SIZE, "; better tables may follow");
	if (!was && t->step)
		return "; a step of a plan that was under way when OpenSM began";
	if (!was || was->number == t->number)
		return "";
	if (t->step && t->new_tree)
		return "; a step, proven while it is written, but for multicast, whose tree is another";
	return t->step ? "; a step, proven while it is written" : "; not a step: nothing is proven about the time until it is written";
}

/*
 * route waits for the answer, for as long as OpenSM may be held up. That is weft.wait: the
 * SA answers no query meanwhile. Then the tables in use stay, if they are proven for the
 * fabric as it is, or else what is left of them: path records are right where there is a
 * path, and the SA says at once where there is none. In the first sweep, in which the SA
 * answers nobody anyway, it is all of weft.deadline that held allows. An answer that comes
 * after that is used when it comes.
 *
 * A daemon that let the last question run out of time is not waited for any longer, and
 * another engine behind this one routes, if there is one.
 */
static int route(struct weft *w, const struct question *q)
{
	char unfit[WHY_SIZE] = "", terms[TERMS_SIZE], groups[TREE_SIZE], why[WHY_SIZE], follows[WHY_SIZE];
	const char *how;
	double cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	int silent = asker_silent(&w->asker), ended = asker_wait(&w->asker, until(w, q, w->wait_ms));
	struct tables *kept = ended ? NULL : fitting(w, q->net, unfit), *t;

	if (!ended && !kept && !silent && w->osm->subn.first_time_master_sweep)
		ended = asker_wait(&w->asker, until(w, q, held(w)));
	ended = ended || asker_leave(&w->asker);
	if (!ended && kept) {
		SAY(w, OSM_LOG_INFO, "sweep %llu: no answer in %.1f s; the tables of sweep %llu are proven for the fabric as it is and stay until it comes\n",
		    (unsigned long long)w->sweep, (double)(now_ms() - q->began) / 1000, (unsigned long long)kept->sweep);
		return stay(w, kept, q->net);
	}
	if (!ended) {
		snprintf(why, sizeof why, "no answer in %.1f s, which is used when it comes", (double)(now_ms() - q->began) / 1000);
		return keep(w, NULL, q, !silent || alone(w), unfit, why);
	}
	t = asker_take(&w->asker);
	if (!t) {
		int kept_on = keep(w, kept ? kept : fitting(w, q->net, unfit), q, alone(w), unfit, q->why);
		asker_persist(&w->asker);
		return kept_on;
	}
	how = manner(w, t, follows);
	if (!use(w, t, q->net, q->request))
		return 0;
	terms_text(&t->terms, terms);
	tree_text(t, groups);
	SAY(w, OSM_LOG_INFO, "sweep %llu: %u switches, %u lanes used, engine %s, proven; %.3f s, %.3f s of them in this process; %s%s; %s%s%s\n",
	    (unsigned long long)t->sweep, t->rows, tables_used(t), t->engine, (double)q->took / 1000, q->cpu + seconds(CLOCK_THREAD_CPUTIME_ID) - cpu, terms,
	    t->found.about ? "" : " (nobody there sends to anybody: the proof is about nothing)", groups, how, follows);
	if (w->osm->log.out_port)
		fflush(w->osm->log.out_port); /* weft watch goes by this line, which OpenSM else keeps back until there are 4 KiB */
	w->asks_on = t->so_far || t->orders || t->found.cut > 0; /* the answer may have been to another question */
	return 1;
}

static int build_fwd_tables(void *context)
{
	struct weft *w = context;
	struct asked a = {.sweep = ++w->sweep, .deadline_ms = w->asker.daemon.deadline_ms, .version = w->osm->osm_version, .in_use = in_use(w)};
	size_t size;
	uint8_t *request = request_new(&w->osm->subn, &a, &size);
	const struct question *q = request ? asker_ask(&w->asker, request, size, in_use(w)) : NULL;

	if (!q)
		SAY(w, OSM_LOG_ERROR, "ERR W006: out of memory\n");
	if (q && route(w, q))
		return 0;
	w->ours = w->ours && alone(w);
	return -1;
}

/*
 * written publishes the tables in use once all switches have confirmed them. OpenSM does
 * not notice a switch that lacks an SL2VL map; it is made to write once more, and then
 * does so at every sweep of its own.
 */
static void written(struct weft *w)
{
	struct tables *t = in_use(w);
	uint64_t guid = 0;

	if (!t)
		return;
	if (t->number != tables_number(atomic_load(&w->levels.live))) {
		cl_plock_acquire(&w->osm->lock);
		guid = switches_lack(&w->osm->subn, t);
		cl_plock_release(&w->osm->lock);
	}
	if (!guid) {
		publish(w, t);
		return;
	}
	SAY(w, OSM_LOG_INFO, "switch 0x%016llx has not confirmed the tables of sweep %llu; until it has, path records keep the service levels of those before\n",
	    (unsigned long long)guid, (unsigned long long)t->sweep);
	if (w->lacked != t->number)
		reroute(w);
	w->lacked = t->number;
}

/*
 * regroup has OpenSM make the trees of all multicast groups anew, as it does at the end of a
 * sweep, but not where it only routes again.
 */
static void regroup(struct weft *w)
{
	osm_subn_t *subn = &w->osm->subn;

	cl_plock_excl_acquire(&w->osm->lock);
	for (int i = 0; i <= subn->max_mcast_lid_ho - IB_LID_MCAST_START_HO; i++)
		if (subn->mboxes[i] && !subn->opt.disable_multicast)
			osm_sm_reroute_mlid(&w->osm->sm, cl_hton16((uint16_t)(i + IB_LID_MCAST_START_HO)));
	cl_plock_release(&w->osm->lock);
}

/*
 * report is told when all packets that set tables were answered, or given up: from then
 * on earlier packets are as old as they can get under these. A switch that did not answer
 * is in the next request.
 */
static void report(void *context, osm_epi_event_id_t event, void *data)
{
	struct weft *w = context;

	if (event != OSM_EVENT_ID_UCAST_ROUTING_DONE)
		return;
	if (w->regroup && (uintptr_t)data == UCAST_ROUTING_REROUTE)
		regroup(w);
	w->regroup = 0;
	if (atomic_exchange(&w->writing, 0))
		atomic_store(&w->asker.gone, now_ms() + atomic_load(&w->linger));
	written(w);
	ask_on(w);
}

static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t slid, const ib_net16_t dlid)
{
	struct weft *w = context;
	const struct tables *given = shelf_take(&w->shelf), *t = shelf_take(&w->levels);
	uint16_t from = cl_ntoh16(slid), to = cl_ntoh16(dlid);
	uint8_t sl;

	if (!t || !given || !tables_same_home(t, given, from) || !tables_same_home(t, given, to))
		t = given; /* a path that there was not before */
	sl = t ? tables_path_sl(t, from, to, hint) : NO_SL;
	shelf_return(&w->levels);
	shelf_return(&w->shelf);
	return sl;
}

static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out, ib_slvl_table_t *table)
{
	struct weft *w = context;
	osm_node_t *node = osm_physp_get_node_ptr(port);
	const struct tables *t = shelf_take(&w->shelf);

	if (t && osm_node_get_type(node) == IB_NODE_TYPE_SWITCH)
		switch_map(&w->osm->subn, node, t, in, out, table);
	else if (t)
		adapter_map(&w->osm->subn, port, t, table);
	shelf_return(&w->shelf);
}

static int setup(struct osm_routing_engine *engine, struct osm_opensm *osm)
{
	struct weft *w = engine->context;

	(void)osm;
	w->engine = engine;
	engine->ucast_build_fwd_tables = build_fwd_tables;
	engine->path_sl = path_sl;
	engine->update_sl2vl = update_sl2vl;
	/* build_lid_matrices is OpenSM's own: its own multicast trees go by its hop counts. */
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

/* prepare makes everything ready of which deleting has something to undo; 0: the log says what is wrong. */
static int prepare(struct weft *w)
{
	struct osm_opensm *osm = w->osm;
	struct options o;
	char terms[TERMS_SIZE];

	if (!options_read(&o, &osm->subn, &osm->log))
		return 0;
	w->wait_ms = o.wait_ms;
	w->asker = (struct asker){.daemon = o.daemon, .wanted = o.wanted, .late = late, .context = w, .over = &osm_exit_flag};
	if (!asker_begin(&w->asker)) {
		SAY(w, OSM_LOG_ERROR, "ERR W006: no file to be had to stop a thread with\n");
		return 0;
	}
	w->module.name = ENGINE;
	w->module.setup = setup;
	w->module.context = w;
	if (osm_register_external_routing_engine(osm, &w->module, w) != 0) {
		SAY(w, OSM_LOG_ERROR, "ERR W014: OpenSM does not take the routing engine\n");
		asker_end(&w->asker);
		return 0;
	}
	terms_text(&o.wanted, terms);
	SAY(w, OSM_LOG_INFO, "routing engine for %s, daemon at %s, deadline %d s, OpenSM waits %d s; a proof is to be for %s\n", BUILT_FOR,
	    o.daemon.socket, o.daemon.deadline_ms / 1000, o.wait_ms / 1000, terms);
	return 1;
}

static void *create(struct osm_opensm *osm)
{
	struct weft *w;

	if (!same_layout(osm)) { /* the log is elsewhere too; OpenSM writes there that it cannot load the plugin */
		fprintf(stderr, ENGINE ": this plugin was built with headers of another build of %s; build it with those of the OpenSM that runs\n", BUILT_FOR);
		return NULL;
	}
	w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->osm = osm;
	if (prepare(w))
		return w;
	free(w);
	return NULL;
}

static void delete(void *context)
{
	struct weft *w = context;

	asker_end(&w->asker);
	shelf_empty(&w->shelf);
	shelf_empty(&w->levels);
	free(w);
}

__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
	.osm_version = BUILT_FOR,
	.create = create,
	.delete = delete,
	.report = report,
};
