(* Numbers as the proofs have them (positive) and as OCaml has them: trusted, see docs/proof.md. *)

type positive = XI of positive | XO of positive | XH

let of_positive p =
  let n = ref 0 and bit = ref 1 and p = ref p in
  while !p != XH do
    (match !p with
     | XI q -> n := !n lor !bit; p := q
     | XO q -> p := q
     | XH -> ());
    bit := !bit lsl 1
  done;
  !n lor !bit

let rec to_positive n = if n <= 1 then XH else if n land 1 = 0 then XO (to_positive (n lsr 1)) else XI (to_positive (n lsr 1))
let succ_positive n = to_positive (n + 1)
let equal (a : int) b = a = b
let less (a : int) b = a < b
let same (n : int) = n
let at_most (a : int) b = a <= b
let plus (a : int) b = a + b
