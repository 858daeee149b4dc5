(* Files, line by line, with errors that name file and line. *)

exception Bad of string (* input that is not as it should be *)

type t = {
  file : string;
  input : in_channel;
  buffer : Bytes.t;
  mutable from : int; (* what is left in the buffer: from, up to filled *)
  mutable filled : int;
  mutable number : int; (* of the line at hand *)
  mutable at : int; (* the cursor within it *)
  mutable stop : int; (* its end *)
  mutable ended : bool; (* all lines so far end with a newline *)
}

let longest = 1 lsl 16 (* bytes of a line *)
let many = 1 lsl 40 (* more than there are of anything; ten times that is no overflow *)
(* At the end of a file the line is the last one; an empty file has its first. *)
let bad t form = Printf.ksprintf (fun s -> raise (Bad (Printf.sprintf "%s:%d: %s" t.file (max t.number 1) s))) form
let refuse form = Printf.ksprintf (fun s -> raise (Bad s)) form

external eight : Bytes.t -> int -> int64 = "%caml_bytes_get64u"

let rec newline_soon b i stop = if i >= stop then -1 else if Bytes.unsafe_get b i = '\n' then i else newline_soon b (i + 1) stop

(* newline finds the end of a line, eight bytes at a time: one of them is a newline if, with newlines made 0,
   taking 1 from each borrows. Files of gigabytes are read here. *)
let rec newline b i stop =
  if i + 8 <= stop
     && (let x = Int64.logxor (eight b i) 0x0A0A0A0A0A0A0A0AL in
         Int64.logand (Int64.logand (Int64.sub x 0x0101010101010101L) (Int64.lognot x)) 0x8080808080808080L = 0L)
  then newline b (i + 8) stop
  else newline_soon b i stop

(* next moves to the next line; false at the end of the file. *)
let rec next t =
  match newline t.buffer t.from t.filled with
  | -1 ->
    let rest = t.filled - t.from in
    if rest > longest then (t.number <- t.number + 1; bad t "a line of more than %d bytes" longest);
    Bytes.blit t.buffer t.from t.buffer 0 rest;
    let got = input t.input t.buffer rest (Bytes.length t.buffer - rest) in
    t.from <- 0;
    t.filled <- rest + got;
    if got > 0 then next t
    else if rest = 0 then false
    else (line t rest; t.from <- rest; t.ended <- false; true)
  | i ->
    if i - t.from > longest then (t.number <- t.number + 1; bad t "a line of more than %d bytes" longest);
    line t i;
    t.from <- i + 1;
    true

and line t stop =
  t.number <- t.number + 1;
  t.at <- t.from;
  t.stop <- if stop > t.from && Bytes.get t.buffer (stop - 1) = '\r' then stop - 1 else stop

(* lines reads a channel with f, a line at a time, and ends with what finish says of the end. *)
let lines input file f finish =
  let t = { file; input; buffer = Bytes.create (1 lsl 18); from = 0; filled = 0; number = 0; at = 0; stop = 0; ended = true } in
  (try while next t do f t done with Sys_error e -> refuse "%s: %s" file e);
  finish t

(* exists says whether a folder has something of a name, a link that leads nowhere included: what cannot be
   opened is then refused, and never taken for absent. *)
let exists path =
  match Unix.lstat path with
  | _ -> true
  | exception Unix.Unix_error (Unix.ENOENT, _, _) -> false
  | exception Unix.Unix_error (e, _, _) -> refuse "%s: %s" path (Unix.error_message e)

