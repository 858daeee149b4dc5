(** The checker in OCaml. Numbers of type N become OCaml's (63 bits; the shell hands over none above
    2^31), and so does the fuel; positive numbers stay as they are defined, which is what makes the maps
    of the proofs quick. What is written here by hand is trusted: see docs/proof.md. *)

From Coq Require Import NArith PeanoNat Extraction ExtrOcamlBasic.
From WeftProof Require Import Checker Witness.
From WeftProof Require EthernetChecker.

Extract Inductive nat => "int" [ "0" "Stdlib.succ" ] "(fun none more n -> if n <= 0 then none () else more (n - 1))".
Extract Inductive N => "int" [ "0" "Number.of_positive" ] "(fun zero pos n -> if n = 0 then zero () else pos (Number.to_positive n))".
Extract Inlined Constant N.eqb => "Number.equal".
Extract Inlined Constant N.ltb => "Number.less".
Extract Inlined Constant N.succ => "Stdlib.succ".
Extract Inlined Constant N.to_nat => "Number.same".
Extract Inlined Constant N.succ_pos => "Number.succ_positive".

Extract Inductive positive => "Number.positive" [ "Number.XI" "Number.XO" "Number.XH" ].

(* What has been seen on the way to a LID: kept in place, as the walk uses the last of it alone. *)
Extract Constant seen => "Seen.t".
Extract Constant nothing => "Seen.nothing".
Extract Constant has => "Seen.has".
Extract Constant put => "Seen.put".

(* OCaml would put a pair together and take it apart again at every call of a function of its own making. *)
Extract Inlined Constant fst => "Stdlib.fst".
Extract Inlined Constant snd => "Stdlib.snd".

Extract Inlined Constant PeanoNat.Nat.leb => "Number.at_most".
Extract Inlined Constant Init.Nat.leb => "Number.at_most".
Extract Inlined Constant Init.Nat.add => "Number.plus".
Extract Inlined Constant N.eq_dec => "Number.equal".

Extraction "checker/judge.ml" check deadlocks.
Extraction "checker/ethernetjudge.ml" EthernetChecker.check_ethernet EthernetChecker.check_arrivals.
