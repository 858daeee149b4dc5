(** Switches that choose again: Duato's condition.

    J. Duato: A Necessary and Sufficient Condition for Deadlock-Free Routing in Cut-Through and
    Store-and-Forward Networks, IEEE TPDS 7(8), 1996. Where a switch has several ports to choose from, not
    every choice needs a rank that rises: one that the packet can always fall back on does. What is taken
    for granted of the switch: it looks again as long as the packet waits, and sends it by a port of
    its group that has room ([rechosen] below is a state in which it has looked again at one lane). Of a
    switch that keeps to the port that it chose when the packet came this is not true; there every
    choice counts ([Freedom.v], where each lane has tables of its own that need never change). *)

From Coq Require Import NArith List Bool Lia Arith.
From WeftProof Require Import Network Semantics Freedom.
Import ListNotations.
Local Open Scope nat_scope.

Section Escape.

Variable net : network.
Variable cap : lane -> nat.
Variable may_have : tables -> Prop.                      (* by which any packet may be forwarded *)
Variable may_send : lane -> packet -> Prop.
(** Tables by which a packet that waits may go. Those that must stay in order have one choice alone: for
    them this is the static port. *)
Variable offered : lane -> packet -> tables -> Prop.
Variable rank : lane -> nat.
Variable top : nat.

Notation trail := (trail net may_have may_send).
Notation step := (step net cap may_have may_send).
Notation sound := (sound net may_have may_send).

(** Wherever a packet may wait, something that it is offered has a higher rank, or takes it out. *)
Definition escapes : Prop :=
  forall l p, trail l p ->
    rank l <= top /\ exists t, offered l p t /\ forall l', next net t l p = Forward l' -> rank l < rank l'.

Definition rechosen (st : state) (l : lane) (t : tables) : state :=
  {| now := fun x => if lane_eq_dec x l then t else now st x; held := held st; owed := owed st |}.

Hypothesis Escapes : escapes.
Hypothesis Fits : fits cap may_send.

(** Never stuck: a credit comes back, or some packet at the head of its lane has an offer by which it goes
    on at once or leaves. *)
Theorem escape_progress : forall st, sound st -> ~ empty st ->
  (exists st', step Credits st st') \/
  exists l p t a st', In (l, p) (held st) /\ offered l p t /\
    step a (rechosen st l t) st' /\ match a with Moves | Eats _ _ | Drops _ => True | _ => False end.
Proof.
  intros [n h w] [Ht Hh] NE. simpl in *.
  destruct w as [| c w].
  2: { left. eexists. apply (step_credit net cap may_have may_send n h [] w c). }
  right. assert (H : h <> []) by (intros ->; apply NE; split; auto).
  destruct (highest rank h H) as (h1 & l & p & h2 & E & F & M). subst h.
  assert (Tr : trail l p) by (apply Hh, in_app_iff; simpl; auto).
  destruct (Escapes l p Tr) as (B & t & O & R).
  exists l, p, t. unfold rechosen. cbn [now held owed].
  assert (Here : (fun x => if lane_eq_dec x l then t else n x) l = t) by (destruct (lane_eq_dec l l); congruence).
  destruct (next net t l p) as [l' | e |] eqn:N.
  - exists Moves. eexists. split; [apply in_app_iff; simpl; auto |]. split; [exact O |]. split; [| exact I].
    apply step_on; [exact F | rewrite Here; exact N |].
    unfold used. cbn [held owed]. rewrite weight_none.
    + simpl. apply (trail_fits net cap may_have may_send Fits l p Tr).
    + intros x J A. specialize (M x J). specialize (R l' eq_refl). rewrite <- A in R. lia.
  - exists (Eats e p). eexists. split; [apply in_app_iff; simpl; auto |]. split; [exact O |]. split; [| exact I].
    eapply step_eat; [exact F | rewrite Here; exact N].
  - exists (Drops p). eexists. split; [apply in_app_iff; simpl; auto |]. split; [exact O |]. split; [| exact I].
    eapply step_drop; [exact F | rewrite Here; exact N].
Qed.

(** A rank for every choice is one for Duato's condition too, whatever is offered. *)
Theorem every_choice_escapes : (forall l p t, offered l p t -> may_have t) ->
  (forall l p, trail l p -> exists t, offered l p t) -> rises net may_have may_send rank top -> escapes.
Proof.
  intros A O R l p T. destruct (R l p T) as [B U]. split; auto.
  destruct (O l p T) as (t & Q). exists t. split; auto. intros l' N. eapply U; eauto.
Qed.

End Escape.