(* opened opens a file. A pipe on the disk, for which nobody may ever write, is refused and not waited for; what the
   caller's own shell hands over, as /dev/stdin or <(…), is read whatever it is. *)
let opened file =
  let handed = List.exists (fun p -> String.length file >= String.length p && String.sub file 0 (String.length p) = p) [ "/dev/stdin"; "/dev/fd/" ] in
  match
    let d = Unix.openfile file (if handed then [ Unix.O_RDONLY ] else [ Unix.O_RDONLY; Unix.O_NONBLOCK ]) 0 in
    let kind = (Unix.fstat d).Unix.st_kind in
    if kind = Unix.S_DIR || (kind <> Unix.S_REG && not handed) then (Unix.close d; refuse "%s: %s" file (if kind = Unix.S_DIR then "a folder, where a file is expected" else "no regular file"));
    Unix.in_channel_of_descr d
  with
  | input -> set_binary_mode_in input true; input
  | exception Unix.Unix_error (e, _, _) -> refuse "%s: %s" file (Unix.error_message e)

(* each does that with a file. Of a last line without its end more may have been there: of 12 the 1 alone. *)
let each file f finish =
  let whole t =
    let all = finish t in
    if not t.ended then bad t "truncated: the last line has no newline at its end";
    all in
  let input = opened file in
  Fun.protect ~finally:(fun () -> close_in input) (fun () -> lines input file f whole)

let rest t = Bytes.sub_string t.buffer t.at (t.stop - t.at)

(* shown is the rest of a line for an error, which need not be long. *)
let shown t = let s = rest t in if String.length s <= 80 then s else String.sub s 0 80 ^ "…"
let at_end t = t.at >= t.stop
let peek t = if at_end t then '\000' else Bytes.unsafe_get t.buffer t.at
let is_space c = c = ' ' || c = '\t'
let rec spaces t = if is_space (peek t) then (t.at <- t.at + 1; spaces t)
let blank t = spaces t; at_end t

(* cut takes a word off the line if it begins with it. *)
let cut t word =
  let n = String.length word in
  let rec same i = i >= n || (Bytes.unsafe_get t.buffer (t.at + i) = String.unsafe_get word i && same (i + 1)) in
  if t.at + n <= t.stop && same 0 then (t.at <- t.at + n; true) else false

(* number takes a decimal number off the line; -1: there is none, or it is above top. *)
let number t top =
  let rec go n i =
    match if i < t.stop then Bytes.unsafe_get t.buffer i else ' ' with
    | '0' .. '9' as c when n <= top -> go ((10 * n) + Char.code c - 48) (i + 1)
    | _ -> let some = i > t.at in t.at <- i; if some && n <= top then n else -1
  in
  go 0 t.at

let digit c =
  match c with
  | '0' .. '9' -> Char.code c - 48
  | 'a' .. 'f' -> Char.code c - 87
  | 'A' .. 'F' -> Char.code c - 55
  | _ -> -1

(* count takes the number of lines that a file is said to have off its last line, and refuses it if there are others. *)
let count t have ~ended what =
  let n = number t many in
  if n < 0 || not (blank t) then bad t "no number behind #end";
  if ended || n <> have then bad t "the file has %d %s, its last line says %d: some are lost, or are of another file" have what n

(* hex takes a hexadecimal number of at most 12 digits; -1: there is none. *)
let hex t =
  let rec go n i =
    let d = if i < t.stop then digit (Bytes.unsafe_get t.buffer i) else -1 in
    if d >= 0 && i - t.at < 12 then go ((16 * n) + d) (i + 1)
    else (let some = i > t.at in t.at <- i; if some then n else -1)
  in
  go 0 t.at

(* guid takes a GUID of 1 to 16 hexadecimal digits, with 0x or without, as 16 of them. *)
let guid t =
  ignore (cut t "0x");
  let begin_ = t.at in
  while t.at < t.stop && digit (Bytes.unsafe_get t.buffer t.at) >= 0 do t.at <- t.at + 1 done;
  let n = t.at - begin_ in
  if n = 0 || n > 16 then bad t "no GUID of 1 to 16 hexadecimal digits where one is expected";
  String.make (16 - n) '0' ^ String.lowercase_ascii (Bytes.sub_string t.buffer begin_ n)

(* same takes the rest of the line off it, if it is a text. *)
external eight_of : string -> int -> int64 = "%caml_string_get64u"

let same t text =
  let n = String.length text in
  let rec go i =
    if i + 8 <= n then Int64.equal (eight t.buffer (t.at + i)) (eight_of text i) && go (i + 8)
    else i >= n || (Bytes.unsafe_get t.buffer (t.at + i) = String.unsafe_get text i && go (i + 1)) in
  if t.stop - t.at = n && go 0 then (t.at <- t.stop; true) else false

(* until takes what stands before a character off the line, and the character. *)
let until t c =
  match Bytes.index_from_opt t.buffer t.at c with
  | Some i when i < t.stop -> let s = Bytes.sub_string t.buffer t.at (i - t.at) in t.at <- i + 1; s
  | _ -> bad t "no %C where one is expected" c
