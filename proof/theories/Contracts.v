(** Who may send what: the contract says which service levels clients use, the scope who sends.

    A table of service levels has rows that several endpoints share. 16 and more means that a source
    must not use the LID. *)

From Coq Require Import NArith List Bool Lia.
From WeftProof Require Import Network Semantics.
Import ListNotations.
Local Open Scope N_scope.

Inductive contract : Type := Honored | Directed | Single (sl : N) | AnyLevel.

(** What a switch or a host has of one routing: tables and service levels. *)
Record levels := { row : N -> N; table : N -> N -> N (* row, LID: the level *) }.

Definition told (x : levels) (s d : N) : N := table x (row x s) d.

Section Contract.

Variable lids : N -> list N.      (* of an endpoint *)

(** [may_use k ls s e d l]: a packet of level l from endpoint s to LID d of endpoint e. The side that
    asked for a path uses the level that the tables give it; under Honored the other side may answer
    on the level of the request, whichever of its LIDs that was sent to it by. *)
Definition may_use (k : contract) (ls : list levels) (s e d l : N) : Prop :=
  l < 16 /\
  match k with
  | AnyLevel => True
  | Single n => l = n
  | Directed => exists x, In x ls /\ told x s d = l
  | Honored =>
      (exists x, In x ls /\ told x s d < 16) /\
      exists x, In x ls /\ (told x s d = l \/ exists i, In i (lids s) /\ told x e i = l)
  end.

(** What the endpoints of a list may send each other. *)
Definition may_send (k : contract) (ends : list N) (ls : list levels) (l : lane) (p : packet) : Prop :=
  exists s v e, l = From s v /\ In s ends /\ In e ends /\ s <> e /\
    In (dest p) (lids e) /\ may_use k ls s e (dest p) (level p).

(** RDMA-CM: e asked for a path to LID i of s and got level l, and opened a connection from its LID d
    to that. s, which the tables let send to d, answers to d on the level of the request. *)
Theorem answers_are_covered : forall ls x s e d i l,
  In x ls -> In i (lids s) -> told x e i = l -> l < 16 -> told x s d < 16 ->
  may_use Honored ls s e d l.
Proof. intros. repeat split; auto; exists x; eauto 6. Qed.

(** Contracts that permit less are covered by those that permit more. *)
Theorem any_covers_all : forall k ls s e d l, may_use k ls s e d l -> may_use AnyLevel ls s e d l.
Proof. intros k ls s e d l [H _]. now split. Qed.

Theorem honored_covers_directed : forall ls s e d l, may_use Directed ls s e d l -> may_use Honored ls s e d l.
Proof.
  intros ls s e d l [H (x & I & E)]. repeat split; auto; exists x; split; auto.
  now rewrite E.
Qed.

(** More tables only permit more: what one table lets clients do is among what a mixture does. *)
Theorem more_tables : forall k ls ls' s e d l, incl ls ls' -> may_use k ls s e d l -> may_use k ls' s e d l.
Proof.
  intros k ls ls' s e d l I [B H]. split; auto. destruct k; auto.
  - destruct H as [(x & A & C) (y & D & E)]. split; [exists x | exists y]; auto.
  - destruct H as (x & A & C). exists x. auto.
Qed.

Lemma may_send_more : forall k ends ls ls' l p, incl ls ls' -> may_send k ends ls l p -> may_send k ends ls' l p.
Proof.
  intros k ends ls ls' l p I (s & v & e & A & B & C & D & E & F).
  exists s, v, e. repeat split; auto; eapply more_tables; eauto.
Qed.

End Contract.
