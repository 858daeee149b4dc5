(** The theorems say something. A ring of three switches does deadlock in this model, so it is not [deadlock_free],
    which is what the checker says of what it accepts; the checker refuses it with any rank. Where every
    packet goes one hop it is accepted, and packets can be sent there. Likewise for plans of several
    steps and for packets that wait for ever: what is assumed can be met, and what follows is not
    true of the ring. *)

From Coq Require Import NArith List Bool Lia Arith FMapPositive.
From WeftProof Require Import Network Semantics Freedom Contracts Checker Soundness Verdict Waiting Arbitration Mixtures Deadlocks.
From WeftProof Require Escape Multicast Ethernet EthernetChecker.
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

(** All packets clockwise on lane v; [far_too] says whether hosts send to the one two hops away. *)
Definition clockwise (far_too : bool) (v : N) : routing := {|
  entry_of := fun s d => if s =? d then 1 else 2;
  class_of := fun _ _ => 0;
  more_of := fun _ _ => [];
  map_of := fun _ _ _ => 0;
  maps := 1;
  lane_of := fun _ _ => v;
  given := {| row := fun e => e; table := fun s d => if (after s =? d) || far_too then 0 else 16 |}
|}.

Definition hosts : list N := [1; 2; 3].
Definition alone (e : N) : list N := [e].
Definition one_packet (_ : lane) : nat := 1%nat.

Definition to (d : N) : packet := {| dest := d; level := 0; size := 1; born := 0 |}.

(** Every link holds a packet for the switch after the next. *)
Definition full : state := {|
  now := fun _ => tables_of (clockwise true 0);
  held := [(On 1 0, to 3); (On 2 0, to 1); (On 3 0, to 2)];
  owed := []
|}.

Notation now_ := (tables_now [clockwise true 0]).
Notation sent_ := (packets_sent [clockwise true 0] alone Directed hosts 1).

Lemma may : forall s d, In s hosts -> In d hosts -> s <> d -> sent_ (From s 0) (to d).
Proof.
  intros s d I J N. split; [| auto]. exists s, 0, d. split; [reflexivity |]. split; [exact I |]. split; [exact J |].
  split; [exact N |]. split; [now left |]. split; [reflexivity |].
  exists (given (clockwise true 0)). split; [now left |]. unfold told, clockwise. simpl.
  now rewrite orb_true_r.
Qed.

Ltac go := eapply run_more; [| simpl].

(** The ring fills, whatever else may be sent and written ... *)
Lemma fills : forall H (S : lane -> packet -> Prop), S (From 1 0) (to 3) -> S (From 2 0) (to 1) -> S (From 3 0) (to 2) ->
  run ring one_packet H S [Sends; Moves; Credits; Sends; Moves; Credits; Sends; Moves; Credits]
    {| now := fun _ => tables_of (clockwise true 0); held := []; owed := [] |} full.
Proof.
  intros H S S1 S2 S3.
  go; [apply (step_send _ _ _ _ _ _ (From 1 0) (to 3)); [exact S1 | simpl; auto] |].
  go; [apply (step_on _ _ _ _ _ [] [] (From 1 0) (On 1 0)); [intros x [] | reflexivity | vm_compute; auto] |].
  go; [apply (step_credit _ _ _ _ _ _ [] []) |].
  go; [apply (step_send _ _ _ _ _ _ (From 2 0) (to 1)); [exact S2 | vm_compute; auto] |].
  go; [apply (step_on _ _ _ _ _ [(On 1 0, to 3)] [] (From 2 0) (On 2 0));
       [intros x [<- | []]; discriminate | reflexivity | vm_compute; auto] |].
  go; [apply (step_credit _ _ _ _ _ _ [] []) |].
  go; [apply (step_send _ _ _ _ _ _ (From 3 0) (to 2)); [exact S3 | vm_compute; auto] |].
  go; [apply (step_on _ _ _ _ _ [(On 1 0, to 3); (On 2 0, to 1)] [] (From 3 0) (On 3 0));
       [intros x [<- | [<- | []]]; discriminate | reflexivity | vm_compute; auto] |].
  go; [apply (step_credit _ _ _ _ _ _ [] []) | apply run_none].
Qed.

(** ... and then nothing moves. *)
Lemma full_stuck : forall H S, stuck ring one_packet H S full.
Proof.
  intros H S. split; [discriminate |]. intros a st' I T.
  assert (Q : forall l p, In (l, p) (held full) -> exists l',
    next ring (now full l) l p = Forward l' /\ ~ (used full l' + size p <= one_packet l')%nat).
  { intros l p [E | [E | [E | []]]]; injection E as <- <-; eexists; (split; [reflexivity | vm_compute; lia]). }
  assert (W : owed full = []) by reflexivity.
  remember full as st. clear Heqst. destruct T; try discriminate; simpl in Q, W;
    try (destruct (Q l p) as (x & N & U); [apply in_app_iff; simpl; auto |]; congruence).
  destruct w1; discriminate.
Qed.

Theorem ring_deadlocks : reachable ring [clockwise true 0] alone Directed hosts 1 one_packet full /\
  stuck ring one_packet now_ sent_ full.
Proof.
  split; [| apply full_stuck]. eexists. exists (fun _ => tables_of (clockwise true 0)).
  split; [intros; apply allows_itself; simpl; auto |].
  apply fills; apply may; simpl; auto; lia.
Qed.

(** What [check_sound] says of tables that are accepted is not true of these. *)
Theorem ring_is_not_deadlock_free : forall rank top, ~ deadlock_free ring [clockwise true 0] alone Directed hosts rank top.
Proof.
  intros rank top D. destruct ring_deadlocks as [Re [_ St]].
  destruct (D 1%nat one_packet) with (st := full) as (M & _); [intros l; auto | exact Re |].
  destruct M as (a & st' & I & T); [intros [E _]; discriminate | exact (St a st' I T)].
Qed.

(** So no rank makes the checker accept them ... *)
Theorem ring_refused : forall rank canon top must fuel gs,
  check ring [clockwise true 0] rank canon top alone must fuel Directed hosts gs <> None.
