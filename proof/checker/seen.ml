(* What a walk has seen: service levels by link. The proofs have it as a map that never changes; as each
   walk only uses the last that it made, and one walk ends before the next begins, one array does for
   all of them. A cell is of the walk whose number it has. Trusted, see docs/proof.md. *)

type t = int (* the number of the walk *)

let cells = ref [||] (* [link] number of the walk * 2^16 + service levels as bits *)
let walk = ref 0

let nothing (_ : int) : t =
  incr walk;
  !walk

(* The pair is taken apart inside: OCaml would take it apart and put it together again at every call. *)
let has (s : t) x =
  let link = fst x and level = snd x in
  link < Array.length !cells &&
  let c = Array.unsafe_get !cells link in
  c lsr 16 = s && (c lsr level) land 1 <> 0

let put (s : t) x : t =
  let link = fst x and level = snd x in
  if s <> !walk || level < 0 || level > 15 || link < 0 then invalid_arg "Seen.put";
  if link >= Array.length !cells then begin
    let more = Array.make (max 1024 (2 * (link + 1))) 0 in
    Array.blit !cells 0 more 0 (Array.length !cells);
    cells := more
  end;
  let c = Array.unsafe_get !cells link in
  Array.unsafe_set !cells link ((if c lsr 16 = s then c else s lsl 16) lor (1 lsl level));
  s
