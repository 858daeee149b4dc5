// Package deploy puts a routing into files for an OpenSM as distributions ship
// it, without our plugin: routing_engine file reads the forwarding tables, the
// QoS options set one SL2VL map for every port, and a QoS policy gives each
// destination its service level.
//
// These files are limited. They can express
//
//   - any forwarding tables, with one path for each LID;
//   - one map from service level to lane, the same at every port of every switch;
//   - one service level for each destination port, whoever the source is.
//
// Express reports whether a routing fits and, if not, what does not: maps that differ by
// port (DF-D2, DF-DN, torus-2QoS), service levels that depend on the source (LASH,
// DFSSSP with more than one lane) or on the address (MROOTS, MP-LASH with LMC),
// addresses that some sources must not use. Nothing is expressed in part: tables whose
// proof needs what the files cannot say are refused.
//
// A pair on one switch crosses no trunk, so that its service level does not matter; the
// files give it the destination's. Express therefore returns the tables as OpenSM will
// have them; these have to be judged, not the engine's.
//
// What stock OpenSM does with the files, from experiments (3.3.23) and from its source:
//
//   - routing_engine file re-reads lfts_file at every heavy sweep and follows
//     port GUIDs when LIDs change. It does not look whether a cable is there and
//     does not route what the file leaves out: after a change in the fabric the
//     files must be made again.
//   - no_fallback is a word of the list of engines. Without it, MinHop follows
//     when the list is exhausted.
//   - a QoS policy is searched rule by rule for every PathRecord. A level called
//     DEFAULT is required, and is what matches no rule.
//   - qos_sl2vl is for all kinds of port that have no option of their own
//     (qos_ca_sl2vl, qos_sw0_sl2vl, qos_swe_sl2vl, qos_rtr_sl2vl).
//   - root_guid_file takes node GUIDs, cn_guid_file, io_guid_file and
//     guid_routing_order_file take port GUIDs. They are for OpenSM's own ftree,
//     updn, minhop and dfsssp, to which an administrator may want to return.
//
// Complexity: O(D·R) for D destination LIDs and R rows of service levels.
package deploy
