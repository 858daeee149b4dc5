(** The other verdict: packets that can come to wait for each other in a circle do deadlock.

    A circle of lanes that wait for each other is a fact about tables; that it fills is one about
    packets. Here: where an order of sending fills it, each packet by a way on which none of
    those before stands, the network comes to a state in which these packets stand for ever. The ring of
    Ring.v is an instance. A circle for which there is no such order is not shown to deadlock by
    this, nor to be harmless. *)

From Coq Require Import NArith List Bool Lia Arith.
From WeftProof Require Import Network Semantics Freedom.
Import ListNotations.
Local Open Scope nat_scope.

Section Deadlocks.

Variable net : network.
Variable cap : lane -> nat.
Variable may_have : tables -> Prop.
Variable may_send : lane -> packet -> Prop.
Variable t : tables.                           (* those that the switches have meanwhile *)

Notation step := (step net cap may_have may_send).
Notation run := (run net cap may_have may_send).

(** A way of a packet by the lanes of a list, from the one on which it is sent to where it is to stand. *)
Fixpoint way (p : packet) (s : lane) (via : list lane) (l : lane) : Prop :=
  match via with
  | [] => next net t s p = Forward l /\ s <> l
  | x :: r => next net t s p = Forward x /\ s <> x /\ way p x r l
  end.

(** Packets that stand, the first sent first: each came by lanes on which none of those before stands. *)
Inductive filled : list (lane * packet) -> Prop :=
| filled_none : filled []
| filled_more : forall h s via l p,
    filled h -> may_send s p -> way p s via l ->
    (forall x, In x (s :: via) -> free_of x h /\ size p <= cap x) ->
    weight l (sizes h) + size p <= cap l ->
    filled (h ++ [(l, p)]).

(** None at the head of its lane has room ahead. *)
Definition blocked (h : list (lane * packet)) : Prop :=
  forall h1 l p h2, h = h1 ++ (l, p) :: h2 -> free_of l h1 ->
    exists l', next net t l p = Forward l' /\ cap l' < weight l' (sizes h) + size p.

Definition still (h : list (lane * packet)) (w : list (lane * nat)) : state :=
  {| now := fun _ => t; held := h; owed := w |}.

Lemma weight_app : forall l a b, weight l (a ++ b) = weight l a + weight l b.
Proof.
  intros l a b. unfold weight. induction a as [| [x n] a IH]; simpl; auto.
  destruct (lane_eq_dec x l); simpl; lia.
Qed.

Lemma weight_free : forall l h, free_of l h -> weight l (sizes h) = 0.
Proof.
  induction h as [| [a q] h IH]; simpl; intros F; auto.
  destruct (lane_eq_dec a l) as [E | E].
  - exfalso. apply (F (a, q)); simpl; auto.
  - apply IH. intros x I. apply F. simpl. auto.
Qed.

Lemma run_app : forall a b x y z, run a x y -> run b y z -> run (a ++ b) x z.
Proof. induction 1; simpl; intros; auto. eapply run_more; eauto. Qed.

