(** Multicast: a packet that a switch copies to several lanes.

    It stays in its buffer until every copy is under way, and so may wait for several lanes at once. A
    switch may send the copies one by one, as lanes have room, or all at the same moment when
    all have. Unicast packets are those with one copy to make. *)

From Coq Require Import NArith List Bool Lia Arith.
From WeftProof Require Import Network Semantics.
Import ListNotations.
Local Open Scope nat_scope.

Section Multicast.

Variable packet : Type.
Variable size : packet -> nat.
Variable cap : lane -> nat.
(** What becomes of a packet that comes into a lane: the lanes to which it is copied there, and whether that
    lane's end takes it (as the last switch does). One with no copies to make goes away. *)
Variable copies : lane -> packet -> list lane -> Prop.
Variable may_send : lane -> packet -> Prop.

(** Packets with the copies that are still to be made. *)
Record waiting := { where_ : lane; what : packet; left : list lane }.
Record state := { held : list waiting; owed : list (lane * nat) }.

Definition used (st : state) (l : lane) : nat :=
  weight l (map (fun x => (where_ x, size (what x))) (held st)) + weight l (owed st).
Definition first_of (l : lane) (h : list waiting) : Prop := forall x, In x h -> where_ x <> l.
Definition room (st : state) (p : packet) (l : lane) : Prop := used st l + size p <= cap l.

(** What may come to wait, and where. *)
Inductive trail : lane -> packet -> Prop :=
| trail_sent : forall l p, may_send l p -> trail l p
| trail_copy : forall l p c x, trail l p -> copies l p c -> In x c -> trail x p.

Definition sound (st : state) : Prop :=
  forall x, In x (held st) -> trail (where_ x) (what x) /\ exists c, copies (where_ x) (what x) c /\ incl (left x) c.

Inductive act : Type := Copies | Leaves | Credits.

Inductive step : act -> state -> state -> Prop :=
| step_copy : forall h1 h2 l p a x b c w,   (* one copy, whichever has room *)
    first_of l h1 -> copies x p c ->
    room {| held := h1 ++ {| where_ := l; what := p; left := a ++ x :: b |} :: h2; owed := w |} p x ->
    step Copies {| held := h1 ++ {| where_ := l; what := p; left := a ++ x :: b |} :: h2; owed := w |}
                {| held := (h1 ++ {| where_ := l; what := p; left := a ++ b |} :: h2) ++ [{| where_ := x; what := p; left := c |}]; owed := w |}
| step_leave : forall h1 h2 l p w,
    first_of l h1 ->
    step Leaves {| held := h1 ++ {| where_ := l; what := p; left := [] |} :: h2; owed := w |}
                {| held := h1 ++ h2; owed := (l, size p) :: w |}
| step_credit : forall h w1 w2 x,
    step Credits {| held := h; owed := w1 ++ x :: w2 |} {| held := h; owed := w1 ++ w2 |}.

Variable rank : lane -> nat.

(** The rank rises along every copy, of unicast and multicast packets alike. *)
Definition rises : Prop := forall l p c x, trail l p -> copies l p c -> In x c -> rank l < rank x.

Hypothesis Rises : rises.
Hypothesis Fits : forall l p, may_send l p -> forall l', size p <= cap l'.
Hypothesis Total : forall l p, trail l p -> exists c, copies l p c.

Lemma trail_fits : forall l p, trail l p -> forall l', size p <= cap l'.
Proof. induction 1; eauto. Qed.

Lemma highest : forall h : list waiting, h <> [] ->
  exists h1 x h2, h = h1 ++ x :: h2 /\ first_of (where_ x) h1 /\ forall y, In y h -> rank (where_ y) <= rank (where_ x).
Proof.
  induction h as [| x h IH]; [congruence | intros _].
  destruct h as [| y h'].
  { exists [], x, []. repeat split; auto. - intros z []. - intros z [E | []]; now subst. }
  destruct IH as (h1 & z & h2 & E & F & M); [congruence |].
  destruct (le_lt_dec (rank (where_ z)) (rank (where_ x))) as [C | C].
  - exists [], x, (y :: h'). repeat split; auto; [intros u [] |].
    intros u [U | U]; [now subst | specialize (M u U); lia].
  - exists (x :: h1), z, h2. rewrite E. repeat split; auto.
    + intros u [U | U]; [subst; intros A; rewrite A in C; lia | now apply F].
    + rewrite <- E. intros u [U | U]; [subst; lia | now apply M].
Qed.

Lemma weight_none : forall l h, first_of l h -> weight l (map (fun x => (where_ x, size (what x))) h) = 0.
Proof.
  induction h as [| a h IH]; simpl; intros F; auto.
  destruct (lane_eq_dec (where_ a) l) as [E | E].
  - exfalso. apply (F a); simpl; auto.
  - apply IH. intros x I. apply F. simpl. auto.
Qed.

(** While a packet or a credit is there, something moves; and when no credit is on its way, there is a packet all
    of whose copies have room, so that a switch that makes them at the same moment goes on as well. *)
Theorem multicast_progress : forall st, sound st -> (held st <> [] \/ owed st <> []) ->
  (exists a st', step a st st') /\
  (owed st = [] -> exists h1 x h2, held st = h1 ++ x :: h2 /\ first_of (where_ x) h1 /\
    forall l, In l (left x) -> room st (what x) l).
Proof.
  intros [h w] S NE. simpl in *.
  assert (Key : forall w, w = [] -> h <> [] -> exists h1 x h2, h = h1 ++ x :: h2 /\ first_of (where_ x) h1 /\
    forall l, In l (left x) -> room {| held := h; owed := w |} (what x) l).
  { intros w' -> H. destruct (highest h H) as (h1 & x & h2 & E & F & M).
    exists h1, x, h2. repeat split; auto. intros l I. unfold room, used. cbn [held owed].
    destruct (S x) as (Tr & c & C & K); [simpl; rewrite E; apply in_app_iff; simpl; auto |].
    assert (R := Rises _ _ _ _ Tr C (K l I)).
    rewrite weight_none.
    - simpl. eapply trail_fits; eauto.
    - intros y J A. specialize (M y J). rewrite A in M. lia. }
  destruct w as [| c w].
  2: { split; [| intros Q; discriminate]. exists Credits. eexists. apply (step_credit h [] w c). }
  assert (H : h <> []) by (destruct NE; congruence).
  destruct (Key [] eq_refl H) as (h1 & x & h2 & E & F & A).
  split; [| intros _; exists h1, x, h2; auto].
  destruct x as [l p ls]. simpl in *. subst h. destruct ls as [| y ls].
  - exists Leaves. eexists. apply step_leave. exact F.
  - destruct (S {| where_ := l; what := p; left := y :: ls |}) as (Tr & c & C & K); [apply in_app_iff; simpl; auto |].
    simpl in *. destruct (Total y p) as (c' & C').
    { eapply trail_copy; [exact Tr | exact C | apply K; simpl; auto]. }
    exists Copies. eexists. apply (step_copy h1 h2 l p [] y ls c' []); simpl; auto.
Qed.

(** What is held stays so. *)
Theorem multicast_sound : forall a st st', sound st -> step a st st' -> sound st'.
Proof.
  intros a st st' S T. destruct T as [h1 h2 l p a x b c w F C R | h1 h2 l p w F | h w1 w2 x]; intros y I; cbn [held] in *.
  - assert (M : In {| where_ := l; what := p; left := a ++ x :: b |} (h1 ++ {| where_ := l; what := p; left := a ++ x :: b |} :: h2))
      by (apply in_app_iff; simpl; auto).
    destruct (S _ M) as (Tr & d & D & K). simpl in *.
    apply in_app_iff in I as [I | [<- | []]].
    + apply in_app_iff in I as [I | [<- | I]].
      * apply S. simpl. apply in_app_iff. auto.
      * simpl. split; auto. exists d. split; auto. intros z J. apply K. apply in_app_iff in J. apply in_app_iff. simpl. tauto.
      * apply S. simpl. apply in_app_iff. simpl. auto.
    + simpl. split; [| exists c; split; auto; apply incl_refl].
      eapply trail_copy; [exact Tr | exact D | apply K, in_app_iff; simpl; auto].
  - apply S. simpl. apply in_app_iff in I. apply in_app_iff. simpl. tauto.
  - apply S. exact I.
Qed.

End Multicast.
