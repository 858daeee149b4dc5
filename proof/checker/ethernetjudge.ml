
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

type ('a, 'b) sum =
| Inl of 'a
| Inr of 'b

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

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

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t -> (f a) :: (map f t)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t -> app (f x) (flat_map f t)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val find : ('a1 -> bool) -> 'a1 list -> 'a1 option **)

let rec find f = function
| [] -> None
| x :: tl -> if f x then Some x else find f tl

(** val lossy : int **)

let lossy =
  Number.of_positive (Number.XI (Number.XI (Number.XI Number.XH)))

type wrap = { into : int; outers : (int -> int list) }

type tables = { classes : int; devices : int; links : int; marks : int;
                far : (int -> int); ways : (int -> int option list);
                next : (int -> int -> int list);
                tunnels : (int -> int -> wrap list); outer : (int -> bool);
                lane_of : (int -> int -> int);
                rules : (int -> (int option -> int -> int -> int) option);
                wanted : (int -> bool); source : (int -> bool);
                starts : (int -> bool); leaves : (int -> int -> bool);
                asks : (int -> int -> bool) }

type place = { class0 : int; inner : bool; link : int; mark : int }

type wrong =
| Unranked of int * int
| NotRising of int * int * int * int
| Unclosed of place
| Unwired of int
| Nobody
| Unsure
| Miscounted

type fault = { what : wrong; of_class : int; at_device : int; with_mark : int }

(** val report : wrong -> fault **)

let report w =
  { what = w; of_class = 0; at_device = 0; with_mark = 0 }

(** val count : int -> int -> (int -> fault option) -> fault option **)

let rec count n0 i f =
  (fun none more n -> if n <= 0 then none () else more (n - 1))
    (fun _ -> None)
    (fun n1 ->
    match f i with
    | Some f0 -> Some f0
    | None -> count n1 (Stdlib.succ i) f)
    n0

(** val each : int -> (int -> fault option) -> fault option **)

let each n0 f =
  count (Number.same n0) 0 f

(** val becomes : tables -> int -> int option -> int -> int -> int **)

let becomes t d i o m =
  match t.rules d with
  | Some r -> r i o m
  | None -> m

(** val headers :
    tables -> int -> bool -> int -> int -> ((int * bool) * int) list **)

let headers t c w d m =
  ((c, w),
    m) :: (if w
           then []
           else flat_map (fun u ->
                  map (fun x -> ((u.into, true), x)) (u.outers m))
                  (t.tunnels c d))

(** val onward :
    tables -> int -> bool -> int -> int option -> int -> place list **)

let onward t c w d i m =
  flat_map (fun h ->
    map (fun o -> { class0 = (Stdlib.fst (Stdlib.fst h)); inner =
      (Stdlib.snd (Stdlib.fst h)); link = o; mark =
      (becomes t d i o (Stdlib.snd h)) })
      (t.next (Stdlib.fst (Stdlib.fst h)) d)) (headers t c w d m)

(** val sends : tables -> int -> int -> int -> bool **)

let sends t c d m =
  (&&)
    ((&&)
      ((&&)
        ((&&) ((&&) (Number.less c t.classes) (Number.less d t.devices))
          (Number.less m t.marks)) (t.wanted c)) (t.source d)) (t.starts m)

(** val known : tables -> place -> bool **)

let known t x =
  (&&)
    ((&&)
      ((&&) (Number.less x.class0 t.classes) (Number.less x.link t.links))
      (Number.less x.mark t.marks)) ((||) (negb x.inner) (t.outer x.class0))

(** val inside :
    tables -> (int -> bool -> int -> int -> bool) -> place -> bool **)

let inside t mem x =
  (&&) (known t x) (mem x.class0 x.inner x.link x.mark)

(** val on : tables -> place -> int **)

let on t x =
  t.lane_of x.mark x.link

(** val lossless : tables -> place -> bool **)

let lossless t x =
  negb (Number.equal (on t x) lossy)

(** val lower :
    (int -> int -> int) -> (int * int) option -> int -> int -> (int * int)
    option **)

let lower rank low l v =
  match low with
  | Some p ->
    let (a, b) = p in
    if Number.less (rank l v) (rank a b) then Some (l, v) else low
  | None -> Some (l, v)

(** val lowest :
    tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) ->
    place list -> (int * int) option -> (wrong, (int * int) option) sum **)

let rec lowest t mem rank xs low =
  match xs with
  | [] -> Inr low
  | x :: r ->
    if inside t mem x
    then let v = on t x in
         if Number.equal v lossy
         then lowest t mem rank r low
         else if Number.equal (rank x.link v) 0
              then Inl (Unranked (x.link, v))
              else lowest t mem rank r (lower rank low x.link v)
    else Inl (Unclosed x)

(** val here :
    tables -> (int -> bool -> int -> int -> bool) -> int -> bool -> int ->
    int -> int option -> bool **)

let here t mem c w d m = function
| Some l -> mem c w l m
| None -> (&&) (negb w) (sends t c d m)

(** val rising :
    tables -> (int -> int -> int) -> int -> int -> int -> int option -> wrong
    option **)

let rising t rank m l' v' = function
| Some l ->
  let v = t.lane_of m l in
  if Number.equal v lossy
  then None
  else if Number.less (rank l v) (rank l' v')
       then None
       else Some (NotRising (l, v, l', v'))
