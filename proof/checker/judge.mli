
val negb : bool -> bool

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

module Nat :
 sig
 end

module Pos :
 sig
  val succ : Number.positive -> Number.positive

  val compare_cont :
    comparison -> Number.positive -> Number.positive -> comparison

  val compare : Number.positive -> Number.positive -> comparison

  val eqb : Number.positive -> Number.positive -> bool

  val iter_op : ('a1 -> 'a1 -> 'a1) -> Number.positive -> 'a1 -> 'a1

  val to_nat : Number.positive -> int

  val eq_dec : Number.positive -> Number.positive -> bool
 end

module N :
 sig
  val compare : int -> int -> comparison
 end

val concat : 'a1 list list -> 'a1 list

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

module PositiveMap :
 sig
  type key = Number.positive

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  val empty : 'a1 t

  val find : key -> 'a1 t -> 'a1 option

  val mem : key -> 'a1 t -> bool

  val add : key -> 'a1 -> 'a1 t -> 'a1 t
 end

type lane =
| From of int * int
| On of int * int
| To of int * int

val lane_eq_dec : lane -> lane -> bool

type packet = { dest : int; level : int; size : int; born : int }

type wire =
| Nothing
| Link of int
| Host of int

type network = { wired : (int -> int -> wire); far : (int -> int * int);
                 hangs : (int -> int * int); own : (int -> int) }

type tables = { entry : (int -> int -> int);
                vl : (int -> int -> int -> int -> int) }

val no_port : int

val no_lane : int

type fate =
| Forward of lane
| Taken of int
| Lost

val leave : network -> int -> int -> int -> fate

val at_switch : network -> tables -> (int * int) -> int -> int -> fate

val next : network -> tables -> lane -> packet -> fate

val weight : lane -> (lane * int) list -> int

val sizes : (lane * packet) list -> (lane * int) list

type contract =
| Honored
| Directed
| Single of int
| AnyLevel

type levels = { row : (int -> int); table : (int -> int -> int) }

val told : levels -> int -> int -> int

type routing = { entry_of : (int -> int -> int);
                 more_of : (int -> int -> int list);
                 class_of : (int -> int -> int);
                 map_of : (int -> int -> int -> int); maps : int;
                 lane_of : (int -> int -> int); given : levels }

val mapped : routing -> int -> int -> int

val tables_of : routing -> tables

val choices : routing -> int -> int -> int list

val upto : int -> int -> int list

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

val all : ('a1 -> fault option) -> 'a1 list -> fault option

val member : int -> int list -> bool

val insert : int -> int list -> int list

val sixteen : int list

val rep : (int -> int) -> int -> int

val fates :
  network -> routing list -> (int -> int) -> (int * int) -> int -> int ->
  fate list

val rising : (int -> int -> int) -> int -> int -> int -> fate -> wrong option

val first_wrong : (fate -> wrong option) -> fate list -> wrong option

val fine :
  network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
  bool -> int -> int -> int -> fate -> wrong option

val good :
  network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
  bool -> int -> int -> int -> (int * int) -> fate list -> fault option

val onward : fate list -> int list

type seen = Seen.t

val nothing : int -> seen

val has : seen -> (int * int) -> bool

val put : seen -> (int * int) -> seen

val push : int -> int list -> (int * int) list -> (int * int) list

val walk :
  network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
  bool -> int -> int -> int -> (int * int) list -> seen -> fault option

val alike : routing list -> (int -> int) -> int -> int -> bool

val kinds : routing list -> (int -> int) -> (int * int) list

val kind : (int * int) list -> int -> int

val add_kind : (int * int) list -> int -> int list -> int list

val add_kinds : (int * int) list -> int list -> int list -> int list

val same : network -> routing list -> int -> int -> bool

val forward_levels : routing list -> int -> int -> int list

val answers :
  routing list -> (int -> int list) -> (int * int) list -> int -> int list ->
  int list

val begins :
  routing list -> contract -> (int * int) list -> int list -> int -> int ->
  int list -> int list

val fixed_kinds : contract -> (int * int) list -> int list

val without : int -> int list -> int list

val sources :
  network -> routing list -> (int -> int list) -> (int * int) list ->
  contract -> int -> int list -> int list -> int list * int list

val start :
  network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
  bool -> int -> int -> (int * int) -> int list -> (int * int) list -> fault
  option * (int * int) list

val starts :
  network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
  bool -> contract -> (int * int) list -> int list -> int -> int -> (int
  list * int list) list -> (int * int) list -> fault option * (int * int) list

val destination :
  network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
  bool -> int -> contract -> (int * int) list -> int list -> (int list * int
  list) list -> int -> int -> fault option

val endpoint :
  network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
  (int -> int list) -> bool -> int -> contract -> (int * int) list -> int
  list -> (int list * int list) list -> int -> fault option

val group :
  network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
  (int -> int list) -> bool -> int -> contract -> (int * int) list -> int
  list -> int list list -> int list -> fault option

val report : wrong -> fault

val is_group : network -> routing list -> int list -> fault option

val index : int list list -> unit PositiveMap.t

val sends_at_all : routing list -> contract -> int -> int -> int -> bool

val somebody :
  routing list -> (int -> int list) -> contract -> int list -> bool

val check :
  network -> routing list -> (int -> int -> int) -> (int -> int) -> int ->
  (int -> int list) -> bool -> int -> contract -> int list -> int list list
  -> fault option

type sending = { sender : int; on : int; receiver : int; address : int;
                 sl_of : int; after_ : int }

val same_lane : lane -> lane -> bool

val stands : (lane * packet) list -> lane -> bool

val packet_of : sending -> packet

val may_be_used : routing -> (int -> int list) -> contract -> sending -> bool

val may_be_sent :
  routing -> (int -> int list) -> contract -> int list -> sending -> bool

val follow :
  network -> routing -> packet -> lane -> int -> (lane list * lane) option

val one :
  network -> routing -> (int -> int list) -> contract -> int list -> int ->
  (lane * packet) list -> sending -> (lane * packet) list option

val fill :
  network -> routing -> (int -> int list) -> contract -> int list -> int ->
  (lane * packet) list -> sending list -> (lane * packet) list option

val all_blocked :
  network -> routing -> int -> (lane * packet) list -> (lane * packet) list
  -> (lane * packet) list -> bool

val deadlocks :
  network -> routing -> (int -> int list) -> contract -> int list -> int ->
  sending list -> bool
