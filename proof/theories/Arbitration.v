(** Switches whose lanes take turns keep what [Waiting.v] assumes of switches.

    Lanes whose packets want the same lane ahead take turns in an order, the first of which has the turn; one may stand
    there several times, by its weight. The turn stays with a packet that has no room yet until it has. So a packet
    that waits has the turn at some time, keeps it, and is not overtaken any more. What is left to be assumed is that
    whoever has the turn, and nothing in its way, goes at some time, that endpoints take what comes, and that
    credits come back. *)

From Coq Require Import NArith List Bool Lia Arith.
From WeftProof Require Import Network Semantics Freedom Contracts Checker Soundness Verdict Waiting.
Import ListNotations.
Local Open Scope nat_scope.

Section Turns.

Variable net : network.
Variable cap : lane -> nat.
Variable may_have : tables -> Prop.
Variable may_send : lane -> packet -> Prop.
Variable rank : lane -> nat.
Variable top : nat.

Variable st : nat -> state.
Variable what : nat -> act.

(** The packet at the head of a lane waits for a lane ahead. *)
Definition wants (l l' : lane) (s : state) : Prop :=
  exists p, head l (held s) = Some p /\ next net (now s l) l p = Forward l'.

(** A packet goes on from a lane to a lane. *)
Definition goes (l l' : lane) (s s' : state) : Prop := fewer l s s' /\ count l' (held s) < count l' (held s').

(** The lanes that take turns into a lane, at each moment; the first has the turn. *)
Variable order : nat -> lane -> list lane.

