(** The theorems that docs/proof.md names. build/scripts/proof.sh demands of each that it rests on no axiom. *)

From WeftProof Require Import Network Semantics Freedom Contracts Checker Soundness Verdict Waiting Mixtures Deadlocks Witness Ring.
From WeftProof Require Escape Multicast Ethernet.

Print Assumptions check_sound.
Print Assumptions check_about_something.
Print Assumptions check_rises.
Print Assumptions check_arrives.
Print Assumptions walk_none.
Print Assumptions progress.
Print Assumptions some_packet_moves.
Print Assumptions never_stuck.
Print Assumptions bounded.
Print Assumptions drains.
Print Assumptions no_lane_stays.
Print Assumptions no_packet_waits_for_ever.
Print Assumptions check_no_packet_waits_for_ever.
Print Assumptions answers_are_covered.
Print Assumptions any_covers_all.
Print Assumptions honored_covers_directed.
Print Assumptions more_tables.
Print Assumptions union_covers_parts.
Print Assumptions plan_progress.
Print Assumptions plan_wait_ends.
Print Assumptions check_plan_progress.
Print Assumptions filled_comes_about.
Print Assumptions stands_for_ever.
Print Assumptions loop_deadlocks.
Print Assumptions deadlock_has_no_rank.
Print Assumptions witness_sound.
Print Assumptions witness_excludes.
Print Assumptions witness_has_no_rank.
Print Assumptions Escape.escape_progress.
Print Assumptions Escape.every_choice_escapes.
Print Assumptions Multicast.multicast_progress.
Print Assumptions Multicast.multicast_sound.
Print Assumptions Ethernet.pfc_progress.
Print Assumptions Ethernet.pfc_loses_nothing.
Print Assumptions ring_deadlocks.
Print Assumptions ring_is_not_deadlock_free.
Print Assumptions ring_refused.
Print Assumptions one_hop_accepted.
Print Assumptions one_hop_is_deadlock_free.
Print Assumptions ring_is_a_deadlock.
Print Assumptions ring_has_no_rank.
Print Assumptions hops_accepted.
Print Assumptions plan_goes_on.
Print Assumptions ring_plan_blocks.
Print Assumptions waiting_is_about_something.
Print Assumptions ring_waits_for_ever.
Print Assumptions escape_is_about_something.
Print Assumptions multicast_is_about_something.
Print Assumptions pfc_is_about_something.
