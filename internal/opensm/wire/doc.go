// Package wire is what OpenSM's plugin and the daemon say to each other over a
// Unix stream socket: one request, one answer, and the connection is closed.
//
// The request is the fabric as OpenSM discovered it. The answer is either the
// tables with the proof that they cannot deadlock, or a refusal in words. The
// plugin, in C, reads wire.h; a test holds its constants against these.
//
// All integers are little-endian, reserved bytes are zero, records have no
// padding beyond what is listed. The length of a body follows from its first
// fields, and a message whose length is another is malformed. Nothing may follow
// the message.
//
// Header, 16 bytes, of every message:
//
//	0  4  the letters "WEFT"
//	4  2  version: 4
//	6  2  kind: 1 request, 2 tables, 3 refusal, 4 how are you, 5 status, 6 order
//	8  8  length of the body that follows
//
// Request:
//
//	 0  8  number of the sweep; the answer repeats it
//	 8  4  nodes
//	12  4  ports: port records in all
//	16  4  milliseconds that the plugin waits for the whole answer
//	20  1  data lanes that max_op_vls allows: 1, 2, 4, 8 or 15
//	21  1  flags: bit 0: QoS is on, so that SL2VL tables will be written
//	              bit 1: the sender knows bit 0 of the flags of tables
//	              bit 2: tables for this fabric are in use that were answered with that
//	                     bit: the answer is to wait for better ones, or for the time of
//	                     the next step
//	              bit 3: no tables of ours are in use, and some switch forwards by tables that
//	                     were written before OpenSM began
//	              bit 4: the sender knows bit 5 of the flags of tables
//	22  2  length of OpenSM's version
//	24  8  number of the tables in use, as their answer said; 0: none, or OpenSM's own
//	32  4  microseconds that a packet may wait in a switch; 0: for ever
//	36  4  blocks: block records
//	40  8  reserved
//	48     node records, 96 bytes each
//	       port records, 24 bytes each: those of the first node, of the second …
//	       block records, 72 bytes each, ascending by switch and block
//	       OpenSM's version, such as "OpenSM 3.3.23"
//
// Node record. Nodes come in any order; the switches, in that order, are the rows
// of the answer.
//
//	 0  8  GUID, not zero
//	 8  8  system image GUID; 0 not known
//	16  1  kind: 0 switch, 1 adapter, 2 router
//	17  1  external ports: 0 … 254
//	18  2  port records of the node
//	20  4  vendor ID; 0 not known
//	24  4  device ID; 0 not known. An adapter of vendor 0x2c9 and device 0xcf09 is
//	       an aggregation node, any other a host
//	28  4  reserved
//	32 64  description, UTF-8 padded with zeros
//
// Port record, ascending by number within a node. A switch has one for port 0 and
// one for every port with a cable, the others one for every port with a cable.
//
//	 0  8  port GUID
//	 8  4  node at the other end, index; 0xFFFFFFFF for port 0
//	12  2  base LID: of port 0 of switches and of all ports of others; else 0
//	14  1  LMC
//	15  1  number
//	16  1  port at the other end; 0 for port 0
//	17  1  data lanes of the port (VLCap): 1, 2, 4, 8 or 15; 0 not known
//	18  1  width: 1, 2, 4, 8, 12; 0 not known
//	19  1  speed: 1 SDR, 2 DDR, 3 QDR, 4 FDR10, 5 FDR, 6 EDR, 7 HDR, 8 NDR, 9 XDR; 0 not known
//	20  4  reserved
//
// Block record: a part of a forwarding table that a switch has otherwise than the
// tables in use say, because it has not confirmed the packet that was to set it.
//
//	0  4  switch: index among the switches of the request
//	4  2  block: the first LID over 64
//	6  2  reserved
//	8 64  out-ports as confirmed last, by LID; 255 no path
//
// Tables:
//
//	 0  8  number of the sweep
//	 8  4  switches: as many as the request has
//	12  4  LIDs: one more than the largest of the request
//	16  4  ports: sum over switches of (external ports + 1)
//	20  4  pairs: sum over switches of (external ports + 1)², or 0: one map for all
//	24  2  maps: different SL2VL maps, at least 1
//	26  1  lanes: lanes are 0 … lanes-1
//	27  1  scope of the proof: 0 host adapters, 1 all adapters and routers, 2 all
//	28  2  contract: the service levels, as bits, that any client may use whatever
//	       its PathRecord says; 0: clients use the PathRecord's
//	30  1  flags: bit 0: the best so far; asked again with bit 2 of its flags, the
//	              daemon answers when it has better ones, or refuses when it has found
//	              none
//	              bit 1: directed: no client uses the PathRecord of the opposite
//	              direction; only where contract is 0
//	              bit 2: a step: the ranks hold, too, while the tables in use are
//	              replaced by these; only where the request says that some are in use, or
//	              with bit 3 of its flags and further steps: then it is of a plan that was under
//	              way when OpenSM began, and pairs may be cut until the next
//	              bit 3: the step may cut pairs, until the next; only with bit 2
//	              bit 4: the tree is another than that of the tables in use, as far as
//	              that is left: nothing is proven about multicast while they are replaced;
//	              only with bit 2 and a tree
//	              bit 5: others may be ordered at any time: asked again with bit 2 of its flags, the
//	              daemon answers when they are, so a question stays open as long as tables are in use
//	31  1  steps that are to follow this one, at least
//	32 16  lanes on which adapters send, by service level; 15 (dropped) only where
//	       no adapter may send on it
//	48 32  name of the engine, UTF-8 padded with zeros
//	80  8  number of these tables: others have another one; not 0
//	88  2  groups: the service levels of multicast groups that the tree is proven for, as
//	       bits; 0: there is no tree
//	90  6  reserved
//	96     out-ports, switches × LIDs bytes: a row for every switch; 255 no path,
//	       as for every LID that nobody has
//	       service levels, switches × LIDs bytes: a row for every switch, for all
//	       that sends from it; 0 for a LID that nobody has
//	       maps, 16 bytes each: the lane by service level; 15: dropped
//	       pairs, 2 bytes each: number of the map by switch, in-port, out-port
//	       ranks, ports × lanes × 4 bytes, signed: by switch, out-port and lane;
//	       -1 for a lane that carries nothing
//	       tree, a byte for every switch, only if there is one: the port towards the
//	       root; 0 for the root
//
// The ranks are the proof: along every path from every source in scope to every
// destination in scope the rank of the lane it takes rises from trunk to trunk, on
// the service level of the PathRecord, on every one that the contract lists, and,
// unless the flag says directed, on every one on which the destination may send to
// the source. They rise, too, between any two cables of the tree that meet at a switch, both
// ways, on every service level of groups: the tree of a multicast group is a part of that tree.
// In a step they rise as well along every path on which each switch
// forwards by the tables in use, by what it has confirmed, or by these, and maps by the
// old SL2VL tables or the new, and so they do on the tree, of which the tree of the tables in
// use is then a part but for cables that are gone; and pairs that are cut may stay so until a later step.
//
// Refusal:
//
//	0  8  number of the sweep
//	8     the reason, UTF-8, at most 4096 bytes
//
// How are you: no body. Whoever may send a request may ask; the plugin does not.
//
// Status: a JSON document, at most 1 MiB.
//
// Order: a JSON document, at most 64 KiB, which the daemon answers with another, as a status. Whoever
// may send a request may order; the plugin does not.
//
// Decoding takes memory for what was received, never for what a length promises.
package wire