(** One packet goes on, and the credit for it comes back. *)
Lemma goes_on : forall h l p l', next net t l p = Forward l' -> l <> l' -> free_of l h ->
  weight l' (sizes h) + size p <= cap l' ->
  run [Moves; Credits] (still (h ++ [(l, p)]) []) (still (h ++ [(l', p)]) []).
Proof.
  intros h l p l' N D F R. unfold still. eapply run_more.
  - apply (step_on _ _ _ _ (fun _ => t) h [] l l' p []); auto.
    unfold used. cbn [held owed]. unfold sizes in *. rewrite map_app, weight_app. simpl.
    destruct (lane_eq_dec l l'); [contradiction | lia].
  - rewrite app_nil_r. eapply run_more; [apply (step_credit _ _ _ _ _ _ [] []) | apply run_none].
Qed.

Lemma comes_to : forall via h s l p, way p s via l ->
  (forall x, In x (s :: via) -> free_of x h /\ size p <= cap x) ->
  weight l (sizes h) + size p <= cap l ->
  exists as_, run as_ (still (h ++ [(s, p)]) []) (still (h ++ [(l, p)]) []).
Proof.
  induction via as [| x via IH]; intros h s l p W F R; simpl in W.
  - destruct W as [N D]. exists [Moves; Credits]. apply goes_on; auto. apply F. simpl. auto.
  - destruct W as (N & D & W). destruct (IH h x l p W) as (as_ & Q); auto.
    { intros y I. apply F. simpl in *. tauto. }
    exists ([Moves; Credits] ++ as_). eapply run_app; eauto.
    destruct (F x) as [Fx Cx]; [simpl; auto |]. apply goes_on; auto.
    + apply F. simpl. auto.
    + rewrite weight_free; auto.
Qed.

Theorem filled_comes_about : forall h, filled h -> exists as_, run as_ (still [] []) (still h []).
Proof.
  induction 1 as [| h s via l p F (as_ & R) S W Fr Ro].
  - exists []. apply run_none.
  - destruct (comes_to via h s l p W Fr Ro) as (bs & Q).
    exists (as_ ++ Sends :: bs). eapply run_app; eauto. eapply run_more; [| exact Q].
    apply step_send; auto. unfold used. cbn [held owed]. simpl.
      destruct (Fr s) as [Fs Cs]; [simpl; auto |]. rewrite weight_free; auto; lia.
Qed.

(** Where a prefix of a list is blocked, none of it goes: whatever else is sent and moves. *)
Lemma prefix_stays : forall a st st' h rest, blocked h -> now st = (fun _ => t) -> held st = h ++ rest ->
  step a st st' -> a <> Loses -> a <> Writes ->
  now st' = (fun _ => t) /\ exists rest', held st' = h ++ rest'.
Proof.
  intros a st st' h rest B T H S NL NW.
  assert (Gone : forall l p h1 h2, h1 ++ (l, p) :: h2 = h ++ rest -> free_of l h1 ->
    (exists l', next net t l p = Forward l' /\ cap l' < weight l' (sizes (h ++ rest)) + size p) \/
    exists r1, h1 = h ++ r1 /\ r1 ++ (l, p) :: h2 = rest).
  { intros l p h1 h2 E F. apply app_eq_app in E as (m & [[E1 E2] | [E1 E2]]).
    - right. exists m. auto.
    - destruct m as [| y m].
      + right. exists []. rewrite app_nil_r in E1. simpl in E2. rewrite app_nil_r. simpl. auto.
      + left. simpl in E2. injection E2 as <- E2. destruct (B h1 l p m E1 F) as (l' & N & C).
        exists l'. split; auto. unfold sizes in *. rewrite map_app, weight_app. lia. }
  destruct S as [t0 h1 h2 l l' p w Fr N Ro | t0 h0 w1 w2 x | t0 h1 h2 l p e w Fr N | t0 h1 h2 l p w Fr N
    | t0 h0 l p w M Ro | t0 t1 h0 w M | t0 h1 h2 x w]; simpl in *; try congruence; subst t0; (split; [reflexivity |]).
  - destruct (Gone l p h1 h2 H Fr) as [(x & N' & C) | (r1 & -> & R)].
    + exfalso. rewrite N in N'. injection N' as <-.
      unfold used in Ro. cbn [held owed] in Ro. rewrite H in Ro. lia.
    + exists ((r1 ++ h2) ++ [(l', p)]). now rewrite !app_assoc.
  - eauto.
  - destruct (Gone l p h1 h2 H Fr) as [(x & N' & C) | (r1 & -> & R)]; [congruence |].
    exists (r1 ++ h2). now rewrite app_assoc.
  - destruct (Gone l p h1 h2 H Fr) as [(x & N' & C) | (r1 & -> & R)]; [congruence |].
    exists (r1 ++ h2). now rewrite app_assoc.
  - exists (rest ++ [(l, p)]). now rewrite H, app_assoc.
Qed.

Theorem stands_for_ever : forall h, blocked h -> forall as_ st st' rest,
  now st = (fun _ => t) -> held st = h ++ rest -> run as_ st st' -> ~ In Loses as_ -> ~ In Writes as_ ->
  exists rest', held st' = h ++ rest'.
Proof.
  intros h B as_ st st' rest T H R. revert rest T H.
  induction R as [| a as_ st st1 st' S R IH]; intros rest T H NL NW; eauto.
  destruct (prefix_stays a st st1 h rest B T H S) as (T' & rest' & H');
    try (intros ->; simpl in *; tauto).
  apply (IH rest'); auto; intros I; [apply NL | apply NW]; simpl; auto.
Qed.

(** A deadlock that comes about, and ends only if packets are lost or others tables are written. *)
Theorem loop_deadlocks : forall h, filled h -> h <> [] -> blocked h ->
  exists as_ st, run as_ (still [] []) st /\ held st = h /\
    stuck net cap may_have may_send st /\
    forall bs st', run bs st st' -> ~ In Loses bs -> ~ In Writes bs -> exists rest, held st' = h ++ rest.
Proof.
  intros h F NE B. destruct (filled_comes_about h F) as (as_ & R).
  exists as_, (still h []). split; [exact R |]. split; [reflexivity |]. split.
  - split; [exact NE |]. intros a st' I S.
    unfold still in S. inversion S as [t0 h1 h2 l l' p w Fr N Ro E0 E1 | t0 h0 w1 w2 x E0 E1 | t0 h1 h2 l p e w Fr N E0 E1
      | t0 h1 h2 l p w Fr N E0 E1 | t0 h0 l p w M Ro E0 E1 | t0 t1 h0 w M E0 E1 | t0 h1 h2 x w E0 E1]; subst; simpl in I; try discriminate.
    + destruct (B h1 l p h2 eq_refl Fr) as (x & N' & C). rewrite N in N'. injection N' as <-.
      unfold used in Ro. cbn [held owed] in Ro. simpl in Ro. lia.
    + destruct w1; discriminate.
    + destruct (B h1 l p h2 eq_refl Fr) as (x & N' & _). congruence.
    + destruct (B h1 l p h2 eq_refl Fr) as (x & N' & _). congruence.
  - intros bs st' Q NL NW. eapply (stands_for_ever h B bs (still h []) st' []); eauto.
    simpl. now rewrite app_nil_r.
Qed.

(** So there is no rank: the two verdicts exclude each other. *)
Corollary deadlock_has_no_rank : forall h, filled h -> h <> [] -> blocked h ->
  may_have t -> fits cap may_send -> forall rank top, ~ rises net may_have may_send rank top.
Proof.
  intros h F NE B T Fi rank top R. destruct (loop_deadlocks h F NE B) as (as_ & st & Q & _ & S & _).
  apply (never_stuck net cap may_have may_send rank top R Fi st); auto.
  eapply sound_run; eauto. split; simpl; auto. intros l p [].
Qed.

End Deadlocks.
