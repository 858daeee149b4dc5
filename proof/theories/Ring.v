(** The theorems say something: a ring of three switches does deadlock in this model, so the checker
    refuses it with any rank; and where every packet goes one hop, it is accepted. *)

From Coq Require Import NArith List Bool Lia Arith FMapPositive.
From WeftProof Require Import Network Semantics Freedom Contracts Checker Soundness Verdict Deadlocks.
Import ListNotations.
Local Open Scope N_scope.

(** Switches 1, 2, 3. Port 1 has the host of the same number, with that LID; port 2 leads to port 3 of
    the next switch, by the link of the same number. *)
Definition after (s : N) : N := match s with 1 => 2 | 2 => 3 | _ => 1 end.

Definition ring : network := {|
  wired := fun s o => match o with 1 => Host s | 2 => Link s | _ => Nothing end;
  far := fun c => (after c, 3);
  hangs := fun e => (e, 1);
  own := fun s => 100 + s
|}.

(** All packets clockwise on lane 0; [far_too] says whether hosts send to the one two hops away. *)
Definition clockwise (far_too : bool) : routing := {|
  entry_of := fun s d => if s =? d then 1 else 2;
  class_of := fun _ _ => 0;
  more_of := fun _ _ => [];
  map_of := fun _ _ _ => 0;
  maps := 1;
  lane_of := fun _ _ => 0;
  given := {| row := fun e => e; table := fun s d => if (after s =? d) || far_too then 0 else 16 |}
|}.

Definition hosts : list N := [1; 2; 3].
Definition alone (e : N) : list N := [e].
Definition one_packet (_ : lane) : nat := 1%nat.

Definition to (d : N) : packet := {| dest := d; level := 0; size := 1; born := 0 |}.

(** Every link holds a packet for the switch after the next. *)
Definition full : state := {|
  now := fun _ => tables_of (clockwise true);
  held := [(On 1 0, to 3); (On 2 0, to 1); (On 3 0, to 2)];
  owed := []
|}.

Notation now_ := (tables_now [clockwise true]).
Notation sent_ := (packets_sent [clockwise true] alone Directed hosts).

Lemma may : forall s d, In s hosts -> In d hosts -> s <> d -> sent_ (From s 0) (to d).
Proof.
  intros s d I J N. exists s, 0, d. split; [reflexivity |]. split; [exact I |]. split; [exact J |].
  split; [exact N |]. split; [now left |]. split; [reflexivity |].
  exists (given (clockwise true)). split; [now left |]. unfold told, clockwise. simpl.
  now rewrite orb_true_r.
Qed.

Ltac go := eapply run_more; [| simpl].

Theorem ring_deadlocks : reachable ring [clockwise true] alone Directed hosts one_packet full /\
  stuck ring one_packet now_ sent_ full.
