// Package packets simulates packets, credits, lanes and arbitration in time: what a
// network does with finished tables, and how it stops where they allow it to.
//
// # What is modelled
//
// Links with their rate, the delay of the cable and credit-based flow control as
// InfiniBand has it: space is counted in blocks of 64 bytes, by absolute counters
// (FCTBS, FCCL), and a credit comes back with a delay of its own after the tail of
// the packet has left the buffer. Messages are cut into packets of at most an MTU.
// Switching is virtual cut-through: a packet moves on while its tail is still
// arriving, once the next buffer has space for all of it; never earlier than its
// tail can keep up, where the next link is faster. StoreWhole waits for the tail.
//
// A switch has a buffer for each lane of an in-port, first in, first out. The head
// of a buffer asks for its out-port and lane by the forwarding table, SL and SL2VL
// map; an out-port serves the requests of a lane in the order in which they were
// made, which lets backlogged buffers take turns, and its lanes in turn or by
// InfiniBand's arbitration tables. Speedup is how many lanes of an in-port may be
// read at once. With OutBuffer there is a second buffer for each lane of an
// out-port; the way to it is Speedup times as fast as the link, and one packet of
// an in-port crosses at a time. Endpoints send from a queue for each lane and take
// at once what arrives.
//
// Adaptive routing (routing.Adaptive): a switch sends a packet on by the free way
// with most credits, and lets it wait for all its ways where none is free. Sources
// with several addresses take one at random or in turn.
//
// # What is not
//
// Bit errors and retries, management traffic (VL 15), the bandwidth that credits
// and acknowledgements take, congestion control, adapters' limits, the multiplexing
// of a packet with others on a link, and wormhole switching with buffers smaller
// than a packet. Adapters choose the lane of the first channel by the map that all
// switches share, or, where there is none, by SL modulo lanes.
//
// # Words
//
// A run is deadlocked when packets in it can never move again, whatever happens: a
// set of buffers each of whose heads waits only for space in others of the set,
// with no credit on its way. That is looked for as such, never guessed from time
// passed; it is found at the next look, and the time at which it closed is known
// exactly. A run is saturated when the network delivers less than is offered, so
// that queues at the sources grow for ever; the latency then says how long was
// measured, nothing else. It is unstable when what is offered is delivered but the
// mean latency has not become stationary within the time given. It is steady
// otherwise: of eight batches before the window, the first four and the last four
// have mean latencies within 5 % or two standard errors of each other, and the
// second half of the window is no slower than the first.
//
// # How
//
// Events in a radix heap over integer picoseconds; three for each packet and
// channel (head, tail, credit), none for flits. Everything at one picosecond
// happens in an order that is part of the model: arrivals, then new heads ask, by
// number of buffer, then ports choose, by number. Runs depend on their seed only: each
// source draws from a stream of its own, and a lot is drawn by place and time.
//
// A large network is divided into regions that are simulated on several cores, for as
// long at a time as nothing can cross from one to another: the delay of a cable, and of
// what a packet or a credit must wait for besides. The conservative method of Chandy
// and Misra, "Distributed simulation: A case study in design and verification of
// distributed programs", IEEE Transactions on Software Engineering 5 (1979), with
// barriers in place of their messages about time. What comes of a run is the same,
// packet by packet, in any number of regions and on any number of cores. Messages in
// several phases go through one region, because a phase begins everywhere at once.
//
// O(1) amortised for an event but for the levels of the heap; memory is a word for
// each lane of a channel and the packets in the network, at most 64 at each source.
// Nothing is allocated for a packet once the largest number of them was reached.
package packets
