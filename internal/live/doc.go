// Package live lets tests run OpenSM, the subnet manager that most fabrics run,
// on a simulated fabric, and ask ibdmchk, a judge of routing tables that shares
// no code with ours. It is for tests only. Tried with Debian 12: opensm 3.3.23,
// ibsim 0.10, ibutils 1.5.7.
//
// Every run has its own temporary directory and its own abstract Unix socket, so
// that tests may run in parallel, and a limit of time: programs run under
// timeout(1), which ends them even when the test binary itself is killed.
//
// What OpenSM does with routing_engine file and lfts_file F, found by experiments:
//
//   - F is the lfts dump. Only three things in a line count: the GUID of the
//     switch behind "guid 0x" in its header, LID and port of an entry, and
//     " portguid 0x…" in the comment of an entry.
//   - The port GUID wins over the LID: where a port with that GUID exists, the
//     entry is for the LID the port has now (with LMC, the same offset into its
//     range). Without a port GUID, or with one that nobody has, the LID stands as
//     written, and one larger than the forwarding table is not checked for.
//   - ibsim does not keep the port GUIDs of its net file. It makes them: GUID of
//     the node plus number of the port. Entries for it need those, or LIDs that
//     are pinned.
//   - What F does not say is not routed. Entries are needed for the LIDs of
//     switches too, port 0 for the switch's own; a switch without a header has no
//     route to anything. OpenSM reports success all the same.
//   - A port that the switch does not have makes the engine fail: OpenSM falls
//     back to MinHop, or with no_fallback tries again every ten seconds. A port
//     without a cable is taken as it is.
//   - The tables come back in the dump with the same port for every switch and
//     destination.
//
// OpenSM keeps the LIDs of a guid2lid file that it finds in OSM_CACHE_DIR, gaps
// and all, whatever honor_guid2lid_file says (that is about taking over from
// another manager), unless reassign_lids is TRUE. Ports not in the file get the
// lowest free LIDs.
//
// What ibdmchk does with its files, from experiments and from its source:
//
//   - A routing between adapters is judged, or with -a between all nodes. The
//     multicast file is required but may be empty.
//   - Service levels (-c) are by node GUID, not by port: "0x<node> <dlid> <sl>",
//     the LID in decimal. A source without any line uses SL 0 for everything; a
//     source with a line needs one for every destination, or there is no verdict.
//     Likewise with -a for the LIDs of switches.
//   - Lanes (-d) are by switch, in-port and out-port. A switch without any line
//     maps SL n to lane n; one with a line needs one for every pair of ports that
//     a path takes. Without -d lane n is SL n everywhere. An adapter sends on lane
//     SL, which no verdict depends on.
//   - The search follows dependencies from the adapters, lane by lane, and a path
//     that ends in a dead end or turns in circles leaves no verdict.
//   - The Debian build crashes at the end, after the verdict: only the text tells.
package live
