(** No packet waits for ever.

    That something always moves ([progress]) does not say that each packet does: one could stand at the head of
    its lane while others pass it by without end. Whether they do is up to the switches, which is why it is
    assumed here, in three sentences about an endless run: a packet in whose way nothing is from some moment on goes on
    at some time ([served]); a packet that waits for a lane is not overtaken into it for ever ([not_overtaken]); credits
    come back ([credits_return]). Switches whose lanes take turns keep the first two ([Arbitration.v]), if the turn waits for
    a packet that has no room yet: of those that pass it over, smaller packets may keep the room from it for ever. A switch
    of which the arbitration tables give a lane no weight, or one to which a lane of high priority may do this without
    limit, does not keep them (InfiniBand Architecture Specification 1, 7.6.9). Where they are kept a rank that rises is
    enough: every packet goes on from lane to lane until it is out. *)

From Coq Require Import NArith List Bool Lia Arith.
From WeftProof Require Import Network Semantics Freedom Contracts Checker Soundness Verdict.
Import ListNotations.
Local Open Scope nat_scope.

Section Waiting.

Variable net : network.
Variable cap : lane -> nat.
Variable may_have : tables -> Prop.
Variable may_send : lane -> packet -> Prop.
Variable rank : lane -> nat.
Variable top : nat.

Notation step := (step net cap may_have may_send).
Notation sound := (sound net may_have may_send).

(** How many are on a lane, of packets and of credits alike, and who is at its head. *)
Fixpoint count {A : Type} (l : lane) (h : list (lane * A)) : nat :=
  match h with [] => 0 | x :: r => if lane_eq_dec (fst x) l then S (count l r) else count l r end.
Fixpoint head (l : lane) (h : list (lane * packet)) : option packet :=
  match h with [] => None | x :: r => if lane_eq_dec (fst x) l then Some (snd x) else head l r end.

Definition fewer (l : lane) (st st' : state) : Prop := count l (held st') < count l (held st).

Lemma count_app : forall (A : Type) l (a b : list (lane * A)), count l (a ++ b) = count l a + count l b.
Proof. intros A l a b. induction a as [| x a IH]; simpl; auto. destruct (lane_eq_dec (fst x) l); simpl; lia. Qed.

Lemma head_split : forall l h p, head l h = Some p -> exists h1 h2, h = h1 ++ (l, p) :: h2 /\ free_of l h1.
Proof.
  induction h as [| [x q] h IH]; simpl; intros p H; [discriminate |].
  destruct (lane_eq_dec x l) as [-> | D].
  - injection H as ->. exists [], h. split; auto. intros y [].
  - destruct (IH p H) as (h1 & h2 & -> & F). exists ((x, q) :: h1), h2. split; auto.
    intros y [<- | I]; auto.
Qed.

Lemma head_app : forall l a b, head l (a ++ b) = match head l a with Some p => Some p | None => head l b end.
Proof. induction a as [| x a IH]; simpl; intros b; auto. destruct (lane_eq_dec (fst x) l); auto. Qed.

Lemma head_some : forall l h, 0 < count l h -> exists p, head l h = Some p.
Proof. induction h as [| x h IH]; simpl; [lia |]. destruct (lane_eq_dec (fst x) l); eauto. Qed.

Lemma weight_of_none : forall l h, count l h = 0 -> weight l h = 0.
Proof. induction h as [| x h IH]; simpl; intros C; auto. destruct (lane_eq_dec (fst x) l); [discriminate | auto]. Qed.

Lemma count_sizes : forall l h, count l (sizes h) = count l h.
Proof. induction h as [| x h IH]; simpl; auto. destruct (lane_eq_dec (fst x) l); auto. Qed.

(** Nothing is in the way of the packet at the head of a lane: the lane ahead is empty, and no credit for it is
    still on its way; or the packet leaves the network here. *)
Definition clear (l : lane) (st : state) : Prop := exists p, head l (held st) = Some p /\
  forall l', next net (now st l) l p = Forward l' -> count l' (held st) = 0 /\ count l' (owed st) = 0.

(** A packet could go on from a lane, or leave the network there. *)
Definition able (l : lane) (st : state) : Prop := exists a st', inner a = true /\ step a st st' /\ fewer l st st'.

