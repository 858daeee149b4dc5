(** The checker, as a program: it is extracted to OCaml as it stands here.

    For every destination it follows packets from where they may enter a switch, kind of service level
    by kind, and demands that the rank of the lane rises at every hop. Nothing is taken on trust but
    what the files say: groups of sources that are treated alike are checked to be so. *)

From Coq Require Import NArith List Bool FMapPositive.
From WeftProof Require Import Network Contracts.
Import ListNotations.
Local Open Scope N_scope.

(** The tables of a folder. In-ports of a switch with the same lanes are one class. *)
Record routing := {
  entry_of : N -> N -> N;                 (* switch, LID: the out-port *)
  more_of : N -> N -> list N;             (* switch, LID: others from which the switch may choose *)
  class_of : N -> N -> N;                 (* switch, in-port: its class *)
  map_of : N -> N -> N -> N;              (* switch, class, out-port: the number of a map, from 0 *)
  maps : N;                               (* how many there are *)
  lane_of : N -> N -> N;                  (* map, service level: the lane *)
  given : levels
}.

Definition mapped (r : routing) (m sl : N) : N := if m <? maps r then lane_of r m sl else no_lane.

Definition tables_of (r : routing) : tables :=
  {| entry := entry_of r; vl := fun s i o sl => mapped r (map_of r s (class_of r s i) o) sl |}.

(** Tables by which a packet may be forwarded: at each switch and LID the entry of any of them, or any
    other port that it leaves to choose from, and likewise for each turn and service level the lane of
    any. One without others to choose from allows itself alone. *)
Definition choices (r : routing) (s d : N) : list N := entry_of r s d :: more_of r s d.
Definition allows (rs : list routing) (t : tables) : Prop :=
  (forall s d, exists r, In r rs /\ In (entry t s d) (choices r s d)) /\
  (forall s i o l, exists r, In r rs /\ vl t s i o l = vl (tables_of r) s i o l).

Lemma allows_itself : forall rs r, In r rs -> allows rs (tables_of r).
Proof. intros rs r I. split; intros; exists r; simpl; auto. Qed.

Lemma allows_more : forall rs rs' t, incl rs' rs -> allows rs' t -> allows rs t.
Proof.
  intros rs rs' t I [E V]. split; intros.
  - destruct (E s d) as (x & J & K). eauto.
  - destruct (V s i o l) as (x & J & K). eauto.
Qed.

Fixpoint upto (n : nat) (i : N) : list N := match n with O => [] | S n => i :: upto n (N.succ i) end.

Inductive wrong : Type :=
| Unranked (c v : N)                      (* a lane in use has no rank *)
| NotRising (c v c' v' : N)
| Discards                                              (* a packet is discarded: only if all must arrive *)
| Misled (e : N)                                        (* endpoint e gets what is for another *)
| Exhausted                                             (* of fuel *)
| Unlike (e : N)                                        (* a group that is none *)
| Missed (e : N)                                        (* an endpoint in no group *)
| Nobody.                                               (* no pair of endpoints may send *)

(** The place, LID and service level of a fault: what went wrong at a switch that was entered there. *)
Record fault := { what : wrong; place : N * N; lid : N; sl : N }.

Section Lists.
Context {A : Type}.

(** The first fault of a list; none is good. *)
Fixpoint all (f : A -> option fault) (l : list A) : option fault :=
  match l with
  | [] => None
  | x :: r => match f x with None => all f r | w => w end
  end.
End Lists.

Definition member (x : N) (l : list N) : bool := existsb (N.eqb x) l.
Definition insert (x : N) (l : list N) : list N := if member x l then l else x :: l.
Definition sixteen : list N := [0; 1; 2; 3; 4; 5; 6; 7; 8; 9; 10; 11; 12; 13; 14; 15].

Section Check.

Variable net : network.
Variable rs : list routing.                (* one, or those whose mixtures are judged *)
Variable rank : N -> N -> N.             (* of a lane of a link; 0: none *)
Variable canon : N -> N.                   (* a lane that stands for others of the same ranks: a hint *)
Variable top : N.                          (* above all ranks *)
Variable lids : N -> list N.
Variable must_arrive : bool.               (* packets must not get lost or misled either *)
Variable fuel : nat.

(** The lane whose ranks a lane has. What is proven is that these ranks rise, so the hint may be any. *)
Definition rep (v : N) : N :=
  if v =? no_lane then no_lane
  else let w := canon v in if w =? no_lane then v else w.

(** All that may become of packets that enter a switch at some place, lanes by those that stand for them. *)
Definition fates (at_ : N * N) (d l : N) : list fate :=
  flat_map (fun r => flat_map (fun o =>
    map (fun r' => leave net (fst at_) o (rep (mapped r' (map_of r' (fst at_) (class_of r' (fst at_) (snd at_)) o) l))) rs)
    (choices r (fst at_) d)) rs.

