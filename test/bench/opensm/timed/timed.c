/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plugin of OpenSM for measurements only. It offers the routing engine "timed",
 * which is one of OpenSM's own, as OpenSM exports it, with a clock round it; and
 * when the subnet is up it writes down the service levels that path records will
 * carry, whichever engine is in use, for which OpenSM has no dump.
 *
 *	event_plugin_name timed                 or: weft timed
 *	event_plugin_options timed.engine=dfsssp,timed.out=/path
 *	routing_engine timed                    or: weft
 *
 * The folder gets timed.log, a line "ENGINE matrices SECONDS tables SECONDS" of CPU
 * time for every sweep, and timed.psl, as ibdmchk reads it.
 */
#include <opensm/osm_config.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>

struct timed {
	struct osm_opensm *osm;
	struct external_routing_engine_module module;
	struct osm_routing_engine inner; /* as its setup left it */
	void *matrices_context, *tables_context;
	char engine[32], out[256];
	double matrices;
};

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static FILE *in_folder(const struct timed *w, const char *name, const char *mode)
{
	char path[sizeof w->out + 32];

	snprintf(path, sizeof path, "%s/%s", w->out, name);
	return fopen(path, mode);
}

static int build_lid_matrices(void *context)
{
	struct timed *w = context;
	double start = cpu();
	int result = w->inner.build_lid_matrices(w->matrices_context);

	w->matrices = cpu() - start;
	return result;
}

static int build_fwd_tables(void *context)
{
	struct timed *w = context;
	double start = cpu(), tables;
	int result = w->inner.ucast_build_fwd_tables(w->tables_context);
	FILE *f = in_folder(w, "timed.log", "a");

	tables = cpu() - start;
	if (f) {
		fprintf(f, "%s matrices %.9f tables %.9f\n", w->engine, w->matrices, tables);
		fclose(f);
	}
	return result;
}

static void dump_tables(void *context)
{
	struct timed *w = context;
	w->inner.ucast_dump_tables(w->inner.context);
}

static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out, ib_slvl_table_t *t)
{
	struct timed *w = context;
	w->inner.update_sl2vl(w->inner.context, port, in, out, t);
}

static void update_vlarb(void *context, osm_physp_t *port, uint8_t number, ib_vl_arb_table_t *block, unsigned length, unsigned num)
{
	struct timed *w = context;
	w->inner.update_vlarb(w->inner.context, port, number, block, length, num);
}

static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t slid, const ib_net16_t dlid)
{
	struct timed *w = context;
	return w->inner.path_sl(w->inner.context, hint, slid, dlid);
}

static ib_api_status_t build_stree(void *context, osm_mgrp_box_t *box)
{
	struct timed *w = context;
	return w->inner.mcast_build_stree(w->inner.context, box);
}

static void destroy(void *context)
{
	struct timed *w = context;
	w->inner.destroy(w->inner.context);
}

