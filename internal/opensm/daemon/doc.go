// Package daemon answers OpenSM's plugin: it takes the fabric that OpenSM found,
// routes it, has the judge prove the tables, and hands over only what is proven
// under the configured contract.
//
// Guarantee. An answer with tables carries the judge's certificate for exactly these
// tables, with every pair of endpoints in scope connected. Everything else is a refusal
// with its reason: no engine of the list routes the fabric with the available lanes, a
// credit loop, a pair left out, no time left, an engine that failed.
//
// Tables in use are kept (package installed): if the fabric changes, they are mended in
// steps that are proven while they are written, one step for each question. The plugin
// says which tables are in use, by a number, and what the switches have not confirmed.
// Everything is routed anew only if there are no tables in use, if they were made under
// other settings, if no repair close to them exists, or if the configuration says so; in
// proven steps if that can be, as on trees.
//
// Engines are tried in the order of the configuration, and the first whose tables are
// proven is used; the log, the status and the state folder say why the others were not.
// Engines are deterministic, so the same fabric gets the same tables, which are
// remembered for the last few fabrics: a sweep that finds nothing changed is answered
// at once, and so is one after a cable came back.
//
// Time. auto tries several engines. OpenSM gets the best result so far within five
// seconds, or as soon as something is proven, and in any case within the time that the
// plugin waits; the search goes on. A plugin that is told so asks again at once, for
// better tables: that question is answered when the search has ended, with better
// tables or with a refusal that is not a finding, and the plugin makes OpenSM route
// again. A request that runs out of time with nothing proven is refused, but its work
// goes on for the next sweep. Work that no request waits for (apart from requests for
// better tables) ends when another fabric is asked for.
//
// Trust. The socket belongs to one group, mode 0660; a client is looked up with
// SO_PEERCRED and must be root, the daemon's own user, or of that group. Messages are
// limited in size, connections in time, in number and in the memory of their questions;
// answers are produced while they are read. If one more connection arrives than fits,
// it is served: the user with the most connections loses one, the one that has been
// silent longest, else one that does not read its answer, else one that waits for
// tables, which is refused. The metrics port is for this host only, by address and by
// name, and has few connections, of which a new one closes the oldest: what happens
// there takes nothing from OpenSM's requests. Two daemons cannot serve one socket,
// because of a lock file beside it; files left by a killed daemon are removed.
//
// The state folder is written behind the answers, so that a slow or hanging disk delays
// none; only the snapshot of new tables is waited for, a second at most. Of waiting writes only
// the newest is kept, and failed ones are tried again and reported until they succeed. The
// daemon uses no folder in which others can write, follows no link out of it, and at
// the start removes what a killed run left unfinished. It contains whole files only:
//
//	installed/      snapshots of the last tables handed over, and of those in use, with all
//	                that is needed to go on from them after a restart: the fabric they are
//	                for, the tables they are to come back to, the steps that follow
//	last-good       link to the folder of the tables handed over last, for people and their
//	                tools: lfts.dump, sl2vl.dump, paths.psl, certificate, fabric.ibnetdiscover,
//	                sweep.json, fabric.request, multicast.mcfdbs if there is a tree, and of a
//	                step transition.certificate, the proof of every mixture with those of before
//	before          the same of the tables handed over before
//	refusals/       a JSON document for every refusal, the last hundred
//	put-aside/      snapshots that were damaged or led to an internal error, with the reason
//	                in why.txt, the last five times
//
// An internal error ends neither the daemon nor the question: that is answered once more with
// nothing known of the tables in use, and if that goes well, it was these, and they are put
// aside, so that no further question comes upon them.
//
// SIGHUP reads the configuration again; a bad one, or one that would need another
// socket, is logged and changes nothing.
package daemon
