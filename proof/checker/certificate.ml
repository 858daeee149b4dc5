(* The certificate: contract, endpoints, and a rank for every lane of a link in use. *)

open Fabric

type t = { contract : string; scope : string; lanes : int; rank : Bytes.t; (* 4 * (link * lanes + lane): 0: none, else the rank and 1 *) top : int }

let highest = (1 lsl 31) - 3

let read f file =
  let contract = ref "" and scope = ref "" and lanes = ref 0 and count = ref 0 and top = ref 0 and ended = ref false in
  let rank = ref Bytes.empty in
  let header t =
    match t.Text.number with
    | 1 -> if not (Text.cut t "weft certificate 1" && Text.blank t) then Text.bad t "this is no certificate: its first line is not \"weft certificate 1\""
    | 2 -> if Text.cut t "contract " then contract := Text.rest t else Text.bad t "expected \"contract\""
    | 3 -> if Text.cut t "endpoints " then scope := Text.rest t else Text.bad t "expected \"endpoints\""
    | _ ->
      lanes := if Text.cut t "lanes " then Text.number t 15 else -1;
      if !lanes < 1 || not (Text.blank t) then Text.bad t "expected \"lanes\" and a number from 1 to 15";
      rank := Bytes.make (4 * !lanes * Array.length f.ends) '\000'
  in
  let row t =
    let guid = Text.guid t in
    let field what top = Text.spaces t; let n = Text.number t top in if n < 0 then Text.bad t "no %s up to %d" what top else n in
    let port = field "out-port" 254 in
    let lane = field "lane" (!lanes - 1) in
    let r = field "rank" highest in
    if not (Text.blank t) then Text.bad t "more than a switch GUID, an out-port, a lane and a rank";
    match Hashtbl.find_opt f.by_guid guid with
    | None -> Text.bad t "switch 0x%s is not in %s: this certificate is for another network" guid f.file
    | Some s -> (
      match if port < Array.length f.wired.(s) then f.wired.(s).(port) else Judge.Nothing with
      | Judge.Link c ->
        let i = 4 * ((c * !lanes) + lane) in
        if Bytes.get_int32_ne !rank i <> 0l then Text.bad t "a second rank for port %d, lane %d of %s" port lane (label f s);
        Bytes.set_int32_ne !rank i (Int32.of_int (r + 1));
        incr count;
        top := max !top (r + 2)
      | _ -> Text.bad t "port %d of %s has no cable to another switch: this certificate is for another network" port (label f s))
  in
  let line t =
    if t.Text.number <= 4 then header t
    else if !ended then (if not (Text.blank t) then Text.bad t "the certificate ended before")
    else if Text.blank t || Text.peek t = '#' then ()
    else if Text.cut t "end " then begin
      if Text.number t Text.many <> !count || not (Text.blank t) then Text.bad t "the file has %d ranks, its last line says otherwise" !count;
      ended := true
    end
    else row t
  in
  Text.each file line (fun t ->
    if not !ended then Text.bad t "truncated: the last line of a certificate is \"end\" and the number of ranks");
  { contract = !contract; scope = !scope; lanes = !lanes; rank = !rank; top = max !top 2 }

(* rank is what the proofs take: that of a lane of a link, 0 if it has none. *)
let rank c link lane = if lane < c.lanes then Int32.to_int (Bytes.get_int32_ne c.rank (4 * ((link * c.lanes) + lane))) else 0
