
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

module Nat =
 struct
 end

module Pos =
 struct
  (** val succ : Number.positive -> Number.positive **)

  let rec succ = function
  | Number.XI p -> Number.XO (succ p)
  | Number.XO p -> Number.XI p
  | Number.XH -> Number.XO Number.XH

  (** val compare_cont :
      comparison -> Number.positive -> Number.positive -> comparison **)

  let rec compare_cont r x y =
    match x with
    | Number.XI p ->
      (match y with
       | Number.XI q -> compare_cont r p q
       | Number.XO q -> compare_cont Gt p q
       | Number.XH -> Gt)
    | Number.XO p ->
      (match y with
       | Number.XI q -> compare_cont Lt p q
       | Number.XO q -> compare_cont r p q
       | Number.XH -> Gt)
    | Number.XH -> (match y with
                    | Number.XH -> r
                    | _ -> Lt)

  (** val compare : Number.positive -> Number.positive -> comparison **)

  let compare =
    compare_cont Eq

  (** val eqb : Number.positive -> Number.positive -> bool **)

  let rec eqb p q =
    match p with
    | Number.XI p0 -> (match q with
                       | Number.XI q0 -> eqb p0 q0
                       | _ -> false)
    | Number.XO p0 -> (match q with
                       | Number.XO q0 -> eqb p0 q0
                       | _ -> false)
    | Number.XH -> (match q with
                    | Number.XH -> true
                    | _ -> false)

  (** val iter_op : ('a1 -> 'a1 -> 'a1) -> Number.positive -> 'a1 -> 'a1 **)

  let rec iter_op op p a =
    match p with
    | Number.XI p0 -> op a (iter_op op p0 (op a a))
    | Number.XO p0 -> iter_op op p0 (op a a)
    | Number.XH -> a

  (** val to_nat : Number.positive -> int **)

  let to_nat x =
    iter_op Number.plus x (Stdlib.succ 0)

  (** val eq_dec : Number.positive -> Number.positive -> bool **)

  let rec eq_dec p x0 =
    match p with
    | Number.XI p0 ->
      (match x0 with
       | Number.XI p1 -> eq_dec p0 p1
       | _ -> false)
    | Number.XO p0 ->
      (match x0 with
       | Number.XO p1 -> eq_dec p0 p1
       | _ -> false)
    | Number.XH -> (match x0 with
                    | Number.XH -> true
                    | _ -> false)
 end

module N =
 struct
  (** val compare : int -> int -> comparison **)

  let compare n0 m =
    (fun zero pos n -> if n = 0 then zero () else pos (Number.to_positive n))
      (fun _ ->
      (fun zero pos n -> if n = 0 then zero () else pos (Number.to_positive n))
        (fun _ -> Eq)
        (fun _ -> Lt)
        m)
      (fun n' ->
      (fun zero pos n -> if n = 0 then zero () else pos (Number.to_positive n))
        (fun _ -> Gt)
        (fun m' -> Pos.compare n' m')
        m)
      n0
 end

(** val concat : 'a1 list list -> 'a1 list **)

let rec concat = function
| [] -> []
| x :: l0 -> app x (concat l0)

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t0 -> (f a) :: (map f t0)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t0 -> app (f x) (flat_map f t0)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t0 -> fold_left f t0 (f a0 b)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t0 -> f b (fold_right f a0 t0)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val find : ('a1 -> bool) -> 'a1 list -> 'a1 option **)

let rec find f = function
| [] -> None
| x :: tl -> if f x then Some x else find f tl

module PositiveMap =
 struct
  type key = Number.positive

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  (** val empty : 'a1 t **)

  let empty =
    Leaf

  (** val find : key -> 'a1 t -> 'a1 option **)

  let rec find i = function
  | Leaf -> None
  | Node (l, o, r) ->
    (match i with
     | Number.XI ii -> find ii r
     | Number.XO ii -> find ii l
     | Number.XH -> o)

  (** val mem : key -> 'a1 t -> bool **)

  let rec mem i = function
  | Leaf -> false
  | Node (l, o, r) ->
    (match i with
     | Number.XI ii -> mem ii r
     | Number.XO ii -> mem ii l
     | Number.XH -> (match o with
                     | Some _ -> true
                     | None -> false))

  (** val add : key -> 'a1 -> 'a1 t -> 'a1 t **)

  let rec add i v = function
  | Leaf ->
    (match i with
     | Number.XI ii -> Node (Leaf, None, (add ii v Leaf))
     | Number.XO ii -> Node ((add ii v Leaf), None, Leaf)
     | Number.XH -> Node (Leaf, (Some v), Leaf))
  | Node (l, o, r) ->
    (match i with
     | Number.XI ii -> Node (l, o, (add ii v r))
     | Number.XO ii -> Node ((add ii v l), o, r)
     | Number.XH -> Node (l, (Some v), r))
 end

type lane =
| From of int * int
| On of int * int
| To of int * int

(** val lane_eq_dec : lane -> lane -> bool **)

let lane_eq_dec a b =
  match a with
  | From (e, v) ->
    (match b with
     | From (e0, v0) -> if Number.equal e e0 then Number.equal v v0 else false
     | _ -> false)
  | On (c, v) ->
    (match b with
     | On (c0, v0) -> if Number.equal c c0 then Number.equal v v0 else false
     | _ -> false)
  | To (e, v) ->
    (match b with
     | To (e0, v0) -> if Number.equal e e0 then Number.equal v v0 else false
     | _ -> false)

type packet = { dest : int; level : int; size : int; born : int }

type wire =
| Nothing
| Link of int
| Host of int

type network = { wired : (int -> int -> wire); far : (int -> int * int);
                 hangs : (int -> int * int); own : (int -> int) }

type tables = { entry : (int -> int -> int);
                vl : (int -> int -> int -> int -> int) }

(** val no_port : int **)

let no_port =
  Number.of_positive (Number.XI (Number.XI (Number.XI (Number.XI (Number.XI
    (Number.XI (Number.XI Number.XH)))))))

(** val no_lane : int **)

let no_lane =
  Number.of_positive (Number.XI (Number.XI (Number.XI Number.XH)))

type fate =
| Forward of lane
| Taken of int
| Lost

(** val leave : network -> int -> int -> int -> fate **)

let leave net s o v =
  if Number.equal o no_port
  then Lost
  else if Number.equal o 0
       then Taken (net.own s)
       else (match net.wired s o with
             | Nothing -> Lost
             | Link c ->
               if Number.equal v no_lane then Lost else Forward (On (c, v))
             | Host e ->
               if Number.equal v no_lane then Lost else Forward (To (e, v)))

(** val at_switch : network -> tables -> (int * int) -> int -> int -> fate **)

let at_switch net t0 at_ d sl0 =
  let o = t0.entry (Stdlib.fst at_) d in
  leave net (Stdlib.fst at_) o (t0.vl (Stdlib.fst at_) (Stdlib.snd at_) o sl0)

(** val next : network -> tables -> lane -> packet -> fate **)

let next net t0 l p =
  match l with
  | From (e, _) -> at_switch net t0 (net.hangs e) p.dest p.level
  | On (c, _) -> at_switch net t0 (net.far c) p.dest p.level
  | To (e, _) -> Taken e

(** val weight : lane -> (lane * int) list -> int **)

let weight l h =
  fold_right (fun x n0 ->
    if lane_eq_dec (Stdlib.fst x) l then Number.plus (Stdlib.snd x) n0 else n0)
    0 h

(** val sizes : (lane * packet) list -> (lane * int) list **)

let sizes h =
  map (fun x -> ((Stdlib.fst x), (Stdlib.snd x).size)) h

type contract =
| Honored
| Directed
| Single of int
| AnyLevel

type levels = { row : (int -> int); table : (int -> int -> int) }

(** val told : levels -> int -> int -> int **)

let told x s d =
  x.table (x.row s) d

type routing = { entry_of : (int -> int -> int);
                 more_of : (int -> int -> int list);
                 class_of : (int -> int -> int);
                 map_of : (int -> int -> int -> int); maps : int;
                 lane_of : (int -> int -> int); given : levels }

(** val mapped : routing -> int -> int -> int **)

let mapped r m sl0 =
  if Number.less m r.maps then r.lane_of m sl0 else no_lane

(** val tables_of : routing -> tables **)

let tables_of r =
  { entry = r.entry_of; vl = (fun s i o sl0 ->
    mapped r (r.map_of s (r.class_of s i) o) sl0) }

(** val choices : routing -> int -> int -> int list **)

let choices r s d =
  (r.entry_of s d) :: (r.more_of s d)

(** val upto : int -> int -> int list **)

let rec upto n0 i =
  (fun none more n -> if n <= 0 then none () else more (n - 1))
    (fun _ -> [])
    (fun n1 -> i :: (upto n1 (Stdlib.succ i)))
    n0

type wrong =
| Unranked of int * int
| NotRising of int * int * int * int
| Discards
| Misled of int
| Exhausted
| Unlike of int
| Missed of int
| Nobody

type fault = { what : wrong; place : (int * int); lid : int; sl : int }

(** val all : ('a1 -> fault option) -> 'a1 list -> fault option **)

let rec all f = function
| [] -> None
| x :: r -> (match f x with
             | Some f0 -> Some f0
             | None -> all f r)

(** val member : int -> int list -> bool **)

let member x l =
  existsb (Number.equal x) l

(** val insert : int -> int list -> int list **)

let insert x l =
  if member x l then l else x :: l

(** val sixteen : int list **)

let sixteen =
  0 :: ((Number.of_positive Number.XH) :: ((Number.of_positive (Number.XO
    Number.XH)) :: ((Number.of_positive (Number.XI
    Number.XH)) :: ((Number.of_positive (Number.XO (Number.XO
    Number.XH))) :: ((Number.of_positive (Number.XI (Number.XO
    Number.XH))) :: ((Number.of_positive (Number.XO (Number.XI
    Number.XH))) :: ((Number.of_positive (Number.XI (Number.XI
    Number.XH))) :: ((Number.of_positive (Number.XO (Number.XO (Number.XO
    Number.XH)))) :: ((Number.of_positive (Number.XI (Number.XO (Number.XO
    Number.XH)))) :: ((Number.of_positive (Number.XO (Number.XI (Number.XO
    Number.XH)))) :: ((Number.of_positive (Number.XI (Number.XI (Number.XO
    Number.XH)))) :: ((Number.of_positive (Number.XO (Number.XO (Number.XI
    Number.XH)))) :: ((Number.of_positive (Number.XI (Number.XO (Number.XI
    Number.XH)))) :: ((Number.of_positive (Number.XO (Number.XI (Number.XI
    Number.XH)))) :: ((Number.of_positive (Number.XI (Number.XI (Number.XI
    Number.XH)))) :: [])))))))))))))))

(** val rep : (int -> int) -> int -> int **)

let rep canon v =
  if Number.equal v no_lane
  then no_lane
  else let w = canon v in if Number.equal w no_lane then v else w

(** val fates :
    network -> routing list -> (int -> int) -> (int * int) -> int -> int ->
    fate list **)

let fates net rs canon at_ d l =
  flat_map (fun r ->
    flat_map (fun o ->
      map (fun r' ->
        leave net (Stdlib.fst at_) o
          (rep canon
            (mapped r'
              (r'.map_of (Stdlib.fst at_)
                (r'.class_of (Stdlib.fst at_) (Stdlib.snd at_)) o) l))) rs)
      (choices r (Stdlib.fst at_) d)) rs

(** val rising :
    (int -> int -> int) -> int -> int -> int -> fate -> wrong option **)

let rising rank r c v = function
| Forward l ->
  (match l with
   | On (c', v') ->
     if Number.less r (rank c' v')
     then None
     else Some (NotRising (c, v, c', v'))
   | _ -> None)
| _ -> None

(** val first_wrong : (fate -> wrong option) -> fate list -> wrong option **)

let rec first_wrong f = function
| [] -> None
| x :: r -> (match f x with
             | Some w0 -> Some w0
             | None -> first_wrong f r)

(** val fine :
    network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
    bool -> int -> int -> int -> fate -> wrong option **)

let fine net rs rank canon top must_arrive e d l = function
| Forward l0 ->
  (match l0 with
   | From (x, _) -> Some (Misled x)
   | On (c, v) ->
     let r = rank c v in
     if (&&) (Number.less 0 r) (Number.less r top)
     then first_wrong (rising rank r c v) (fates net rs canon (net.far c) d l)
     else Some (Unranked (c, v))
   | To (x, _) ->
     if (&&) must_arrive (negb (Number.equal x e))
     then Some (Misled x)
     else None)
| Taken x ->
  if (&&) must_arrive (negb (Number.equal x e)) then Some (Misled x) else None
| Lost -> if must_arrive then Some Discards else None

(** val good :
    network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
    bool -> int -> int -> int -> (int * int) -> fate list -> fault option **)

let good net rs rank canon top must_arrive e d l at_ fs =
  match first_wrong (fine net rs rank canon top must_arrive e d l) fs with
  | Some w -> Some { what = w; place = at_; lid = d; sl = l }
  | None -> None

(** val onward : fate list -> int list **)

let onward fs =
  flat_map (fun f ->
    match f with
    | Forward l -> (match l with
                    | On (c, _) -> c :: []
                    | _ -> [])
    | _ -> []) fs

type seen = Seen.t

(** val nothing : int -> seen **)

let nothing = Seen.nothing

(** val has : seen -> (int * int) -> bool **)

let has = Seen.has

(** val put : seen -> (int * int) -> seen **)

let put = Seen.put

(** val push : int -> int list -> (int * int) list -> (int * int) list **)

let push l cs todo =
  fold_left (fun t0 c -> (c, l) :: t0) cs todo

(** val walk :
    network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
    bool -> int -> int -> int -> (int * int) list -> seen -> fault option **)

let rec walk net rs rank canon top must_arrive n0 e d todo s =
  (fun none more n -> if n <= 0 then none () else more (n - 1))
    (fun _ -> Some { what = Exhausted; place = (0, 0); lid = d; sl =
    0 })
    (fun n1 ->
    match todo with
    | [] -> None
    | x :: todo0 ->
      if has s x
      then walk net rs rank canon top must_arrive n1 e d todo0 s
      else let at_ = net.far (Stdlib.fst x) in
           let fs = fates net rs canon at_ d (Stdlib.snd x) in
           (match good net rs rank canon top must_arrive e d (Stdlib.snd x)
                    at_ fs with
            | Some w -> Some w
            | None ->
              walk net rs rank canon top must_arrive n1 e d
                (push (Stdlib.snd x) (onward fs) todo0) (put s x)))
    n0

(** val alike : routing list -> (int -> int) -> int -> int -> bool **)

let alike rs canon a b =
  forallb (fun r ->
    forallb (fun m ->
      Number.equal (rep canon (r.lane_of m a)) (rep canon (r.lane_of m b)))
      (upto (Number.same r.maps) 0)) rs

(** val kinds : routing list -> (int -> int) -> (int * int) list **)

let kinds rs canon =
  map (fun l -> (l,
    (match find (alike rs canon l) sixteen with
     | Some k -> k
     | None -> l))) sixteen

(** val kind : (int * int) list -> int -> int **)

let kind ks l =
  match find (fun x -> Number.equal (Stdlib.fst x) l) ks with
  | Some x -> Stdlib.snd x
  | None -> l

(** val add_kind : (int * int) list -> int -> int list -> int list **)

let add_kind ks l some =
  if Number.less l (Number.of_positive (Number.XO (Number.XO (Number.XO
       (Number.XO Number.XH)))))
  then insert (kind ks l) some
  else some

(** val add_kinds : (int * int) list -> int list -> int list -> int list **)

let rec add_kinds ks ls some =
  match ls with
  | [] -> some
  | l :: r -> add_kinds ks r (add_kind ks l some)

(** val same : network -> routing list -> int -> int -> bool **)

let same net rs a b =
  (&&) (Number.equal (Stdlib.fst (net.hangs a)) (Stdlib.fst (net.hangs b)))
    (forallb (fun r ->
      (&&) (Number.equal (r.given.row a) (r.given.row b))
        (Number.equal
          (r.class_of (Stdlib.fst (net.hangs a)) (Stdlib.snd (net.hangs a)))
          (r.class_of (Stdlib.fst (net.hangs b)) (Stdlib.snd (net.hangs b)))))
      rs)

(** val forward_levels : routing list -> int -> int -> int list **)

let forward_levels rs s d =
  map (fun r -> told r.given s d) rs

(** val answers :
    routing list -> (int -> int list) -> (int * int) list -> int -> int list
    -> int list **)

let answers rs lids ks e members =
  fold_left (fun some m ->
    fold_left (fun some0 i ->
      add_kinds ks (map (fun r -> told r.given e i) rs) some0) (lids m) some)
    members []

(** val begins :
    routing list -> contract -> (int * int) list -> int list -> int -> int ->
    int list -> int list **)

let begins rs k ks fixed s d back =
  match k with
  | Honored ->
    let there = forward_levels rs s d in
    if existsb (fun l ->
         Number.less l (Number.of_positive (Number.XO (Number.XO (Number.XO
           (Number.XO Number.XH)))))) there
    then add_kinds ks there back
    else []
  | Directed -> add_kinds ks (forward_levels rs s d) []
  | _ -> fixed

(** val fixed_kinds : contract -> (int * int) list -> int list **)

let fixed_kinds k ks =
  match k with
  | Single n0 -> add_kinds ks (n0 :: []) []
  | AnyLevel -> add_kinds ks sixteen []
  | _ -> []

(** val without : int -> int list -> int list **)

let without e g =
  filter (fun m -> negb (Number.equal m e)) g

(** val sources :
    network -> routing list -> (int -> int list) -> (int * int) list ->
    contract -> int -> int list -> int list -> int list * int list **)

let sources net rs lids ks k e g back =
  match g with
  | [] -> ([], [])
  | s :: _ ->
    if same net rs s e
    then let g' = without e g in
         (g', (match k with
               | Honored -> answers rs lids ks e g'
               | _ -> []))
    else (g, back)

(** val start :
    network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
    bool -> int -> int -> (int * int) -> int list -> (int * int) list ->
    fault option * (int * int) list **)

let rec start net rs rank canon top must_arrive e d at_ ls todo =
  match ls with
  | [] -> (None, todo)
  | l :: ls0 ->
    let fs = fates net rs canon at_ d l in
    (match good net rs rank canon top must_arrive e d l at_ fs with
     | Some w -> ((Some w), todo)
     | None ->
       start net rs rank canon top must_arrive e d at_ ls0
         (push l (onward fs) todo))

(** val starts :
    network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
    bool -> contract -> (int * int) list -> int list -> int -> int -> (int
    list * int list) list -> (int * int) list -> fault option * (int * int)
    list **)

let rec starts net rs rank canon top must_arrive k ks fixed e d gs todo =
  match gs with
  | [] -> (None, todo)
  | p :: r ->
    let (g, back) = p in
    (match g with
     | [] -> starts net rs rank canon top must_arrive k ks fixed e d r todo
     | s :: _ ->
       let (o, todo0) =
         start net rs rank canon top must_arrive e d (net.hangs s)
           (begins rs k ks fixed s d back) todo
       in
       (match o with
        | Some f -> ((Some f), todo0)
        | None ->
          starts net rs rank canon top must_arrive k ks fixed e d r todo0))

(** val destination :
    network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
    bool -> int -> contract -> (int * int) list -> int list -> (int
    list * int list) list -> int -> int -> fault option **)

let destination net rs rank canon top must_arrive fuel k ks fixed gs e d =
  let (o, todo) =
    starts net rs rank canon top must_arrive k ks fixed e d gs []
  in
  (match o with
   | Some w -> Some w
   | None -> walk net rs rank canon top must_arrive fuel e d todo (nothing d))

(** val endpoint :
    network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
    (int -> int list) -> bool -> int -> contract -> (int * int) list -> int
    list -> (int list * int list) list -> int -> fault option **)

let endpoint net rs rank canon top lids must_arrive fuel k ks fixed gs e =
  let mine =
    map (fun g -> sources net rs lids ks k e (Stdlib.fst g) (Stdlib.snd g)) gs
  in
  all (destination net rs rank canon top must_arrive fuel k ks fixed mine e)
    (lids e)

(** val group :
    network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
    (int -> int list) -> bool -> int -> contract -> (int * int) list -> int
    list -> int list list -> int list -> fault option **)

let group net rs rank canon top lids must_arrive fuel k ks fixed gs g = match g with
| [] -> None
| e :: _ ->
  let shared =
    map (fun h -> (h,
      (match k with
       | Honored -> answers rs lids ks e h
       | _ -> []))) gs
  in
  all
    (endpoint net rs rank canon top lids must_arrive fuel k ks fixed shared) g

(** val report : wrong -> fault **)

let report w =
  { what = w; place = (0, 0); lid = 0; sl = 0 }

(** val is_group : network -> routing list -> int list -> fault option **)

let is_group net rs = function
| [] -> None
| s :: r ->
  all (fun m -> if same net rs s m then None else Some (report (Unlike m))) r

(** val index : int list list -> unit PositiveMap.t **)

let index g =
  fold_left (fun m e -> PositiveMap.add (Number.succ_positive e) () m)
    (concat g) PositiveMap.empty

(** val sends_at_all :
    routing list -> contract -> int -> int -> int -> bool **)

let sends_at_all rs k s _ d =
  match k with
  | Single n0 ->
    Number.less n0 (Number.of_positive (Number.XO (Number.XO (Number.XO
      (Number.XO Number.XH)))))
  | AnyLevel -> true
  | _ ->
    existsb (fun l ->
      Number.less l (Number.of_positive (Number.XO (Number.XO (Number.XO
        (Number.XO Number.XH)))))) (forward_levels rs s d)

(** val somebody :
    routing list -> (int -> int list) -> contract -> int list -> bool **)

let somebody rs lids k ends =
  existsb (fun e ->
    existsb (fun d ->
      existsb (fun s ->
        (&&) (negb (Number.equal s e)) (sends_at_all rs k s e d)) ends)
      (lids e)) ends

(** val check :
    network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
    (int -> int list) -> bool -> int -> contract -> int list -> int list list
    -> fault option **)

let check net rs rank canon top lids must_arrive fuel k ends gs =
  if somebody rs lids k ends
  then (match all (is_group net rs) gs with
        | Some w -> Some w
        | None ->
          let known = index gs in
          (match all (fun e ->
                   if PositiveMap.mem (Number.succ_positive e) known
                   then None
                   else Some (report (Missed e))) ends with
           | Some w -> Some w
           | None ->
             let ks = kinds rs canon in
             all
               (group net rs rank canon top lids must_arrive fuel k ks
                 (fixed_kinds k ks) gs) gs))
  else Some (report Nobody)

type sending = { sender : int; on : int; receiver : int; address : int;
                 sl_of : int; after_ : int }

(** val same_lane : lane -> lane -> bool **)

let same_lane a b =
  if lane_eq_dec a b then true else false

(** val stands : (lane * packet) list -> lane -> bool **)

let stands h l =
  existsb (fun x -> same_lane (Stdlib.fst x) l) h

(** val packet_of : sending -> packet **)

let packet_of s =
  { dest = s.address; level = s.sl_of; size = (Stdlib.succ 0); born = 0 }

(** val may_be_used :
    routing -> (int -> int list) -> contract -> sending -> bool **)

let may_be_used r lids k s =
  let there = told r.given s.sender s.address in
  (&&)
    (Number.less s.sl_of (Number.of_positive (Number.XO (Number.XO (Number.XO
      (Number.XO Number.XH))))))
    (match k with
     | Honored ->
       (&&)
         (Number.less there (Number.of_positive (Number.XO (Number.XO
           (Number.XO (Number.XO Number.XH))))))
         ((||) (Number.equal there s.sl_of)
           (existsb (fun i ->
             Number.equal (told r.given s.receiver i) s.sl_of)
             (lids s.sender)))
     | Directed -> Number.equal there s.sl_of
     | Single n0 -> Number.equal s.sl_of n0
     | AnyLevel -> true)

(** val may_be_sent :
    routing -> (int -> int list) -> contract -> int list -> sending -> bool **)

let may_be_sent r lids k ends s =
  (&&)
    ((&&)
      ((&&) ((&&) (member s.sender ends) (member s.receiver ends))
        (negb (Number.equal s.sender s.receiver)))
      (member s.address (lids s.receiver))) (may_be_used r lids k s)

(** val follow :
    network -> routing -> packet -> lane -> int -> (lane list * lane) option **)

let rec follow net r p s n0 =
  match next net (tables_of r) s p with
  | Forward x ->
    if same_lane s x
    then None
    else ((fun none more n -> if n <= 0 then none () else more (n - 1))
            (fun _ -> Some ([], x))
            (fun n1 ->
            match follow net r p x n1 with
            | Some p0 -> let (via, l) = p0 in Some ((x :: via), l)
            | None -> None)
            n0)
  | _ -> None

(** val one :
    network -> routing -> (int -> int list) -> contract -> int list -> int ->
    (lane * packet) list -> sending -> (lane * packet) list option **)

let one net r lids k ends blocks h s =
  let from = From (s.sender, s.on) in
  (match follow net r (packet_of s) from s.after_ with
   | Some p ->
     let (via, l) = p in
     if (&&)
          ((&&) (may_be_sent r lids k ends s)
            (forallb (fun x -> negb (stands h x)) (from :: via)))
          (Number.at_most (Stdlib.succ (weight l (sizes h))) blocks)
     then Some (app h ((l, (packet_of s)) :: []))
     else None
   | None -> None)

(** val fill :
    network -> routing -> (int -> int list) -> contract -> int list -> int ->
    (lane * packet) list -> sending list -> (lane * packet) list option **)

let rec fill net r lids k ends blocks h = function
| [] -> Some h
| s :: rest ->
  (match one net r lids k ends blocks h s with
   | Some h' -> fill net r lids k ends blocks h' rest
   | None -> None)

(** val all_blocked :
    network -> routing -> int -> (lane * packet) list -> (lane * packet) list
    -> (lane * packet) list -> bool **)

let rec all_blocked net r blocks whole before = function
| [] -> true
| p0 :: rest ->
  let (l, p) = p0 in
  (&&)
    ((||) (stands before l)
      (match next net (tables_of r) l p with
       | Forward x ->
         Number.at_most (Stdlib.succ blocks)
           (Number.plus (weight x (sizes whole)) p.size)
       | _ -> false))
    (all_blocked net r blocks whole (app before ((l, p) :: [])) rest)

(** val deadlocks :
    network -> routing -> (int -> int list) -> contract -> int list -> int ->
    sending list -> bool **)

let deadlocks net r lids k ends blocks order =
  match fill net r lids k ends blocks [] order with
  | Some h ->
    (match h with
     | [] -> false
     | _ :: _ -> all_blocked net r blocks h [] h)
  | None -> false
