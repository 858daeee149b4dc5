(** Changes: while a subnet manager writes, switches have any mixture of old tables and new.

    J. Duato, O. Lysne, R. Pang, T. M. Pinkston: A Theory for Deadlock-Free Dynamic Network
    Reconfiguration, IEEE TPDS 16(5), 2005. A rank for the union of the dependencies is one for every
    mixture, so for every order of writes, with packets in flight from before, between and after
    ([check_sound] for the list of both tables: [Writes] puts any mixture in place at any time).
    Here: what follows for parts of a change, for undoing it, and for plans of several steps. *)

From Coq Require Import NArith List Bool Lia Arith.
From WeftProof Require Import Network Semantics Freedom Contracts Checker Soundness.
Import ListNotations.
Local Open Scope nat_scope.

(** A rank for old and new is one for the old tables alone, for the new ones alone, and for
    undoing the change: the set is the same. *)
Theorem union_covers_parts : forall net lids k ends rs rs' rank top, incl rs' rs ->
  rises net (allows rs) (may_send lids k ends (map given rs)) rank top ->
  rises net (allows rs') (may_send lids k ends (map given rs')) rank top.
Proof.
  intros net lids k ends rs rs' rank top I R. eapply rises_less; [| | exact R].
  - intros t. now apply allows_more.
  - intros l p. apply may_send_more. intros x J. apply in_map_iff in J as (r & <- & J). now apply in_map, I.
Qed.

(** A plan: tables 0, 1, 2 ... on one network. Step i replaces tables i by tables i+1. When every
    switch has those, the subnet manager waits until what was sent before is gone, and goes on with the
    next step. The union of each step has a rank of its own; no rank need fit the whole plan. *)
Section Plan.

Variable net : network.
Variable cap : lane -> nat.
Variable lids : N -> list N.
Variable k : contract.
Variable ends : list N.
Variable mtu : nat.
Variable plan : nat -> routing.
Variable steps : nat.
Variable rank : nat -> lane -> nat.
Variable top : nat -> nat.

Definition both (i : nat) : list routing := [plan i; plan (S i)].
Definition has_during (i : nat) : tables -> Prop := allows (both i).
Definition has_after (i : nat) : tables -> Prop := allows [plan (S i)].
Definition sent_of (rs : list routing) : lane -> packet -> Prop := up_to mtu (may_send lids k ends (map given rs)).

(** [born] says when a packet was sent: 2i while step i is written, 2i+1 in the wait that follows. *)
Definition sent_during (i : nat) (l : lane) (p : packet) : Prop := sent_of (both i) l p /\ born p = (2 * i)%nat.
Definition sent_after (i : nat) (l : lane) (p : packet) : Prop := sent_of [plan (S i)] l p /\ born p = (2 * i + 1)%nat.

Inductive mode : Type := Writing | Waiting.

(** States of a plan that is carried out. *)
Inductive comes : nat -> mode -> state -> Prop :=
| comes_first : forall t, (forall l, has_during 0 (t l)) -> comes 0 Writing {| now := t; held := []; owed := [] |}
| comes_writing : forall i a st st', comes i Writing st ->
    step net cap (has_during i) (sent_during i) a st st' -> comes i Writing st'
| comes_confirmed : forall i st, comes i Writing st -> (forall l, has_after i (now st l)) -> comes i Waiting st
| comes_waiting : forall i a st st', comes i Waiting st ->
    step net cap (has_after i) (sent_after i) a st st' -> comes i Waiting st'
| comes_next : forall i st, comes i Waiting st -> S i < steps ->
    (forall l p, In (l, p) (held st) -> born p = 2 * i + 1) -> comes (S i) Writing st.

Hypothesis Ranked : forall i, i < steps -> rises net (has_during i) (sent_of (both i)) (rank i) (top i).
Hypothesis Roomy : roomy mtu cap.

Lemma after_during : forall i t, has_after i t -> has_during i t.
Proof. intros i t. apply allows_more. intros x [<- | []]. simpl. auto. Qed.

Lemma after_next : forall i t, has_after i t -> has_during (S i) t.
Proof. intros i t. apply allows_more. intros x [<- | []]. simpl. auto. Qed.

Lemma sent_more : forall rs rs' l p, incl rs rs' -> sent_of rs l p -> sent_of rs' l p.
Proof.
  intros rs rs' l p I [M Z]. split; [| exact Z]. revert M. apply may_send_more.
  intros x J. apply in_map_iff in J as (r & <- & J). now apply in_map, I.
Qed.

Notation on_trail i := (trail net (has_during i) (sent_of (both i))).
Notation on_new_trail i := (trail net (has_after i) (sent_of [plan (S i)])).

Lemma new_trail_next : forall i l p, on_new_trail i l p -> on_trail (S i) l p.
Proof.
  intros i l p. apply trail_less; [apply after_next |].
  intros x q. apply sent_more. intros r [<- | []]. simpl. auto.
Qed.

Lemma comes_sound : forall i m st, comes i m st ->
  (i = 0 \/ i < steps) /\
  match m with Writing => forall l, has_during i (now st l) | Waiting => forall l, has_after i (now st l) end /\
  (forall l p, In (l, p) (held st) -> on_trail i l p) /\
  (m = Waiting -> forall l p, In (l, p) (held st) -> born p = 2 * i + 1 -> on_new_trail i l p) /\
  (m = Writing -> forall l p, In (l, p) (held st) -> born p <= 2 * i).
