(** A rank that rises along every way of every packet rules out deadlock.

    W. J. Dally, C. L. Seitz: Deadlock-Free Message Routing in Multiprocessor Interconnection Networks,
    IEEE Trans. Computers 36(5), 1987, Theorem 1, for tables that may change at any time within a set
    ([may_have]). Before this it was formalised in ACL2 by F. Verbeek and J. Schmaltz (A Comment on "A
    Necessary and Sufficient Condition ...", IEEE TPDS 2011; Deadlock verification ..., 2009-2012). *)

From Coq Require Import NArith List Bool Lia Arith.
From WeftProof Require Import Network Semantics.
Import ListNotations.
Local Open Scope nat_scope.

Section Freedom.

Variable net : network.
Variable cap : lane -> nat.
Variable may_have : tables -> Prop.
Variable may_send : lane -> packet -> Prop.
Variable rank : lane -> nat.
Variable top : nat.

Notation trail := (trail net may_have may_send).
Notation step := (step net cap may_have may_send).
Notation run := (run net cap may_have may_send).
Notation sound := (sound net may_have may_send).

(** Wherever a packet may wait, whatever it may wait for has a higher rank. *)
Definition rises : Prop :=
  forall l p, trail l p ->
    rank l <= top /\ forall t l', may_have t -> next net t l p = Forward l' -> rank l < rank l'.

(** Every buffer has room for any one packet that is sent. *)
Definition fits : Prop := forall l p, may_send l p -> forall l', size p <= cap l'.

Hypothesis Rises : rises.
Hypothesis Fits : fits.

Lemma trail_fits : forall l p, trail l p -> forall l', size p <= cap l'.
Proof. induction 1; eauto. Qed.

(** A packet of the highest rank that is at the head of its lane. *)
Lemma highest : forall h : list (lane * packet), h <> [] ->
  exists h1 l p h2, h = h1 ++ (l, p) :: h2 /\ free_of l h1 /\ forall x, In x h -> rank (fst x) <= rank l.
Proof.
  induction h as [| [l p] h IH]; [congruence | intros _].
  destruct h as [| y h'].
  { exists [], l, p, []. repeat split; auto. - intros x []. - intros x [E | []]; now subst. }
  destruct IH as (h1 & l' & p' & h2 & E & F & M); [congruence |].
  destruct (le_lt_dec (rank l') (rank l)) as [C | C].
  - exists [], l, p, (y :: h'). repeat split; auto; [intros x [] |].
    intros x [X | X]; [now subst | specialize (M x X); simpl; lia].
  - exists ((l, p) :: h1), l', p', h2. rewrite E. repeat split; auto.
    + intros x [X | X]; [subst; simpl; intros A; subst; lia | now apply F].
    + rewrite <- E. intros x [X | X]; [subst; simpl; lia | now apply M].
Qed.

Lemma weight_none : forall l h, free_of l h -> weight l (sizes h) = 0.
Proof.
  induction h as [| [a q] h IH]; simpl; intros F; auto.
  destruct (lane_eq_dec a l) as [E | E].
  - exfalso. apply (F (a, q)); simpl; auto.
  - apply IH. intros x I. apply F. simpl. auto.
Qed.

(** Never stuck: while a packet or a credit is there, the network can do something by itself. *)
Theorem progress : forall st, sound st -> ~ empty st -> exists a st', inner a = true /\ step a st st'.
Proof.
  intros [t h w] [Ht Hh] NE. simpl in *.
  destruct w as [| c w].
  2: { exists Credits, {| now := t; held := h; owed := w |}. split; auto.
       apply (step_credit net cap may_have may_send t h [] w c). }
  assert (H : h <> []) by (intros ->; apply NE; split; auto).
  destruct (highest h H) as (h1 & l & p & h2 & E & F & M). subst h.
  assert (Tr : trail l p) by (apply Hh, in_app_iff; simpl; auto).
  destruct (next net (t l) l p) as [l' | e |] eqn:N.
  - exists Moves. eexists. split; [reflexivity |]. apply step_on; eauto.
    unfold used. cbn [held owed]. rewrite weight_none.
    + simpl. eauto using trail_fits.
    + intros x I A. specialize (M x I). destruct (Rises l p Tr) as [_ R].
      specialize (R (t l) l' (Ht l) N). rewrite <- A in R. lia.
  - exists (Eats e p). eexists. split; [reflexivity |]. eapply step_eat; eauto.
  - exists (Drops p). eexists. split; [reflexivity |]. eapply step_drop; eauto.
Qed.

(** In words of packets: when no credit is on its way, one of the packets goes on or leaves. *)
Corollary some_packet_moves : forall st, sound st -> held st <> [] -> owed st = [] ->
  exists a st', step a st st' /\ match a with Moves | Eats _ _ | Drops _ => True | _ => False end.
Proof.
  intros st S H O. destruct (progress st S) as (a & st' & I & T); [intros [E _]; contradiction |].
  exists a, st'. split; auto. inversion T; subst; simpl in *; auto; try discriminate.
  destruct w1; discriminate.
Qed.

Corollary never_stuck : forall st, sound st -> ~ stuck net cap may_have may_send st.
Proof.
  intros st S [H N]. destruct (progress st S) as (a & st' & I & T).
  - intros [E _]. contradiction.
  - exact (N a st' I T).
Qed.

(** How much the network can still do by itself. *)
Definition height (h : list (lane * packet)) : nat :=
  fold_right (fun x n => (top + 1 - rank (fst x)) + n) 0 h.

Definition work (st : state) : nat := 2 * height (held st) + length (owed st).

Lemma height_app : forall a b, height (a ++ b) = height a + height b.
Proof. induction a; simpl; intros; auto. rewrite IHa. lia. Qed.

Lemma work_inner : forall a st st', sound st -> inner a = true -> step a st st' -> work st' < work st.
Proof.
  intros a st st' [Ht Hh] I S.
  inversion S; subst; simpl in I; try discriminate; unfold work; cbn [held owed]; simpl in Hh, Ht;
    try (assert (Tr : trail l p) by (apply Hh, in_app_iff; simpl; auto);
         destruct (Rises l p Tr) as [B R]);
    rewrite ?app_length, ?height_app; simpl; rewrite ?height_app; simpl; try lia.
  specialize (R _ _ (Ht l) H0).
  assert (rank l' <= top) by (destruct (Rises l' p); [eapply trail_on; eauto | auto]). lia.
Qed.

Lemma work_quiet : forall a st st', sound st -> a <> Sends -> a <> Loses -> inner a = false -> step a st st' -> work st' = work st.
Proof. intros a st st' _ N1 N2 I S. inversion S; subst; try congruence; simpl in I; try discriminate. reflexivity. Qed.

Lemma work_lost : forall st st', sound st -> step Loses st st' -> work st' < work st.
Proof.
  intros st st' [Ht Hh] S. inversion S; subst. unfold work. cbn [held owed].
  destruct x as [l p]. assert (Tr : trail l p) by (apply Hh; simpl; apply in_app_iff; simpl; auto).
  destruct (Rises l p Tr) as [B _].
  rewrite !height_app. simpl. lia.
Qed.

(** Without new packets at most so many moves follow, whatever is written and lost meanwhile. *)
Theorem bounded : forall as_ st st', sound st -> run as_ st st' -> ~ In Sends as_ ->
  length (filter inner as_) + work st' <= work st.
Proof.
  intros as_ st st' S R. induction R as [| a as_ st st' st'' T R IH]; intros NS; [simpl; lia |].
  assert (S' := sound_step _ _ _ _ _ _ _ S T).
  specialize (IH S' (fun I => NS (or_intror I))). simpl.
  destruct (inner a) eqn:I; simpl.
  - pose proof (work_inner a st st' S I T). lia.
  - destruct a; try discriminate.
    + exfalso. apply NS. simpl. auto.
    + pose proof (work_quiet Writes st st' S ltac:(congruence) ltac:(congruence) eq_refl T). lia.
    + pose proof (work_lost st st' S T). lia.
Qed.

(** And they can go on until nothing is left. *)
Theorem drains : forall st, sound st ->
  exists as_ st', forallb inner as_ = true /\ run as_ st st' /\ empty st'.
Proof.
  intros st. remember (work st) as n. revert st Heqn.
  induction n as [n IH] using lt_wf_ind. intros st -> S.
  destruct (held st) as [| x h] eqn:Hh; destruct (owed st) as [| y w] eqn:Hw.
  1: { exists [], st. repeat split; auto. constructor. }
  all: destruct (progress st S) as (a & st1 & I & T);
    [intros [A B]; congruence |];
    destruct (IH (work st1) (work_inner a st st1 S I T) st1 eq_refl (sound_step _ _ _ _ _ _ _ S T))
      as (as_ & st2 & F & R & E);
    exists (a :: as_), st2; repeat split; simpl; try (rewrite I, F; auto; fail);
    try (eapply run_more; eauto; fail); apply E.
Qed.

(** Whoever takes a packet, and every discard, is at the end of a trail. *)
Theorem taken_on_trail : forall e p st st', sound st -> step (Eats e p) st st' ->
  exists l t, trail l p /\ may_have t /\ next net t l p = Taken e.
Proof.
  intros e p st st' [Ht Hh] S. inversion S; subst. simpl in *.
  exists l, (t l). repeat split; auto. apply Hh, in_app_iff. simpl. auto.
Qed.

Theorem dropped_on_trail : forall p st st', sound st -> step (Drops p) st st' ->
  exists l t, trail l p /\ may_have t /\ next net t l p = Lost.
Proof.
  intros p st st' [Ht Hh] S. inversion S; subst. simpl in *.
  exists l, (t l). repeat split; auto. apply Hh, in_app_iff. simpl. auto.
Qed.

End Freedom.

Lemma trail_less : forall net (H H' : tables -> Prop) (S S' : lane -> packet -> Prop),
  (forall t, H' t -> H t) -> (forall l p, S' l p -> S l p) ->
  forall l p, trail net H' S' l p -> trail net H S l p.
Proof. intros net H H' S S' A B l p T. induction T; [apply trail_sent | eapply trail_on]; eauto. Qed.

(** A rank for more tables and more packets is one for less. *)
Theorem rises_less : forall net (H H' : tables -> Prop) (S S' : lane -> packet -> Prop) rank top,
  (forall t, H' t -> H t) -> (forall l p, S' l p -> S l p) ->
  rises net H S rank top -> rises net H' S' rank top.
Proof.
  intros net H H' S S' rank top A B R l p T.
  destruct (R l p (trail_less _ _ _ _ _ A B _ _ T)) as [C D]. split; eauto.
Qed.

(** Senders that keep to a largest packet, in blocks: the MTU of the network, with headers. Without such a
    bound no buffer has room for whatever is sent, and theorems that ask for it would say nothing. *)
Definition up_to (mtu : nat) (sends : lane -> packet -> Prop) (l : lane) (p : packet) : Prop :=
  sends l p /\ size p <= mtu.

(** Buffers each of which has room for such a packet. *)
Definition roomy (mtu : nat) (cap : lane -> nat) : Prop := forall l, mtu <= cap l.

Lemma roomy_fits : forall mtu cap sends, roomy mtu cap -> fits cap (up_to mtu sends).
Proof. intros mtu cap sends R l p [_ S] l'. eauto using Nat.le_trans. Qed.

Lemma rises_up_to : forall net H sends rank top mtu, rises net H sends rank top -> rises net H (up_to mtu sends) rank top.
Proof. intros until mtu. apply rises_less; unfold up_to; tauto. Qed.
