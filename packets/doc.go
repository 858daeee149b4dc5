// Package packets simulates packets, credits, lanes and arbitration in time: what a
// network does with finished tables, and how it deadlocks where they allow it.
//
// # What is modelled
//
// Links with their rate, the delay of the cable and credit-based flow control as
// InfiniBand has it: space is counted in blocks of 64 bytes, by absolute counters
// (FCTBS, FCCL), and a credit comes back with a delay of its own after the tail of
// the packet has left the buffer. Messages are cut into packets of at most an MTU.
// Switching is virtual cut-through: a packet moves on while its tail is still arriving,
// once the next buffer has space for all of it. Where the next link is faster, it waits
// until the tail will arrive in time. StoreWhole waits for the whole packet.
//
// A switch has a FIFO buffer for each lane of an in-port. The head of a buffer requests
// its out-port and lane according to the forwarding table, SL and SL2VL map. An
// out-port serves the requests of a lane in the order in which they were made, so that
// backlogged buffers alternate; it serves its lanes round robin or by InfiniBand's
// arbitration tables. Speedup is how many lanes of an in-port may be read at once. With
// OutBuffer there is a second buffer for each lane of an out-port; the way to it is
// Speedup times as fast as the link, and one packet of an in-port crosses at a time.
// Endpoints send from a queue for each lane, and accept what arrives at once.
//
// A packet to a multicast group is copied by every switch to the ports of the group's tree except the
// one it came in by, and keeps its buffer until the last copy has begun to leave: see copies.go.
//
// With Flits switching is wormhole switching, flit by flit: see flits.go.
//
// Adaptive routing (adaptive.Tables): a switch sends a packet by the free way with the
// most credits, and requests all its ways if none is free. Sources with several
// addresses use them at random or round robin.
//
// # What is not modelled
//
// Bit errors and retries, management traffic (VL 15), the bandwidth that credits
// and acknowledgements take, congestion control, adapters' limits, and buffers smaller than
// a packet. Without Flits packets do not share a link byte by byte.
// Adapters choose the lane of the first channel by the map that all switches share or,
// if there is none, by SL modulo lanes.
//
// # Words
//
// A run is deadlocked when some packets in it can never move again: there is a set of
// buffers each of whose heads waits only for space in others of the set, with no credit
// on its way. The simulator looks for such sets at intervals and never guesses from the
// time passed; the moment at which the deadlock closed is known exactly. A run is
// saturated when the network delivers less than is offered, so that queues at the
// sources grow for ever; its latency then depends only on how long was measured. It is
// unstable when what is offered is delivered but the mean latency has not become
// stationary within the time given. It is steady otherwise: of eight batches before the
// window, the first four and the last four have mean latencies within 5 % or two
// standard errors of each other, and the second half of the window is no slower than
// the first.
//
// # Implementation
//
// Events are in a radix heap over integer picoseconds: three for each packet and
// channel (head, tail, credit), none for flits. Everything at one picosecond happens in
// an order that is part of the model: arrivals, then requests of new heads by number of
// buffer, then choices of ports by number. A run depends on its seed only: each source
// draws from a random stream of its own, and a random choice at a port depends on its
// place and time.
//
// A large network is divided into regions that are simulated on several cores. They run
// independently for as long as nothing can cross from one to another: the delay of a
// cable plus what a packet or a credit must wait for besides. This is the conservative
// method of Chandy and Misra, "Distributed simulation: A case study in design and
// verification of distributed programs", IEEE Transactions on Software Engineering 5
// (1979), with barriers instead of their messages about time. The result of a run is
// the same, packet by packet, for any number of regions and cores. Messages in several
// phases are simulated in one region, because a phase begins everywhere at once.
//
// An event takes O(1) amortised time, apart from the levels of the heap. Memory is a
// word for each lane of a channel and the packets in the network, at most 64 at each
// source. Nothing is allocated for a packet once their largest number was reached.
package packets