Proof.
  induction 1 as [t T | i a st st' C IH S | i st C IH A | i a st st' C IH S | i st C IH L G].
  - split; [now left | split; [exact T | repeat split; simpl; intros; contradiction]].
  - destruct IH as (I & T & Tr & _ & B). specialize (B eq_refl).
    assert (Tr' : sound net (has_during i) (sent_of (both i)) st') by
      (eapply sound_step with (cap := cap) (a := a) (st := st); [split; auto |];
       destruct S; econstructor; eauto; apply H).
    destruct Tr' as [T' Tr']. split; [auto | split; [auto | split; [auto | split; [discriminate |]]]].
    intros _ l p J. inversion S; subst; simpl in *; eauto using in_middle.
    + apply in_app_iff in J as [J | [J | []]]; [eauto using in_middle |]. inversion J; subst.
      apply (B l0 p). apply in_app_iff. simpl. auto.
    + apply in_app_iff in J as [J | [J | []]]; [eauto |]. inversion J; subst. destruct H. lia.
  - destruct IH as (I & T & Tr & _ & B). specialize (B eq_refl).
    split; [auto | split; [auto | split; [auto | split; [| discriminate]]]].
    intros _ l p J K. specialize (B l p J). lia.
  - destruct IH as (I & T & Tr & N & _). specialize (N eq_refl).
    assert (Tr' : sound net (has_during i) (sent_of (both i)) st').
    { eapply sound_step with (cap := cap) (a := a) (st := st); [split; auto using after_during |].
      destruct S; econstructor; eauto using after_during.
      destruct H. eapply sent_more; eauto. intros r [<- | []]. simpl. auto. }
    assert (T' : forall l, has_after i (now st' l)) by (destruct S; simpl in *; auto).
    destruct Tr' as [_ Tr']. split; [auto | split; [auto | split; [auto | split; [| discriminate]]]].
    intros _ l p J K. inversion S; subst; simpl in *; try (apply N; auto using in_middle; fail).
    + apply in_app_iff in J as [J | [J | []]]; [apply N; auto using in_middle |]. inversion J; subst.
      eapply trail_on; [apply (N l0 p); auto; apply in_app_iff; simpl; auto | exact (T l0) | auto].
    + apply in_app_iff in J as [J | [J | []]]; [apply N; auto |]. inversion J; subst. destruct H. now apply trail_sent.
  - destruct IH as (I & T & Tr & N & _). specialize (N eq_refl).
    split; [auto | split; [intros l; now apply after_next | split; [| split; [discriminate |]]]].
    + intros l p J. apply new_trail_next, N; [exact J | exact (G l p J)].
    + intros _ l p J. rewrite (G l p J). lia.
Qed.

(** A plan never blocks: at any moment of it, while a packet or a credit is there, something moves. *)
Theorem plan_progress : forall i m st, 0 < steps -> comes i m st -> ~ empty st ->
  exists a st', inner a = true /\ step net cap (has_during i) (sent_of (both i)) a st st'.
Proof.
  intros i m st L C E. destruct (comes_sound i m st C) as (I & T & Tr & _).
  assert (i < steps) by lia.
  apply (progress net cap (has_during i) (sent_of (both i)) (rank i) (top i)); auto.
  - apply roomy_fits. auto.
  - split; auto. destruct m; auto using after_during.
Qed.

(** And every wait ends: without new packets, what is in the network is gone after so many moves. *)
Theorem plan_wait_ends : forall i m st, 0 < steps -> comes i m st ->
  forall as_ st', run net cap (has_during i) (sent_of (both i)) as_ st st' -> ~ In Sends as_ ->
  length (filter inner as_) <= work (rank i) (top i) st.
Proof.
  intros i m st L C as_ st' R N. destruct (comes_sound i m st C) as (I & T & Tr & _).
  assert (i < steps) by lia.
  assert (S : sound net (has_during i) (sent_of (both i)) st) by (split; auto; destruct m; auto using after_during).
  pose proof (bounded net cap _ _ (rank i) (top i) (Ranked i H) as_ st st' S R N). lia.
Qed.

End Plan.

(** So it is with steps that the checker accepts. *)
Theorem check_plan_progress : forall net cap lids k ends mtu plan steps rank canon top must_arrive fuel groups,
  (forall i, i < steps -> check net (both plan i) (rank i) (canon i) (top i) lids must_arrive fuel k ends (groups i) = None) ->
  roomy mtu cap -> forall i m st, 0 < steps -> comes net cap lids k ends mtu plan steps i m st -> ~ empty st ->
  exists a st', inner a = true /\ step net cap (has_during plan i) (sent_of lids k ends mtu (both plan i)) a st st'.
Proof.
  intros net cap lids k ends mtu plan steps rank canon top must_arrive fuel groups C R.
  apply (plan_progress net cap lids k ends mtu plan steps (fun i => lane_rank (rank i) (canon i) (top i)) (fun i => S (N.to_nat (top i)))); auto.
  intros i L. apply rises_up_to. eapply check_rises. exact (C i L).
Qed.
