(** What the checker accepts has a rank that rises: [check_rises], from which all else follows. *)

From Coq Require Import NArith List Bool Lia FMapPositive FMapFacts.
From WeftProof Require Import Network Semantics Freedom Contracts Checker.
Import ListNotations.
Local Open Scope N_scope.

Lemma all_none : forall (A : Type) (f : A -> option fault) l, all f l = None -> forall x, In x l -> f x = None.
Proof.
  induction l; simpl; intros H x I; [contradiction |].
  destruct (f a) eqn:E; [discriminate |]. destruct I; subst; auto.
Qed.

Lemma first_wrong_none : forall f l, first_wrong f l = None -> forall x, In x l -> f x = None.
Proof.
  induction l; simpl; intros H x I; [contradiction |].
  destruct (f a) eqn:E; [discriminate |]. destruct I; subst; auto.
Qed.

Lemma member_in : forall x l, member x l = true <-> In x l.
Proof.
  intros. unfold member. rewrite existsb_exists. split.
  - intros (y & I & E). apply N.eqb_eq in E. now subst.
  - intros I. exists x. split; auto. apply N.eqb_refl.
Qed.

Lemma insert_in : forall x y l, In y (insert x l) <-> y = x \/ In y l.
Proof.
  intros. unfold insert. destruct (member x l) eqn:M; simpl; [| intuition].
  apply member_in in M. intuition. now subst.
Qed.

Lemma in_sixteen : forall l, l < 16 -> In l sixteen.
Proof.
  intros l H. unfold sixteen.
  assert (l = 0 \/ l = 1 \/ l = 2 \/ l = 3 \/ l = 4 \/ l = 5 \/ l = 6 \/ l = 7 \/ l = 8 \/ l = 9 \/
    l = 10 \/ l = 11 \/ l = 12 \/ l = 13 \/ l = 14 \/ l = 15) by lia. simpl. intuition.
Qed.

Local Opaque sixteen.

Lemma succ_pos_inj : forall a b, N.succ_pos a = N.succ_pos b -> a = b.
Proof. intros a b E. rewrite <- (N.pos_pred_succ a), <- (N.pos_pred_succ b). now rewrite E. Qed.

Lemma upto_in : forall n i x, i <= x < i + N.of_nat n -> In x (upto n i).
Proof.
  induction n as [| n IH]; intros i x H; simpl; [lia |].
  destruct (N.eq_dec i x) as [| D]; [now left | right]. apply IH. lia.
Qed.

Section Soundness.

Variable net : network.
Variable rs : list routing.
Variable rank : N -> N -> N.
Variable canon : N -> N.
Variable top : N.
Variable lids : N -> list N.
Variable must_arrive : bool.

Notation fates := (fates net rs canon).
Notation good := (fun e d l at_ => good net rs rank canon top must_arrive e d l at_ (fates at_ d l)).
Notation onward := (fun at_ d l => onward (fates at_ d l)).
Notation walk := (walk net rs rank canon top must_arrive).
Notation same := (same net rs).
Notation answers := (answers rs lids).
Notation fine := (fine net rs rank canon top must_arrive).
Notation rep := (rep canon).
Notation ks := (kinds rs canon).

Definition may_have := allows rs.

(** A fate with the lane that stands for its own. *)
Definition canonical (f : fate) : fate :=
  match f with
  | Forward (On c v) => Forward (On c (rep v))
  | Forward (To e v) => Forward (To e (rep v))
  | _ => f
  end.

Lemma leave_canonical : forall s o v, leave net s o (rep v) = canonical (leave net s o v).
Proof.
  intros s o v. unfold leave. destruct (o =? no_port); auto. destruct (o =? 0); auto.
  destruct (wired net s o); auto; unfold Checker.rep; destruct (N.eqb_spec v no_lane) as [-> | D]; auto;
    simpl; (destruct (N.eqb_spec (canon v) no_lane) as [E | E];
      [destruct (N.eqb_spec v no_lane) | destruct (N.eqb_spec (canon v) no_lane)]; try contradiction);
    unfold canonical, Checker.rep; destruct (N.eqb_spec v no_lane); try contradiction; simpl;
    destruct (N.eqb_spec (canon v) no_lane); try contradiction; auto.
Qed.

