(** The checker of lossless Ethernet, as a program: it is extracted to OCaml as it stands here.

    Which frames are on which links is handed over as a hint, [mem]; the checker demands that all that hosts send is in
    it, that whatever a device may do with what is in it is in it again, and that the rank of the lane rises from each
    lossless lane to the next. What it looks at is links, devices and marks by counting, so its time grows with the
    network and the classes, whatever the hint says. *)

From Coq Require Import NArith PeanoNat List Bool Lia.
From WeftProof Require Import Network.
From WeftProof Require Ethernet.
Import ListNotations.
Local Open Scope N_scope.

Definition lossy : N := 15.   (* no lane: frames are dropped where there is no space *)

(** That a device may put another header before frames of a class. *)
Record wrap := {
  into : N;                   (* the class of the outer header *)
  outers : N -> list N        (* by mark, the marks that the outer header may have *)
}.

(** What devices do with frames, which are of a class (of prefixes that are routed alike) and have a mark, all that
    devices look at to choose a lane. A link is a direction of a cable. *)
Record tables := {
  classes : N;                                  (* how many there are, from 0 *)
  devices : N;
  links : N;
  marks : N;
  far : N -> N;                                 (* the device where a link ends *)
  ways : N -> list (option N);                  (* device: all ways into it, by a link, and from hosts (None) *)
  next : N -> N -> list N;                      (* class, device: the links of its next hops *)
  tunnels : N -> N -> list wrap;                (* class, device *)
  outer : N -> bool;                            (* classes of outer headers *)
  lane_of : N -> N -> N;                        (* mark, link: the lane, or lossy *)
  rules : N -> option (option N -> N -> N -> N); (* device: nothing if it changes no marks; else by way in, link out, mark *)
  wanted : N -> bool;                           (* classes that hosts in scope send to *)
  source : N -> bool;                           (* devices with hosts in scope *)
  starts : N -> bool;                           (* marks that these send with *)
  leaves : N -> N -> bool;                      (* class, device: frames leave the network here *)
  asks : N -> N -> bool                         (* class, device: hosts here send to others of the class *)
}.

(** A frame on a link; [inner]: it has another header inside, and no device puts another one before it. *)
Record place := { class : N; inner : bool; link : N; mark : N }.

Inductive wrong : Type :=
| Unranked (l v : N)                            (* a lane in use has no rank *)
| NotRising (l v l' v' : N)
| Unclosed (x : place)                          (* the hint lacks a frame *)
| Unwired (l : N)                               (* the ways into a device lack a link *)
| Nobody                                        (* no lossless frame crosses a link *)
| Unsure                                        (* some choice does not arrive: only if all must *)
| Miscounted.                                   (* the hint on what arrives is wrong *)

(** What went wrong, at which device, with frames of which class and mark. *)
Record fault := { what : wrong; of_class : N; at_device : N; with_mark : N }.

Definition report (w : wrong) : fault := {| what := w; of_class := 0; at_device := 0; with_mark := 0 |}.

(** The first fault of those of 0 … n-1. *)
Fixpoint count (n : nat) (i : N) (f : N -> option fault) : option fault :=
  match n with
  | O => None
  | S n => match f i with None => count n (N.succ i) f | w => w end
  end.

Definition each (n : N) (f : N -> option fault) : option fault := count (N.to_nat n) 0 f.

Section Check.

Variable t : tables.
Variable mem : N -> bool -> N -> N -> bool.     (* class, inner, link, mark: a hint *)
Variable rank : N -> N -> N.                    (* link, lane; 0: none *)

Definition becomes (d : N) (i : option N) (o m : N) : N :=
  match rules t d with None => m | Some r => r i o m end.

(** The headers with which a frame may leave a device: its own, or an outer one. *)
Definition headers (c : N) (w : bool) (d m : N) : list (N * bool * N) :=
  (c, w, m) :: (if w then [] else flat_map (fun u => map (fun x => (into u, true, x)) (outers u m)) (tunnels t c d)).

