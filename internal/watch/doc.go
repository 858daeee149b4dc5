// Package watch looks at what a fabric runs, again and again, and says what is wrong with
// it and what changed: the sentinel behind weft watch.
//
// A look gathers files, copied when they rest: OpenSM's dumps or an output folder of
// ibdiagnet, or what commands of the operator's print. If any of them differs from the look
// before, the network and its tables are read and judged, the links are counted and
// compared with the look before, and an alarm is raised for whatever packets suffer from:
//
//	credit-loop       packets can deadlock
//	cut-off           pairs that cables join and the tables do not
//	multicast         trees of multicast groups circle, are in pieces or lead out of themselves
//	forwarding-loop   packets circle
//	dropped           a service level in use is mapped to no lane
//	sweep-failed      OpenSM's log says that it has no tables for the network as it is
//	opensm-gone       OpenSM ran on this host, and does not any more
//	opensm-standby    OpenSM runs on standby: another routes, and the dumps are of before
//	not-dumped        OpenSM has swept since it dumped tables
//	fallback          another engine made the tables than was asked for
//	other-tables      the tables are not those that are expected
//	stale-tables      tables and network are not of one time
//	no-map            ports have no SL2VL map
//	unproven          files say of switches what the verdict cannot follow
//	degraded-link     a link is slower or narrower than others of its kind
//	recabled          a cable leads elsewhere than at the look before
//	cable-trouble     errors come, cables flap, are not where they should be, or packets wait for them without reason
//	unreadable        the files cannot be gathered or read
//
// Of lossless Ethernet a look is at a folder with what the devices say, judged for every choice of ECMP. The alarms of
// these names are raised there too, and
//
//	next-hops-gone    a device does not use a neighbor any more that has the route as before, over a cable that is there
//	narrow-group      a device has fewer next hops than others of its tier
//	lossless-differs  the ends of a cable have other lossless priorities
//	pins-fell-back    pins that routers should have are not in force
//	silent-device     a device was not heard from for too long
//	pause-storm       a port is paused more often a second than is set
//	watchdog-drops    a watchdog saw a storm of pauses, or dropped packets
//
// What goes or comes with tables that fit it raises none: hosts, cables and switches that
// are gone or new are in Look.Changed.
//
// Which engine made the tables is known by OpenSM's log, where it is given, else by the
// tables themselves: MinHop, to which OpenSM falls back with one line in that log, is
// routed again (package internal/engine/paths/minhop does it entry by entry as OpenSM) and compared.
//
// Looks are kept in a state folder with the files that they saw, each content once, so that
// any two can be compared later. Whatever is written there appears whole.
package watch
