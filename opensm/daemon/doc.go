// Package daemon answers OpenSM's plugin: it takes the fabric that OpenSM found,
// routes it, has the judge prove the tables, and hands over only what is proven
// under the configured contract.
//
// Guarantee. An answer with tables carries the judge's certificate for exactly
// these tables, with every pair of endpoints in scope connected. Everything else
// is a refusal in words: no engine of the list that routes the fabric in the lanes
// there are, a credit loop, a pair left out, no time left, an engine that broke.
// Nothing is ever handed over on trust.
//
// Tables in use are kept (package installed): where the fabric is another, they are
// mended, in steps that are proven while they are written, one for each question. The
// plugin says which tables are in use, by a number, and what switches have not
// confirmed. All is routed anew only where there are no tables in use, where they are
// from other settings, where no repair exists near them, or where the configuration
// says so.
//
// Engines are tried in the order of the configuration, and the first whose tables
// are proven is used; why the others were not is in the log, in the status and in
// the state folder. Engines are deterministic, so the same fabric has the same
// tables, and they are kept (the last few fabrics): a sweep that finds nothing
// changed is answered at once, and so is a cable that comes back.
//
// Time. auto tries several engines. OpenSM gets the best so far within five
// seconds, or as soon as there is something proven, and in any case within the
// time that the plugin waits; the search goes on. A plugin that is told so asks
// again at once, for better tables: that question is answered when the search has
// ended, with them or with a refusal that is no finding, and the plugin has OpenSM
// route again. A request that runs out of time with nothing proven is refused, but
// its work goes on for the next sweep. Work that nobody waits for any more, and who
// waits for better tables does not count, ends when another fabric is asked for.
//
// Trust. The socket belongs to one group, mode 0660; who connects is looked up with
// SO_PEERCRED and must be root, the daemon's own user, or of that group. Messages
// are bounded in size, a connection in time, connections in number and in the
// memory that their questions take; answers are made as they are taken. One more
// than fit is served all the same: of the user with the most connections the one
// gives up its place that is longest silent, else the one that does not take its
// answer, else the one that waits for tables, which is refused. The metrics port is
// for this host, by address and by name, and has few connections, of which a
// further one closes the oldest: what happens there takes nothing from OpenSM's
// requests. Two daemons cannot serve one socket: a lock file beside it says so, and
// what a killed daemon leaves is taken away.
//
// The state folder is written behind the answers, so that a disk which is slow or
// hangs delays none, but for the steps of a change, which wait a second for it; of what waits only the newest is kept, and what fails is tried
// again and reported until it succeeds. The daemon takes no folder in which others
// can write, follows no link out of it, and at the start removes what a killed run
// left unfinished. It holds whole files only:
//
//	last-good       link to the folder of the tables handed over last: lfts.dump,
//	                sl2vl.dump, paths.psl, certificate, sweep.json; with what is needed to
//	                go on from them after a restart: the fabric they are for, the tables
//	                they are to come back to, the steps that follow
//	before          the same of the tables handed over before
//	refusals/       a JSON document for every refusal, the last hundred
//
// SIGHUP reads the configuration again; a bad one, or one that would need another
// socket, is logged and changes nothing.
package daemon
