(** Packets on the move: virtual cut-through with credits.

    A state is the packets that wait, in the order in which they came (so that each lane is first in,
    first out), the credits on their way back, and for each lane the tables by which its switch forwards
    the packet at its head. These may differ from lane to lane: a switch that chooses from several ports
    chooses for each packet, when it comes or again while it waits, and a subnet manager writes piece by
    piece. A
    packet goes on when the lane ahead has room for all of it, as the credits of InfiniBand demand (a
    packet is sent only when there are credits for the whole of it). The space that it leaves counts
    as free when the credit for it is back, at any later time: until then its tail may still be on the
    way. Endpoints take whatever comes. *)

From Coq Require Import NArith List Bool Lia Arith.
From WeftProof Require Import Network.
Import ListNotations.
Local Open Scope nat_scope.

Record state := {
  now : lane -> tables;
  held : list (lane * packet);
  owed : list (lane * nat)      (* space that has been left and is not yet known to be free *)
}.

Definition weight (l : lane) (h : list (lane * nat)) : nat :=
  fold_right (fun x n => if lane_eq_dec (fst x) l then snd x + n else n) 0 h.

Definition sizes (h : list (lane * packet)) : list (lane * nat) := map (fun x => (fst x, size (snd x))) h.

(** What a lane holds or may hold, in blocks. *)
Definition used (st : state) (l : lane) : nat := weight l (sizes (held st)) + weight l (owed st).

(** A packet is at the head of its lane if none before it waits on the same lane. *)
Definition free_of (l : lane) (h : list (lane * packet)) : Prop := forall x, In x h -> fst x <> l.

Inductive act : Type :=
| Moves            (* a packet goes on *)
| Credits          (* a credit comes back *)
| Eats (e : N) (p : packet) (* an endpoint takes a packet *)
| Drops (p : packet)       (* a switch discards a packet: no entry, no cable, no lane *)
| Sends            (* an endpoint sends *)
| Writes           (* a subnet manager writes tables, or a switch chooses another port *)
| Loses.           (* a packet vanishes: too old, damaged, or its buffer is gone *)

Section Network.

Variable net : network.
Variable cap : lane -> nat.                    (* blocks of the buffer of each lane *)
Variable may_have : tables -> Prop.            (* tables by which switches may forward a packet *)
Variable may_send : lane -> packet -> Prop.    (* what endpoints may send, and on which lane *)

Inductive step : act -> state -> state -> Prop :=
| step_on : forall t h1 h2 l l' p w,
    free_of l h1 -> next net (t l) l p = Forward l' ->
    used {| now := t; held := h1 ++ (l, p) :: h2; owed := w |} l' + size p <= cap l' ->
    step Moves {| now := t; held := h1 ++ (l, p) :: h2; owed := w |}
               {| now := t; held := (h1 ++ h2) ++ [(l', p)]; owed := (l, size p) :: w |}
| step_credit : forall t h w1 w2 x,
    step Credits {| now := t; held := h; owed := w1 ++ x :: w2 |} {| now := t; held := h; owed := w1 ++ w2 |}
| step_eat : forall t h1 h2 l p e w,
    free_of l h1 -> next net (t l) l p = Taken e ->
    step (Eats e p) {| now := t; held := h1 ++ (l, p) :: h2; owed := w |}
                  {| now := t; held := h1 ++ h2; owed := (l, size p) :: w |}
| step_drop : forall t h1 h2 l p w,
    free_of l h1 -> next net (t l) l p = Lost ->
    step (Drops p) {| now := t; held := h1 ++ (l, p) :: h2; owed := w |}
                   {| now := t; held := h1 ++ h2; owed := (l, size p) :: w |}
| step_send : forall t h l p w,
    may_send l p -> used {| now := t; held := h; owed := w |} l + size p <= cap l ->
    step Sends {| now := t; held := h; owed := w |} {| now := t; held := h ++ [(l, p)]; owed := w |}
| step_write : forall t t' h w,
    (forall l, may_have (t' l)) ->
    step Writes {| now := t; held := h; owed := w |} {| now := t'; held := h; owed := w |}
| step_lose : forall t h1 h2 x w,
    step Loses {| now := t; held := h1 ++ x :: h2; owed := w |}
               {| now := t; held := h1 ++ h2; owed := (fst x, size (snd x)) :: w |}.

Inductive run : list act -> state -> state -> Prop :=
| run_none : forall st, run [] st st
| run_more : forall a as_ st st' st'', step a st st' -> run as_ st' st'' -> run (a :: as_) st st''.

(** What the network does by itself, without senders, faults or writes. *)
Definition inner (a : act) : bool :=
  match a with Moves | Credits | Eats _ _ | Drops _ => true | _ => false end.

(** Where packets may come to: what may be sent, and from there by any tables at each switch. *)
Inductive trail : lane -> packet -> Prop :=
| trail_sent : forall l p, may_send l p -> trail l p
| trail_on : forall l l' p t, trail l p -> may_have t -> next net t l p = Forward l' -> trail l' p.

Definition sound (st : state) : Prop :=
  (forall l, may_have (now st l)) /\ forall l p, In (l, p) (held st) -> trail l p.

Definition empty (st : state) : Prop := held st = [] /\ owed st = [].

(** A network that is stuck: packets wait, no credit is on its way, and none can move. *)
Definition stuck (st : state) : Prop :=
  held st <> [] /\ forall a st', inner a = true -> ~ step a st st'.

Lemma in_middle : forall (A : Type) (x y : A) a b, In x (a ++ b) -> In x (a ++ y :: b).
Proof. intros. apply in_app_iff in H. apply in_app_iff. simpl. tauto. Qed.

Lemma sound_step : forall a st st', sound st -> step a st st' -> sound st'.
Proof.
  intros a st st' [Ht Hh] S. inversion S; subst; split; simpl in *; auto; intros q r I;
    try (apply Hh; eauto using in_middle; fail).
  - apply in_app_iff in I as [I | [E | []]]; [apply Hh; auto using in_middle |].
    inversion E; subst. eapply trail_on; eauto. apply Hh. apply in_app_iff. simpl. auto.
  - apply in_app_iff in I as [I | [E | []]]; auto. inversion E; subst. now apply trail_sent.
Qed.

Lemma sound_run : forall as_ st st', run as_ st st' -> sound st -> sound st'.
Proof. induction 1; eauto using sound_step. Qed.

End Network.