| None -> None

(** val all_rise :
    tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) ->
    int -> bool -> int -> int -> int -> int -> int option list -> wrong option **)

let rec all_rise t mem rank c w d m l' v' = function
| [] -> None
| i :: r ->
  (match if here t mem c w d m i then rising t rank m l' v' i else None with
   | Some w0 -> Some w0
   | None -> all_rise t mem rank c w d m l' v' r)

(** val group :
    tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) ->
    int -> bool -> int -> int -> int option list -> wrong option **)

let group t mem rank c w d m g =
  match find (here t mem c w d m) g with
  | Some i ->
    (match lowest t mem rank (onward t c w d i m) None with
     | Inl f -> Some f
     | Inr o ->
       (match o with
        | Some p -> let (l', v') = p in all_rise t mem rank c w d m l' v' g
        | None -> None))
  | None -> None

(** val groups :
    tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) ->
    int -> bool -> int -> int -> int option list list -> fault option **)

let rec groups t mem rank c w d m = function
| [] -> None
| g :: r ->
  (match group t mem rank c w d m g with
   | Some f -> Some { what = f; of_class = c; at_device = d; with_mark = m }
   | None -> groups t mem rank c w d m r)

(** val alike : tables -> int -> int option list list **)

let alike t d =
  match t.rules d with
  | Some _ -> map (fun i -> i :: []) (t.ways d)
  | None -> (t.ways d) :: []

(** val flow :
    tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) ->
    int -> bool -> fault option **)

let flow t mem rank c w =
  each t.devices (fun d ->
    let gs = alike t d in each t.marks (fun m -> groups t mem rank c w d m gs))

(** val is_link : int -> int option -> bool **)

let is_link l = function
| Some x -> Number.equal x l
| None -> false

(** val is_host : int option -> bool **)

let is_host = function
| Some _ -> false
| None -> true

(** val wired : tables -> fault option **)

let wired t =
  match each t.links (fun l ->
          if (&&) (Number.less (t.far l) t.devices)
               (existsb (is_link l) (t.ways (t.far l)))
          then None
          else Some (report (Unwired l))) with
  | Some f -> Some f
  | None ->
    each t.devices (fun d ->
      if existsb is_host (t.ways d) then None else Some (report (Unwired 0)))

(** val same : place -> place -> bool **)

let same x y =
  (&&)
    ((&&) ((&&) (Number.equal x.class0 y.class0) (eqb x.inner y.inner))
      (Number.equal x.link y.link)) (Number.equal x.mark y.mark)

(** val follows : tables -> place list -> place list -> bool **)

let rec follows t from = function
| [] -> false
| x :: r ->
  (&&) (existsb (same x) from)
    (match r with
     | [] -> lossless t x
     | _ :: _ ->
       follows t
         (onward t x.class0 x.inner (t.far x.link) (Some x.link) x.mark) r)

(** val check_ethernet :
    tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) ->
    int -> int -> int -> place list -> fault option **)

let check_ethernet t mem rank c d m witness =
  if (&&) (sends t c d m) (follows t (onward t c false d None m) witness)
  then (match wired t with
        | Some f0 -> Some f0
        | None ->
          each t.classes (fun c0 ->
            match flow t mem rank c0 false with
            | Some f0 -> Some f0
            | None -> if t.outer c0 then flow t mem rank c0 true else None))
  else Some (report Nobody)

(** val closer :
    tables -> (int -> bool -> int -> int) -> int -> bool -> int -> int -> bool **)

let closer t steps c w d h =
  (&&)
    ((&&)
      ((&&) ((&&) (Number.less c t.classes) (Number.less d t.devices))
        ((||) (negb w) (t.outer c))) (Number.less 0 (steps c w d)))
    (Number.less (steps c w d) h)

(** val some : 'a1 list -> bool **)

let some = function
| [] -> false
| _ :: _ -> true

(** val goes_on : tables -> int -> bool -> int -> bool **)

let goes_on t c w d =
  (||) ((||) (t.leaves c d) (some (t.next c d)))
    ((&&) (negb w) (some (t.tunnels c d)))

(** val sure :
    tables -> (int -> bool -> int -> int) -> int -> bool -> int -> int -> bool **)

let sure t steps c w d h =
  (&&)
    ((&&) (goes_on t c w d)
      (forallb (fun o -> closer t steps c w (t.far o) h) (t.next c d)))
    ((||) w
      (forallb (fun u -> closer t steps u.into true d h) (t.tunnels c d)))

(** val arrival :
    tables -> (int -> bool -> int -> int) -> int -> bool -> int -> fault
    option **)

let arrival t steps c w d =
  let blame = fun x -> Some { what = x; of_class = c; at_device = d;
    with_mark = 0 }
  in
  let h = steps c w d in
  if Number.less 0 h
  then if sure t steps c w d h then None else blame Miscounted
  else if (&&) ((&&) (negb w) (t.wanted c)) (t.asks c d)
       then blame Unsure
       else None

(** val check_arrivals :
    tables -> (int -> bool -> int -> int) -> fault option **)

let check_arrivals t steps =
  each t.classes (fun c ->
    match each t.devices (arrival t steps c false) with
    | Some f0 -> Some f0
    | None ->
      if t.outer c then each t.devices (arrival t steps c true) else None)