(** All that may become of a frame that comes into a device. *)
Definition onward (c : N) (w : bool) (d : N) (i : option N) (m : N) : list place :=
  flat_map (fun h =>
    map (fun o => {| class := fst (fst h); inner := snd (fst h); link := o; mark := becomes d i o (snd h) |})
      (next t (fst (fst h)) d)) (headers c w d m).

(** Whether hosts of a device may send. *)
Definition sends (c d m : N) : bool :=
  (c <? classes t) && (d <? devices t) && (m <? marks t) && wanted t c && source t d && starts t m.

Definition known (x : place) : bool :=
  (class x <? classes t) && (link x <? links t) && (mark x <? marks t) && (negb (inner x) || outer t (class x)).

Definition inside (x : place) : bool := known x && mem (class x) (inner x) (link x) (mark x).

Definition on (x : place) : N := lane_of t (mark x) (link x).
Definition lossless (x : place) : bool := negb (on x =? lossy).

Definition lower (low : option (N * N)) (l v : N) : option (N * N) :=
  match low with
  | Some (a, b) => if rank l v <? rank a b then Some (l, v) else low
  | None => Some (l, v)
  end.

(** The lane of the lowest rank, of places that must be in the hint. *)
Fixpoint lowest (xs : list place) (low : option (N * N)) : wrong + option (N * N) :=
  match xs with
  | [] => inr low
  | x :: r =>
      if inside x then
        let v := on x in
        if v =? lossy then lowest r low
        else if rank (link x) v =? 0 then inl (Unranked (link x) v) else lowest r (lower low (link x) v)
      else inl (Unclosed x)
  end.

Definition here (c : N) (w : bool) (d m : N) (i : option N) : bool :=
  match i with None => negb w && sends c d m | Some l => mem c w l m end.

Definition rising (m l' v' : N) (i : option N) : option wrong :=
  match i with
  | None => None
  | Some l => let v := lane_of t m l in
      if v =? lossy then None else if rank l v <? rank l' v' then None else Some (NotRising l v l' v')
  end.

Fixpoint all_rise (c : N) (w : bool) (d m l' v' : N) (g : list (option N)) : option wrong :=
  match g with
  | [] => None
  | i :: r => match (if here c w d m i then rising m l' v' i else None) with None => all_rise c w d m l' v' r | f => f end
  end.

(** Frames that come in by one of some ways, which all lead to the same. *)
Definition group (c : N) (w : bool) (d m : N) (g : list (option N)) : option wrong :=
  match find (here c w d m) g with
  | None => None
  | Some i =>
      match lowest (onward c w d i m) None with
      | inl f => Some f
      | inr None => None
      | inr (Some (l', v')) => all_rise c w d m l' v' g
      end
  end.

Fixpoint groups (c : N) (w : bool) (d m : N) (gs : list (list (option N))) : option fault :=
  match gs with
  | [] => None
  | g :: r => match group c w d m g with None => groups c w d m r
              | Some f => Some {| what := f; of_class := c; at_device := d; with_mark := m |} end
  end.

(** A device that changes no marks does the same with frames whatever way they come. *)
Definition alike (d : N) : list (list (option N)) :=
  match rules t d with None => [ways t d] | Some _ => map (fun i => [i]) (ways t d) end.

Definition flow (c : N) (w : bool) : option fault :=
  each (devices t) (fun d => let gs := alike d in each (marks t) (fun m => groups c w d m gs)).

Definition is_link (l : N) (i : option N) : bool := match i with Some x => x =? l | None => false end.
Definition is_host (i : option N) : bool := match i with Some _ => false | None => true end.

Definition wired : option fault :=
  match each (links t) (fun l => if (far t l <? devices t) && existsb (is_link l) (ways t (far t l)) then None else Some (report (Unwired l))) with
  | None => each (devices t) (fun d => if existsb is_host (ways t d) then None else Some (report (Unwired 0)))
  | w => w
  end.

Definition same (x y : place) : bool :=
  (class x =? class y) && Bool.eqb (inner x) (inner y) && (link x =? link y) && (mark x =? mark y).