(** An endless run, after which nothing is written and nothing lost any more: endpoints go on sending. *)
Variable st : nat -> state.
Variable what : nat -> act.
Hypothesis Goes : forall i, step (what i) (st i) (st (S i)).
Hypothesis Quiet : forall i, what i <> Writes /\ what i <> Loses.
Hypothesis Sound : sound (st 0).

Hypothesis Rises : rises net may_have may_send rank top.
Hypothesis Fits : fits cap may_send.

(** What is assumed of switches, and of those who take packets. (Twice negated: that there is a moment from which on
    nobody overtakes is more than who looks at a run could say when.) *)
Definition served : Prop := forall l i,
  (forall j, i <= j -> clear l (st j) /\ able l (st j)) -> exists j, i <= j /\ fewer l (st j) (st (S j)).
Definition not_overtaken : Prop := forall l l' p i,
  (forall j, i <= j -> head l (held (st j)) = Some p /\ next net (now (st j) l) l p = Forward l' /\ ~ fewer l (st j) (st (S j))) ->
  ~ ~ exists k, forall j, k <= j -> count l' (held (st (S j))) <= count l' (held (st j)).
Definition credits_return : Prop := forall l i,
  0 < count l (owed (st i)) -> exists j, i <= j /\ count l (owed (st (S j))) < count l (owed (st j)).

Hypothesis Served : served.
Hypothesis Not_overtaken : not_overtaken.
Hypothesis Credits_return : credits_return.

(** A lane from which nothing leaves keeps its head, and does not owe more than before. *)
Lemma kept : forall a s s' l, sound s -> step a s s' -> a <> Writes -> a <> Loses -> ~ fewer l s s' ->
  now s' = now s /\ count l (owed s') <= count l (owed s) /\ forall p, head l (held s) = Some p -> head l (held s') = Some p.
Proof.
  intros a s s' l [Ht Hh] S NW NL NF. unfold fewer in NF.
  destruct S as [t h1 h2 x x' q w Fr N Ro | t h w1 w2 x | t h1 h2 x q e w Fr N | t h1 h2 x q w Fr N
    | t h x q w M Ro | t t1 h w M | t h1 h2 x w]; cbn [held owed now] in *; try congruence; (split; [reflexivity |]).
  - assert (Tr : trail net may_have may_send x q) by (apply Hh, in_app_iff; simpl; auto).
    destruct (Rises x q Tr) as [_ R]. specialize (R (t x) x' (Ht x) N).
    rewrite !count_app in NF. simpl in *. destruct (lane_eq_dec x l) as [-> | D].
    + exfalso. apply NF. destruct (lane_eq_dec x' l) as [-> | E]; lia.
    + split; [lia |]. intros p H. rewrite !head_app in *. simpl in *. destruct (lane_eq_dec x l); [contradiction |].
      destruct (head l h1); auto. destruct (head l h2); [auto | discriminate].
  - rewrite !count_app. simpl. split; [destruct (lane_eq_dec (fst x) l); lia | auto].
  - rewrite !count_app in NF. simpl in *. destruct (lane_eq_dec x l) as [-> | D]; [exfalso; apply NF; lia |].
    split; [lia |]. intros p H. rewrite !head_app in *. simpl in *. destruct (lane_eq_dec x l); [contradiction | auto].
  - rewrite !count_app in NF. simpl in *. destruct (lane_eq_dec x l) as [-> | D]; [exfalso; apply NF; lia |].
    split; [lia |]. intros p H. rewrite !head_app in *. simpl in *. destruct (lane_eq_dec x l); [contradiction | auto].
  - split; [lia |]. intros p H. rewrite head_app, H. reflexivity.
Qed.

(** Buffers have room: what has nothing in its way can go on at once. *)
Lemma clear_able : forall l s, sound s -> clear l s -> able l s.
Proof.
  intros l [t h w] [Ht Hh] (p & H & N). simpl in *. destruct (head_split l h p H) as (h1 & h2 & -> & Fr).
  assert (Tr : trail net may_have may_send l p) by (apply Hh, in_app_iff; simpl; auto).
  destruct (next net (t l) l p) as [l' | e |] eqn:Nx.
  - destruct (N l' eq_refl) as [N1 N2]. exists Moves. eexists. split; [reflexivity |]. split.
    + apply step_on with (l' := l'); [exact Fr | exact Nx |]. unfold used. cbn [held owed].
      rewrite !weight_of_none; [simpl; eapply trail_fits; eauto | exact N2 | now rewrite count_sizes].
    + unfold fewer. cbn [held]. rewrite !count_app in *. simpl in *.
      destruct (lane_eq_dec l l); [| congruence]. destruct (lane_eq_dec l' l) as [-> | D]; [| lia].
      destruct (lane_eq_dec l l); [lia | congruence].
  - exists (Eats e p). eexists. split; [reflexivity |]. split; [eapply step_eat; eauto |].
    unfold fewer. cbn [held]. rewrite !count_app. simpl. destruct (lane_eq_dec l l); [lia | congruence].
  - exists (Drops p). eexists. split; [reflexivity |]. split; [eapply step_drop; eauto |].
    unfold fewer. cbn [held]. rewrite !count_app. simpl. destruct (lane_eq_dec l l); [lia | congruence].
Qed.

Lemma always_sound : forall i, sound (st i).
Proof. induction i; auto. eapply sound_step; eauto. Qed.

(** What only falls, and does not stay as it is as long as it is not 0, comes to 0. (Twice negated: a run is no
    program that could be asked when.) *)
Lemma falls : forall (f : nat -> nat) k, (forall j, k <= j -> f (S j) <= f j) ->
  (forall j, k <= j -> 0 < f j -> ~ (forall m, j <= m -> ~ f (S m) < f m)) ->
  ~ ~ exists m, k <= m /\ forall j, m <= j -> f j = 0.
Proof.
  intros f k D F.
  assert (Mono : forall m j, k <= j -> j <= m -> f m <= f j).
  { intros m j K L. induction L as [| m L IH]; auto. specialize (D m). lia. }
  assert (G : forall n j, k <= j -> f j <= n -> ~ ~ exists m, j <= m /\ f m = 0).
  { induction n as [| n IH]; intros j K L No; [apply No; exists j; lia |].
    destruct (Nat.eq_dec (f j) 0) as [E | E]; [apply No; exists j; lia |].
    apply (F j K); [lia |]. intros m Jm Fm. assert (f m <= f j) by (apply Mono; lia).
    apply (IH (S m)); [lia | lia |]. intros (z & Z1 & Z2). apply No. exists z. split; [lia | auto]. }
  intros No. apply (G (f k) k); auto. intros (m & K & Z). apply No. exists m. split; auto. intros j L.
  specialize (Mono j m K L). lia.
Qed.

Definition stays (l : lane) (i : nat) : Prop := forall j, i <= j -> ~ fewer l (st j) (st (S j)).

(** No lane keeps its packets for ever. *)
Theorem no_lane_stays : forall l i, 0 < count l (held (st i)) -> ~ stays l i.
Proof.
  intros l. remember (top + 1 - rank l) as n. revert l Heqn.
  induction n as [n IH] using lt_wf_ind. intros l -> i C St.
  destruct (head_some l _ C) as (p & H).
  assert (Keep : forall j, i <= j -> now (st j) = now (st i) /\ head l (held (st j)) = Some p).
  { intros j L. induction L as [| j L [N K]]; auto.
    destruct (Quiet j) as [NW NL].
    destruct (kept _ _ _ l (always_sound j) (Goes j) NW NL (St j L)) as (N' & _ & K'). split; [congruence | auto]. }
  set (t := now (st i) l).
  assert (Tr : trail net may_have may_send l p).
  { destruct (always_sound i) as [_ Hh]. destruct (head_split _ _ _ H) as (h1 & h2 & E & _).
    apply Hh. rewrite E. apply in_app_iff. simpl. auto. }
  assert (Has : may_have t) by (destruct (always_sound i) as [Ht _]; apply Ht).
  assert (Both : forall j, clear l (st j) -> clear l (st j) /\ able l (st j)) by (intros j Q; split; [| apply clear_able]; auto using always_sound).
  destruct (next net t l p) as [l' | e |] eqn:N.
  - destruct (Rises l p Tr) as [B R]. specialize (R t l' Has N).
    assert (B' : rank l' <= top) by (destruct (Rises l' p); [eapply trail_on; eauto | auto]).
    apply (Not_overtaken l l' p i).
    { intros j L. destruct (Keep j L) as [Nj K]. rewrite Nj. auto. }
    intros (k0 & K0).
    set (k := i + k0).
    apply (falls (fun j => count l' (held (st j))) k).
    { intros j L. apply K0. unfold k in L. lia. }
    { intros j L P. exact (IH (top + 1 - rank l') ltac:(lia) l' eq_refl j P). }
    intros (m & M1 & M2).
    apply (falls (fun j => count l' (owed (st j))) m).
    { intros j L. destruct (Quiet j) as [NW NL].
      destruct (kept _ _ _ l' (always_sound j) (Goes j) NW NL) as (_ & O & _); auto.
      unfold fewer. rewrite (M2 j L). lia. }
    { intros j L P Q. destruct (Credits_return l' j P) as (z & Z1 & Z2). exact (Q z Z1 Z2). }
    intros (z & Z1 & Z2).
    destruct (Served l z) as (j & L & F); [| apply (St j); [unfold k in *; lia | exact F]].
    intros j L. apply Both. destruct (Keep j ltac:(unfold k in *; lia)) as [Nj K]. exists p. split; [exact K |].
    intros x X. rewrite Nj in X. fold t in X. rewrite N in X. injection X as <-.
    split; [apply M2; lia | apply Z2; exact L].
  - destruct (Served l i) as (j & L & F); [| exact (St j L F)].
    intros j L. apply Both. destruct (Keep j L) as [Nj K]. exists p. split; [exact K |]. intros x X. rewrite Nj in X. fold t in X. congruence.
  - destruct (Served l i) as (j & L & F); [| exact (St j L F)].
    intros j L. apply Both. destruct (Keep j L) as [Nj K]. exists p. split; [exact K |]. intros x X. rewrite Nj in X. fold t in X. congruence.
Qed.

(** How many left a lane from moment i on, in so many steps. *)
Fixpoint gone (l : lane) (i n : nat) : nat :=
  match n with
  | O => 0
  | S n => gone l i n + (count l (held (st (i + n))) - count l (held (st (S (i + n)))))
  end.

Lemma gone_count : forall l i n, count l (held (st i)) <= gone l i n + count l (held (st (i + n))).
Proof.
  intros l i n. induction n as [| n IH]; simpl; [rewrite Nat.add_0_r; lia |]. replace (i + S n) with (S (i + n)) by lia. lia.
Qed.

(** No packet waits for ever: lanes are first in, first out, and as many as are on a lane leave it. A packet that left
    stands on a lane of a higher rank, and soon on none. *)
Theorem no_packet_waits_for_ever : forall l i m, m <= count l (held (st i)) -> ~ (forall n, gone l i n < m).
Proof.
  intros l i. induction m as [| m IH]; intros C All; [specialize (All 0); lia |].
  apply IH; [lia |]. intros n. destruct (le_lt_dec m (gone l i n)) as [G | G]; [exfalso | exact G].
  apply (no_lane_stays l (i + n)).
  - pose proof (gone_count l i n). specialize (All n). lia.
  - intros j L F. unfold fewer in F.
    assert (Mono : forall z, gone l i n <= gone l i (n + z)).
    { induction z as [| z IHz]; [rewrite Nat.add_0_r; lia |]. replace (n + S z) with (S (n + z)) by lia. simpl. lia. }
    specialize (Mono (j - (i + n))). replace (n + (j - (i + n))) with (j - i) in Mono by lia.
    specialize (All (S (j - i))). simpl in All. replace (i + (j - i)) with j in All by lia. lia.
Qed.

End Waiting.

(** So it is with tables that the checker accepts. *)
Theorem check_no_packet_waits_for_ever : forall net rs lids k ends rank canon top must_arrive fuel groups,
  check net rs rank canon top lids must_arrive fuel k ends groups = None ->
  forall mtu cap, roomy mtu cap -> forall st what, reachable net rs lids k ends mtu cap (st 0) ->
  (forall i, step net cap (tables_now rs) (packets_sent rs lids k ends mtu) (what i) (st i) (st (S i))) ->
  (forall i, what i <> Writes /\ what i <> Loses) ->
  served net cap (tables_now rs) (packets_sent rs lids k ends mtu) st -> not_overtaken net st -> credits_return st ->
  forall l i m, m <= count l (held (st i)) -> ~ (forall n, gone st l i n < m).
Proof.
  intros net rs lids k ends rank canon top must_arrive fuel groups C mtu cap F st what Re G Q A B D.
  apply (no_packet_waits_for_ever net cap (tables_now rs) (packets_sent rs lids k ends mtu) (lane_rank rank canon top) (S (N.to_nat top)) st what); auto.
  - eapply reachable_sound; eauto.
  - apply rises_up_to. eapply check_rises; eauto.
  - apply roomy_fits. auto.
Qed.
