(** Lossless Ethernet: priority flow control (IEEE 802.1Qbb).

    A lane is the buffer of an ingress port and a priority group. When it holds more than a threshold (xoff), its
    switch asks the sender to pause that priority, and when it holds no more than another (xon) to go on;
    until the sender has heard of it, frames go on coming, for which there is headroom. Within a switch
    frames wait in queues by egress: a queue for each port and priority, first in, first out. Which port of
    a set of equal paths a frame takes, and what it is from there on, is whatever [goes] says: it may be any of
    several, so that every choice of ECMP counts, every rewriting of DSCP and priority, and every header that a
    tunnel puts before it. *)

From Coq Require Import List Bool Lia Arith.
From WeftProof Require Import Network.
Import ListNotations.

Section Ethernet.

Variable frame : Type.
Variable size : frame -> nat.
Variables xon xoff headroom : lane -> nat.
Hypothesis Thresholds : forall l, xon l <= xoff l.

(** Where a frame that came into a lane may go, and as which frame: into another lane, or out to a host (None), or it is
    dropped (None). *)
Variable goes : lane -> frame -> option (lane * frame) -> Prop.
Variable may_send : lane -> frame -> Prop.

Record waiting := { at_ : lane; what : frame; to_ : option (lane * frame) }.
Record state := {
  held : list waiting;
  flight : list (lane * frame);   (* on a cable, into a lane, the first to come first *)
  told : lane -> bool;            (* the switch asked for a pause *)
  heard : lane -> bool;           (* the sender pauses *)
  since : lane -> nat             (* what came in since the pause was asked for *)
}.

Definition amount (l : lane) (h : list (lane * frame)) : nat :=
  fold_right (fun x n => if lane_eq_dec (fst x) l then size (snd x) + n else n) 0 h.
Definition holds (st : state) (l : lane) : nat := amount l (map (fun x => (at_ x, what x)) (held st)).
Definition set {A : Type} (f : lane -> A) (l : lane) (v : A) : lane -> A := fun x => if lane_eq_dec x l then v else f x.

(** What is taken for granted of headroom: until the sender has heard, no more is on the way than fits there. *)
Definition may_go (st : state) (l : lane) (p : frame) : Prop :=
  heard st l = false /\ amount l (flight st) + since st l + size p <= headroom l.

