(** The other verdict, as a program: an order of sending by which packets come to wait for each other for
    ever. It is extracted as it stands here; who finds the order need not be trusted. *)

From Coq Require Import NArith List Bool Lia Arith.
From WeftProof Require Import Network Semantics Freedom Contracts Checker Soundness Verdict Deadlocks.
Import ListNotations.
Local Open Scope N_scope.

(** One packet of an order: who sends it, on which lane of its cable, to which LID of whom, on which service level,
    and after how many switches more than one it is to stand. *)
Record sending := { sender : N; on : N; receiver : N; address : N; sl_of : N; after_ : nat }.

Section Witness.

Variable net : network.
Variable r : routing.
Variable lids : N -> list N.
Variable k : contract.
Variable ends : list N.
Variable blocks : nat.               (* of every buffer; a packet takes one *)

Notation t := (tables_of r).

Definition same_lane (a b : lane) : bool := if lane_eq_dec a b then true else false.
Definition stands (h : list (lane * packet)) (l : lane) : bool := existsb (fun x => same_lane (fst x) l) h.
Definition packet_of (s : sending) : packet := {| dest := address s; level := sl_of s; size := 1; born := 0 |}.

Definition may_be_used (s : sending) : bool :=
  let there := told (given r) (sender s) (address s) in
  (sl_of s <? 16) &&
  match k with
  | AnyLevel => true
  | Single n => sl_of s =? n
  | Directed => there =? sl_of s
  | Honored => (there <? 16) &&
      ((there =? sl_of s) || existsb (fun i => told (given r) (receiver s) i =? sl_of s) (lids (sender s)))
  end.

Definition may_be_sent (s : sending) : bool :=
  member (sender s) ends && member (receiver s) ends && negb (sender s =? receiver s) &&
  member (address s) (lids (receiver s)) && may_be_used s.

(** The lanes that a packet passes, and where it stands then; none if it gets out before. *)
Fixpoint follow (p : packet) (s : lane) (n : nat) : option (list lane * lane) :=
  match next net t s p with
  | Forward x =>
      if same_lane s x then None
      else match n with
           | O => Some ([], x)
           | S n => match follow p x n with Some (via, l) => Some (x :: via, l) | None => None end
           end
  | _ => None
  end.

Definition one (h : list (lane * packet)) (s : sending) : option (list (lane * packet)) :=
  let from := From (sender s) (on s) in
  match follow (packet_of s) from (after_ s) with
  | Some (via, l) =>
      if may_be_sent s && forallb (fun x => negb (stands h x)) (from :: via) && Nat.leb (S (weight l (sizes h))) blocks
      then Some (h ++ [(l, packet_of s)])
      else None
  | None => None
  end.

Fixpoint fill (h : list (lane * packet)) (order : list sending) : option (list (lane * packet)) :=
  match order with
  | [] => Some h
  | s :: rest => match one h s with Some h' => fill h' rest | None => None end
  end.

(** Whether none at the head of its lane has room ahead; before: those that came before. *)
Fixpoint all_blocked (whole before h : list (lane * packet)) : bool :=
  match h with
  | [] => true
  | (l, p) :: rest =>
      (stands before l ||
       match next net t l p with
       | Forward x => Nat.leb (S blocks) (weight x (sizes whole) + size p)
       | _ => false
       end) && all_blocked whole (before ++ [(l, p)]) rest
  end.

Definition deadlocks (order : list sending) : bool :=
  match fill [] order with
  | Some [] => false
  | Some h => all_blocked h [] h
  | None => false
  end.

Notation cap := (fun _ : lane => blocks).
(** Others may be of any size up to [mtu], those of the order are of one block. *)
Variable mtu : nat.
Hypothesis One : (1 <= mtu)%nat.
Notation sent := (packets_sent [r] lids k ends mtu).

Lemma same_lane_spec : forall a b, same_lane a b = true <-> a = b.
Proof. intros. unfold same_lane. destruct (lane_eq_dec a b); split; congruence. Qed.