Proof.
  intros rank canon top must fuel gs C.
  exact (ring_is_not_deadlock_free _ _ (proj1 (check_sound _ _ _ _ _ _ _ _ _ _ _ C))).
Qed.

(** ... and with packets that go one hop only, it does. *)
Theorem one_hop_accepted :
  check ring [clockwise false 0] (fun _ _ => 1) (fun v => v) 2 alone true 100 Directed hosts [[1]; [2]; [3]] = None.
Proof. vm_compute. reflexivity. Qed.

Lemma may_hop : forall rs v mtu s, In (clockwise false v) rs -> (1 <= mtu)%nat -> In s hosts ->
  packets_sent rs alone Directed hosts mtu (From s 0) (to (after s)).
Proof.
  intros rs v mtu s R M I. split; [| exact M]. exists s, 0, (after s). split; [reflexivity |]. split; [exact I |].
  repeat split; try (destruct I as [<- | [<- | [<- | []]]]; simpl; auto; discriminate).
  exists (given (clockwise false v)). split; [now apply in_map |]. unfold told, clockwise. simpl. now rewrite N.eqb_refl.
Qed.

(** Free of deadlock by [check_sound], and there are buffers, a packet and a state about which that says something. *)
Theorem one_hop_is_deadlock_free :
  deadlock_free ring [clockwise false 0] alone Directed hosts (lane_rank (fun _ _ => 1) (fun v => v) 2) 3 /\
  exists cap st a st', roomy 1 cap /\ reachable ring [clockwise false 0] alone Directed hosts 1 cap st /\ held st <> [] /\
    inner a = true /\ step ring cap (tables_now [clockwise false 0]) (packets_sent [clockwise false 0] alone Directed hosts 1) a st st'.
