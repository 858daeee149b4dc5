(** A lossless network of switches, and what its tables do with a packet.

    A lane is a direction of a cable with a virtual lane: the buffer at its end. Packets come from
    endpoints (adapters, or port 0 of a switch), pass links between switches and leave to endpoints.
    What a switch does with a packet depends on the port by which it came, its destination (a LID)
    and its service level: InfiniBand Architecture Specification 1, 18.2.4 (forwarding table) and 7.6.6
    (service level to virtual lane). *)

From Coq Require Import NArith List Bool.
Import ListNotations.
Local Open Scope N_scope.

Inductive lane : Type :=
| From (e v : N)          (* from endpoint e into its switch *)
| On (c v : N)            (* link c, a direction of a cable between switches *)
| To (e v : N).           (* from a switch to endpoint e *)

Definition lane_eq_dec : forall a b : lane, {a = b} + {a <> b}.
Proof. decide equality; auto using N.eq_dec. Defined.

(** [born] is no part of a packet: it lets theorems on sequences of changes say when one was sent. *)
Record packet := { dest : N; level : N; size : nat; born : nat }.

(** What a port of a switch is cabled to. *)
Inductive wire : Type := Nothing | Link (c : N) | Host (e : N).

Record network := {
  wired : N -> N -> wire;        (* switch, port *)
  far : N -> N * N;              (* the switch and port where a link ends *)
  hangs : N -> N * N;            (* the switch and port where packets of an endpoint come in *)
  own : N -> N                   (* the endpoint that is port 0 of a switch *)
}.

Record tables := {
  entry : N -> N -> N;           (* switch, LID: the out-port *)
  vl : N -> N -> N -> N -> N     (* switch, in-port, out-port, service level: the lane *)
}.

Definition no_port : N := 255.   (* an entry that says: discard *)
Definition no_lane : N := 15.    (* subnet management only: data mapped to it is discarded *)

Inductive fate : Type := Forward (l : lane) | Taken (e : N) | Lost.

(** What becomes of a packet at a switch that forwards it by port o on lane v. *)
Definition leave (net : network) (s o v : N) : fate :=
  if o =? no_port then Lost
  else if o =? 0 then Taken (own net s)
  else match wired net s o with
       | Nothing => Lost
       | Link c => if v =? no_lane then Lost else Forward (On c v)
       | Host e => if v =? no_lane then Lost else Forward (To e v)
       end.

Definition at_switch (net : network) (t : tables) (at_ : N * N) (d sl : N) : fate :=
  let o := entry t (fst at_) d in
  leave net (fst at_) o (vl t (fst at_) (snd at_) o sl).

(** What becomes of the packet at the head of a lane. *)
Definition next (net : network) (t : tables) (l : lane) (p : packet) : fate :=
  match l with
  | From e _ => at_switch net t (hangs net e) (dest p) (level p)
  | On c _ => at_switch net t (far net c) (dest p) (level p)
  | To e _ => Taken e
  end.