(** Whatever a mixture does is among the fates. *)
Lemma at_switch_in_fates : forall t at_ d l, may_have t -> In (canonical (at_switch net t at_ d l)) (fates at_ d l).
Proof.
  intros t at_ d l [E V]. unfold at_switch, Checker.fates.
  destruct (E (fst at_) d) as (r1 & I1 & E1).
  destruct (V (fst at_) (snd at_) (entry t (fst at_) d) l) as (r2 & I2 & E2).
  apply in_flat_map. exists r1. split; auto. apply in_flat_map. exists (entry t (fst at_) d). split; auto.
  apply in_map_iff. exists r2. split; auto. rewrite E2. simpl. apply leave_canonical.
Qed.

(** Service levels of one kind have the same fates. *)
Lemma mapped_alike : forall a b r m, alike rs canon a b = true -> In r rs -> rep (mapped r m a) = rep (mapped r m b).
Proof.
  intros a b r m A I. unfold mapped. destruct (N.ltb_spec m (maps r)) as [F |]; auto.
  unfold alike in A. rewrite forallb_forall in A. specialize (A r I). rewrite forallb_forall in A.
  apply N.eqb_eq, A, upto_in. lia.
Qed.

Lemma fates_kind : forall at_ d l, fates at_ d l = fates at_ d (kind ks l).
Proof.
  intros at_ d l. unfold kind. destruct (find (fun x => fst x =? l) ks) as [[l' k] |] eqn:F; auto.
  apply find_some in F as [I E]. apply N.eqb_eq in E. simpl in *. subst l'.
  apply in_map_iff in I as (l' & Q & _). injection Q as E K. subst l'.
  destruct (find (alike rs canon l) sixteen) as [k' |] eqn:G; [| now rewrite <- K].
  rewrite <- K. apply find_some in G as [_ A].
  unfold Checker.fates. apply flat_map_ext. intros r.
  apply flat_map_ext. intros o. apply map_ext_in. intros r' I'. now rewrite (mapped_alike l k' r' _ A I').
Qed.

Lemma same_spec : forall a b, same a b = true ->
  fst (hangs net a) = fst (hangs net b) /\
  forall r, In r rs -> row (given r) a = row (given r) b /\
    class_of r (fst (hangs net a)) (snd (hangs net a)) = class_of r (fst (hangs net b)) (snd (hangs net b)).
Proof.
  intros a b H. unfold Checker.same in H. apply andb_true_iff in H as [A B]. apply N.eqb_eq in A. split; auto.
  rewrite forallb_forall in B. intros r I. specialize (B r I). apply andb_true_iff in B as [B C].
  now apply N.eqb_eq in B, C.
Qed.

Lemma same_fates : forall a b d l, same a b = true -> fates (hangs net a) d l = fates (hangs net b) d l.
Proof.
  intros a b d l S. apply same_spec in S as [F R]. unfold Checker.fates. rewrite F.
  apply flat_map_ext. intros r. apply flat_map_ext. intros o. apply map_ext_in. intros r' I.
  destruct (R r' I) as [_ C]. rewrite F in C. now rewrite C.
Qed.

Lemma same_told : forall a b r d, same a b = true -> In r rs -> told (given r) a d = told (given r) b d.
Proof. intros a b r d S I. apply same_spec in S as [_ R]. unfold told. destruct (R r I) as [E _]. now rewrite E. Qed.

(** What has been seen. *)
Lemma has_put : forall s x y, has (put s x) y = true <-> y = x \/ has s y = true.
Proof.
  intros s [c l] [c' l']. unfold has, put, levels_at. simpl.
  destruct (N.eq_dec c' c) as [-> | D].
  - rewrite PositiveMap.gss. rewrite !member_in. simpl. intuition (subst; auto; congruence).
  - rewrite PositiveMap.gso by (intros Q; now apply D, succ_pos_inj). intuition congruence.
Qed.

Lemma push_in : forall l cs todo x, In x (push l cs todo) <-> In x todo \/ exists c, In c cs /\ x = (c, l).
Proof.
  intros l cs. unfold push. induction cs as [| c cs IH]; simpl; intros todo x.
  - firstorder.
  - rewrite IH. simpl. split.
    + intros [[E | I] | (c' & I & E)]; eauto.
    + intros [I | (c' & [E | I] & Q)]; subst; eauto.
Qed.

Definition settled (e d : N) (s : seen) (todo : list (N * N)) : Prop :=
  forall x, has s x = true ->
    good e d (snd x) (far net (fst x)) = None /\
    forall c, In c (onward (far net (fst x)) d (snd x)) -> has s (c, snd x) = true \/ In (c, snd x) todo.

Lemma walk_none : forall n e d todo s, walk n e d todo s = None -> settled e d s todo ->
  exists s', settled e d s' [] /\ forall x, has s x = true \/ In x todo -> has s' x = true.
Proof.
  induction n as [| n IH]; simpl; intros e d todo s W S; [discriminate |].
  destruct todo as [| x todo].
  { exists s. split; auto. intros x [H | []]. auto. }
  destruct (has s x) eqn:H.
  - destruct (IH e d todo s W) as (s' & A & B).
    { intros y Y. destruct (S y Y) as [G O]. split; auto. intros c I.
      destruct (O c I) as [P | [P | P]]; auto. left. now rewrite <- P. }
    exists s'. split; auto. intros y [Y | [Y | Y]]; subst; auto.
  - destruct (Checker.good net rs rank canon top must_arrive e d (snd x) (far net (fst x)) (fates (far net (fst x)) d (snd x))) eqn:G; [discriminate |].
    destruct (IH e d _ _ W) as (s' & A & B).
    { intros y Y. apply has_put in Y as [-> | Y].
      - split; auto. intros c I. right. apply push_in. right. eauto.
      - destruct (S y Y) as [G' O]. split; auto. intros c I.
        destruct (O c I) as [P | [P | P]].
        + left. apply has_put. auto.
        + left. apply has_put. left. now rewrite <- P.
        + right. apply push_in. auto. }
    exists s'. split; auto. intros y [Y | [Y | Y]].
    + apply B. left. apply has_put. auto.
    + subst. apply B. left. apply has_put. auto.
    + apply B. right. apply push_in. auto.
Qed.

(** Kinds of service levels. *)
Lemma add_kinds_keeps : forall k ls some x, In x some -> In x (add_kinds k ls some).
Proof.
  induction ls; simpl; intros; auto. apply IHls. unfold add_kind. destruct (a <? 16); auto.
  apply insert_in. auto.
Qed.

Lemma add_kinds_in : forall k ls some l, In l ls -> l < 16 -> In (kind k l) (add_kinds k ls some).
Proof.
  induction ls; simpl; intros some l I H; [contradiction |]. destruct I as [-> | I]; auto.
  apply add_kinds_keeps. unfold add_kind. destruct (N.ltb_spec l 16); [| lia]. apply insert_in. auto.
Qed.

Lemma answers_inner_keeps : forall (f : N -> list N) is_ some x, In x some ->
  In x (fold_left (fun some i => add_kinds ks (f i) some) is_ some).
Proof. induction is_; simpl; intros; auto. apply IHis_. now apply add_kinds_keeps. Qed.

Lemma answers_inner_in : forall (f : N -> list N) is_ some i l, In i is_ -> In l (f i) -> l < 16 ->
  In (kind ks l) (fold_left (fun some i => add_kinds ks (f i) some) is_ some).
Proof.
  induction is_; simpl; intros some i l I L H; [contradiction |]. destruct I as [-> | I]; eauto.
  apply answers_inner_keeps. now apply add_kinds_in.
Qed.

Lemma answers_outer : forall (f : N -> list N) ms some m i l, In m ms -> In i (lids m) -> In l (f i) -> l < 16 ->
  In (kind ks l) (fold_left (fun some m => fold_left (fun some i => add_kinds ks (f i) some) (lids m) some) ms some).
Proof.
  assert (K : forall (f : N -> list N) ms some x, In x some ->
    In x (fold_left (fun some m => fold_left (fun some i => add_kinds ks (f i) some) (lids m) some) ms some)).
  { induction ms; simpl; intros; auto. apply IHms. now apply answers_inner_keeps. }
  induction ms; simpl; intros some m i l M I L H; [contradiction |]. destruct M as [-> | M]; eauto.
  apply K. eauto using answers_inner_in.
Qed.

Lemma answers_in : forall e ms m i r l, In m ms -> In i (lids m) -> In r rs -> told (given r) e i = l -> l < 16 ->
  In (kind ks l) (answers ks e ms).
Proof.
  intros. unfold Checker.answers.
  apply (answers_outer (fun i => map (fun r => told (given r) e i) rs)) with (m := m) (i := i); auto.
  apply in_map_iff. eauto.
Qed.

Notation may_use := (may_use lids).
Notation gives := (map given rs).

(** A back list that has all answers of a source. *)
Definition answered (k : contract) (s e : N) (back : list N) : Prop :=
  k = Honored -> forall i r, In i (lids s) -> In r rs -> told (given r) e i < 16 -> In (kind ks (told (given r) e i)) back.

Lemma begins_in : forall k s s0 e d l back, same s0 s = true -> answered k s e back ->
  may_use k gives s e d l -> In (kind ks l) (begins rs k ks (fixed_kinds k ks) s0 d back).
Proof.
  intros k s s0 e d l back S A [B M]. unfold begins, fixed_kinds, forward_levels.
  assert (T : forall r, In r rs -> In (told (given r) s d) (map (fun r => told (given r) s0 d) rs)).
  { intros r I. apply in_map_iff. exists r. split; auto. now apply same_told. }
  destruct k; simpl in *.
  - destruct M as [(x & I & H) (y & J & C)].
    apply in_map_iff in I as (r & <- & I). apply in_map_iff in J as (r' & <- & J).
    replace (existsb (fun l => l <? 16) (map (fun r => told (given r) s0 d) rs)) with true.
    + destruct C as [C | (i & P & C)].
      * subst l. apply add_kinds_in; auto.
      * apply add_kinds_keeps. subst l. apply A; auto.
    + symmetry. apply existsb_exists. exists (told (given r) s d). split; auto. now apply N.ltb_lt.
  - destruct M as (x & I & C). apply in_map_iff in I as (r & <- & I). subst l. apply add_kinds_in; auto.
  - subst sl. unfold add_kind. destruct (N.ltb_spec l 16); [| lia]. apply insert_in. auto.
  - change (In (kind ks l) (add_kinds ks sixteen [])). apply add_kinds_in; auto using in_sixteen.
Qed.

(** Where packets begin. *)
Lemma start_none : forall e d at_ ls todo todo',
  start net rs rank canon top must_arrive e d at_ ls todo = (None, todo') ->
  (forall x, In x todo -> In x todo') /\
  forall l, In l ls -> good e d l at_ = None /\ forall c, In c (onward at_ d l) -> In (c, l) todo'.
Proof.
  induction ls as [| l ls IH]; intros todo todo' E; cbn [start] in E.
  - inversion E; subst. split; auto. intros l [].
  - destruct (Checker.good net rs rank canon top must_arrive e d l at_ (fates at_ d l)) eqn:G; [discriminate |].
    destruct (IH _ _ E) as [K A]. split.
    + intros x I. apply K. apply push_in. auto.
    + intros l' [<- | I]; auto. split; auto. intros c C. apply K. apply push_in. eauto.
Qed.

Lemma starts_none : forall k fixed e d gs todo todo',
  starts net rs rank canon top must_arrive k ks fixed e d gs todo = (None, todo') ->
  (forall x, In x todo -> In x todo') /\
  forall s g back l, In (s :: g, back) gs -> In l (begins rs k ks fixed s d back) ->
  good e d l (hangs net s) = None /\ forall c, In c (onward (hangs net s) d l) -> In (c, l) todo'.
Proof.
  induction gs as [| [g0 back0] gs IH]; intros todo todo' E; cbn [starts] in E.
  - inversion E; subst. split; auto. intros s g back l [].
  - destruct g0 as [| s0 g0].
    + destruct (IH _ _ E) as [K A]. split; auto. intros s g back l [Q | I]; [discriminate | eauto].
    + destruct (start net rs rank canon top must_arrive e d (hangs net s0) (begins rs k ks fixed s0 d back0) todo)
        as [[w |] todo1] eqn:S; [discriminate |].
      destruct (start_none _ _ _ _ _ _ S) as [K1 A1]. destruct (IH _ _ E) as [K A].
      split; auto. intros s g back l [Q | I] L; [| eauto].
      inversion Q; subst. destruct (A1 l L) as [G O]. split; auto.
Qed.

(** Packets of one kind of level to a LID: a set of links that nothing leaves, all good. *)
Definition covered (e d l : N) (at_ : N * N) : Prop :=
  good e d l at_ = None /\
  exists s, settled e d s [] /\ forall c, In c (onward at_ d l) -> has s (c, l) = true.

Lemma destination_none : forall fuel k gs e d,
  destination net rs rank canon top must_arrive fuel k ks (fixed_kinds k ks) gs e d = None ->
  forall s g back l, In (s :: g, back) gs -> In l (begins rs k ks (fixed_kinds k ks) s d back) ->
  covered e d l (hangs net s).
Proof.
  intros fuel k gs e d D s g back l I L. unfold destination in D.
  destruct (starts net rs rank canon top must_arrive k ks (fixed_kinds k ks) e d gs []) as [[w |] todo] eqn:S; [discriminate |].
  destruct (starts_none _ _ _ _ _ _ _ S) as [_ A0]. destruct (A0 s g back l I L) as [G O]. split; auto.
  apply walk_none in D as (s' & A & B).
  - exists s'. split; auto.
  - intros x H. exfalso. unfold has, levels_at in H. rewrite PositiveMap.gempty in H. discriminate.
Qed.

(** Groups. *)
Lemma is_group_same : forall s g m, is_group net rs (s :: g) = None -> In m (s :: g) -> same s m = true.
Proof.
  intros s g m G [-> | I].
  - unfold Checker.same. rewrite N.eqb_refl. simpl. apply forallb_forall. intros. now rewrite !N.eqb_refl.
  - simpl in G. pose proof (all_none _ _ _ G m I) as E. simpl in E. now destruct (same s m).
Qed.

Lemma same_sym_trans : forall a b c, same a b = true -> same a c = true -> same b c = true.
Proof.
  intros a b c A B. apply same_spec in A as [A R], B as [B Q]. unfold Checker.same.
  apply andb_true_iff. split; [apply N.eqb_eq; congruence |]. apply forallb_forall. intros r I.
  destruct (R r I) as [X Y], (Q r I) as [X' Y'].
  apply andb_true_iff. split; apply N.eqb_eq; congruence.
Qed.

Lemma sources_spec : forall k e s0 g back s g' back',
  is_group net rs (s0 :: g) = None -> In s (s0 :: g) -> s <> e ->
  answered k s e back ->
  sources net rs lids ks k e (s0 :: g) back = (g', back') ->
  exists s1 g1, g' = s1 :: g1 /\ same s1 s = true /\ answered k s e back'.
Proof.
  intros k e s0 g back s g' back' G I N A E. unfold sources in E.
  destruct (same s0 e) eqn:S.
  - assert (J : In s (without e (s0 :: g))).
    { unfold without. apply filter_In. split; auto. apply negb_true_iff. now apply N.eqb_neq. }
    destruct (without e (s0 :: g)) as [| s1 g1] eqn:W; [contradiction |].
    injection E as <- <-. exists s1, g1. repeat split; auto.
    + assert (In s1 (s0 :: g)).
      { apply (filter_In (fun m => negb (m =? e))). unfold without in W. rewrite W. simpl. auto. }
      apply (same_sym_trans s0); eapply is_group_same; eauto.
    + intros -> i r P Q B. apply (answers_in e (s1 :: g1) s i r); auto.
  - injection E as <- <-. exists s0, g. repeat split; auto. eapply is_group_same; eauto.
Qed.

Lemma index_in : forall e gs, PositiveMap.mem (N.succ_pos e) (index gs) = true -> exists g, In g gs /\ In e g.
Proof.
  intros e gs. unfold index.
  assert (H : forall l m, PositiveMap.mem (N.succ_pos e) (fold_left (fun m e => PositiveMap.add (N.succ_pos e) tt m) l m) = true ->
    PositiveMap.mem (N.succ_pos e) m = true \/ In e l).
  { induction l; simpl; intros m M; auto. apply IHl in M as [M | M]; auto.
    destruct (N.eq_dec a e); auto. left. rewrite PositiveMap.mem_find in *.
    rewrite PositiveMap.gso in M; auto. intros Q. now apply n, succ_pos_inj. }
  intros M. apply H in M as [M | M].
  - rewrite PositiveMap.mem_find, PositiveMap.gempty in M. discriminate.
  - apply in_concat in M as (g & I & J). eauto.
Qed.

Variable fuel : nat.
Variable k : contract.
Variable ends : list N.
Variable gs : list (list N).

Hypothesis Checked : check net rs rank canon top lids must_arrive fuel k ends gs = None.

Lemma check_parts :
  somebody rs lids k ends = true /\
  (forall g, In g gs -> is_group net rs g = None) /\
  (forall e, In e ends -> exists g, In g gs /\ In e g) /\
  forall g, In g gs -> group net rs rank canon top lids must_arrive fuel k ks (fixed_kinds k ks) gs g = None.
Proof.
  unfold check in Checked. destruct (somebody rs lids k ends); [| discriminate].
  destruct (all (is_group net rs) gs) eqn:G; [discriminate |].
  match goal with H : context [all ?f ends] |- _ => destruct (all f ends) eqn:M; [discriminate |] end.
  repeat split; auto.
  - intros g. now apply all_none.
  - intros e I. pose proof (all_none _ _ _ M e I) as E. cbn beta in E.
    destruct (PositiveMap.mem (N.succ_pos e) (index gs)) eqn:Q; [| discriminate]. now apply index_in.
  - intros g. now apply all_none.
Qed.

(** Whoever may send a packet: where it enters a switch it is covered, as the kind of its level. *)
Lemma sender_covered : forall s e d l, In s ends -> In e ends -> s <> e -> In d (lids e) ->
  may_use k gives s e d l -> covered e d (kind ks l) (hangs net s).
Proof.
  intros s e d l Is Ie N D M.
  destruct check_parts as (_ & Gr & Idx & All).
  destruct (Idx s Is) as (g & Ig & Sg). destruct (Idx e Ie) as (h & Ih & Eh).
  pose proof (All h Ih) as H. destruct h as [| e0 h]; [contradiction |].
  unfold group in H. pose proof (all_none _ _ _ H e Eh) as E. unfold endpoint in E.
  pose proof (all_none _ _ _ E d D) as Q.
  destruct g as [| s0 g]; [contradiction |].
  set (back := match k with Honored => answers ks e0 (s0 :: g) | _ => [] end) in *.
  assert (A : answered k s e back).
  { unfold back. intros -> i r P R B.
    assert (T : told (given r) e0 i = told (given r) e i)
      by (apply same_told; auto; eapply is_group_same; eauto).
    rewrite <- T in *. apply (answers_in e0 (s0 :: g) s i r); auto. }
  destruct (sources net rs lids ks k e (s0 :: g) back) as [g' back'] eqn:Src.
  destruct (sources_spec k e s0 g back s g' back' (Gr _ Ig) Sg N A Src) as (s1 & g1 & -> & S1 & A').
  assert (In1 : In (s1 :: g1, back') (map (fun g => sources net rs lids ks k e (fst g) (snd g))
    (map (fun h => (h, match k with Honored => answers ks e0 h | _ => [] end)) gs))).
  { apply in_map_iff. exists (s0 :: g, back). split; auto. apply in_map_iff. exists (s0 :: g). auto. }
  pose proof (begins_in k s s1 e d l back' S1 A' M) as B.
  destruct (destination_none _ _ _ _ _ Q s1 g1 back' (kind ks l) In1 B) as (Gd & s' & St & On).
  pose proof (fun l => same_fates s1 s d l S1) as F.
  split.
  - unfold Checker.good in *. rewrite <- F. now destruct (first_wrong (fine e d (kind ks l)) (fates (hangs net s1) d (kind ks l))).
  - exists s'. split; auto. intros c. unfold Checker.onward in *. rewrite <- F. apply On.
Qed.

Notation sends := (may_send lids k ends gives).

Definition lane_rank (l : lane) : nat :=
  match l with From _ _ => 0 | On c v => N.to_nat (rank c (rep v)) | To _ _ => S (N.to_nat top) end.

(** What is true of every packet wherever it waits. *)
Definition holds (l : lane) (p : packet) : Prop :=
  exists e, In e ends /\ In (dest p) (lids e) /\
  match l with
  | From s v => sends l p /\ covered e (dest p) (kind ks (level p)) (hangs net s)
  | On c v =>
      0 < rank c (rep v) < top /\ covered e (dest p) (kind ks (level p)) (far net c) /\
      first_wrong (rising rank (rank c (rep v)) c (rep v)) (fates (far net c) (dest p) (kind ks (level p))) = None
  | To x v => must_arrive = true -> x = e
  end.

Lemma good_fate : forall e d l at_ t, covered e d (kind ks l) at_ -> may_have t ->
  fine e d (kind ks l) (canonical (at_switch net t at_ d l)) = None.
Proof.
  intros e d l at_ t [G _] T. unfold Checker.good in G.
  destruct (first_wrong (fine e d (kind ks l)) (fates at_ d (kind ks l))) eqn:F; [discriminate |].
  eapply first_wrong_none; eauto. rewrite <- fates_kind. now apply at_switch_in_fates.
Qed.

Lemma covered_on : forall e d l at_ t c v, covered e d (kind ks l) at_ -> may_have t ->
  at_switch net t at_ d l = Forward (On c v) ->
  0 < rank c (rep v) < top /\ covered e d (kind ks l) (far net c) /\
  first_wrong (rising rank (rank c (rep v)) c (rep v)) (fates (far net c) d (kind ks l)) = None.
Proof.
  intros e d l at_ t c v C T A. pose proof (good_fate e d l at_ t C T) as G.
  rewrite A in G. simpl in G.
  destruct (0 <? rank c (rep v)) eqn:L0; [| discriminate]. destruct (rank c (rep v) <? top) eqn:L1; [| discriminate].
  simpl in G. apply N.ltb_lt in L0, L1. repeat split; auto.
  - destruct C as (_ & s & S & O).
    assert (H : has s (c, kind ks l) = true).
    { apply O. unfold Checker.onward. apply in_flat_map. exists (Forward (On c (rep v))).
      split; [| simpl; auto]. change (Forward (On c (rep v))) with (canonical (Forward (On c v))).
      rewrite <- A, <- fates_kind. now apply at_switch_in_fates. }
    now destruct (S _ H).
  - destruct C as (_ & s & S & O).
    assert (H : has s (c, kind ks l) = true).
    { apply O. unfold Checker.onward. apply in_flat_map. exists (Forward (On c (rep v))).
      split; [| simpl; auto]. change (Forward (On c (rep v))) with (canonical (Forward (On c v))).
      rewrite <- A, <- fates_kind. now apply at_switch_in_fates. }
    exists s. split; auto. intros c' I. destruct (S _ H) as [_ N]. simpl in N.
    destruct (N c' I) as [| []]; auto.
Qed.

Lemma holds_next : forall l p t l', holds l p -> may_have t -> next net t l p = Forward l' -> holds l' p.
Proof.
  intros l p t l' (e & Ie & D & H) T N.
  assert (C : exists at_, covered e (dest p) (kind ks (level p)) at_ /\ at_switch net t at_ (dest p) (level p) = Forward l').
  { destruct l as [s v | c v | x v]; simpl in N; [| | discriminate].
    - exists (hangs net s). tauto.
    - exists (far net c). tauto. }
  destruct C as (at_ & C & A). exists e. repeat split; auto.
  destruct l' as [s v | c v | x v].
  - exfalso. pose proof (good_fate _ _ _ _ _ C T) as G. rewrite A in G. discriminate.
  - eapply covered_on; eauto.
  - intros M. pose proof (good_fate _ _ _ _ _ C T) as G. rewrite A in G. simpl in G. rewrite M in G. simpl in G.
    destruct (x =? e) eqn:E; [now apply N.eqb_eq in E | discriminate].
Qed.

Lemma trail_holds : forall l p, trail net may_have sends l p -> holds l p.
Proof.
  induction 1.
  - destruct H as (s & v & e & -> & Is & Ie & N & D & M). exists e. repeat split; auto.
    + exists s, v, e. auto 7.
    + apply (sender_covered s e (dest p) (level p) Is Ie N D M).
    + apply (sender_covered s e (dest p) (level p) Is Ie N D M).
  - eapply holds_next; eauto.
Qed.

(** The main theorem on the checker: wherever packets may wait, the rank of what they wait for rises. *)
Theorem check_rises : rises net may_have sends lane_rank (S (N.to_nat top)).
Proof.
  intros l p Tr. pose proof (trail_holds l p Tr) as H. split.
  - destruct H as (e & _ & _ & H). destruct l; simpl; lia.
  - intros t l' T N. pose proof (holds_next l p t l' H T N) as H'.
    destruct H as (e & Ie & D & H), H' as (e' & Ie' & D' & H').
    destruct l as [s v | c v | x v]; [| | discriminate]; simpl in N.
    + destruct l' as [s' v' | c' v' | x' v']; simpl.
      * exfalso. destruct H as [_ C]. pose proof (good_fate _ _ _ _ _ C T) as G. rewrite N in G. discriminate.
      * destruct H' as [[P _] _]. lia.
      * lia.
    + destruct H as ([P Q] & C & R). destruct l' as [s' v' | c' v' | x' v']; simpl.
      * exfalso. pose proof (good_fate _ _ _ _ _ C T) as G. rewrite N in G. discriminate.
      * pose proof (first_wrong_none _ _ R (canonical (Forward (On c' v')))) as F. simpl in F.
        assert (I : In (canonical (Forward (On c' v'))) (fates (far net c) (dest p) (kind ks (level p)))).
        { rewrite <- fates_kind, <- N. now apply at_switch_in_fates. }
        specialize (F I). destruct (rank c (rep v) <? rank c' (rep v')) eqn:L; [| discriminate].
        apply N.ltb_lt in L. lia.
      * lia.
Qed.

(** Where all must arrive, whoever takes a packet is whom it is for, and none is discarded. *)
Theorem check_arrives : must_arrive = true -> forall l p t, trail net may_have sends l p -> may_have t ->
  next net t l p <> Lost /\
  forall e, next net t l p = Taken e -> In e ends /\ In (dest p) (lids e).
Proof.
  intros M l p t Tr T. destruct (trail_holds l p Tr) as (e & Ie & D & H).
  assert (C : (exists at_, covered e (dest p) (kind ks (level p)) at_ /\ next net t l p = at_switch net t at_ (dest p) (level p)) \/ next net t l p = Taken e).
  { destruct l as [s v | c v | x v]; simpl.
    - left. exists (hangs net s). tauto.
    - left. exists (far net c). tauto.
    - right. now rewrite H. }
  destruct C as [(at_ & C & ->) | ->].
  - pose proof (good_fate _ _ _ _ _ C T) as G. split.
    + intros Q. rewrite Q in G. simpl in G. rewrite M in G. discriminate.
    + intros x Q. rewrite Q in G. simpl in G. rewrite M in G. simpl in G.
      destruct (x =? e) eqn:E; [apply N.eqb_eq in E; now subst | discriminate].
  - split; [discriminate |]. intros x Q. inversion Q; now subst.
Qed.

(** What is accepted is about something: some packet may be sent. *)
Theorem check_not_empty : exists s e d l, In s ends /\ In e ends /\ s <> e /\ In d (lids e) /\ may_use k gives s e d l.
Proof.
  destruct check_parts as (S & _). unfold somebody in S.
  apply existsb_exists in S as (e & Ie & S). apply existsb_exists in S as (d & Id & S).
  apply existsb_exists in S as (s & Is & S). apply andb_true_iff in S as [N S].
  apply negb_true_iff, N.eqb_neq in N. unfold sends_at_all, forward_levels in S.
  assert (L : exists l, may_use k gives s e d l).
  { destruct k; simpl in S.
    - apply existsb_exists in S as (l & I & B). apply in_map_iff in I as (r & E & I). apply N.ltb_lt in B.
      exists l. split; auto. subst. split; exists (given r); split; auto using in_map.
    - apply existsb_exists in S as (l & I & B). apply in_map_iff in I as (r & E & I). apply N.ltb_lt in B.
      exists l. split; auto. subst. exists (given r). split; auto using in_map.
    - apply N.ltb_lt in S. exists sl. split; auto.
    - exists 0. split; auto. lia. }
  destruct L as (l & L). exists s, e, d, l. auto 6.
Qed.

End Soundness.