Proof.
  assert (D := proj1 (check_sound _ _ _ _ _ _ _ _ _ _ _ one_hop_accepted)). split; [exact D |].
  assert (Some_ : [clockwise false 0] <> []) by discriminate.
  destruct (check_about_something _ _ _ _ _ _ _ _ _ _ _ Some_ one_hop_accepted 1) as [(cap & R) A].
  destruct (A cap R) as (l & p & st & _ & _ & Re & H). exists cap, st.
  destruct (D 1%nat cap R st Re) as (M & _). destruct M as (a & st' & I & T); [intros [E _]; congruence |].
  exists a, st'. rewrite H. repeat split; auto. discriminate.
Qed.

(** The circle is filled by sending in order, so that [loop_deadlocks] applies: these packets stand for ever. *)
Theorem ring_is_a_deadlock : filled ring one_packet sent_ (tables_of (clockwise true 0)) (held full) /\
  blocked ring one_packet (tables_of (clockwise true 0)) (held full).
Proof.
  split.
  - assert (G : forall h s d, In s hosts -> In d hosts -> s <> d ->
      filled ring one_packet sent_ (tables_of (clockwise true 0)) h ->
      (forall x, In x h -> fst x <> From s 0 /\ fst x <> On s 0) ->
      next ring (tables_of (clockwise true 0)) (From s 0) (to d) = Forward (On s 0) ->
      filled ring one_packet sent_ (tables_of (clockwise true 0)) (h ++ [(On s 0, to d)])).
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

(** So it has no rank, by [deadlock_has_no_rank] too. *)
Corollary ring_has_no_rank : forall rank top, ~ rises ring now_ sent_ rank top.
Proof.
  destruct ring_is_a_deadlock as [F B]. apply (deadlock_has_no_rank ring one_packet now_ sent_ _ (held full) F); auto.
  - discriminate.
  - apply allows_itself. simpl. auto.
  - apply roomy_fits. intros l. auto.
Qed.

(** ** Plans *)

(** One hop, on lane 0, then 1, then 0: the checker accepts both steps. *)
Definition hops (i : nat) : routing := clockwise false (if Nat.even i then 0 else 1).

Theorem hops_accepted : forall i, (i < 2)%nat ->
  check ring (both hops i) (fun _ _ => 1) (fun v => v) 2 alone true 100 Directed hosts [[1]; [2]; [3]] = None.
Proof. intros [| [| i]] L; [vm_compute; reflexivity | vm_compute; reflexivity | lia]. Qed.

Definition hop_rank : lane -> nat := lane_rank (fun _ _ => 1) (fun v => v) 2.

(** A packet sent while step 0 is confirmed is there when step 1 is written, and goes on. *)
Theorem plan_goes_on :
  (forall i, (i < 2)%nat -> rises ring (has_during hops i) (sent_of alone Directed hosts 1 (both hops i)) hop_rank 3) /\
  roomy 1 one_packet /\
  exists st a st', comes ring one_packet alone Directed hosts 1 hops 2 1 Writing st /\ held st <> [] /\ inner a = true /\
    step ring one_packet (has_during hops 1) (sent_of alone Directed hosts 1 (both hops 1)) a st st'.
Proof.
  set (p := {| dest := 2; level := 0; size := 1; born := 1 |}).
  set (old := fun _ : lane => tables_of (hops 0)). set (new := fun _ : lane => tables_of (hops 1)).
  assert (Ro : roomy 1 one_packet) by (intros l; auto).
  assert (C : comes ring one_packet alone Directed hosts 1 hops 2 1 Writing {| now := new; held := [] ++ [(From 1 0, p)]; owed := [] |}).
  { apply comes_next; [| lia | intros l q [E | []]; now injection E as <- <-].
    apply comes_waiting with (a := Sends) (st := {| now := new; held := []; owed := [] |}).
    - apply comes_confirmed; [| intros l; apply allows_itself; simpl; auto].
      apply comes_writing with (a := Writes) (st := {| now := old; held := []; owed := [] |}).
      + apply comes_first. intros l. apply allows_itself. simpl. auto.
      + apply step_write. intros l. apply allows_itself. simpl. auto.
    - apply step_send; [| vm_compute; auto]. split; [| reflexivity].
      apply (may_hop [hops 1] 1 1 1); simpl; auto. }
  assert (A : forall i m st, comes ring one_packet alone Directed hosts 1 hops 2 i m st -> ~ empty st ->
    exists a st', inner a = true /\ step ring one_packet (has_during hops i) (sent_of alone Directed hosts 1 (both hops i)) a st st').
  { intros i m st. apply (check_plan_progress ring one_packet alone Directed hosts 1 hops 2 (fun _ _ _ => 1) (fun _ v => v) (fun _ => 2)
      true 100 (fun _ => [[1]; [2]; [3]]) hops_accepted Ro). auto. }
  split; [| split; [exact Ro |]].
  - intros i L. apply rises_up_to. exact (check_rises _ _ _ _ _ _ _ _ _ _ _ (hops_accepted i L)).
  - destruct (A 1%nat Writing _ C) as (a & st' & I & T); [intros [E _]; discriminate |].
    eexists _, a, st'. split; [exact C |]. repeat split; auto. discriminate.
Qed.

(** A plan of which a step has no rank may block. *)
Theorem ring_plan_blocks : comes ring one_packet alone Directed hosts 1 (fun _ => clockwise true 0) 1 0 Writing full /\
  stuck ring one_packet (has_during (fun _ => clockwise true 0) 0) (sent_of alone Directed hosts 1 (both (fun _ => clockwise true 0) 0)) full.
Proof.
  split; [| apply full_stuck].
  assert (G : forall as_ st st', run ring one_packet (has_during (fun _ => clockwise true 0) 0)
      (sent_during alone Directed hosts 1 (fun _ => clockwise true 0) 0) as_ st st' ->
    comes ring one_packet alone Directed hosts 1 (fun _ => clockwise true 0) 1 0 Writing st ->
    comes ring one_packet alone Directed hosts 1 (fun _ => clockwise true 0) 1 0 Writing st').
  { intros as_ st st' R. induction R; eauto using comes_writing. }
  eapply G; [apply fills | apply comes_first; intros l; apply allows_itself; simpl; auto];
    (split; [| reflexivity]); (split; [| auto]);
    (eapply may_send_more; [| apply may; simpl; auto; lia]); intros x [<- | []]; simpl; auto.
Qed.

(** ** No packet waits for ever *)

(** Endless runs: the same states again and again, from 0 to the last. *)
Fixpoint phase (last i : nat) : nat :=
  match i with O => 0 | S i => if Nat.eqb (phase last i) last then 0 else S (phase last i) end%nat.

Lemma phase_below : forall last i, (phase last i <= last)%nat.
Proof. induction i as [| i IH]; simpl; [lia |]. destruct (Nat.eqb_spec (phase last i) last); lia. Qed.

Lemma phase_again : forall last i n, (n <= last)%nat -> phase last (n + S last * i) = n.
Proof.
  assert (A : forall last i n, phase last i = 0%nat -> (n <= last)%nat -> phase last (n + i) = n).
  { intros last i n Z. induction n as [| n IH]; intros L; [exact Z |]. simpl. rewrite IH by lia.
    destruct (Nat.eqb_spec n last); lia. }
  intros last i n L. apply A; [| exact L]. clear n L. induction i as [| i IH]; [now rewrite Nat.mul_0_r |].
  replace (S last * S i)%nat with (S (last + S last * i))%nat by lia. cbn [phase]. rewrite (A last _ last IH) by lia.
  now rewrite Nat.eqb_refl.
Qed.

(** Host 1 sends to host 2, the packet goes on, and when it is gone the next is sent. *)
Definition at_phase (n : nat) : state :=
  let is_ h w := {| now := fun _ => tables_of (clockwise false 0); held := h; owed := w |} in
  match n with
  | 0 => is_ [] []
  | 1 => is_ [(From 1 0, to 2)] []
  | 2 => is_ [(On 1 0, to 2)] [(From 1 0, 1)]
  | 3 => is_ [(On 1 0, to 2)] []
  | 4 => is_ [(To 2 0, to 2)] [(On 1 0, 1)]
  | 5 => is_ [(To 2 0, to 2)] []
  | _ => is_ [] [(To 2 0, 1)]
  end%nat.

Definition act_of (n : nat) : act := match n with 0 => Sends | 1 | 3 => Moves | 5 => Eats 2 (to 2) | _ => Credits end%nat.

Lemma phase_is : forall i, In (phase 6 i) [0; 1; 2; 3; 4; 5; 6]%nat.
Proof. intros i. pose proof (phase_below 6 i) as L. generalize dependent (phase 6 i). intros n L. do 7 (destruct n as [| n]; [simpl; auto 10 |]). lia. Qed.

(** What is assumed of switches can be kept, and then [check_no_packet_waits_for_ever] is about packets that there are. *)
Theorem waiting_is_about_something :
  let st i := at_phase (phase 6 i) in let what i := act_of (phase 6 i) in
  roomy 1 one_packet /\ reachable ring [clockwise false 0] alone Directed hosts 1 one_packet (st 0%nat) /\
  (forall i, step ring one_packet (tables_now [clockwise false 0]) (packets_sent [clockwise false 0] alone Directed hosts 1) (what i) (st i) (st (S i))) /\
  (forall i, what i <> Writes /\ what i <> Loses) /\
  served ring one_packet (tables_now [clockwise false 0]) (packets_sent [clockwise false 0] alone Directed hosts 1) st /\
  not_overtaken ring st /\ credits_return st /\
  held (st 1%nat) = [(From 1 0, to 2)] /\ ~ (forall n, gone st (From 1 0) 1 n < 1)%nat.
Proof.
  intros st what.
  assert (Idle : forall i, st (0 + 7 * i)%nat = at_phase 0) by (intros i; unfold st; rewrite (phase_again 6) by lia; reflexivity).
  assert (Ro : roomy 1 one_packet).
  { intros l. auto. }
  assert (Re : reachable ring [clockwise false 0] alone Directed hosts 1 one_packet (st 0%nat)).
  { exists [], (fun _ => tables_of (clockwise false 0)). split; [intros l; apply allows_itself; simpl; auto | apply run_none]. }
  assert (Go : forall i, step ring one_packet (tables_now [clockwise false 0]) (packets_sent [clockwise false 0] alone Directed hosts 1) (what i) (st i) (st (S i))).
  { intros i. unfold st, what. cbn [phase].
    destruct (phase_is i) as [E | [E | [E | [E | [E | [E | [E | []]]]]]]]; rewrite <- E; cbn.
    - apply (step_send _ _ _ _ _ [] (From 1 0) (to 2) []); [apply (may_hop [clockwise false 0] 0 1 1); simpl; auto | vm_compute; auto].
    - apply (step_on _ _ _ _ _ [] [] (From 1 0) (On 1 0) (to 2) []); [intros x [] | reflexivity | vm_compute; auto].
    - apply (step_credit _ _ _ _ _ _ [] []).
    - apply (step_on _ _ _ _ _ [] [] (On 1 0) (To 2 0) (to 2) []); [intros x [] | reflexivity | vm_compute; auto].
    - apply (step_credit _ _ _ _ _ _ [] []).
    - apply (step_eat _ _ _ _ _ [] [] (To 2 0) (to 2) 2 []); [intros x [] | reflexivity].
    - apply (step_credit _ _ _ _ _ _ [] []). }
  assert (Qu : forall i, what i <> Writes /\ what i <> Loses).
  { intros i. unfold what. destruct (phase_is i) as [E | [E | [E | [E | [E | [E | [E | []]]]]]]]; rewrite <- E; split; discriminate. }
  assert (Se : served ring one_packet (tables_now [clockwise false 0]) (packets_sent [clockwise false 0] alone Directed hosts 1) st).
  { intros l i A. exfalso. destruct (A (0 + 7 * i)%nat ltac:(lia)) as [(p & H & _) _]. rewrite Idle in H. discriminate. }
  assert (No : not_overtaken ring st).
  { intros l l' p i A. exfalso. destruct (A (0 + 7 * i)%nat ltac:(lia)) as (H & _). rewrite Idle in H. discriminate. }
  assert (Cr : credits_return st).
  { intros l i H. exists i. split; [auto |]. unfold st in *. cbn [phase].
    destruct (phase_is i) as [E | [E | [E | [E | [E | [E | [E | []]]]]]]]; rewrite <- E in *; cbn in *; lia. }
  repeat (split; [assumption || reflexivity |]).
  apply (check_no_packet_waits_for_ever _ _ _ _ _ _ _ _ _ _ _ one_hop_accepted 1 one_packet Ro st what Re Go Qu Se No Cr).
  simpl. auto.
Qed.

(** Hosts 1 and 2 send to host 3: at switch 2 their packets come together. *)
Definition merging : routing := {|
  entry_of := fun s d => if s =? d then 1 else 2;
  class_of := fun _ _ => 0;
  more_of := fun _ _ => [];
  map_of := fun _ _ _ => 0;
  maps := 1;
  lane_of := fun _ _ => 0;
  given := {| row := fun e => e; table := fun s d => if d =? 3 then 0 else 16 |}
|}.

Theorem merging_accepted :
  check ring [merging] (fun c _ => c) (fun v => v) 4 alone true 100 Directed hosts [[1]; [2]; [3]] = None.
Proof. vm_compute. reflexivity. Qed.

(** Where the packet of host 1 comes to switch 2 the one of host 2 has the turn, and goes first; then it goes itself. *)
Definition at_turn (n : nat) : state :=
  let is_ h w := {| now := fun _ => tables_of merging; held := h; owed := w |} in
  match n with
  | 0 => is_ [] []
  | 1 => is_ [(From 1 0, to 3)] []
  | 2 => is_ [(On 1 0, to 3)] [(From 1 0, 1)]
  | 3 => is_ [(On 1 0, to 3)] []
  | 4 => is_ [(On 1 0, to 3); (From 2 0, to 3)] []
  | 5 => is_ [(On 1 0, to 3); (On 2 0, to 3)] [(From 2 0, 1)]
  | 6 => is_ [(On 1 0, to 3); (On 2 0, to 3)] []
  | 7 => is_ [(On 1 0, to 3); (To 3 0, to 3)] [(On 2 0, 1)]
  | 8 => is_ [(On 1 0, to 3); (To 3 0, to 3)] []
  | 9 => is_ [(To 3 0, to 3); (On 2 0, to 3)] [(On 1 0, 1)]
  | 10 => is_ [(To 3 0, to 3); (On 2 0, to 3)] []
  | 11 => is_ [(On 2 0, to 3)] [(To 3 0, 1)]
  | 12 => is_ [(On 2 0, to 3)] []
  | 13 => is_ [(To 3 0, to 3)] [(On 2 0, 1)]
  | 14 => is_ [(To 3 0, to 3)] []
  | _ => is_ [] [(To 3 0, 1)]
  end%nat.

Definition act_at_turn (n : nat) : act :=
  match n with 0 | 3 => Sends | 1 | 4 | 6 | 8 | 12 => Moves | 10 | 14 => Eats 3 (to 3) | _ => Credits end%nat.

Definition order_at_turn (n : nat) (l' : lane) : list lane :=
  match l' with
  | On 1 0 => [From 1 0]
  | On 2 0 => if (Nat.leb 5 n && Nat.leb n 8)%bool then [On 1 0; From 2 0] else [From 2 0; On 1 0]
  | To 3 0 => [On 2 0]
  | _ => []
  end.

Definition next_turn (n : nat) : nat := if Nat.eqb n 15 then 0 else S n.

Ltac lanes :=
  cbn -[lane_eq_dec] in *;
  repeat match goal with
  | H : context [lane_eq_dec ?a ?b] |- _ => destruct (lane_eq_dec a b); cbn -[lane_eq_dec] in H; try congruence; try lia
  end; subst; try congruence; try lia.

Definition crossing (n : nat) : option (lane * lane) :=
  match n with
  | 1 => Some (From 1 0, On 1 0) | 4 => Some (From 2 0, On 2 0) | 8 => Some (On 1 0, On 2 0)
  | 6 | 12 => Some (On 2 0, To 3 0) | _ => None
  end%nat.

Lemma goes_at_turn : forall n l l', (n <= 15)%nat -> goes l l' (at_turn n) (at_turn (next_turn n)) -> crossing n = Some (l, l').
Proof.
  intros n l l' L [F C]. unfold fewer in F.
  do 16 (destruct n as [| n]; [solve [lanes; reflexivity] |]). lia.
Qed.

Lemma wants_at_turn : forall n l l', (n <= 15)%nat -> wants ring l l' (at_turn n) -> In l (order_at_turn n l').
Proof.
  intros n l l' L (p & H & N).
  do 16 (destruct n as [| n]; [solve [lanes; try discriminate; injection H as <-; cbn in N; try discriminate; injection N as <-; cbn; auto] |]). lia.
Qed.

Lemma order_elsewhere : forall l', l' <> On 2 0 -> forall n m, order_at_turn n l' = order_at_turn m l' /\
  forall l r, order_at_turn n l' = l :: r -> r = [].
Proof.
  intros l' D n m. unfold order_at_turn.
  repeat match goal with |- context [match ?x with _ => _ end] => is_var x; destruct x end;
    try congruence; (split; [reflexivity | intros l r E; try discriminate; now injection E]).
Qed.

(** What is assumed of turns can be met where lanes meet: one waits for another. *)
Theorem turns_are_about_something :
  let st i := at_turn (phase 15 i) in let what i := act_at_turn (phase 15 i) in let order i := order_at_turn (phase 15 i) in
  roomy 1 one_packet /\ reachable ring [merging] alone Directed hosts 1 one_packet (st 0%nat) /\
  (forall i, step ring one_packet (tables_now [merging]) (packets_sent [merging] alone Directed hosts 1) (what i) (st i) (st (S i))) /\
  (forall i, what i <> Writes /\ what i <> Loses) /\ turns ring st order /\ credits_return st /\
  wants ring (On 1 0) (On 2 0) (st 4%nat) /\ goes (From 2 0) (On 2 0) (st 4%nat) (st 5%nat) /\
  forall l i m, (m <= count l (held (st i)))%nat -> ~ (forall n, gone st l i n < m)%nat.
Proof.
  intros st what order.
  assert (Next : forall i, phase 15 (S i) = next_turn (phase 15 i)) by reflexivity.
  assert (Again : forall i n, (n <= 15)%nat -> exists j, (i <= j)%nat /\ phase 15 j = n).
  { intros i n L. exists (n + 16 * i)%nat. split; [lia | now apply phase_again]. }
  assert (Ro : roomy 1 one_packet) by (intros l; auto).
  assert (Re : reachable ring [merging] alone Directed hosts 1 one_packet (st 0%nat)).
  { exists [], (fun _ => tables_of merging). split; [intros l; apply allows_itself; simpl; auto | apply run_none]. }
  assert (Se : forall s, In s [1; 2] -> packets_sent [merging] alone Directed hosts 1 (From s 0) (to 3)).
  { intros s I. split; [| auto]. exists s, 0, 3. split; [reflexivity |].
    destruct I as [<- | [<- | []]]; (repeat split; simpl; auto; try discriminate); exists (given merging); split; simpl; auto. }
  assert (Go : forall i, step ring one_packet (tables_now [merging]) (packets_sent [merging] alone Directed hosts 1) (what i) (st i) (st (S i))).
  { intros i. unfold st, what. rewrite Next. pose proof (phase_below 15 i) as L. destruct (phase 15 i) as [| n].
    { apply (step_send _ _ _ _ _ [] (From 1 0) (to 3) []); [apply Se; simpl; auto | vm_compute; auto]. }
    destruct n as [| n]. { apply (step_on _ _ _ _ _ [] [] (From 1 0) (On 1 0) (to 3) []); [intros x [] | reflexivity | vm_compute; auto]. }
    destruct n as [| n]. { apply (step_credit _ _ _ _ _ _ [] []). }
    destruct n as [| n]. { apply (step_send _ _ _ _ _ [(On 1 0, to 3)] (From 2 0) (to 3) []); [apply Se; simpl; auto | vm_compute; auto]. }
    destruct n as [| n]. { apply (step_on _ _ _ _ _ [(On 1 0, to 3)] [] (From 2 0) (On 2 0) (to 3) []); [intros x [<- | []]; discriminate | reflexivity | vm_compute; auto]. }
    destruct n as [| n]. { apply (step_credit _ _ _ _ _ _ [] []). }
    destruct n as [| n]. { apply (step_on _ _ _ _ _ [(On 1 0, to 3)] [] (On 2 0) (To 3 0) (to 3) []); [intros x [<- | []]; discriminate | reflexivity | vm_compute; auto]. }
    destruct n as [| n]. { apply (step_credit _ _ _ _ _ _ [] []). }
    destruct n as [| n]. { apply (step_on _ _ _ _ _ [] [(To 3 0, to 3)] (On 1 0) (On 2 0) (to 3) []); [intros x [] | reflexivity | vm_compute; auto]. }
    destruct n as [| n]. { apply (step_credit _ _ _ _ _ _ [] []). }
    destruct n as [| n]. { apply (step_eat _ _ _ _ _ [] [(On 2 0, to 3)] (To 3 0) (to 3) 3 []); [intros x [] | reflexivity]. }
    destruct n as [| n]. { apply (step_credit _ _ _ _ _ _ [] []). }
    destruct n as [| n]. { apply (step_on _ _ _ _ _ [] [] (On 2 0) (To 3 0) (to 3) []); [intros x [] | reflexivity | vm_compute; auto]. }
    destruct n as [| n]. { apply (step_credit _ _ _ _ _ _ [] []). }
    destruct n as [| n]. { apply (step_eat _ _ _ _ _ [] [] (To 3 0) (to 3) 3 []); [intros x [] | reflexivity]. }
    destruct n as [| n]; [apply (step_credit _ _ _ _ _ _ [] []) | lia]. }
  assert (Qu : forall i, what i <> Writes /\ what i <> Loses).
  { intros i. unfold what. pose proof (phase_below 15 i) as L. generalize dependent (phase 15 i). intros n L.
    do 16 (destruct n as [| n]; [split; discriminate |]). lia. }
  assert (Tu : turns ring st order).
  { split.
    - intros i l l' W. apply wants_at_turn; [apply phase_below | exact W].
    - intros i l l' G. unfold st, order in *. rewrite Next in *. apply goes_at_turn in G; [| apply phase_below].
      pose proof (phase_below 15 i) as L. generalize dependent (phase 15 i). intros n G L.
      do 16 (destruct n as [| n]; [solve [discriminate | injection G as <- <-; eexists; split; reflexivity] |]). lia.
    - intros i l'. unfold st, order in *. rewrite Next in *. destruct (lane_eq_dec l' (On 2 0)) as [-> | D].
      2: { left. now apply order_elsewhere. }
      pose proof (phase_below 15 i) as L. generalize dependent (phase 15 i). intros n L.
      do 16 (destruct n as [| n]; [solve [left; reflexivity | right; eexists _, _; repeat split; left; split; vm_compute; auto] |]). lia.
    - intros i l' l r E. unfold st, order in *. destruct (lane_eq_dec l' (On 2 0)) as [-> | D].
      + assert (F : l = From 2 0 \/ l = On 1 0).
        { cbn in E. destruct (_ && _)%bool; injection E as <- _; auto. }
        destruct F as [-> | ->]; [destruct (Again i 4%nat) as (j & G & P) | destruct (Again i 8%nat) as (j & G & P)]; try lia;
          exists j; (split; [exact G |]); right; rewrite P; eexists; split; reflexivity.
      + exists i. split; [auto | left]. rewrite Next.
        destruct (order_elsewhere l' D (next_turn (phase 15 i)) (phase 15 i)) as [-> _].
        destruct (order_elsewhere l' D (phase 15 i) 0%nat) as [_ Z]. rewrite E, (Z l r E). reflexivity.
    - intros i l l'. destruct (Again i 0%nat) as (j & G & P); [lia |]. exists j. split; [exact G |].
      unfold st. rewrite P. intros (p & H & _). discriminate.
    - intros i l. destruct (Again i 0%nat) as (j & G & P); [lia |]. exists j. split; [exact G |].
      unfold st. rewrite P. discriminate. }
  assert (Cr : credits_return st).
  { intros l i H. exists i. split; [auto |]. unfold st in *. rewrite Next. pose proof (phase_below 15 i) as L.
    generalize dependent (phase 15 i). intros n H L.
    do 16 (destruct n as [| n]; [solve [cbn -[lane_eq_dec] in *; repeat destruct (lane_eq_dec _ _); lia] |]). lia. }
  repeat (split; [assumption |]).
  split; [eexists; split; reflexivity |]. split; [split; vm_compute; auto |].
  exact (check_turns_no_packet_waits_for_ever _ _ _ _ _ _ _ _ _ _ _ merging_accepted 1 one_packet Ro st what Re Go Qu order Tu Cr).
Qed.

(** On the ring they can be kept as well, and packets wait for ever, however much else is sent (of packets that
    take no room, as all else is full). *)
Theorem ring_waits_for_ever :
  let zero := {| dest := 2; level := 0; size := 0; born := 0 |} in
  let st i := {| now := now full; held := held full ++ repeat (From 1 0, zero) i; owed := [] |} in
  roomy 1 one_packet /\ reachable ring [clockwise true 0] alone Directed hosts 1 one_packet (st 0%nat) /\
  (forall i, step ring one_packet now_ sent_ Sends (st i) (st (S i))) /\
  served ring one_packet now_ sent_ st /\ not_overtaken ring st /\ credits_return st /\
  (count (On 1 0) (held (st 0)) = 1 /\ forall n, gone st (On 1 0) 0 n = 0)%nat.
Proof.
  intros zero st.
  assert (Z : forall x l i, l <> x -> count l (repeat (x, zero) i) = 0%nat).
  { intros x l i D. induction i as [| i IH]; simpl; auto. destruct (lane_eq_dec x l); [congruence | auto]. }
  assert (W : forall x l i, weight l (sizes (repeat (x, zero) i)) = 0%nat).
  { intros x l i. induction i as [| i IH]; cbn; auto. destruct (lane_eq_dec x l); auto. }
  assert (C : forall l i, l <> From 1 0 -> count l (held (st i)) = count l (held full)).
  { intros l i D. unfold st. cbn [held]. rewrite count_app, Z; auto. }
  assert (N : forall l i p, head l (held (st i)) = Some p -> exists l', next ring (now (st i) l) l p = Forward l' /\
    l' <> From 1 0 /\ count l' (held full) = 1%nat).
  { intros l i p H. destruct (head_split _ _ _ H) as (h1 & h2 & E & _).
    assert (I : In (l, p) (held (st i))) by (rewrite E; apply in_app_iff; simpl; auto).
    unfold st in I. cbn [held] in I. apply in_app_iff in I as [I | I].
    - destruct I as [I | [I | [I | []]]]; injection I as <- <-; eexists; (split; [reflexivity |]); (split; [discriminate | vm_compute; reflexivity]).
    - apply repeat_spec in I. injection I as -> ->. exists (On 1 0). split; [reflexivity |]. split; [discriminate | reflexivity]. }
  repeat match goal with |- _ /\ _ => split end.
  - intros l. auto.
  - unfold st. cbn [repeat]. rewrite app_nil_r. exact (proj1 ring_deadlocks).
  - intros i. unfold st. replace (repeat (From 1 0, zero) (S i)) with (repeat (From 1 0, zero) i ++ [(From 1 0, zero)]) by
      (symmetry; apply repeat_cons).
    rewrite app_assoc. apply step_send.
    + split; [exact (proj1 (may 1 2 ltac:(simpl; auto) ltac:(simpl; auto) ltac:(discriminate))) | simpl; auto].
    + unfold used. cbn [held owed]. unfold sizes. rewrite map_app, weight_app. fold (sizes (repeat (From 1 0, zero) i)).
      rewrite W. vm_compute. auto.
  - intros l i A. exfalso. destruct (A i (le_n i)) as [(p & H & F) (a & st' & _ & _ & _)].
    destruct (N l i p H) as (l' & Nx & D & K). destruct (F l' Nx) as [F0 _].
    rewrite (C l' i D) in F0. lia.
  - intros l l' p i A No. apply No. exists 0%nat. intros j _. destruct (A i (le_n i)) as (H & Nx & _).
    destruct (N l i p H) as (x & Nx' & D & _). rewrite Nx in Nx'. injection Nx' as <-. rewrite !(C l' _ D). auto.
  - intros l i H. simpl in H. lia.
  - reflexivity.
  - induction n as [| n IH]; [reflexivity |]. cbn [gone]. rewrite IH,  !(C (On 1 0)) by discriminate. lia.
Qed.

(** ** What else is assumed can be met, too, while a packet is there *)

Theorem escape_is_about_something :
  let has := tables_now [clockwise false 0] in let sends := packets_sent [clockwise false 0] alone Directed hosts 1 in
  let offered (_ : lane) (_ : packet) t := has t in
  Escape.escapes ring has sends offered hop_rank 3 /\ fits one_packet sends /\
  exists st, run ring one_packet has sends [Sends] (at_phase 0) st /\ held st <> [] /\
    exists l p t a st', In (l, p) (held st) /\ offered l p t /\ step ring one_packet has sends a (Escape.rechosen st l t) st' /\
      match a with Moves | Eats _ _ | Drops _ => True | _ => False end.
Proof.
  intros has sends offered.
  assert (T : has (tables_of (clockwise false 0))) by (apply allows_itself; simpl; auto).
  assert (Es : Escape.escapes ring has sends offered hop_rank 3).
  { apply Escape.every_choice_escapes; [intros l p t O; exact O | intros l p _; eexists; exact T |].
    apply rises_up_to. exact (check_rises _ _ _ _ _ _ _ _ _ _ _ one_hop_accepted). }
  assert (Fi : fits one_packet sends) by (apply roomy_fits; intros l; auto).
  split; [exact Es |]. split; [exact Fi |].
  assert (R : run ring one_packet has sends [Sends] (at_phase 0) (at_phase 1)).
  { eapply run_more; [| apply run_none]. apply (step_send _ _ _ _ _ [] (From 1 0) (to 2) []);
      [apply (may_hop [clockwise false 0] 0 1 1); simpl; auto | vm_compute; auto]. }
  exists (at_phase 1). split; [exact R |]. split; [discriminate |].
  destruct (Escape.escape_progress ring one_packet has sends offered hop_rank 3 Es Fi (at_phase 1)) as [(st' & C) | A].
  - eapply sound_run; [exact R |]. split; simpl; [intros l; exact T | intros l p []].
  - intros [E _]. discriminate.
  - exfalso. inversion C as [| t h w1 w2 x E | | | | |]. destruct w1; discriminate.
  - exact A.
Qed.

(** A switch copies what host 1 sends to hosts 2 and 3. *)
Theorem multicast_is_about_something :
  let size (_ : unit) := 1%nat in let cap (_ : lane) := 1%nat in
  let copies l (_ : unit) c := c = match l with From _ _ => [To 2 0; To 3 0] | _ => [] end in
  let may_send l (_ : unit) := l = From 1 0 in
  let rank l := match l with From _ _ => 0%nat | _ => 1%nat end in
  Multicast.rises unit copies may_send rank /\
  (forall l p, may_send l p -> forall l', (size p <= cap l')%nat) /\
  (forall l p, Multicast.trail unit copies may_send l p -> exists c, copies l p c) /\
  exists st a st', Multicast.sound unit copies may_send st /\ Multicast.held unit st <> [] /\ Multicast.step unit size cap copies a st st'.
Proof.
  intros size cap copies may_send rank.
  assert (Ri : Multicast.rises unit copies may_send rank).
  { intros l p c x _ -> I. destruct l; simpl in I; [destruct I as [<- | [<- | []]]; simpl; lia | contradiction | contradiction]. }
  assert (Fi : forall l p, may_send l p -> forall l', (size p <= cap l')%nat) by (intros l p _ l'; simpl; auto).
  assert (Tot : forall l p, Multicast.trail unit copies may_send l p -> exists c, copies l p c) by (intros l p _; eexists; reflexivity).
  split; [exact Ri |]. split; [exact Fi |]. split; [exact Tot |].
  set (st := {| Multicast.held := [{| Multicast.where_ := From 1 0; Multicast.what := tt; Multicast.left := [To 2 0; To 3 0] |}];
    Multicast.owed := [] |}).
  assert (S : Multicast.sound unit copies may_send st).
  { intros x [<- | []]. split; [now apply Multicast.trail_sent |]. eexists. split; [reflexivity | apply incl_refl]. }
  destruct (Multicast.multicast_progress unit size cap copies may_send rank Ri Fi Tot st S) as [(a & st' & T) _]; [left; discriminate |].
  exists st, a, st'. split; [exact S |]. split; [discriminate | exact T].
Qed.

(** Host 1 sends a frame by a cable between switches to a host. *)
Theorem pfc_is_about_something :
  let size (_ : unit) := 1%nat in let zero (_ : lane) := 0%nat in let headroom (_ : lane) := 1%nat in
  let goes l (_ : unit) o := o = match l with From _ _ => Some (On 1 0, tt) | _ => None end in
  let may_send l (_ : unit) := l = From 1 0 in
  let rank l := match l with From _ _ => 0%nat | _ => 1%nat end in
  Ethernet.rises unit goes may_send rank /\
  (forall l p, Ethernet.trail unit goes may_send l p -> exists o, goes l p o) /\
  (forall l p, Ethernet.trail unit goes may_send l p -> forall l', (size p <= headroom l')%nat) /\
  exists st, Ethernet.run unit size zero zero headroom goes may_send [Ethernet.Sends; Ethernet.Arrives] (Ethernet.idle unit) st /\
    Ethernet.held unit st <> [] /\ exists as_ st', Ethernet.run unit size zero zero headroom goes may_send as_ st st' /\
      (as_ = [Ethernet.Arrives] \/ as_ = [Ethernet.Departs] \/ as_ = [Ethernet.Resumes; Ethernet.Hears; Ethernet.Leaves]).
Proof.
  intros size zero headroom goes may_send rank.
  assert (Ri : Ethernet.rises unit goes may_send rank).
  { intros l p l' p' _ E. destruct l; [injection E as -> ->; simpl; lia | discriminate | discriminate]. }
  assert (Tot : forall l p, Ethernet.trail unit goes may_send l p -> exists o, goes l p o) by (intros l p _; eexists; reflexivity).
  assert (He : forall l p, Ethernet.trail unit goes may_send l p -> forall l', (size p <= headroom l')%nat) by (intros l p _ l'; simpl; auto).
  split; [exact Ri |]. split; [exact Tot |]. split; [exact He |].
  assert (R : exists st, Ethernet.run unit size zero zero headroom goes may_send [Ethernet.Sends; Ethernet.Arrives] (Ethernet.idle unit) st /\
    Ethernet.held unit st <> []).
  { eexists. split.
    - eapply Ethernet.run_more; [apply Ethernet.step_send with (l := From 1 0) (p := tt);
        [reflexivity | split; [reflexivity | vm_compute; auto]] |].
      eapply Ethernet.run_more; [apply Ethernet.step_arrive; [reflexivity | vm_compute; split; reflexivity] | apply Ethernet.run_none].
    - discriminate. }
  destruct R as (st & R & H). exists st. split; [exact R |]. split; [exact H |].
  assert (Th : forall l, (zero l <= zero l)%nat) by (intros l; simpl; auto).
  destruct (Ethernet.pfc_loses_nothing unit size zero zero headroom Th goes may_send _ st R) as [S _].
  exact (Ethernet.pfc_progress unit size zero zero headroom goes may_send rank Ri Tot He st S (or_introl H)).
Qed.

(** A ring of lossless Ethernet: devices 0, 1, 2, and the link of a device to the next. Each has hosts, which send to those
    of the two others clockwise, with mark 0. With [rule], device 0 gives frames that come from device 2 and go on mark 1,
    which has a lane of its own. *)
Definition pfc_ring (rule : bool) : EthernetChecker.tables := {|
  EthernetChecker.classes := 3; EthernetChecker.devices := 3; EthernetChecker.links := 3; EthernetChecker.marks := 2;
  EthernetChecker.far := fun l => match l with 0 => 1 | 1 => 2 | _ => 0 end;
  EthernetChecker.ways := fun d => [None; Some (match d with 0 => 2 | 1 => 0 | _ => 1 end)];
  EthernetChecker.next := fun c d => if c =? d then [] else [d];
  EthernetChecker.tunnels := fun _ _ => [];
  EthernetChecker.outer := fun _ => false;
  EthernetChecker.lane_of := fun m _ => m;
  EthernetChecker.rules := fun d => if rule && (d =? 0) then Some (fun i _ m => match i with None => m | Some _ => 1 end) else None;
  EthernetChecker.wanted := fun _ => true;
  EthernetChecker.source := fun _ => true;
  EthernetChecker.starts := fun m => m =? 0;
  EthernetChecker.leaves := fun c d => c =? d;
  EthernetChecker.asks := fun c d => negb (c =? d)
|}.

Definition onto (c l : N) : EthernetChecker.place :=
  {| EthernetChecker.class := c; EthernetChecker.inner := false; EthernetChecker.link := l; EthernetChecker.mark := 0 |}.

(** Without the rule it is refused, whatever the ranks and whatever the hints. *)
Theorem pfc_ring_refused : forall mem rank c d m witness,
  EthernetChecker.check_ethernet (pfc_ring false) mem rank c d m witness <> None.
Proof.
  intros mem rank c d m witness A.
  pose proof (EthernetChecker.check_ethernet_rises _ _ _ _ _ _ _ A 0%nat) as R.
  assert (T : forall e a b, In (e, a, b) [(2, 0, 1); (0, 1, 2); (1, 2, 0)] ->
    (EthernetChecker.height rank (On a 0) < EthernetChecker.height rank (On b 0))%nat).
  { intros e a b I.
    apply (R _ (EthernetChecker.small (onto e a)) _ (EthernetChecker.small (onto e b))).
    - apply (EthernetChecker.reached_trail (pfc_ring false) 0%nat (onto e a)).
      + simpl in I. destruct I as [I | [I | [I | []]]]; injection I as <- <- <-;
          [apply (EthernetChecker.reached_first _ 2 0 0) | apply (EthernetChecker.reached_first _ 0 1 0) | apply (EthernetChecker.reached_first _ 1 2 0)];
          (reflexivity || now left).
      + discriminate.
    - simpl in I. destruct I as [I | [I | [I | []]]]; injection I as <- <- <-;
        (split; [reflexivity |]; split; [discriminate |]; split; [auto | now left]). }
  pose proof (T 2 0 1 (or_introl eq_refl)) as A1. pose proof (T 0 1 2 (or_intror (or_introl eq_refl))) as A2.
  pose proof (T 1 2 0 (or_intror (or_intror (or_introl eq_refl)))) as A3. lia.
Qed.

(** With it, frames get round, and it is accepted. *)
Theorem pfc_rule_accepted :
  let mem (c : N) (w : bool) l m := negb w && if m =? 0 then negb (c =? l) else (l =? 0) && (c =? 1) in
  let rank l v := if v =? 0 then N.succ l else 4 in
  EthernetChecker.check_ethernet (pfc_ring true) mem rank 2 0 0 [onto 2 0; onto 2 1] = None.
Proof. vm_compute. reflexivity. Qed.

(** All arrive there. *)
Theorem pfc_ring_arrives :
  let steps c (_ : bool) d := match c, d with 0, 0 | 1, 1 | 2, 2 => 1 | 0, 2 | 1, 0 | 2, 1 => 2 | _, _ => 3 end in
  EthernetChecker.check_arrivals (pfc_ring true) steps = None.
Proof. vm_compute. reflexivity. Qed.