(** What packets of lane v of link c, of rank r, may ask for next. *)
Definition rising (r c v : N) (f : fate) : option wrong :=
  match f with
  | Forward (On c' v') => if r <? rank c' v' then None else Some (NotRising c v c' v')
  | _ => None
  end.

Fixpoint first_wrong (f : fate -> option wrong) (l : list fate) : option wrong :=
  match l with
  | [] => None
  | x :: r => match f x with None => first_wrong f r | w => w end
  end.

Definition fine (e d l : N) (f : fate) : option wrong :=
  match f with
  | Forward (On c v) =>
      let r := rank c v in
      if (0 <? r) && (r <? top)
      then first_wrong (rising r c v) (fates (far net c) d l)
      else Some (Unranked c v)
  | Forward (To x _) | Taken x => if must_arrive && negb (x =? e) then Some (Misled x) else None
  | Forward (From x _) => Some (Misled x)
  | Lost => if must_arrive then Some Discards else None
  end.

(** Whether packets of level l to LID d of endpoint e may enter a switch there, given their fates. *)
Definition good (e d l : N) (at_ : N * N) (fs : list fate) : option fault :=
  match first_wrong (fine e d l) fs with
  | None => None
  | Some w => Some {| what := w; place := at_; lid := d; sl := l |}
  end.

(** The links by which they go on. *)
Definition onward (fs : list fate) : list N :=
  flat_map (fun f => match f with Forward (On c _) => [c] | _ => [] end) fs.

(** What has been seen on the way to a LID: service levels by link. *)
Definition seen := PositiveMap.t (list N).
Definition nothing (d : N) : seen := PositiveMap.empty _.
Definition levels_at (s : seen) (c : N) : list N :=
  match PositiveMap.find (N.succ_pos c) s with Some l => l | None => [] end.
Definition has (s : seen) (x : N * N) : bool := member (snd x) (levels_at s (fst x)).
Definition put (s : seen) (x : N * N) : seen :=
  PositiveMap.add (N.succ_pos (fst x)) (snd x :: levels_at s (fst x)) s.

Definition push (l : N) (cs : list N) (todo : list (N * N)) : list (N * N) :=
  fold_left (fun t c => (c, l) :: t) cs todo.

Fixpoint walk (n : nat) (e d : N) (todo : list (N * N)) (s : seen) : option fault :=
  match n with
  | O => Some {| what := Exhausted; place := (0, 0); lid := d; sl := 0 |}
  | S n =>
      match todo with
      | [] => None
      | x :: todo =>
          if has s x then walk n e d todo s
          else let at_ := far net (fst x) in
               let fs := fates at_ d (snd x) in
               match good e d (snd x) at_ fs with
               | Some w => Some w
               | None => walk n e d (push (snd x) (onward fs) todo) (put s x)
               end
      end
  end.

(** Service levels that no map tells apart are one kind, and one of them stands for it. *)
Definition alike (a b : N) : bool :=
  forallb (fun r => forallb (fun m => rep (lane_of r m a) =? rep (lane_of r m b)) (upto (N.to_nat (maps r)) 0)) rs.
Definition kinds : list (N * N) :=
  map (fun l => (l, match find (alike l) sixteen with Some k => k | None => l end)) sixteen.
Definition kind (ks : list (N * N)) (l : N) : N :=
  match find (fun x => fst x =? l) ks with Some x => snd x | None => l end.

(** The kinds of some service levels; those that do not exist are left out. *)
Definition add_kind (ks : list (N * N)) (l : N) (some : list N) : list N :=
  if l <? 16 then insert (kind ks l) some else some.

Fixpoint add_kinds (ks : list (N * N)) (ls some : list N) : list N :=
  match ls with [] => some | l :: r => add_kinds ks r (add_kind ks l some) end.

(** Endpoints that all tables treat alike where they send. *)
Definition same (a b : N) : bool :=
  (fst (hangs net a) =? fst (hangs net b)) &&
  forallb (fun r =>
    (row (given r) a =? row (given r) b) &&
    (class_of r (fst (hangs net a)) (snd (hangs net a)) =? class_of r (fst (hangs net b)) (snd (hangs net b)))) rs.

Definition forward_levels (s d : N) : list N := map (fun r => told (given r) s d) rs.

(** The kinds on which the members of a group may answer an endpoint. *)
Definition answers (ks : list (N * N)) (e : N) (members : list N) : list N :=
  fold_left (fun some m =>
    fold_left (fun some i => add_kinds ks (map (fun r => told (given r) e i) rs) some) (lids m) some) members [].