Proof.
  split.
  - exists [Sends; Moves; Credits; Sends; Moves; Credits; Sends; Moves; Credits], (fun _ => tables_of (clockwise true)).
    split; [intros; apply allows_itself; simpl; auto |].
    go; [apply (step_send _ _ _ _ _ _ (From 1 0) (to 3)); [apply may; simpl; auto; lia | simpl; auto] |].
    go; [apply (step_on _ _ _ _ _ [] [] (From 1 0) (On 1 0)); [intros x [] | reflexivity | vm_compute; auto] |].
    go; [apply (step_credit _ _ _ _ _ _ [] []) |].
    go; [apply (step_send _ _ _ _ _ _ (From 2 0) (to 1)); [apply may; simpl; auto; lia | vm_compute; auto] |].
    go; [apply (step_on _ _ _ _ _ [(On 1 0, to 3)] [] (From 2 0) (On 2 0));
         [intros x [<- | []]; discriminate | reflexivity | vm_compute; auto] |].
    go; [apply (step_credit _ _ _ _ _ _ [] []) |].
    go; [apply (step_send _ _ _ _ _ _ (From 3 0) (to 2)); [apply may; simpl; auto; lia | vm_compute; auto] |].
    go; [apply (step_on _ _ _ _ _ [(On 1 0, to 3); (On 2 0, to 1)] [] (From 3 0) (On 3 0));
         [intros x [<- | [<- | []]]; discriminate | reflexivity | vm_compute; auto] |].
    go; [apply (step_credit _ _ _ _ _ _ [] []) | apply run_none].
  - split; [discriminate |]. intros a st' I S.
    assert (Q : forall l p, In (l, p) (held full) -> exists l',
      next ring (now full l) l p = Forward l' /\ ~ (used full l' + size p <= one_packet l')%nat).
    { intros l p [E | [E | [E | []]]]; injection E as <- <-; eexists; (split; [reflexivity | vm_compute; lia]). }
    assert (W : owed full = []) by reflexivity.
    remember full as st. clear Heqst. destruct S; try discriminate; simpl in Q, W;
      try (destruct (Q l p) as (x & N & U); [apply in_app_iff; simpl; auto |]; congruence).
    destruct w1; discriminate.
Qed.

(** The two facts below agree with that: no rank makes the checker accept it ... *)
Lemma clockwise_fits : forall rank canon top must fuel gs,
  check ring [clockwise true] rank canon top alone must fuel Directed hosts gs = None ->
  rises ring now_ sent_ (lane_rank rank canon top) (S (N.to_nat top)).
Proof. intros. eapply check_rises; eauto. Qed.

Theorem ring_refused : forall rank canon top must fuel gs,
  check ring [clockwise true] rank canon top alone must fuel Directed hosts gs <> None.
Proof.
  intros rank canon top must fuel gs C. apply clockwise_fits in C.
  destruct ring_deadlocks as [Re St].
  assert (T : forall c d, In (On c 0, to d) (held full) -> trail ring now_ sent_ (On c 0) (to d)).
  { intros c d I. destruct (reachable_sound _ _ _ _ _ _ _ Re) as [_ H]. auto. }
  assert (M : now_ (tables_of (clockwise true))) by (apply allows_itself; simpl; auto).
  assert (A : forall c c' d, In (On c 0, to d) (held full) -> next ring (tables_of (clockwise true)) (On c 0) (to d) = Forward (On c' 0) ->
    (lane_rank rank canon top (On c 0) < lane_rank rank canon top (On c' 0))%nat).
  { intros c c' d I N. destruct (C _ _ (T c d I)) as [_ R]. eauto. }
  assert (A1 := A 1 2 3 ltac:(simpl; auto) eq_refl).
  assert (A2 := A 2 3 1 ltac:(simpl; auto) eq_refl).
  assert (A3 := A 3 1 2 ltac:(simpl; auto) eq_refl).
  lia.
Qed.

(** ... and with packets that go one hop only, it does. *)
Theorem one_hop_accepted :
  check ring [clockwise false] (fun _ _ => 1) (fun v => v) 2 alone true 100 Directed hosts [[1]; [2]; [3]] = None.
Proof. vm_compute. reflexivity. Qed.

(** The circle is filled by sending in order, so that [loop_deadlocks] applies: these packets stand for ever. *)
Theorem ring_is_a_deadlock : filled ring one_packet sent_ (tables_of (clockwise true)) (held full) /\
  blocked ring one_packet (tables_of (clockwise true)) (held full).
Proof.
  split.
  - assert (G : forall h s d, In s hosts -> In d hosts -> s <> d ->
      filled ring one_packet sent_ (tables_of (clockwise true)) h ->
      (forall x, In x h -> fst x <> From s 0 /\ fst x <> On s 0) ->
      next ring (tables_of (clockwise true)) (From s 0) (to d) = Forward (On s 0) ->
      filled ring one_packet sent_ (tables_of (clockwise true)) (h ++ [(On s 0, to d)])).
    { intros h s d I J N F Fr W. apply (filled_more _ _ _ _ h (From s 0) [] (On s 0) (to d)).
      - exact F.
      - now apply may.
      - simpl. split; [exact W | discriminate].
      - intros x [<- | []]. split; [intros y K; now apply Fr | simpl; auto].
      - rewrite (weight_free (On s 0) h); [simpl; auto | intros y K; now apply Fr]. }
    change (held full) with ((([] ++ [(On 1 0, to 3)]) ++ [(On 2 0, to 1)]) ++ [(On 3 0, to 2)]).
    repeat (apply G; [simpl; auto 6 | simpl; auto 6 | lia | | | reflexivity]); try apply filled_none;
      intros x X; simpl in X; intuition; subst; discriminate.
  - intros h1 l p h2 E F. simpl in E.
    destruct h1 as [| x h1]; [injection E as <- <- _; exists (On 2 0); split; [reflexivity | vm_compute; auto] |].
    destruct h1 as [| y h1]; [injection E as _ <- <- _; exists (On 3 0); split; [reflexivity | vm_compute; auto] |].
    destruct h1 as [| z h1]; [injection E as _ _ <- <- _; exists (On 1 0); split; [reflexivity | vm_compute; auto] |].
    injection E as _ _ _ E. destruct h1; discriminate.
Qed.