Lemma not_standing : forall h l, stands h l = false -> free_of l h.
Proof.
  intros h l S x I E. assert (T : stands h l = true); [| congruence].
  apply existsb_exists. exists x. split; auto. now apply same_lane_spec.
Qed.

Lemma may_be_sent_spec : forall s, may_be_sent s = true -> sent (From (sender s) (on s)) (packet_of s).
Proof.
  intros s M. split; [| exact One]. unfold may_be_sent in M.
  apply andb_true_iff in M as [M U]. apply andb_true_iff in M as [M A]. apply andb_true_iff in M as [M D].
  apply andb_true_iff in M as [S R]. apply member_in in S, R, A. apply negb_true_iff, N.eqb_neq in D.
  exists (sender s), (on s), (receiver s). split; [reflexivity |]. repeat (split; [assumption |]).
  unfold may_be_used in U. apply andb_true_iff in U as [L U]. apply N.ltb_lt in L.
  split; [exact L |]. simpl. destruct k.
  - apply andb_true_iff in U as [T U]. apply N.ltb_lt in T. split; [exists (given r); simpl; auto |].
    exists (given r). split; [simpl; auto |]. apply orb_true_iff in U as [U | U].
    + left. now apply N.eqb_eq in U.
    + right. apply existsb_exists in U as (i & I & E). exists i. split; auto. now apply N.eqb_eq in E.
  - exists (given r). split; [simpl; auto |]. now apply N.eqb_eq in U.
  - now apply N.eqb_eq in U.
  - exact I.
Qed.

Lemma follow_way : forall n p s via l, follow p s n = Some (via, l) -> way net t p s via l.
Proof.
  induction n as [| n IH]; intros p s via l F; simpl in F;
    destruct (next net t s p) as [x | |] eqn:N; try discriminate;
    destruct (same_lane s x) eqn:D; try discriminate;
    (assert (s <> x) by (intros E; apply same_lane_spec in E; congruence)).
  - injection F as <- <-. simpl. auto.
  - destruct (follow p x n) as [[v y] |] eqn:G; [| discriminate]. injection F as <- <-. simpl. auto.
Qed.

Lemma one_filled : forall h s h', filled net cap sent t h -> one h s = Some h' -> filled net cap sent t h'.
Proof.
  intros h s h' F O. unfold one in O.
  destruct (follow (packet_of s) (From (sender s) (on s)) (after_ s)) as [[via l] |] eqn:W; [| discriminate].
  match goal with H : (if ?c then _ else _) = _ |- _ => destruct c eqn:C; [| discriminate] end.
  injection O as <-. apply andb_true_iff in C as [C R]. apply andb_true_iff in C as [M Fr].
  apply Nat.leb_le in R.
  apply (filled_more net cap sent t h (From (sender s) (on s)) via l (packet_of s)); auto.
  - now apply may_be_sent_spec.
  - eapply follow_way; eauto.
  - intros x I. rewrite forallb_forall in Fr. specialize (Fr x I). apply negb_true_iff in Fr.
    split; [now apply not_standing | simpl; lia].
  - simpl. lia.
Qed.

Lemma fill_filled : forall order h h', filled net cap sent t h -> fill h order = Some h' -> filled net cap sent t h'.
Proof.
  induction order as [| s order IH]; simpl; intros h h' F E; [now injection E as <- |].
  destruct (one h s) as [h1 |] eqn:O; [| discriminate]. eapply IH; [| exact E]. eapply one_filled; eauto.
Qed.

Lemma all_blocked_spec : forall h whole before, all_blocked whole before h = true ->
  forall h1 l p h2, h = h1 ++ (l, p) :: h2 -> free_of l (before ++ h1) ->
  exists x, next net t l p = Forward x /\ (blocks < weight x (sizes whole) + size p)%nat.