(** The kinds of service levels on which the members of a group may send to a LID; back: answers. *)
Definition begins (k : contract) (ks : list (N * N)) (fixed : list N) (s d : N) (back : list N) : list N :=
  match k with
  | AnyLevel | Single _ => fixed
  | Directed => add_kinds ks (forward_levels s d) []
  | Honored =>
      let there := forward_levels s d in
      if existsb (fun l => l <? 16) there
      then add_kinds ks there back
      else []
  end.

Definition fixed_kinds (k : contract) (ks : list (N * N)) : list N :=
  match k with
  | AnyLevel => add_kinds ks sixteen []
  | Single n => add_kinds ks [n] []
  | _ => []
  end.

(** A group as it sends to an endpoint e: without e itself. *)
Definition without (e : N) (g : list N) : list N := filter (fun m => negb (m =? e)) g.

Definition sources (ks : list (N * N)) (k : contract) (e : N) (g : list N) (back : list N) : list N * list N :=
  match g with
  | [] => ([], [])
  | s :: _ =>
      if same s e
      then let g' := without e g in (g', match k with Honored => answers ks e g' | _ => [] end)
      else (g, back)
  end.

Fixpoint start (e d : N) (at_ : N * N) (ls : list N) (todo : list (N * N)) : option fault * list (N * N) :=
  match ls with
  | [] => (None, todo)
  | l :: ls =>
      let fs := fates at_ d l in
      match good e d l at_ fs with
      | Some w => (Some w, todo)
      | None => start e d at_ ls (push l (onward fs) todo)
      end
  end.

(** Where packets to a LID begin, and whether they may. *)
Fixpoint starts (k : contract) (ks : list (N * N)) (fixed : list N) (e d : N)
    (gs : list (list N * list N)) (todo : list (N * N)) : option fault * list (N * N) :=
  match gs with
  | [] => (None, todo)
  | (g, back) :: r =>
      match g with
      | [] => starts k ks fixed e d r todo
      | s :: _ =>
          match start e d (hangs net s) (begins k ks fixed s d back) todo with
          | (None, todo) => starts k ks fixed e d r todo
          | w => w
          end
      end
  end.

Definition destination (k : contract) (ks : list (N * N)) (fixed : list N) (gs : list (list N * list N)) (e d : N) : option fault :=
  match starts k ks fixed e d gs [] with
  | (Some w, _) => Some w
  | (None, todo) => walk fuel e d todo (nothing d)
  end.

Definition endpoint (k : contract) (ks : list (N * N)) (fixed : list N) (gs : list (list N * list N)) (e : N) : option fault :=
  let mine := map (fun g => sources ks k e (fst g) (snd g)) gs in
  all (destination k ks fixed mine e) (lids e).

(** All endpoints of a group as destinations: they share the answers that they get. *)
Definition group (k : contract) (ks : list (N * N)) (fixed : list N) (gs : list (list N)) (g : list N) : option fault :=
  match g with
  | [] => None
  | e :: _ =>
      let shared := map (fun h => (h, match k with Honored => answers ks e h | _ => [] end)) gs in
      all (endpoint k ks fixed shared) g
  end.

Definition report (w : wrong) : fault := {| what := w; place := (0, 0); lid := 0; sl := 0 |}.

Definition is_group (g : list N) : option fault :=
  match g with
  | [] => None
  | s :: r => all (fun m => if same s m then None else Some (report (Unlike m))) r
  end.

Definition index (g : list (list N)) : PositiveMap.t unit :=
  fold_left (fun m e => PositiveMap.add (N.succ_pos e) tt m) (concat g) (PositiveMap.empty _).

Definition sends_at_all (k : contract) (s e d : N) : bool :=
  match k with
  | AnyLevel => true
  | Single n => n <? 16
  | _ => existsb (fun l => l <? 16) (forward_levels s d)
  end.

Definition somebody (k : contract) (ends : list N) : bool :=
  existsb (fun e => existsb (fun d => existsb (fun s => negb (s =? e) && sends_at_all k s e d) ends) (lids e)) ends.

(** None: the tables are proven, under the contract, among these endpoints, which the groups divide. *)
Definition check (k : contract) (ends : list N) (gs : list (list N)) : option fault :=
  if somebody k ends then
    match all is_group gs with
    | Some w => Some w
    | None =>
        let known := index gs in
        match all (fun e => if PositiveMap.mem (N.succ_pos e) known then None else Some (report (Missed e))) ends with
        | Some w => Some w
        | None =>
            let ks := kinds in
            all (group k ks (fixed_kinds k ks) gs) gs
        end
    end
  else Some (report Nobody).

End Check.