(** Whether a frame may go by these places one after the other, from one of some, to one where it is lossless. *)
Fixpoint follows (from path : list place) : bool :=
  match path with
  | [] => false
  | x :: r =>
      existsb (same x) from &&
      match r with
      | [] => lossless x
      | _ => follows (onward (class x) (inner x) (far t (link x)) (Some (link x)) (mark x)) r
      end
  end.

(** None: the network is proven. The witness is a path of some frame to a lossless lane, from hosts of device d. *)
Definition check_ethernet (c d m : N) (witness : list place) : option fault :=
  if sends c d m && follows (onward c false d None m) witness then
    match wired with
    | None => each (classes t) (fun c => match flow c false with None => if outer t c then flow c true else None | f => f end)
    | f => f
    end
  else Some (report Nobody).

(** ** Whether all arrives, whatever devices choose *)

Variable steps : N -> bool -> N -> N.           (* class, inner, device: at most so many steps to go, and one; 0: unknown; a hint *)

Definition closer (c : N) (w : bool) (d h : N) : bool :=
  (c <? classes t) && (d <? devices t) && (negb w || outer t c) && (0 <? steps c w d) && (steps c w d <? h).

Definition some {A : Type} (l : list A) : bool := match l with [] => false | _ => true end.

Definition goes_on (c : N) (w : bool) (d : N) : bool :=
  leaves t c d || some (next t c d) || (negb w && some (tunnels t c d)).

Definition sure (c : N) (w : bool) (d h : N) : bool :=
  goes_on c w d && forallb (fun o => closer c w (far t o) h) (next t c d) &&
  (w || forallb (fun u => closer (into u) true d h) (tunnels t c d)).

Definition arrival (c : N) (w : bool) (d : N) : option fault :=
  let blame x := Some {| what := x; of_class := c; at_device := d; with_mark := 0 |} in
  let h := steps c w d in
  if 0 <? h then if sure c w d h then None else blame Miscounted
  else if negb w && wanted t c && asks t c d then blame Unsure else None.

Definition check_arrivals : option fault :=
  each (classes t) (fun c =>
    match each (devices t) (arrival c false) with
    | None => if outer t c then each (devices t) (arrival c true) else None
    | f => f
    end).

(** * What the theorems say of it *)

(** Where frames get, lossy or not. *)
Inductive reached : place -> Prop :=
| reached_first : forall c d m x, sends c d m = true -> In x (onward c false d None m) -> reached x
| reached_on : forall x y, reached x -> In y (onward (class x) (inner x) (far t (link x)) (Some (link x)) (mark x)) -> reached y.

(** As the frames and lanes of [Ethernet]: From d _ is the buffer of a device for frames of hosts. *)
Record frame := { kind : N; wrapped : bool; marked : N; bytes : nat }.

Definition placed (p : frame) (l : N) : place := {| class := kind p; inner := wrapped p; link := l; mark := marked p |}.

(** A frame may always be dropped, delivered, or sent on where it is lossy and holds no lane (None). *)
Definition goes (mtu : nat) (l : lane) (p : frame) (o : option (lane * frame)) : Prop :=
  match o with
  | None => True
  | Some (On k v, q) =>
      on (placed q k) = v /\ v <> lossy /\ (bytes q <= mtu)%nat /\
      match l with
      | On j _ => In (placed q k) (onward (kind p) (wrapped p) (far t j) (Some j) (marked p))
      | From d _ => In (placed q k) (onward (kind p) false d None (marked p))
      | To _ _ => False
      end
  | _ => False
  end.

(** Frames of hosts, into a buffer of their device, or at once into the next, where their device takes them for lossy; and
    frames that were lossy until here. *)
Definition may_send (mtu : nat) (l : lane) (p : frame) : Prop :=
  (bytes p <= mtu)%nat /\
  match l with
  | From d _ => wrapped p = false /\ sends (kind p) d (marked p) = true
  | On k v => on (placed p k) = v /\ v <> lossy /\
      ((exists c d m, sends c d m = true /\ In (placed p k) (onward c false d None m)) \/
       (exists x, reached x /\ on x = lossy /\ In (placed p k) (onward (class x) (inner x) (far t (link x)) (Some (link x)) (mark x))))
  | To _ _ => False
  end.

