
val negb : bool -> bool

type ('a, 'b) sum =
| Inl of 'a
| Inr of 'b

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val eqb : bool -> bool -> bool

module Pos :
 sig
  val succ : Number.positive -> Number.positive

  val compare_cont :
    comparison -> Number.positive -> Number.positive -> comparison

  val compare : Number.positive -> Number.positive -> comparison

  val eqb : Number.positive -> Number.positive -> bool

  val iter_op : ('a1 -> 'a1 -> 'a1) -> Number.positive -> 'a1 -> 'a1

  val to_nat : Number.positive -> int
 end

module N :
 sig
  val compare : int -> int -> comparison
 end

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

val lossy : int

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

val report : wrong -> fault

val count : int -> int -> (int -> fault option) -> fault option

val each : int -> (int -> fault option) -> fault option

val becomes : tables -> int -> int option -> int -> int -> int

val headers : tables -> int -> bool -> int -> int -> ((int * bool) * int) list

val onward : tables -> int -> bool -> int -> int option -> int -> place list

val sends : tables -> int -> int -> int -> bool

val known : tables -> place -> bool

val inside : tables -> (int -> bool -> int -> int -> bool) -> place -> bool

val on : tables -> place -> int

val lossless : tables -> place -> bool

val lower :
  (int -> int -> int) -> (int * int) option -> int -> int -> (int * int)
  option

val lowest :
  tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) ->
  place list -> (int * int) option -> (wrong, (int * int) option) sum

val here :
  tables -> (int -> bool -> int -> int -> bool) -> int -> bool -> int -> int
  -> int option -> bool

val rising :
  tables -> (int -> int -> int) -> int -> int -> int -> int option -> wrong
  option

val all_rise :
  tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) -> int
  -> bool -> int -> int -> int -> int -> int option list -> wrong option

val group :
  tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) -> int
  -> bool -> int -> int -> int option list -> wrong option

val groups :
  tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) -> int
  -> bool -> int -> int -> int option list list -> fault option

val alike : tables -> int -> int option list list

val flow :
  tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) -> int
  -> bool -> fault option

val is_link : int -> int option -> bool

val is_host : int option -> bool

val wired : tables -> fault option

val same : place -> place -> bool

val follows : tables -> place list -> place list -> bool

val check_ethernet :
  tables -> (int -> bool -> int -> int -> bool) -> (int -> int -> int) -> int
  -> int -> int -> place list -> fault option

val closer :
  tables -> (int -> bool -> int -> int) -> int -> bool -> int -> int -> bool

val some : 'a1 list -> bool

val goes_on : tables -> int -> bool -> int -> bool

val sure :
  tables -> (int -> bool -> int -> int) -> int -> bool -> int -> int -> bool

val arrival :
  tables -> (int -> bool -> int -> int) -> int -> bool -> int -> fault option

val check_arrivals : tables -> (int -> bool -> int -> int) -> fault option
