(** What a verdict of the checker means: [check_sound]. *)

From Coq Require Import NArith List Bool Lia Arith.
From WeftProof Require Import Network Semantics Freedom Contracts Checker Soundness.
Import ListNotations.

Section Verdict.

Variable net : network.
Variable rs : list routing.        (* the tables; with several, any mixture of them *)
Variable lids : N -> list N.
Variable k : contract.
Variable ends : list N.            (* the endpoints in scope *)

(** Tables that the switches may have at any moment, and what endpoints may send. *)
Definition tables_now : tables -> Prop := allows rs.
Definition packets_sent : lane -> packet -> Prop := may_send lids k ends (map given rs).

(** States that can come about, from an idle network, whatever is sent, lost and written meanwhile. *)
Definition reachable (cap : lane -> nat) (st : state) : Prop :=
  exists as_ t, (forall l, tables_now (t l)) /\ run net cap tables_now packets_sent as_ {| now := t; held := []; owed := [] |} st.

Lemma reachable_sound : forall cap st, reachable cap st -> sound net tables_now packets_sent st.
Proof.
  intros cap st (as_ & t & T & R). eapply sound_run; eauto. split; simpl; auto. intros l p [].
Qed.

(** The network is free of deadlock: in any state that can come about with buffers that have room for
    a packet each, something can move while anything is left; without new packets at most so many
    moves follow as [work] says, whatever is written and lost meanwhile; and they can go on until
    the network is empty. *)
Definition deadlock_free (rank : lane -> nat) (top : nat) : Prop :=
  forall cap, fits cap packets_sent -> forall st, reachable cap st ->
    (~ empty st -> exists a st', inner a = true /\ step net cap tables_now packets_sent a st st') /\
    (forall as_ st', run net cap tables_now packets_sent as_ st st' -> ~ In Sends as_ ->
      length (filter inner as_) <= work rank top st) /\
    (exists as_ st', forallb inner as_ = true /\ run net cap tables_now packets_sent as_ st st' /\ empty st').

(** Packets arrive: none is discarded, and whoever takes one has the LID that it was sent to. *)
Definition delivers : Prop :=
  forall cap st a st', reachable cap st -> step net cap tables_now packets_sent a st st' ->
    match a with
    | Eats e p => In e ends /\ In (dest p) (lids e)
    | Drops _ => False
    | _ => True
    end.

Lemma rises_free : forall rank top, rises net tables_now packets_sent rank top -> deadlock_free rank top.
Proof.
  intros rank top R cap F st Re. apply reachable_sound in Re. repeat split.
  - intros E. eapply progress; eauto.
  - intros as_ st' Ru N. pose proof (bounded net cap tables_now packets_sent rank top R as_ st st' Re Ru N). lia.
  - eapply drains; eauto.
Qed.

Variable rank : N -> N -> N.
Variable canon : N -> N.
Variable top : N.
Variable must_arrive : bool.
Variable fuel : nat.
Variable groups : list (list N).

Theorem check_sound : check net rs rank canon top lids must_arrive fuel k ends groups = None ->
  deadlock_free (lane_rank rank canon top) (S (N.to_nat top)) /\ (must_arrive = true -> delivers).
Proof.
  intros C. split.
  - apply rises_free. eapply check_rises; eauto.
  - intros M cap st a st' Re S. apply reachable_sound in Re.
    destruct a; auto.
    + destruct (taken_on_trail _ _ _ _ _ _ _ _ Re S) as (l & t & Tr & T & N).
      destruct (check_arrives net rs rank canon top lids must_arrive fuel k ends groups C M l p t Tr T) as [_ A]. auto.
    + destruct (dropped_on_trail _ _ _ _ _ _ _ Re S) as (l & t & Tr & T & N).
      destruct (check_arrives net rs rank canon top lids must_arrive fuel k ends groups C M l p t Tr T) as [A _]. auto.
Qed.

(** And the verdict is about something: there is a packet that may be sent. *)
Theorem check_about_something : check net rs rank canon top lids must_arrive fuel k ends groups = None ->
  exists l p, packets_sent l p.
Proof.
  intros C. destruct (check_not_empty _ _ _ _ _ _ _ _ _ _ _ C) as (s & e & d & l & A & B & E & D & M).
  exists (From s 0%N), {| dest := d; level := l; size := 0; born := 0 |}, s, 0%N, e. auto 8.
Qed.

End Verdict.
