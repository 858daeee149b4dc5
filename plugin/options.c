/* SPDX-License-Identifier: BSD-2-Clause */
#include <opensm/osm_config.h>

#include <ctype.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

#define DEFAULT_SOCKET "/run/weft/opensm.sock"
#define DEFAULT_DEADLINE 60 /* s */
#define DEFAULT_WAIT 1	    /* s */

#define WRONG(...) return SAY_TO(log, OSM_LOG_ERROR, __VA_ARGS__), 0

static int set_socket(struct options *o, const char *value, osm_log_t *log)
{
	if (*value != '/' || strlen(value) >= sizeof o->daemon.socket)
		WRONG("ERR W010: weft.socket=%s is no absolute path of less than %zu letters\n", value, sizeof o->daemon.socket);
	strcpy(o->daemon.socket, value);
	return 1;
}

/* set_seconds reads a time of 1 to 3600 s. */
static int set_seconds(int *ms, const char *name, const char *value, osm_log_t *log)
{
	char *end;
	long s = strtol(value, &end, 10);

	if (*end || s < 1 || s > 3600)
		WRONG("ERR W011: %s=%s is not 1 to 3600 seconds\n", name, value);
	*ms = (int)s * 1000;
	return 1;
}

static int set_deadline(struct options *o, const char *value, osm_log_t *log)
{
	return set_seconds(&o->daemon.deadline_ms, "weft.deadline", value, log);
}

static int set_wait(struct options *o, const char *value, osm_log_t *log)
{
	return set_seconds(&o->wait_ms, "weft.wait", value, log);
}

static int set_owner(struct options *o, const char *value, osm_log_t *log)
{
	char *end;
	unsigned long uid = strtoul(value, &end, 10);
	int is_number = isdigit((unsigned char)*value) && !*end;
	const struct passwd *user = is_number ? NULL : getpwnam(value);

	if (!user && !is_number)
		WRONG("ERR W012: weft.owner=%s is nobody on this machine\n", value);
	o->daemon.owner = user ? user->pw_uid : (uid_t)uid;
	return 1;
}

static int set_contract(struct options *o, const char *value, osm_log_t *log)
{
	char *end;

	o->wanted.directed = strcmp(value, "directed") == 0;
	if (o->wanted.directed || strcmp(value, "honored") == 0) {
		o->wanted.contract = 0;
	} else if (strcmp(value, "any") == 0) {
		o->wanted.contract = 0xFFFF;
	} else {
		const char *number = strncmp(value, "single:", 7) == 0 ? value + 7 : "";
		unsigned long sl = strtoul(number, &end, 10);
		if (!isdigit((unsigned char)*number) || *end || sl >= WIRE_SLS)
			WRONG("ERR W015: weft.contract=%s is not honored, directed, any or single:N with N from 0 to 15\n", value);
		o->wanted.contract = (uint16_t)(1u << sl);
	}
	return 1;
}

static int set_scope(struct options *o, const char *value, osm_log_t *log)
{
	static const char *const scopes[] = {"hca", "ca", "all"};

	for (uint8_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
		if (strcmp(value, scopes[i]) == 0) {
			o->wanted.scope = i;
			return 1;
		}
	WRONG("ERR W016: weft.scope=%s is not hca, ca or all\n", value);
}

static int set_drops(struct options *o, const char *value, osm_log_t *log)
{
	o->wanted.drops = strcmp(value, "allowed") == 0;
	if (!o->wanted.drops && strcmp(value, "never") != 0)
		WRONG("ERR W017: weft.drops=%s is not allowed or never\n", value);
	return 1;
}

static const struct {
	const char *name;
	int (*set)(struct options *o, const char *value, osm_log_t *log);
} known[] = {
	{"weft.socket", set_socket}, {"weft.deadline", set_deadline}, {"weft.wait", set_wait},
	{"weft.owner", set_owner},   {"weft.contract", set_contract}, {"weft.scope", set_scope},
	{"weft.drops", set_drops},
};

static int set(struct options *o, char *word, osm_log_t *log)
{
	char *value = strchr(word, '=');

	if (strncmp(word, "weft.", 5) != 0)
		return 1;
	if (value)
		*value++ = 0;
	for (size_t i = 0; value && i < sizeof known / sizeof *known; i++)
		if (strcmp(word, known[i].name) == 0)
			return known[i].set(o, value, log);
	WRONG("ERR W013: there is no option %s; there are weft.socket, weft.deadline, weft.wait, weft.owner, weft.contract, weft.scope and weft.drops, each with = and a value\n", word);
}

int options_read(struct options *o, const osm_subn_t *subn, osm_log_t *log)
{
	const char *text = subn->opt.event_plugin_options;
	const struct passwd *user = getpwnam("weft");
	char *copy = strdup(text ? text : ""), *rest = copy, *word;
	int ok = copy != NULL;

	*o = (struct options){
		.daemon = {.socket = DEFAULT_SOCKET, .owner = user ? user->pw_uid : geteuid(), .deadline_ms = DEFAULT_DEADLINE * 1000},
		.wait_ms = DEFAULT_WAIT * 1000,
	};
	while (ok && (word = strsep(&rest, ", \t")))
		ok = set(o, word, log);
	free(copy);
	return ok;
}
