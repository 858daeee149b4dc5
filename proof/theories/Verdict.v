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

(** Tables that the switches may have at any moment, and what endpoints may send: packets of up to [mtu] blocks. *)
Definition tables_now : tables -> Prop := allows rs.
Definition packets_sent (mtu : nat) : lane -> packet -> Prop := up_to mtu (may_send lids k ends (map given rs)).

(** States that can come about, from an idle network, whatever is sent, lost and written meanwhile. *)
Definition reachable (mtu : nat) (cap : lane -> nat) (st : state) : Prop :=
  exists as_ t, (forall l, tables_now (t l)) /\
    run net cap tables_now (packets_sent mtu) as_ {| now := t; held := []; owed := [] |} st.

Lemma reachable_sound : forall mtu cap st, reachable mtu cap st -> sound net tables_now (packets_sent mtu) st.
Proof.
  intros mtu cap st (as_ & t & T & R). eapply sound_run; eauto. split; simpl; auto. intros l p [].
Qed.

(** The network is free of deadlock, whatever the largest packet is, and with any buffers each of which has
    room for it: in any state that can come about something can move while anything is left; without
    new packets at most so many moves follow as [work] says, whatever is written and lost meanwhile;
    and they can go on until the network is empty. *)
Definition deadlock_free (rank : lane -> nat) (top : nat) : Prop :=
  forall mtu cap, roomy mtu cap -> forall st, reachable mtu cap st ->
    (~ empty st -> exists a st', inner a = true /\ step net cap tables_now (packets_sent mtu) a st st') /\
    (forall as_ st', run net cap tables_now (packets_sent mtu) as_ st st' -> ~ In Sends as_ ->
      length (filter inner as_) <= work rank top st) /\
    (exists as_ st', forallb inner as_ = true /\ run net cap tables_now (packets_sent mtu) as_ st st' /\ empty st').

(** Packets arrive: none is discarded, and whoever takes one has the LID that it was sent to. *)
Definition delivers : Prop :=
  forall mtu cap st a st', reachable mtu cap st -> step net cap tables_now (packets_sent mtu) a st st' ->
    match a with
    | Eats e p => In e ends /\ In (dest p) (lids e)
    | Drops _ => False
    | _ => True
    end.

Lemma rises_free : forall rank top, rises net tables_now (may_send lids k ends (map given rs)) rank top -> deadlock_free rank top.
Proof.
  intros rank top R mtu cap F st Re. apply reachable_sound in Re.
  apply (rises_up_to _ _ _ _ _ mtu) in R. assert (Fi : fits cap (packets_sent mtu)) by (apply roomy_fits; auto). repeat split.
  - intros E. destruct (progress _ _ _ _ _ _ R Fi st Re E) as (a & st' & I & T). eauto.
  - intros as_ st' Ru N. pose proof (bounded net cap tables_now (packets_sent mtu) rank top R as_ st st' Re Ru N). lia.
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
  - intros M mtu cap st a st' Re S. apply reachable_sound in Re.
    assert (Less : forall l p, trail net tables_now (packets_sent mtu) l p -> trail net tables_now (may_send lids k ends (map given rs)) l p)
      by (intros l p; apply trail_less; unfold packets_sent, up_to; tauto).
    destruct a; auto.
    + destruct (taken_on_trail _ _ _ _ _ _ _ _ Re S) as (l & t & Tr & T & N).
      destruct (check_arrives net rs rank canon top lids must_arrive fuel k ends groups C M l p t (Less _ _ Tr) T) as [_ A]. auto.
    + destruct (dropped_on_trail _ _ _ _ _ _ _ Re S) as (l & t & Tr & T & N).
      destruct (check_arrives net rs rank canon top lids must_arrive fuel k ends groups C M l p t (Less _ _ Tr) T) as [A _]. auto.
Qed.

(** And the verdict is about something: whatever the largest packet is, there are buffers with room for it, and with
    all such buffers somebody may send one, so that a state comes about in which it is there. *)
Theorem check_about_something : rs <> [] -> check net rs rank canon top lids must_arrive fuel k ends groups = None ->
  forall mtu, (exists cap, roomy mtu cap) /\
  forall cap, roomy mtu cap -> exists l p st, packets_sent mtu l p /\ size p = mtu /\ reachable mtu cap st /\ held st = [(l, p)].
Proof.
  intros T C mtu. split; [exists (fun _ => mtu); intros l; auto | intros cap F].
  destruct (check_not_empty _ _ _ _ _ _ _ _ _ _ _ C) as (s & e & d & l & A & B & E & D & M).
  set (p := {| dest := d; level := l; size := mtu; born := 0 |}).
  assert (P : packets_sent mtu (From s 0%N) p) by (split; [exists s, 0%N, e; auto 8 | simpl; auto]).
  assert (I : exists r, In r rs) by (destruct rs as [| r rs']; [congruence | exists r; simpl; auto]). destruct I as (r & I).
  exists (From s 0%N), p, {| now := fun _ => tables_of r; held := [] ++ [(From s 0%N, p)]; owed := [] |}.
  split; [exact P |]. split; [reflexivity |]. split; [| reflexivity].
  exists [Sends], (fun _ => tables_of r). split; [intros _; now apply allows_itself |].
  eapply run_more; [| apply run_none]. apply step_send; [exact P | exact (F (From s 0%N))].
Qed.

End Verdict.
