// Package installed decides what a subnet manager is handed next, from what its switches
// have: the least change of that, in steps each of which is proven while it is written.
//
// # What is known of the switches
//
// The tables that were handed over last, for the fabric of then; what the switches have
// confirmed, where that is another; and the goal, the tables that were routed from
// scratch last. Switches and endpoints of the fabric as it is now are the same by GUID
// and port. LIDs are the hardware's: an entry for one that belongs to another port now
// brings packets there. The old destination goes in one step, the new one comes in the
// next. Where service levels are by path, clients may go on with those of who had the LID,
// or of the switch where a host was, and nothing is kept.
//
// # What comes next
//
//   - Entries that lead into nothing, and hosts that are new: package change mends the
//     tables. A host that only was away gets the row it has in the goal.
//   - Cables or switches that are back: the tables are brought to what the goal is on the
//     fabric as it is now, which is the goal itself when everything is back. Links are
//     armed at the end of a sweep, so nothing is sent over a new one before the next.
//   - A plan goes on as long as the fabric stays as it was; what a switch did not confirm is
//     handed over once more before that. Another fabric has a plan of its own, from the step
//     that is installed.
//   - Else nothing.
//
// Each step is judged on the fabric as it is: every mixture of the tables handed over,
// those confirmed, and the new ones (package transition), and the new ones alone.
//
// Plans begin at the tables handed over, also where a switch has not confirmed them.
//
// Packets that are past what went are in no proof: those to and from hosts that left, and
// those beyond a cable or switch that is gone. They are in the network for microseconds,
// and a step is written a sweep later. TestPast counts what they could do.
package installed