Record turns : Prop := {
  (* Whoever wants to go there takes part. *)
  in_order : forall i l l', wants l l' (st i) -> In l (order i l');
  (* Only the first may go, and then the turn passes to the next. *)
  first_goes : forall i l l', goes l l' (st i) (st (S i)) -> exists r, order i l' = l :: r /\ order (S i) l' = r ++ [l];
  (* Else it passes from a lane that does not want to go there, and from no other. *)
  turn_stays : forall i l', order (S i) l' = order i l' \/ exists l r, order i l' = l :: r /\ order (S i) l' = r ++ [l] /\
    (goes l l' (st i) (st (S i)) \/ ~ wants l l' (st i));
  (* With such a lane it does not stay for ever. *)
  turn_passes : forall i l' l r, order i l' = l :: r -> exists j, i <= j /\ (order (S j) l' = r ++ [l] \/ wants l l' (st j));
  (* At some time the port sends, always again: then whoever has the turn, and nothing in its way, goes. *)
  port_sends : forall i l l', exists j, i <= j /\ (wants l l' (st j) -> (exists r, order j l' = l :: r) ->
    count l' (held (st j)) = 0 -> count l' (owed (st j)) = 0 -> fewer l (st j) (st (S j)));
  (* At some time what leaves the network here is taken, always again. *)
  end_takes : forall i l, exists j, i <= j /\ (forall p, head l (held (st j)) = Some p ->
    (forall l', next net (now (st j) l) l p <> Forward l') -> fewer l (st j) (st (S j)))
}.

Hypothesis Goes : forall i, step net cap may_have may_send (what i) (st i) (st (S i)).
Hypothesis Quiet : forall i, what i <> Writes /\ what i <> Loses.
Hypothesis Sound : sound net may_have may_send (st 0).
Hypothesis Rises : rises net may_have may_send rank top.
Hypothesis Fits : fits cap may_send.
(** Nothing goes on to the lanes by which endpoints send. *)
Hypothesis Apart : forall t l p l' p', may_send l' p' -> next net t l p <> Forward l'.
Hypothesis Turns : turns.

(** What comes to a lane to which packets go on comes from the lane that has the turn. *)
Lemma comes_from : forall a s s' l l' q, sound net may_have may_send s -> step net cap may_have may_send a s s' -> next net (now s l) l q = Forward l' ->
  count l' (held s) < count l' (held s') -> exists x, goes x l' s s'.
Proof.
  intros a s s' l l' q [Ht Hh] S N C.
  destruct S as [t h1 h2 x x' p w Fr Nx Ro | t h w1 w2 x | t h1 h2 x p e w Fr Nx | t h1 h2 x p w Fr Nx
    | t h x p w M Ro | t t1 h w M | t h1 h2 x w]; cbn [held now] in *; unfold goes, fewer; cbn [held] in *;
    rewrite ?count_app in *; simpl in *; try (destruct (lane_eq_dec _ _); lia); try lia.
  - exists x. rewrite !count_app in *. simpl in *.
    assert (x <> x').
    { intros <-. destruct (Rises x p) as [_ R]; [apply Hh, in_app_iff; simpl; auto |]. specialize (R (t x) x (Ht x) Nx). lia. }
    destruct (lane_eq_dec x x), (lane_eq_dec x' x), (lane_eq_dec x l'), (lane_eq_dec x' l'); subst; try congruence; lia.
  - destruct (lane_eq_dec x l') as [-> | D]; [| lia]. exfalso. exact (Apart _ _ _ _ _ M N).
Qed.

(** A lane from which nothing goes keeps wanting what it wants. *)
Lemma wants_still : forall l l' i, wants l l' (st i) -> ~ fewer l (st i) (st (S i)) -> wants l l' (st (S i)).
Proof.
  intros l l' i (p & H & N) F. destruct (Quiet i) as [NW NL].
  destruct (kept net cap may_have may_send rank top Rises (what i) (st i) (st (S i)) l) as (E & _ & K); auto.
  - apply (always_sound net cap may_have may_send st what Goes Sound).
  - exists p. split; [auto | now rewrite E].
Qed.

(** How many have their turn before a lane. *)
Fixpoint before (l : lane) (o : list lane) : nat :=
  match o with [] => 0 | x :: r => if lane_eq_dec x l then 0 else S (before l r) end.

Lemma before_app : forall l a b, In l a -> before l (a ++ b) = before l a.
Proof.
  induction a as [| x a IH]; simpl; intros b I; [contradiction |].
  destruct (lane_eq_dec x l); auto. f_equal. apply IH. destruct I; [contradiction | auto].
Qed.

Lemma before_none : forall l o, In l o -> before l o = 0 -> exists r, o = l :: r.
Proof. intros l [| x o] I B; simpl in *; [contradiction |]. destruct (lane_eq_dec x l); [subst; eauto | discriminate]. Qed.

(** While a lane waits, its turn comes nearer or stays as near. *)
Lemma nearer : forall l l' i, wants l l' (st i) -> ~ goes l l' (st i) (st (S i)) ->
  order (S i) l' = order i l' \/ before l (order (S i) l') < before l (order i l').
Proof.
  intros l l' i W G. destruct (turn_stays Turns i l') as [E | (x & r & E & E' & D)]; [now left | right].
  pose proof (in_order Turns i l l' W) as I. rewrite E in *. rewrite E'. simpl in *.
  destruct (lane_eq_dec x l) as [-> | Ne]; [exfalso; tauto |].
  destruct I as [I | I]; [contradiction |]. rewrite before_app; auto.
Qed.

Lemma nearer_from : forall l l' i j, i <= j ->
  (forall m, i <= m -> m < j -> wants l l' (st m) /\ ~ goes l l' (st m) (st (S m))) ->
  order j l' = order i l' \/ before l (order j l') < before l (order i l').
Proof.
  intros l l' i j L. induction L as [| j L IH]; intros A; [now left |].
  destruct (A j L (le_n _)) as [W G]. destruct (nearer l l' j W G) as [E | B], IH as [E' | B']; auto;
    [rewrite E, E'; auto | rewrite E; auto | rewrite <- E'; auto | right; lia].
Qed.

(** Once a lane that waits has the turn it keeps it. *)
Lemma keeps_turn : forall l l' i, (forall j, i <= j -> wants l l' (st j) /\ ~ goes l l' (st j) (st (S j))) ->
  before l (order i l') = 0 -> forall j, i <= j -> exists r, order j l' = l :: r.
Proof.
  intros l l' i A B j L. apply before_none.
  - apply (in_order Turns), A, L.
  - destruct (nearer_from l l' i j L) as [E | C]; [intros; apply A; lia | now rewrite E | lia].
Qed.

(** So it is not overtaken for ever ... *)
Theorem turns_not_overtaken : not_overtaken net st.
Proof.
  intros l l' p i A.
  assert (W : forall j, i <= j -> wants l l' (st j) /\ ~ goes l l' (st j) (st (S j))).
  { intros j L. destruct (A j L) as (H & N & F). split; [exists p; auto | intros [G _]; contradiction]. }
  assert (Q : forall j, i <= j -> count l' (held (st j)) < count l' (held (st (S j))) -> exists x, goes x l' (st j) (st (S j))).
  { intros j L C. destruct (A j L) as (_ & N & _).
    exact (comes_from (what j) (st j) (st (S j)) l l' p (always_sound net cap may_have may_send st what Goes Sound j) (Goes j) N C). }
  assert (G : forall n k, i <= k -> before l (order k l') <= n -> ~ ~ exists k, forall j, k <= j -> count l' (held (st (S j))) <= count l' (held (st j))).
  { induction n as [| n IH]; intros k L B No.
    - apply No. exists k. intros j Lj. destruct (le_lt_dec (count l' (held (st (S j)))) (count l' (held (st j)))) as [C | C]; auto.
      exfalso. destruct (Q j ltac:(lia) C) as (x & X).
      destruct (keeps_turn l l' k ltac:(intros; apply W; lia) ltac:(lia) j Lj) as (r & E).
      destruct (first_goes Turns j x l' X) as (r' & E' & _). rewrite E in E'. injection E' as <- _.
      destruct (W j ltac:(lia)) as [_ NG]. exact (NG X).
    - (* Either the turn passes at some time, or nobody goes on there any more. *)
      apply No. exists k. intros j Lj. destruct (le_lt_dec (count l' (held (st (S j)))) (count l' (held (st j)))) as [C | C]; auto.
      exfalso. destruct (Q j ltac:(lia) C) as (x & X).
      destruct (first_goes Turns j x l' X) as (r & E & E').
      destruct (W j ltac:(lia)) as [Wj NG].
      apply (IH (S j)); [lia | | exact No].
      assert (D : x <> l) by (intros ->; contradiction).
      pose proof (in_order Turns j l l' Wj) as I. rewrite E in I. destruct I as [I | I]; [contradiction |].
      assert (before l (order (S j) l') < before l (order j l')).
      { rewrite E, E', before_app by auto. simpl. destruct (lane_eq_dec x l); [contradiction | lia]. }
      destruct (nearer_from l l' k j Lj) as [O | O]; [intros; apply W; lia | rewrite O in *; lia | lia]. }
  exact (G _ i (le_n i) (le_n _)).
Qed.

Lemma head_free : forall l h, free_of l h -> head l h = None.
Proof.
  induction h as [| x h IH]; simpl; intros F; auto. destruct (lane_eq_dec (fst x) l) as [E | E].
  - exfalso. apply (F x); simpl; auto.
  - apply IH. intros y I. apply F. simpl. auto.
Qed.

(** What goes from a lane goes where it wants to. *)
Lemma goes_there : forall l l' i, wants l l' (st i) -> fewer l (st i) (st (S i)) -> goes l l' (st i) (st (S i)).
Proof.
  intros l l' i (p & H & N) F. split; [exact F |]. destruct (Quiet i) as [_ NL].
  destruct (always_sound net cap may_have may_send st what Goes Sound i) as [Ht Hh].
  pose proof (Goes i) as S. unfold fewer in F.
  destruct (head_split l _ p H) as (a & b & E & Fa).
  assert (R : rank l < rank l').
  { destruct (Rises l p) as [_ R]; [apply Hh; rewrite E; apply in_app_iff; simpl; auto |]. exact (R _ _ (Ht l) N). }
  assert (Ne : l <> l') by (intros ->; lia). clear E Fa R.
  destruct S as [t h1 h2 x x' q w Fr Nx Ro | t h w1 w2 x | t h1 h2 x q e w Fr Nx | t h1 h2 x q w Fr Nx
    | t h x q w M Ro | t t1 h w M | t h1 h2 x w]; cbn [held now] in *; rewrite ?count_app in *; simpl in *;
    try congruence; try lia.
  - destruct (lane_eq_dec x l) as [-> | D].
    2: { destruct (lane_eq_dec x' l); lia. }
    rewrite head_app in H. rewrite (head_free l h1 Fr) in H. simpl in H. destruct (lane_eq_dec l l); [| congruence].
    injection H as ->. rewrite N in Nx. injection Nx as <-.
    rewrite ?count_app. destruct (lane_eq_dec l l'), (lane_eq_dec l' l'); try congruence; lia.
  - destruct (lane_eq_dec x l) as [-> | D]; [| lia].
    rewrite head_app, (head_free l h1 Fr) in H. simpl in H. destruct (lane_eq_dec l l); congruence.
  - destruct (lane_eq_dec x l) as [-> | D]; [| lia].
    rewrite head_app, (head_free l h1 Fr) in H. simpl in H. destruct (lane_eq_dec l l); congruence.
Qed.

(** ... and has its turn at some time where nothing is in the way. *)
Theorem turns_serve : served net cap may_have may_send st.
Proof.
  intros l i A.
  destruct (A i (le_n i)) as [(p & H & _) _].
  (* As long as nothing goes from it, its head and its tables stay. *)
  assert (Keep : forall n, (exists j, i <= j /\ fewer l (st j) (st (S j))) \/
    forall j, i <= j -> j <= n -> head l (held (st j)) = Some p /\ now (st j) = now (st i)).
  { induction n as [| n [E | K]]; auto.
    - right. intros j L M. replace j with i by lia. auto.
    - destruct (le_lt_dec i n) as [Li | Li].
      2: { right. intros j L M. replace j with i by lia. auto. }
      destruct (K n Li (le_n n)) as [Kh Kn].
      destruct (lt_dec (count l (held (st (S n)))) (count l (held (st n)))) as [F | F]; [left; exists n; split; [lia | exact F] |].
      right. intros j L M. destruct (Nat.eq_dec j (S n)) as [-> | D]; [| apply K; lia].
      destruct (Quiet n) as [NW NL].
      destruct (kept net cap may_have may_send rank top Rises (what n) (st n) (st (S n)) l) as (E & _ & Q); auto.
      { apply (always_sound net cap may_have may_send st what Goes Sound). }
      split; [auto | congruence]. }
  destruct (next net (now (st i) l) l p) as [l' | e |] eqn:Nx.
  2, 3: destruct (end_takes Turns i l) as (j & L & T); destruct (Keep j) as [E | K]; [exact E |];
    destruct (K j L (le_n j)) as [Kh Kn]; exists j; split; [exact L |]; apply (T p Kh); intros l'; congruence.
  assert (Empty : forall j, i <= j -> head l (held (st j)) = Some p /\ now (st j) = now (st i) ->
    wants l l' (st j) /\ count l' (held (st j)) = 0 /\ count l' (owed (st j)) = 0).
  { intros j L [Kh Kn]. split; [exists p; split; [auto | congruence] |].
    destruct (A j L) as [(q & Hq & C) _]. rewrite Kh in Hq. injection Hq as <-. apply C. congruence. }
  (* Whoever has the turn, and wants to go there, would go: but the lane ahead stays empty as long as l waits. *)
  assert (Sends : forall k x r, i <= k -> order k l' = x :: r -> wants x l' (st k) -> exists j, i <= j /\ fewer l (st j) (st (S j))).
  { intros k x r Lk O Wx. destruct (port_sends Turns k x l') as (m & Lm & P).
    destruct (Keep (S m)) as [E | K]; [exact E | exfalso].
    assert (None_ : forall z, k <= z -> z <= m -> ~ goes x l' (st z) (st (S z))).
    { intros z L1 L2 [_ C]. destruct (Empty (S z)) as (_ & Z & _); [lia | apply K; lia |]. lia. }
    assert (On_ : forall z, k <= z -> z <= m -> wants x l' (st z) /\ order z l' = x :: r).
    { intros z L1. induction L1 as [| z L1 IH]; intros L2; auto.
      destruct IH as [Wz Oz]; [lia |]. specialize (None_ z L1 ltac:(lia)). split.
      - apply wants_still; auto. intros F. apply None_, goes_there; auto.
      - destruct (turn_stays Turns z l') as [E | (y & r' & E & _ & D)]; [congruence |].
        rewrite Oz in E. injection E as <- <-. tauto. }
    destruct (On_ m Lm (le_n m)) as [Wm Om]. destruct (Empty m) as (_ & Z1 & Z2); [lia | apply K; lia |].
    apply (None_ m Lm (le_n m)), goes_there; eauto. }
  assert (G : forall n k, i <= k -> before l (order k l') <= n -> exists j, i <= j /\ fewer l (st j) (st (S j))).
  { induction n as [n IH] using lt_wf_ind. intros k Lk B.
    destruct (Keep k) as [E | K]; [exact E |]. destruct (Empty k Lk (K k Lk (le_n k))) as (W & _).
    pose proof (in_order Turns k l l' W) as I.
    destruct (order k l') as [| x r] eqn:O; [contradiction |].
    destruct (lane_eq_dec x l) as [-> | D]; [exact (Sends k l r Lk O W) |].
    destruct (turn_passes Turns k l' x r O) as (j & Lj & T).
    destruct (Keep (S j)) as [E | Kj]; [exact E |].
    assert (Still : forall m, k <= m -> m < S j -> wants l l' (st m) /\ ~ goes l l' (st m) (st (S m))).
    { intros m Lm Lm'. destruct (Empty m) as (Wm & _); [lia | apply Kj; lia |].
      destruct (Empty (S m)) as (_ & Z & _); [lia | apply Kj; lia |]. split; [exact Wm | intros [_ C]; lia]. }
    assert (B' : before l (x :: r) = S (before l r)) by (simpl; destruct (lane_eq_dec x l); [contradiction | auto]).
    destruct I as [I | I]; [contradiction |]. destruct T as [T | Wx].
    - apply (IH (before l r)) with (k := S j); [lia | lia |]. rewrite T, before_app; auto.
    - destruct (nearer_from l l' k j Lj) as [E | C]; [intros; apply Still; lia | | ].
      + apply (Sends j x r); [lia | congruence | exact Wx].
      + rewrite O in C. apply (IH (before l (order j l'))) with (k := j); [lia | lia | auto]. }
  exact (G _ i (le_n i) (le_n _)).
Qed.

Hypothesis Credits_return : credits_return st.

Theorem turns_no_packet_waits_for_ever : forall l i m, m <= count l (held (st i)) -> ~ (forall n, gone st l i n < m).
Proof.
  apply (no_packet_waits_for_ever net cap may_have may_send rank top st what); auto using turns_serve, turns_not_overtaken.
Qed.

End Turns.

(** So it is with tables that the checker accepts. *)
Theorem check_turns_no_packet_waits_for_ever : forall net rs lids k ends rank canon top must_arrive fuel groups,
  check net rs rank canon top lids must_arrive fuel k ends groups = None ->
  forall mtu cap, roomy mtu cap -> forall st what, reachable net rs lids k ends mtu cap (st 0) ->
  (forall i, step net cap (tables_now rs) (packets_sent rs lids k ends mtu) (what i) (st i) (st (S i))) ->
  (forall i, what i <> Writes /\ what i <> Loses) ->
  forall order, turns net st order -> credits_return st ->
  forall l i m, m <= count l (held (st i)) -> ~ (forall n, gone st l i n < m).
Proof.
  intros net rs lids k ends rank canon top must_arrive fuel groups C mtu cap F st what Re G Q order T D.
  apply (turns_no_packet_waits_for_ever net cap (tables_now rs) (packets_sent rs lids k ends mtu) (lane_rank rank canon top) (S (N.to_nat top)) st what order); auto.
  - eapply reachable_sound; eauto.
  - apply rises_up_to. eapply check_rises; eauto.
  - apply roomy_fits. auto.
  - intros t l p l' p' [(s & v & e & -> & _) _] N.
    destruct l; simpl in N; unfold at_switch, leave in N;
      repeat match type of N with context [if ?b then _ else _] => destruct b
        | context [match ?w with Nothing => _ | Link _ => _ | Host _ => _ end] => destruct w end; discriminate.
Qed.