Definition height (l : lane) : nat := match l with On c v => N.to_nat (rank c v) | _ => 0%nat end.

Lemma count_none : forall n i f, count n i f = None -> forall k, i <= k -> k < i + N.of_nat n -> f k = None.
Proof.
  induction n as [| n IH]; intros i f C k A B; [lia |].
  simpl in C. destruct (f i) eqn:E; [discriminate |].
  destruct (N.eq_dec i k) as [<- | D]; auto. apply (IH (N.succ i)); auto; lia.
Qed.

Lemma each_none : forall n f, each n f = None -> forall k, k < n -> f k = None.
Proof. intros n f E k L. apply (count_none _ _ _ E); lia. Qed.

Lemma lowest_none : forall xs low o, lowest xs low = inr o ->
  (forall x, In x xs -> inside x = true /\
    (on x <> lossy -> 0 < rank (link x) (on x) /\ exists a b, o = Some (a, b) /\ rank a b <= rank (link x) (on x))) /\
  (forall a b, low = Some (a, b) -> exists a' b', o = Some (a', b') /\ rank a' b' <= rank a b).
Proof.
  induction xs as [| x r IH]; simpl; intros low o L.
  - injection L as <-. split; [intros x [] |]. intros a b ->. exists a, b. split; [reflexivity | lia].
  - destruct (inside x) eqn:I; [| discriminate].
    destruct (N.eqb_spec (on x) lossy) as [Y | N].
    + destruct (IH _ _ L) as [A B]. split; auto. intros y [<- | J]; auto. split; auto. congruence.
    + destruct (N.eqb_spec (rank (link x) (on x)) 0) as [Z | P]; [discriminate |].
      destruct (IH _ _ L) as [A B].
      assert (Low : exists a b, lower low (link x) (on x) = Some (a, b) /\ rank a b <= rank (link x) (on x) /\
        forall a' b', low = Some (a', b') -> rank a b <= rank a' b').
      { unfold lower. destruct low as [[a b] |].
        - destruct (N.ltb_spec (rank (link x) (on x)) (rank a b)).
          + do 2 eexists. split; [reflexivity |]. split; [lia |]. intros a' b' E. injection E as <- <-. lia.
          + do 2 eexists. split; [reflexivity |]. split; [lia |]. intros a' b' E. injection E as <- <-. lia.
        - do 2 eexists. split; [reflexivity |]. split; [lia |]. discriminate. }
      destruct Low as (a & b & E & Le & Old). destruct (B a b E) as (a' & b' & -> & Le').
      split.
      * intros y [<- | J]; auto. split; auto. intros _. split; [lia |]. exists a', b'. split; [reflexivity | lia].
      * intros c d F. exists a', b'. split; auto. specialize (Old c d F). lia.
Qed.

Lemma all_rise_none : forall c w d m l' v' g, all_rise c w d m l' v' g = None ->
  forall i, In i g -> here c w d m i = true -> rising m l' v' i = None.
Proof.
  induction g as [| j r IH]; simpl; intros A i I H; [contradiction |].
  destruct (here c w d m j) eqn:Hj; [destruct (rising m l' v' j) eqn:R; [discriminate |] |];
    (destruct I as [-> | I]; [try congruence | auto]).
Qed.

Lemma groups_none : forall c w d m gs, groups c w d m gs = None -> forall g, In g gs -> group c w d m g = None.
Proof.
  induction gs as [| h r IH]; simpl; intros G g I; [contradiction |].
  destruct (group c w d m h) eqn:E; [discriminate |]. destruct I as [-> | I]; auto.
Qed.

Lemma alike_ways : forall d i, In i (ways t d) -> exists g, In g (alike d) /\ In i g /\
  forall j, In j g -> forall o m, becomes d j o m = becomes d i o m.
Proof.
  intros d i I. unfold alike, becomes. destruct (rules t d) eqn:R.
  - exists [i]. split; [apply in_map_iff; eauto |]. split; [simpl; auto |]. intros j [<- | []]. reflexivity.
  - exists (ways t d). simpl. auto.
Qed.

Lemma onward_same : forall c w d i j m, (forall o x, becomes d j o x = becomes d i o x) -> onward c w d j m = onward c w d i m.
Proof.
  intros c w d i j m E. unfold onward. apply flat_map_ext. intros h. apply map_ext. intros o. now rewrite E.
Qed.

Lemma known_inside : forall x, inside x = true -> known x = true /\ mem (class x) (inner x) (link x) (mark x) = true.
Proof. intros x I. unfold inside in I. now apply andb_true_iff in I. Qed.

Section Accepted.

Variables c0 d0 m0 : N.
Variable witness : list place.
Hypothesis Accepted : check_ethernet c0 d0 m0 witness = None.

Lemma accepted_flow : forall c w, c < classes t -> (w = true -> outer t c = true) -> flow c w = None.
Proof.
  intros c w L O. unfold check_ethernet in Accepted.
  destruct (sends c0 d0 m0 && follows (onward c0 false d0 None m0) witness); [| discriminate].
  destruct wired; [discriminate |]. pose proof (each_none _ _ Accepted c L) as E. cbv beta in E.
  destruct (flow c false) eqn:F; [discriminate |]. destruct w; auto. now rewrite O in E.
Qed.

Lemma accepted_wired : (forall l, l < links t -> far t l < devices t /\ In (Some l) (ways t (far t l))) /\
  (forall d, d < devices t -> In None (ways t d)).
Proof.
  unfold check_ethernet in Accepted.
  destruct (sends c0 d0 m0 && follows (onward c0 false d0 None m0) witness); [| discriminate].
  destruct wired eqn:W; [discriminate |]. unfold wired in W.
  destruct (each (links t) _) eqn:A in W; [discriminate |]. split.
  - intros l L. pose proof (each_none _ _ A l L) as E. cbv beta in E.
    destruct (N.ltb_spec (far t l) (devices t)); [| discriminate]. split; auto.
    destruct (existsb (is_link l) (ways t (far t l))) eqn:X; [| discriminate].
    apply existsb_exists in X as (i & I & E'). destruct i as [k |]; [| discriminate].
    apply N.eqb_eq in E'. now subst k.
  - intros d L. pose proof (each_none _ _ W d L) as E. cbv beta in E.
    destruct (existsb is_host (ways t d)) eqn:X; [| discriminate].
    apply existsb_exists in X as (i & I & E'). destruct i; [discriminate | auto].
Qed.

(** What the checker has looked at, of a frame that comes into a device. *)
Lemma looked : forall c w d m i, c < classes t -> (w = true -> outer t c = true) -> d < devices t -> m < marks t ->
  In i (ways t d) -> here c w d m i = true ->
  forall x, In x (onward c w d i m) -> inside x = true /\
    (on x <> lossy -> 0 < rank (link x) (on x) /\
      forall l, i = Some l -> lane_of t m l <> lossy -> rank l (lane_of t m l) < rank (link x) (on x)).
Proof.
  intros c w d m i Lc O Ld Lm I H x J.
  pose proof (each_none _ _ (accepted_flow c w Lc O) d Ld) as F. cbv beta zeta in F.
  pose proof (each_none _ _ F m Lm) as G. cbv beta in G.
  destruct (alike_ways d i I) as (g & Ig & Ii & Eq).
  pose proof (groups_none _ _ _ _ _ G g Ig) as K. unfold group in K.
  destruct (find (here c w d m) g) as [j |] eqn:Fi.
  2: { pose proof (find_none _ _ Fi i Ii). congruence. }
  apply find_some in Fi as [Ij _].
  rewrite (onward_same c w d i j m (Eq j Ij)) in K.
  destruct (lowest (onward c w d i m) None) as [f | o] eqn:Lo; [discriminate |].
  destruct (lowest_none _ _ _ Lo) as [A _]. destruct (A x J) as [In_ B]. split; auto.
  intros Nl. destruct (B Nl) as (P & a & b & -> & Le). split; auto.
  intros l -> Nl'. pose proof (all_rise_none _ _ _ _ _ _ _ K (Some l) Ii H) as R. unfold rising in R.
  destruct (N.eqb_spec (lane_of t m l) lossy); [contradiction |].
  destruct (N.ltb_spec (rank l (lane_of t m l)) (rank a b)); [lia | discriminate].
Qed.

Lemma sends_known : forall c d m, sends c d m = true -> c < classes t /\ d < devices t /\ m < marks t.
Proof.
  intros c d m S. unfold sends in S. repeat (apply andb_true_iff in S as [S ?]).
  repeat split; now apply N.ltb_lt.
Qed.

(** Whatever is reached is in the hint. *)
Lemma first_looked : forall c d m, sends c d m = true -> forall x, In x (onward c false d None m) ->
  inside x = true /\ (on x <> lossy -> 0 < rank (link x) (on x)).
Proof.
  intros c d m S x I. destruct (sends_known _ _ _ S) as (Lc & Ld & Lm).
  assert (O : false = true -> outer t c = true) by discriminate.
  destruct (looked c false d m None Lc O Ld Lm (proj2 accepted_wired d Ld) S x I) as [A B].
  split; auto. intros N. now apply B.
Qed.

Lemma next_looked : forall x, inside x = true ->
  forall y, In y (onward (class x) (inner x) (far t (link x)) (Some (link x)) (mark x)) ->
  inside y = true /\ (on y <> lossy -> 0 < rank (link y) (on y) /\ (on x <> lossy -> rank (link x) (on x) < rank (link y) (on y))).
Proof.
  intros x I y J. destruct (known_inside x I) as [K M]. unfold known in K.
  apply andb_true_iff in K as [K O]. apply andb_true_iff in K as [K Lm]. apply andb_true_iff in K as [Lc Ll].
  apply N.ltb_lt in Lc, Ll, Lm. destruct (proj1 accepted_wired (link x) Ll) as [Ld W].
  assert (O' : inner x = true -> outer t (class x) = true) by (intros E; rewrite E in O; exact O).
  destruct (looked _ _ _ _ (Some (link x)) Lc O' Ld Lm W M y J) as [A B]. split; auto.
  intros N. destruct (B N) as [P R]. split; auto. intros Nx. apply (R (link x)); auto.
Qed.

Lemma reached_inside : forall x, reached x -> inside x = true.
Proof.
  intros x R. induction R as [c d m x S I | x y R IH I].
  - now apply (first_looked c d m).
  - now apply (next_looked x).
Qed.

Lemma trail_reached : forall mtu l p, Ethernet.trail frame (goes mtu) (may_send mtu) l p ->
  (bytes p <= mtu)%nat /\
  match l with
  | On k v => on (placed p k) = v /\ v <> lossy /\ reached (placed p k)
  | From d _ => wrapped p = false /\ sends (kind p) d (marked p) = true
  | To _ _ => False
  end.
Proof.
  intros mtu l p T. induction T as [l p [B M] | l l' p q T [B IH] G].
  - split; auto. destruct l as [d v | k v | d v]; auto.
    destruct M as (A & N & [(c & d & m & S & I) | (x & R & L & I)]); split; auto; split; auto.
    + now apply (reached_first c d m).
    + now apply (reached_on x).
  - destruct l' as [d v | k v | d v]; simpl in G; try contradiction. destruct G as (A & N & Bq & G). split; auto.
    split; auto. split; auto. destruct l as [d j | j u | d j]; try contradiction.
    + destruct IH as [W S]. now apply (reached_first (kind p) d (marked p)).
    + destruct IH as (_ & _ & R). apply (reached_on (placed p j) _ R G).
Qed.

(** The rank rises along every way of every frame. *)
Theorem check_ethernet_rises : forall mtu, Ethernet.rises frame (goes mtu) (may_send mtu) height.
Proof.
  intros mtu l p l' q T G. pose proof (trail_reached mtu l p T) as [_ R].
  destruct l' as [d v | k v | d v]; simpl in G; try contradiction. destruct G as (A & N & _ & G).
  destruct l as [d j | j u | d j]; try contradiction; simpl.
  - destruct R as [W S]. destruct (first_looked _ _ _ S _ G) as [_ P]. rewrite A in P. specialize (P N). simpl in P. lia.
  - destruct R as (E & Ne & R). destruct (next_looked _ (reached_inside _ R) _ G) as [_ P].
    rewrite A, E in P. destruct (P N) as [_ Q]. specialize (Q Ne). simpl in Q. lia.
Qed.

Lemma follows_reached : forall path from, (forall x, In x from -> reached x) -> follows from path = true ->
  exists x, reached x /\ on x <> lossy.
Proof.
  induction path as [| x r IH]; simpl; intros from F H; [discriminate |].
  apply andb_true_iff in H as [E H]. apply existsb_exists in E as (y & I & E).
  assert (x = y) as <-.
  { unfold same in E. repeat (apply andb_true_iff in E as [E ?]).
    destruct x, y. simpl in *. f_equal; try (now apply N.eqb_eq). now apply eqb_prop. }
  destruct r as [| z r].
  - exists x. split; auto. unfold lossless in H. destruct (N.eqb_spec (on x) lossy); [discriminate | auto].
  - apply (IH (onward (class x) (inner x) (far t (link x)) (Some (link x)) (mark x))); auto.
    intros u U. apply (reached_on x); auto.
Qed.

(** A frame of the least size, where it is. *)
Definition small (x : place) : frame := {| kind := class x; wrapped := inner x; marked := mark x; bytes := 0 |}.

Lemma reached_trail : forall mtu x, reached x -> on x <> lossy ->
  Ethernet.trail frame (goes mtu) (may_send mtu) (On (link x) (on x)) (small x).
Proof.
  intros mtu x R N. induction R as [c d m x S I | y x R IH I].
  - apply Ethernet.trail_sent. split; [simpl; lia |]. destruct x. simpl. split; auto. split; auto. left. eauto.
  - destruct (N.eq_dec (on y) lossy) as [L | Ny].
    + apply Ethernet.trail_sent. split; [simpl; lia |]. destruct x. simpl. split; auto. split; auto. right. eauto.
    + apply (Ethernet.trail_on _ _ _ (On (link y) (on y)) _ (small y)); [auto |].
      destruct x. simpl. split; auto. split; auto. split; [lia | exact I].
Qed.

(** An empty network is no proof: a frame may come, and be on its way into a lane of a link. *)
Theorem check_ethernet_about_something : forall mtu xon xoff headroom, (forall l, mtu <= headroom l)%nat -> exists as_ st l v p,
  Ethernet.run frame bytes xon xoff headroom (goes mtu) (may_send mtu) as_ (Ethernet.idle frame) st /\
  Ethernet.flight frame st = [(On l v, p)].
Proof.
  intros mtu xon xoff headroom He.
  destruct (sends c0 d0 m0 && follows (onward c0 false d0 None m0) witness) eqn:W.
  2: { exfalso. unfold check_ethernet in Accepted. rewrite W in Accepted. discriminate. }
  apply andb_true_iff in W as [S F].
  destruct (follows_reached _ _ (fun x => reached_first c0 d0 m0 x S) F) as (x & R & N).
  destruct (Ethernet.pfc_comes_about frame bytes xon xoff headroom (goes mtu) (may_send mtu) height (check_ethernet_rises mtu)
    (fun l p T l' => Nat.le_trans _ _ _ (proj1 (trail_reached mtu l p T)) (He l')) _ _ (reached_trail mtu x R N)) as (as_ & st & R' & Fl).
  exists as_, st, (link x), (on x), (small x). auto.
Qed.

(** From an idle network, whatever frames are sent of whatever sizes up to the largest, and whatever devices choose: no
    buffer overflows, and while a frame is there one moves, or may once its next lane, which is empty, has said so. *)
Theorem check_ethernet_sound : forall mtu xon xoff headroom,
  (forall l, xon l <= xoff l)%nat -> (forall l, mtu <= headroom l)%nat ->
  forall as_ st, Ethernet.run frame bytes xon xoff headroom (goes mtu) (may_send mtu) as_ (Ethernet.idle frame) st ->
  (forall l, Ethernet.holds frame bytes st l + Ethernet.amount frame bytes l (Ethernet.flight frame st) <= xoff l + headroom l)%nat /\
  (Ethernet.held frame st <> [] \/ Ethernet.flight frame st <> [] ->
    exists more st', Ethernet.run frame bytes xon xoff headroom (goes mtu) (may_send mtu) more st st' /\
      (more = [Ethernet.Arrives] \/ more = [Ethernet.Departs] \/ more = [Ethernet.Resumes; Ethernet.Hears; Ethernet.Leaves])).
Proof.
  intros mtu xon xoff headroom Th He as_ st R.
  destruct (Ethernet.pfc_loses_nothing frame bytes xon xoff headroom Th (goes mtu) (may_send mtu) as_ st R) as [S L].
  split; auto. intros NE.
  apply (Ethernet.pfc_progress frame bytes xon xoff headroom (goes mtu) (may_send mtu) height (check_ethernet_rises mtu)); auto.
  - intros l p _. exists None. exact I.
  - intros l p T l'. destruct (trail_reached mtu l p T) as [B _]. specialize (He l'). lia.
Qed.

End Accepted.

(** Frames of a class arrive from a device: they have some way to go on, and do by each, after finitely many steps. *)
Inductive arrives : N -> bool -> N -> Prop :=
| arrives_by : forall c w d, goes_on c w d = true ->
    (forall o, In o (next t c d) -> arrives c w (far t o)) ->
    (w = false -> forall u, In u (tunnels t c d) -> arrives (into u) true d) ->
    arrives c w d.

Theorem check_arrivals_sound : check_arrivals = None -> forall c d, c < classes t -> d < devices t ->
  wanted t c = true -> asks t c d = true -> arrives c false d.
Proof.
  intros C.
  assert (All : forall c w d, c < classes t -> d < devices t -> (w = true -> outer t c = true) -> arrival c w d = None).
  { intros c w d Lc Ld O. pose proof (each_none _ _ C c Lc) as E. cbv beta in E.
    destruct (each (devices t) (arrival c false)) eqn:F; [discriminate |]. destruct w.
    - rewrite O in E by auto. now apply (each_none _ _ E).
    - now apply (each_none _ _ F). }
  assert (Up : forall n c w d, closer c w d (N.of_nat n) = true -> arrives c w d).
  { induction n as [| n IH]; intros c w d K; unfold closer in K; repeat (apply andb_true_iff in K as [K ?]).
    - apply N.ltb_lt in H. lia.
    - assert (O : w = true -> outer t c = true) by (intros ->; auto).
      pose proof (All c w d (proj1 (N.ltb_lt _ _) K) (proj1 (N.ltb_lt _ _) H2) O) as A. unfold arrival in A. rewrite H0 in A.
      destruct (sure c w d (steps c w d)) eqn:S; [| discriminate]. unfold sure in S.
      apply andb_true_iff in S as [S Tu]. apply andb_true_iff in S as [G Ne].
      assert (Le : forall c' w' d', closer c' w' d' (steps c w d) = true -> closer c' w' d' (N.of_nat n) = true).
      { intros c' w' d' X. unfold closer in *. apply andb_true_iff in X as [X Y]. rewrite X. simpl.
        apply N.ltb_lt in H, Y. apply N.ltb_lt. lia. }
      apply arrives_by; auto.
      + intros o I. apply IH, Le. now apply (proj1 (forallb_forall _ _) Ne).
      + intros -> u I. apply IH, Le. now apply (proj1 (forallb_forall _ _) Tu). }
  intros c d Lc Ld W As. pose proof (All c false d Lc Ld (fun E => False_rect _ (diff_false_true E))) as A. unfold arrival in A.
  rewrite W, As in A. simpl in A. destruct (0 <? steps c false d) eqn:P; [| discriminate].
  apply (Up (S (N.to_nat (steps c false d)))). unfold closer.
  rewrite (proj2 (N.ltb_lt _ _) Lc), (proj2 (N.ltb_lt _ _) Ld), P. simpl. apply N.ltb_lt. lia.
Qed.

End Check.