Proof.
  induction h as [| [l0 p0] h IH]; intros whole before B h1 l p h2 E F.
  - destruct h1; discriminate.
  - cbn [all_blocked] in B. apply andb_true_iff in B as [B R]. destruct h1 as [| x h1].
    + injection E as -> -> ->. rewrite app_nil_r in F.
      apply orb_true_iff in B as [B | B].
      * exfalso. apply existsb_exists in B as (y & I & Q). apply same_lane_spec in Q. exact (F y I Q).
      * destruct (next net t l p) as [x | |]; try discriminate. exists x. split; auto. now apply Nat.leb_le in B.
    + injection E as <- E. apply (IH whole (before ++ [(l0, p0)]) R h1 l p h2 E).
      rewrite <- app_assoc. exact F.
Qed.

(** What the program accepts is a deadlock: it comes about from an idle network that sends in this order, and ends
    only if packets are lost or other tables are written, whatever else is sent meanwhile. *)
Theorem witness_sound : forall order, deadlocks order = true ->
  exists st, reachable net [r] lids k ends mtu cap st /\
    stuck net cap (tables_now [r]) sent st /\ held st <> [] /\
    forall bs st', run net cap (tables_now [r]) sent bs st st' -> ~ In Loses bs -> ~ In Writes bs ->
      exists rest, held st' = held st ++ rest.
Proof.
  intros order D. unfold deadlocks in D. destruct (fill [] order) as [h |] eqn:Fi; [| discriminate].
  assert (NE : h <> []) by (destruct h; congruence).
  assert (B : all_blocked h [] h = true) by (destruct h; [discriminate | exact D]).
  assert (F : filled net cap sent t h) by (eapply fill_filled; [apply filled_none | exact Fi]).
  assert (Bl : blocked net cap t h).
  { intros h1 l p h2 E Fr. exact (all_blocked_spec h h [] B h1 l p h2 E Fr). }
  destruct (loop_deadlocks net cap (tables_now [r]) sent t h F NE Bl) as (as_ & st & R & H & S & K).
  exists st. rewrite H. split; [| auto]. exists as_, (fun _ => t). split; [| exact R].
  intros _. apply allows_itself. simpl. auto.
Qed.

Lemma fill_blocks : forall order h h', fill h order = Some h' -> h = h' \/ (1 <= blocks)%nat.
Proof.
  intros [| s order] h h' E; simpl in E; [injection E; auto |]. right.
  destruct (one h s) as [h1 |] eqn:O; [| discriminate]. unfold one in O.
  destruct (follow (packet_of s) (From (sender s) (on s)) (after_ s)) as [[via l] |]; [| discriminate].
  match goal with H : (if ?c then _ else _) = _ |- _ => destruct c eqn:C; [| discriminate] end.
  apply andb_true_iff in C as [_ C]. apply Nat.leb_le in C. lia.
Qed.

Lemma deadlocks_blocks : forall order, deadlocks order = true -> (1 <= blocks)%nat.
Proof.
  intros order D. unfold deadlocks in D. destruct (fill [] order) as [h |] eqn:Fi; [| discriminate].
  destruct (fill_blocks order [] h Fi) as [<- | B]; [discriminate | exact B].
Qed.

End Witness.

(** So what [check_sound] says is not true of these tables, whatever the ranks: the two verdicts exclude each other. *)
Theorem witness_excludes : forall net r lids k ends blocks order, deadlocks net r lids k ends blocks order = true ->
  forall rank top, ~ deadlock_free net [r] lids k ends rank top.
Proof.
  intros net r lids k ends blocks order D rank top Free.
  destruct (witness_sound net r lids k ends blocks 1 (le_n 1) order D) as (st & Re & [H S] & _).
  destruct (Free 1%nat (fun _ => blocks)) with (st := st) as (M & _); [intros l; eapply deadlocks_blocks; eauto | exact Re |].
  destruct M as (a & st' & I & T); [intros [E _]; contradiction | exact (S a st' I T)].
Qed.

Corollary witness_has_no_rank : forall net r lids k ends blocks order, deadlocks net r lids k ends blocks order = true ->
  forall rank top, ~ rises net (tables_now [r]) (may_send lids k ends [given r]) rank top.
Proof. intros net r lids k ends blocks order D rank top R. eapply witness_excludes; [exact D | apply rises_free; exact R]. Qed.