/* setup sets the engine up as OpenSM would, and puts itself in between. */
static int setup(struct osm_routing_engine *engine, struct osm_opensm *osm)
{
	struct timed *w = engine->context;
	char name[64];
	int (*inner)(struct osm_routing_engine *, struct osm_opensm *), (*minhop)(struct osm_routing_engine *, struct osm_opensm *);
	struct osm_routing_engine theirs = {.name = "minhop"};

	snprintf(name, sizeof name, "osm_ucast_%s_setup", w->engine);
	*(void **)&inner = dlsym(RTLD_DEFAULT, name);
	*(void **)&minhop = dlsym(RTLD_DEFAULT, "osm_ucast_minhop_setup");
	if (!inner || !minhop) {
		osm_log(&osm->log, OSM_LOG_ERROR, "timed: this OpenSM exports no %s\n", name);
		return -1;
	}
	/* Some engines look whether they are the one in use. */
	engine->type = osm_routing_engine_type(w->engine);
	engine->name = w->engine;
	if (inner(engine, osm) != 0)
		return -1;
	w->inner = *engine;
	w->matrices_context = w->tables_context = engine->context;
	engine->context = w;
#define WRAP(callback, with) engine->callback = w->inner.callback ? with : NULL
	/* OpenSM goes on as MinHop does where an engine leaves something to it. */
	minhop(&theirs, osm);
	if (!w->inner.build_lid_matrices) {
		w->inner.build_lid_matrices = theirs.build_lid_matrices;
		w->matrices_context = theirs.context;
	}
	if (!w->inner.ucast_build_fwd_tables) {
		w->inner.ucast_build_fwd_tables = theirs.ucast_build_fwd_tables;
		w->tables_context = theirs.context;
	}
	WRAP(build_lid_matrices, build_lid_matrices);
	WRAP(ucast_build_fwd_tables, build_fwd_tables);
	WRAP(ucast_dump_tables, dump_tables);
	WRAP(update_sl2vl, update_sl2vl);
	WRAP(update_vlarb, update_vlarb);
	WRAP(path_sl, path_sl);
	WRAP(mcast_build_stree, build_stree);
	WRAP(destroy, destroy);
	return 0;
}

/* write_levels writes the service level of every pair of adapter ports. */
static void write_levels(struct timed *w)
{
	const struct osm_routing_engine *used = w->osm->routing_engine_used;
	cl_qmap_t *ports = &w->osm->subn.port_guid_tbl;
	cl_map_item_t *i, *j;
	char temp[sizeof w->out + 32], path[sizeof w->out + 32];
	FILE *f = in_folder(w, "timed.psl.new", "w");

	if (!f)
		return;
	for (i = cl_qmap_head(ports); i != cl_qmap_end(ports); i = cl_qmap_next(i)) {
		const osm_port_t *from = (osm_port_t *)i;
		if (osm_node_get_type(from->p_node) == IB_NODE_TYPE_SWITCH)
			continue;
		for (j = cl_qmap_head(ports); j != cl_qmap_end(ports); j = cl_qmap_next(j)) {
			const osm_port_t *to = (osm_port_t *)j;
			unsigned sl = 0;
			if (osm_node_get_type(to->p_node) == IB_NODE_TYPE_SWITCH)
				continue;
			if (used && used->path_sl)
				sl = used->path_sl(used->context, 0, osm_port_get_base_lid(from), osm_port_get_base_lid(to));
			fprintf(f, "0x%016llx %u %u\n", (unsigned long long)cl_ntoh64(osm_node_get_node_guid(from->p_node)),
				(unsigned)cl_ntoh16(osm_port_get_base_lid(to)), sl);
		}
	}
	snprintf(temp, sizeof temp, "%s/timed.psl.new", w->out);
	snprintf(path, sizeof path, "%s/timed.psl", w->out);
	if (fclose(f) == 0)
		rename(temp, path);
}

static void report(void *context, osm_epi_event_id_t event, void *data)
{
	(void)data;
	if (event == OSM_EVENT_ID_SUBNET_UP)
		write_levels(context);
}

static void read_options(struct timed *w, const char *text)
{
	char *copy = strdup(text ? text : ""), *rest = copy, *word;

	while ((word = strsep(&rest, ", \t"))) {
		if (strncmp(word, "timed.engine=", 13) == 0)
			snprintf(w->engine, sizeof w->engine, "%s", word + 13);
		else if (strncmp(word, "timed.out=", 10) == 0)
			snprintf(w->out, sizeof w->out, "%s", word + 10);
	}
	free(copy);
}

static void *create(struct osm_opensm *osm)
{
	struct timed *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->osm = osm;
	read_options(w, osm->subn.opt.event_plugin_options);
	w->module.name = "timed";
	w->module.setup = setup;
	w->module.context = w;
	if (osm_register_external_routing_engine(osm, &w->module, w) != 0) {
		free(w);
		return NULL;
	}
	return w;
}

static void delete(void *context) { free(context); }

__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = delete,
	.report = report,
};