(** Whether a frame waits for a lane. *)
Definition aims (l : lane) (x : waiting) : bool :=
  match to_ x with Some (l', _) => if lane_eq_dec l' l then true else false | None => false end.

Inductive act : Type := Leaves | Arrives | Departs | Pauses | Resumes | Hears | Sends.

Inductive step : act -> state -> state -> Prop :=
| step_leave : forall h1 h2 fl td hd sc l p l' p',
    (forall x, In x h1 -> aims l' x = false) ->   (* the first of its queue *)
    may_go {| held := h1 ++ {| at_ := l; what := p; to_ := Some (l', p') |} :: h2; flight := fl; told := td; heard := hd; since := sc |} l' p' ->
    step Leaves {| held := h1 ++ {| at_ := l; what := p; to_ := Some (l', p') |} :: h2; flight := fl; told := td; heard := hd; since := sc |}
                {| held := h1 ++ h2; flight := fl ++ [(l', p')]; told := td; heard := hd; since := sc |}
| step_depart : forall h1 h2 fl td hd sc l p,
    step Departs {| held := h1 ++ {| at_ := l; what := p; to_ := None |} :: h2; flight := fl; told := td; heard := hd; since := sc |}
                 {| held := h1 ++ h2; flight := fl; told := td; heard := hd; since := sc |}
| step_arrive : forall h fl td hd sc l p o td' sc',
    goes l p o ->
    (* a frame that fills the buffer above xoff has a pause asked for at once, and counts as come since *)
    (if td l || (xoff l <? amount l (map (fun x => (at_ x, what x)) h) + size p)
     then td' = set td l true /\ sc' = set sc l (sc l + size p)
     else td' = td /\ sc' = sc) ->
    step Arrives {| held := h; flight := (l, p) :: fl; told := td; heard := hd; since := sc |}
                 {| held := h ++ [{| at_ := l; what := p; to_ := o |}]; flight := fl; told := td'; heard := hd; since := sc' |}
| step_pause : forall h fl td hd sc l,
    step Pauses {| held := h; flight := fl; told := td; heard := hd; since := sc |}
                {| held := h; flight := fl; told := set td l true; heard := hd; since := sc |}
| step_resume : forall h fl td hd sc l,
    amount l (map (fun x => (at_ x, what x)) h) <= xon l ->
    step Resumes {| held := h; flight := fl; told := td; heard := hd; since := sc |}
                 {| held := h; flight := fl; told := set td l false; heard := hd; since := set sc l 0 |}
| step_hear : forall h fl td hd sc l,
    step Hears {| held := h; flight := fl; told := td; heard := hd; since := sc |}
               {| held := h; flight := fl; told := td; heard := set hd l (td l); since := sc |}
| step_send : forall h fl td hd sc l p,
    may_send l p ->
    may_go {| held := h; flight := fl; told := td; heard := hd; since := sc |} l p ->
    step Sends {| held := h; flight := fl; told := td; heard := hd; since := sc |}
               {| held := h; flight := fl ++ [(l, p)]; told := td; heard := hd; since := sc |}.

Inductive trail : lane -> frame -> Prop :=
| trail_sent : forall l p, may_send l p -> trail l p
| trail_on : forall l l' p p', trail l p -> goes l p (Some (l', p')) -> trail l' p'.

Definition sound (st : state) : Prop :=
  (forall x, In x (held st) -> trail (at_ x) (what x) /\ goes (at_ x) (what x) (to_ x)) /\
  (forall l p, In (l, p) (flight st) -> trail l p).

(** ** Nothing is lost *)

Definition within (st : state) : Prop := forall l,
  (told st l = false -> since st l = 0) /\
  amount l (flight st) + since st l <= headroom l /\
  holds st l <= xoff l + since st l.

Lemma amount_app : forall l a b, amount l (a ++ b) = amount l a + amount l b.
Proof.
  intros l a b. induction a as [| x a IH]; simpl; auto. destruct (lane_eq_dec (fst x) l); lia.
Qed.

Lemma within_step : forall a st st', within st -> step a st st' -> within st'.
Proof.
  intros a st st' W S l0. specialize (W l0). unfold holds in *.
  destruct S as [h1 h2 fl td hd sc l p l' p' F [G1 G2] | h1 h2 fl td hd sc l p | h fl td hd sc l p o td' sc' G E | h fl td hd sc l
    | h fl td hd sc l R | h fl td hd sc l | h fl td hd sc l p M [G1 G2]]; simpl in *;
    destruct W as (W0 & W1 & W2); unfold set in *.
  - rewrite !map_app, !amount_app in *. simpl in *. destruct (lane_eq_dec l l0), (lane_eq_dec l' l0); subst; repeat split; auto; lia.
  - rewrite !map_app, !amount_app in *. simpl in *. destruct (lane_eq_dec l l0); repeat split; auto; lia.
  - rewrite !map_app, !amount_app in *. simpl in *.
    destruct (td l || (xoff l <? amount l (map (fun x => (at_ x, what x)) h) + size p)) eqn:T; destruct E as [-> ->];
      (destruct (lane_eq_dec l l0) as [<- | D];
        [destruct (lane_eq_dec l l); [| congruence] | destruct (lane_eq_dec l0 l); [congruence |]]);
      simpl in *; repeat split; intros; auto; try discriminate; try lia.
    all: apply orb_false_iff in T as [T1 T2]; apply Nat.ltb_ge in T2; pose proof (W0 T1); lia.
  - destruct (lane_eq_dec l0 l); repeat split; intros; auto; discriminate.
  - specialize (Thresholds l0). destruct (lane_eq_dec l0 l) as [-> | D]; repeat split; intros; auto; lia.
  - destruct (lane_eq_dec l0 l); repeat split; intros; auto.
  - rewrite !amount_app. simpl. destruct (lane_eq_dec l l0); subst; repeat split; auto; lia.
Qed.

(** A buffer of threshold and headroom never overflows, whatever of what is on the way comes. *)
Theorem nothing_is_lost : forall st, within st -> forall l, holds st l + amount l (flight st) <= xoff l + headroom l.
Proof. intros st W l. destruct (W l) as (_ & A & B). lia. Qed.

(** ** Nothing waits for ever *)

Lemma sound_step : forall a st st', sound st -> step a st st' -> sound st'.
Proof.
  intros a st st' [A B] S.
  destruct S as [h1 h2 fl td hd sc l p l' p' F G | h1 h2 fl td hd sc l p | h fl td hd sc l p o td' sc' G E | h fl td hd sc l
    | h fl td hd sc l R | h fl td hd sc l | h fl td hd sc l p M G]; simpl in *; split; simpl; auto.
  - intros x I. apply A. apply in_app_iff in I. apply in_app_iff. simpl. tauto.
  - intros x q I. apply in_app_iff in I as [I | [I | []]]; auto. injection I as <- <-.
    destruct (A {| at_ := l; what := p; to_ := Some (l', p') |}) as [T Q]; [apply in_app_iff; simpl; auto |].
    eapply trail_on; eauto.
  - intros x I. apply A. apply in_app_iff in I. apply in_app_iff. simpl. tauto.
  - intros x I. apply in_app_iff in I as [I | [<- | []]]; auto.
  - intros x q I. apply in_app_iff in I as [I | [I | []]]; auto. injection I as <- <-. now apply trail_sent.
Qed.

Variable rank : lane -> nat.

(** The rank rises along every way that any frame may take. *)
Definition rises : Prop := forall l p l' p', trail l p -> goes l p (Some (l', p')) -> rank l < rank l'.

Hypothesis Rises : rises.
Hypothesis Total : forall l p, trail l p -> exists o, goes l p o.
Hypothesis Headroom : forall l p, trail l p -> forall l', size p <= headroom l'.

Lemma highest : forall h : list waiting, h <> [] -> exists x, In x h /\ forall y, In y h -> rank (at_ y) <= rank (at_ x).
Proof.
  induction h as [| x h IH]; [congruence | intros _].
  destruct h as [| y h']; [exists x; simpl; split; [auto | intros z [<- | []]; auto] |].
  destruct IH as (z & I & M); [congruence |].
  destruct (le_lt_dec (rank (at_ z)) (rank (at_ x))).
  - exists x. split; [simpl; auto |]. intros u [<- | U]; auto. specialize (M u U). lia.
  - exists z. split; [simpl in *; tauto |]. intros u [<- | U]; [lia | auto].
Qed.

Lemma amount_none : forall l h, (forall x, In x h -> fst x <> l) -> amount l h = 0.
Proof.
  induction h as [| x h IH]; simpl; intros F; auto. destruct (lane_eq_dec (fst x) l) as [E | E].
  - exfalso. apply (F x); auto.
  - apply IH. auto.
Qed.

Lemma first_of_queue : forall l h x, In x h -> aims l x = true ->
  exists h1 y h2, h = h1 ++ y :: h2 /\ aims l y = true /\ forall z, In z h1 -> aims l z = false.
Proof.
  induction h as [| y h IH]; simpl; intros x I T; [contradiction |].
  destruct (aims l y) eqn:A.
  - exists [], y, h. repeat split; auto. simpl. tauto.
  - destruct I as [-> | I]; [congruence |].
    destruct (IH x I T) as (h1 & z & h2 & E & Q & F). exists (y :: h1), z, h2. subst h. repeat split; auto.
    intros u [<- | U]; auto.
Qed.

Inductive run : list act -> state -> state -> Prop :=
| run_none : forall st, run [] st st
| run_more : forall a as_ st st' st'', step a st st' -> run as_ st' st'' -> run (a :: as_) st st''.

Lemma run_keeps : forall P : state -> Prop, (forall a st st', P st -> step a st st' -> P st') ->
  forall as_ st st', run as_ st st' -> P st -> P st'.
Proof. intros P K as_ st st' R. induction R; eauto. Qed.

(** From an idle network, whatever is sent, asked for and heard when: all that is held or on its way has room. *)
Definition idle : state :=
  {| held := []; flight := []; told := fun _ => false; heard := fun _ => false; since := fun _ => 0 |}.

Theorem pfc_loses_nothing : forall as_ st, run as_ idle st ->
  sound st /\ forall l, holds st l + amount l (flight st) <= xoff l + headroom l.
Proof.
  intros as_ st R. split.
  - apply (run_keeps sound sound_step as_ idle st R). split; simpl; intros; contradiction.
  - apply nothing_is_lost. apply (run_keeps within within_step as_ idle st R).
    intros l. unfold holds, idle. simpl. repeat split; auto; lia.
Qed.

(** While a frame is there, one moves: it comes in, or leaves, or does so after its next lane, which is empty, has said
    that it may and that has been heard. *)
Theorem pfc_progress : forall st, sound st -> (held st <> [] \/ flight st <> []) ->
  exists as_ st', run as_ st st' /\
    (as_ = [Arrives] \/ as_ = [Departs] \/ as_ = [Resumes; Hears; Leaves]).
Proof.
  intros [h fl td hd sc] [A B] NE. simpl in *.
  destruct fl as [| [l p] fl].
  2: { destruct (Total l p) as (o & G); [apply B; simpl; auto |].
       exists [Arrives].
       destruct (td l || (xoff l <? amount l (map (fun x => (at_ x, what x)) h) + size p)) eqn:E;
         (eexists; split; [| auto];
          eapply run_more; [eapply step_arrive; [exact G | rewrite E; split; reflexivity] | apply run_none]). }
  assert (H : h <> []) by (destruct NE; congruence).
  destruct (highest h H) as (x & I & M).
  destruct (to_ x) as [[l' q] |] eqn:T.
  - destruct (A x I) as [Tr G]. rewrite T in G.
    assert (Em : amount l' (map (fun x => (at_ x, what x)) h) = 0).
    { apply amount_none. intros y J E. apply in_map_iff in J as (z & <- & J). simpl in E.
      specialize (M z J). specialize (Rises _ _ _ _ Tr G). subst l'. lia. }
    destruct (first_of_queue l' h x I) as (h1 & [l p o] & h2 & E & Q & F).
    { unfold aims. rewrite T. destruct (lane_eq_dec l' l'); congruence. }
    subst h. unfold aims in Q. simpl in Q. destruct o as [[l'' p'] |]; [| discriminate].
    destruct (lane_eq_dec l'' l') as [-> |]; [| discriminate].
    exists [Resumes; Hears; Leaves]. eexists. split; [| auto].
    eapply run_more; [apply (step_resume _ _ _ _ _ l'); rewrite Em; lia |].
    eapply run_more; [apply (step_hear _ _ _ _ _ l') |].
    eapply run_more; [| apply run_none]. apply step_leave; auto.
    split; cbn [heard told since flight].
    + unfold set. destruct (lane_eq_dec l' l'); congruence.
    + unfold set. destruct (lane_eq_dec l' l'); [| congruence]. simpl.
      destruct (A {| at_ := l; what := p; to_ := Some (l', p') |}) as [Tr' G']; [apply in_app_iff; simpl; auto |].
      simpl in Tr', G'. pose proof (Headroom l' p' (trail_on _ _ _ _ Tr' G') l'). lia.
  - apply in_split in I as (h1 & h2 & E). destruct x as [l p o]. simpl in T. subst o h.
    exists [Departs]. eexists. split; [| auto]. eapply run_more; [apply step_depart | apply run_none].
Qed.

Lemma run_on : forall as_ st st' more st'', run as_ st st' -> run more st' st'' -> run (as_ ++ more) st st''.
Proof. intros as_ st st' more st'' R M. induction R; simpl; auto. eapply run_more; eauto. Qed.

(** Whatever is on a trail can come about: a frame alone goes along it. *)
Theorem pfc_comes_about : forall l p, trail l p -> exists as_ st, run as_ idle st /\ flight st = [(l, p)].
Proof.
  intros l p T.
  cut (exists as_ st, run as_ idle st /\ held st = [] /\ flight st = [(l, p)] /\ (forall x, heard st x = false) /\ (forall x, since st x = 0)).
  { intros (as_ & st & R & _ & F & _). eauto. }
  induction T as [l p M | l l' p p' T (as_ & [h fl td hd sc] & R & H & F & He & Si) G].
  - exists [Sends]. eexists. split.
    + eapply run_more; [| apply run_none]. apply step_send; [exact M |]. split; simpl; auto.
      pose proof (Headroom l p (trail_sent _ _ M) l). lia.
    + simpl. auto.
  - simpl in H, F, He, Si. subst h fl.
    assert (Ne : l' <> l) by (intros ->; pose proof (Rises _ _ _ _ T G); lia).
    set (x := {| at_ := l; what := p; to_ := Some (l', p') |}).
    assert (A : exists td' sc', step Arrives {| held := []; flight := [(l, p)]; told := td; heard := hd; since := sc |}
        {| held := [x]; flight := []; told := td'; heard := hd; since := sc' |} /\ forall y, y <> l -> sc' y = 0).
    { destruct (td l || (xoff l <? amount l (map (fun x => (at_ x, what x)) []) + size p)) eqn:C.
      - exists (set td l true), (set sc l (sc l + size p)). split.
        + apply (step_arrive [] [] td hd sc l p (Some (l', p'))); auto. rewrite C. auto.
        + intros y D. unfold set. destruct (lane_eq_dec y l); [congruence | auto].
      - exists td, sc. split; auto. apply (step_arrive [] [] td hd sc l p (Some (l', p'))); auto. rewrite C. auto. }
    destruct A as (td' & sc' & A & Sc).
    exists (as_ ++ [Arrives; Leaves; Resumes]). eexists. split.
    + eapply run_on; [exact R |]. eapply run_more; [exact A |].
      eapply run_more.
      * apply (step_leave [] [] [] td' hd sc' l p l' p'); [intros y [] |]. split; simpl; auto.
        rewrite (Sc l' Ne). pose proof (Headroom l' p' (trail_on _ _ _ _ T G) l'). lia.
      * eapply run_more; [| apply run_none]. apply (step_resume _ _ _ _ _ l). simpl. lia.
    + simpl. repeat split; auto. intros y. unfold set. destruct (lane_eq_dec y l); auto.
Qed.

End Ethernet.
