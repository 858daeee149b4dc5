(* The network of an ibnetdiscover file: switches, cables, and endpoints with their LIDs. *)

type kind = Adapter | Aggregation | Router | Port0

type switch = { guid : string; name : string; ports : int; line : int }

type endpoint = {
  node : string;
  port : int; (* 0: of a switch *)
  kind : kind;
  lid : int;
  lmc : int;
  where : int * int; (* the switch and port where its packets come in; switch -1: none *)
}

type t = {
  file : string;
  switches : switch array;
  by_guid : (string, int) Hashtbl.t; (* switches *)
  nodes : (string, char) Hashtbl.t; (* by GUID: S, H or R *)
  endpoints : endpoint array;
  by_port : (string * int, int) Hashtbl.t; (* endpoints *)
  uncalled : string list; (* GUIDs of aggregation nodes by their device, whose name says nothing of it *)
  owner : int array; (* by LID: an endpoint, or -1 *)
  wired : Judge.wire array array; (* by switch and port *)
  ends : (int * int) array; (* of a link, by its number from 1: the switch and port where it ends *)
  begins : (int * int) array; (* likewise, where it begins *)
}

let top_lid = 0xBFFF
let last e = e.lid + (1 lsl e.lmc) - 1

type raw = {
  mutable guid_ : string;
  mutable what : char; (* S, H or R; space: none yet *)
  mutable vendor : int;
  mutable device : int;
  mutable kind_ : kind;
  mutable nports : int;
  mutable attributes : bool; (* some stand above, and no node since *)
}

(* node_id takes "S-0002c90100000000" off a line. *)
let node_id t =
  if not (Text.cut t "\"") then Text.bad t "no identifier of a node in quotes";
  let kind = Text.peek t in
  if kind <> 'S' && kind <> 'H' && kind <> 'R' then Text.bad t "no identifier of a node that begins with S-, H- or R-";
  t.Text.at <- t.Text.at + 1;
  if not (Text.cut t "-") then Text.bad t "no identifier of a node like \"S-0002c90100000000\"";
  let guid = Text.guid t in
  if not (Text.cut t "\"") then Text.bad t "an identifier of a node goes on behind its GUID";
  (kind, guid)

(* bracketed takes a GUID in round brackets off a line. *)
let bracketed t = ignore (Text.guid t); if not (Text.cut t ")") then Text.bad t "no GUID in the round brackets"

(* port_number takes a port off a line. What stands in brackets behind that of an adapter is its GUID, unless it is a label, as (1/1/1). *)
let port_number t ~adapter =
  if not (Text.cut t "[") then Text.bad t "no port number in square brackets";
  let n = Text.number t 254 in
  if n <= 0 || not (Text.cut t "]") then Text.bad t "no port number from 1 to 254 in square brackets";
  if Text.cut t "[ext" then ignore (Text.until t ']');
  let rec marks some =
    if Text.cut t "(" then begin
      let at = t.Text.at in
      let mark = Text.until t ')' in
      if adapter && not some && Text.peek t <> '(' && not (String.contains mark '/') then (t.Text.at <- at; bracketed t);
      marks true
    end in
  marks false;
  n

let lid_and_lmc t =
  if not (Text.cut t "lid ") then Text.bad t "no LID (\"lid\" and a number)";
  let lid = Text.number t 0xFFFF in
  if lid < 1 || lid > top_lid then Text.bad t "a LID that is not from 1 to %d" top_lid;
  Text.spaces t;
  if not (Text.cut t "lmc ") then Text.bad t "no LMC behind the LID";
  let lmc = Text.number t 7 in
  if lmc < 0 then Text.bad t "no LMC from 0 to 7";
  if lid + (1 lsl lmc) - 1 > top_lid then Text.bad t "LIDs above %d" top_lid;
  (lid, lmc)

type reader = {
  mutable switches_ : switch list;
  mutable ends_ : endpoint list;
  mutable uncalled_ : string list;
  cables : (string * int, string * int * int * char) Hashtbl.t; (* port: what is at the other end, the line, and S, H or R *)
  all : (string, char) Hashtbl.t;
  raw : raw;
}

let contains text part =
  let n = String.length part in
  let rec from i = i + n <= String.length text && (String.sub text i n = part || from (i + 1)) in
  from 0

let node_line r t kind =
  Text.spaces t;
  let n = Text.number t 254 in
  if n < 0 then Text.bad t "no number of ports up to 254";
  Text.spaces t;
  let what, guid = node_id t in
  if Hashtbl.mem r.all guid then Text.bad t "a second record of node 0x%s" guid;
  if what <> (match kind with `Switch -> 'S' | `Ca -> 'H' | `Rt -> 'R') then Text.bad t "node 0x%s is of another kind than its identifier says" guid;
  Hashtbl.add r.all guid what;
  let raw = r.raw in
  raw.guid_ <- guid;
  raw.what <- what;
  raw.nports <- n;
  raw.kind_ <- (match kind with `Rt -> Router | `Switch -> Port0 | `Ca -> if raw.vendor = 0x2c9 && raw.device = 0xcf09 then Aggregation else Adapter);
  raw.attributes <- false;
  raw.vendor <- 0;
  raw.device <- 0;
  if raw.kind_ = Aggregation && not (contains (Text.rest t) "Aggregation Node") then r.uncalled_ <- guid :: r.uncalled_;
  if kind = `Switch then begin
    Text.spaces t;
    if not (Text.cut t "#") then Text.bad t "a switch without a name, LID and LMC behind #";
    Text.spaces t;
    if not (Text.cut t "\"") then Text.bad t "a switch without a name in quotes";
    (* A name may have quotes: the last one ends it. *)
    let text = Text.rest t in
    let quote = try String.rindex text '"' with Not_found -> Text.bad t "a name without its last quote" in
    let name = String.sub text 0 quote in
    t.Text.at <- t.Text.at + quote + 1;
    Text.spaces t;
    if not (Text.cut t "base" || Text.cut t "enhanced") then Text.bad t "no \"base port 0\" or \"enhanced port 0\" behind the name";
    if not (Text.cut t " port 0 ") then Text.bad t "no \"port 0\" behind the name";
    let lid, lmc = lid_and_lmc t in
    r.switches_ <- { guid; name; ports = n; line = t.Text.number } :: r.switches_;
    r.ends_ <- { node = guid; port = 0; kind = Port0; lid; lmc; where = (-1, 0) } :: r.ends_
  end

(* far_end looks at what a line says of the other end: a name in quotes, which may have quotes, a LID and the rate. *)
let far_end t =
  Text.spaces t;
  if Text.cut t "\"" then begin
    let text = Text.rest t in
    let quote = try String.rindex text '"' with Not_found -> Text.bad t "the name of the peer has no closing quote" in
    t.Text.at <- t.Text.at + quote + 1;
    Text.spaces t;
    if Text.cut t "lid " && Text.number t 0xFFFF < 0 then Text.bad t "no LID from 0 to 65535 behind \"lid\""
  end

let port_line r t =
  let raw = r.raw in
  if raw.what = ' ' then Text.bad t "a port before the first node";
  if raw.attributes then Text.bad t "a port behind the attributes of a node, and no record of the node between";
  let port = port_number t ~adapter:(raw.kind_ <> Port0) in
  if port > raw.nports then Text.bad t "port %d of a node with %d" port raw.nports;
  Text.spaces t;
  let what, peer = node_id t in
  let peer_port = port_number t ~adapter:(what <> 'S') in
  if Hashtbl.mem r.cables (raw.guid_, port) then Text.bad t "a second record of port %d" port;
  Hashtbl.add r.cables (raw.guid_, port) (peer, peer_port, t.Text.number, what);
  Text.spaces t;
  let more = Text.cut t "#" in
  if raw.kind_ <> Port0 then begin
    if not more then Text.bad t "a port of an adapter without its LID and LMC behind #";
    Text.spaces t;
    let lid, lmc = lid_and_lmc t in
    r.ends_ <- { node = raw.guid_; port; kind = raw.kind_; lid; lmc; where = (-1, 0) } :: r.ends_
  end;
  if more then far_end t

(* An identity of the hardware: a number of 32 bits, and nothing else. *)
let identity r t =
  let v = Text.hex t in
  if v < 0 || v > 0xFFFFFFFF || not (Text.blank t || Text.peek t = '#') then Text.bad t "no hexadecimal number behind the =, or one that is too large";
  r.raw.attributes <- true;
  v

(* A GUID, and in brackets that of the port; nothing depends on them, but a file that is damaged here may be elsewhere. *)
let guid_line r t =
  ignore (Text.guid t);
  if Text.cut t "(" then bracketed t;
  if not (Text.blank t || Text.peek t = '#') then Text.bad t "more than a GUID behind the =";
  r.raw.attributes <- true

let line r t =
  if Text.blank t then ()
  else if Text.peek t = '[' then port_line r t
  else if Text.cut t "vendid=0x" then r.raw.vendor <- identity r t
  else if Text.cut t "devid=0x" then r.raw.device <- identity r t
  else if Text.cut t "Switch" then node_line r t `Switch
  else if Text.cut t "Ca" && Text.is_space (Text.peek t) then node_line r t `Ca
  else if Text.cut t "Rt" && Text.is_space (Text.peek t) then node_line r t `Rt
  else if Text.cut t "sysimgguid=" || Text.cut t "switchguid=" || Text.cut t "caguid=" || Text.cut t "guid=" || Text.cut t "rtguid=" then guid_line r t
  else if Text.peek t = '#' then ()
  else Text.bad t "not as ibnetdiscover writes it: %s" (Text.shown t)

(* owners says who has each LID. *)
let owners file (endpoints : endpoint array) =
  let owner = Array.make (top_lid + 1) (-1) in
  Array.iteri (fun i (e : endpoint) ->
    for l = e.lid to last e do
      if owner.(l) >= 0 then Text.refuse "%s: LID %d is given twice, to node 0x%s and to node 0x%s" file l endpoints.(owner.(l)).node e.node;
      owner.(l) <- i
    done) endpoints;
  owner

let build t r =
  let file = t.Text.file in
  let switches = Array.of_list (List.rev r.switches_) in
  if Array.length switches = 0 then Text.bad t "no switch in it";
  let by_guid = Hashtbl.create 1024 in
  Array.iteri (fun i s -> Hashtbl.add by_guid s.guid i) switches;
  Hashtbl.iter (fun (node, port) (peer, peer_port, line, what) ->
    if Hashtbl.find_opt r.all peer <> Some what then Text.refuse "%s:%d: a cable to node 0x%s, which is not in the file, or of another kind" file line peer;
    match Hashtbl.find_opt r.cables (peer, peer_port) with
    | Some (n, p, _, _) when n = node && p = port -> ()
    | _ -> Text.refuse "%s:%d: a cable to port %d of node 0x%s, which says nothing of it" file line peer_port peer) r.cables;
  let where (e : endpoint) =
    if e.kind = Port0 then (Hashtbl.find by_guid e.node, 0)
    else
      let peer, port, _, _ = Hashtbl.find r.cables (e.node, e.port) in
      match Hashtbl.find_opt by_guid peer with Some s -> (s, port) | None -> (-1, 0)
  in
  let endpoints = Array.of_list (List.rev_map (fun e -> { e with where = where e }) r.ends_) in
  let by_port = Hashtbl.create 1024 in
  Array.iteri (fun i (e : endpoint) -> Hashtbl.add by_port (e.node, e.port) i) endpoints;
  let links = ref [] and count = ref 0 in
  let wire s guid port =
    match Hashtbl.find_opt r.cables (guid, port) with
    | None -> Judge.Nothing
    | Some (peer, peer_port, line, _) -> (
      match Hashtbl.find_opt by_guid peer with
      | Some to_ ->
        incr count;
        links := ((s, port), (to_, peer_port)) :: !links;
        if peer_port > switches.(to_).ports then Text.refuse "%s:%d: port %d of a switch with %d" file line peer_port switches.(to_).ports;
        Judge.Link !count
      | None -> Judge.Host (Hashtbl.find by_port (peer, peer_port)))
  in
  let wired = Array.mapi (fun s sw -> Array.init (sw.ports + 1) (fun p -> if p = 0 then Judge.Nothing else wire s sw.guid p)) switches in
  let links = Array.of_list (List.rev !links) in
  let from_one f = Array.init (!count + 1) (fun c -> if c = 0 then (-1, -1) else f links.(c - 1)) in
  { file; switches; by_guid; nodes = r.all; endpoints; by_port; uncalled = List.rev r.uncalled_; owner = owners file endpoints; wired; begins = from_one fst; ends = from_one snd }

let read file =
  let raw = { guid_ = ""; what = ' '; vendor = 0; device = 0; kind_ = Adapter; nports = 0; attributes = false } in
  let r = { switches_ = []; ends_ = []; uncalled_ = []; cables = Hashtbl.create 1024; all = Hashtbl.create 1024; raw } in
  Text.each file (line r) (fun t -> build t r)

(* character looks at what begins at a byte of a text: how long it is, and its number in Unicode; -1: no UTF-8. *)
let character text i =
  let byte k = if i + k < String.length text then Char.code text.[i + k] else 0 in
  let more k = if byte k land 0xC0 = 0x80 then byte k land 0x3F else -1 in
  let b = byte 0 in
  let long n lead least =
    let rec go k c = if k = n then c else let m = more k in if m < 0 then -1 else go (k + 1) ((c lsl 6) lor m) in
    let c = go 1 lead in
    if c < least || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) then (1, -1) else (n, c) in
  if b < 0x80 then (1, b)
  else if b land 0xE0 = 0xC0 then long 2 (b land 0x1F) 0x80
  else if b land 0xF0 = 0xE0 then long 3 (b land 0x0F) 0x800
  else if b land 0xF8 = 0xF0 then long 4 (b land 0x07) 0x10000
  else (1, -1)

(* printable shows what is not to reach a terminal as \u001b: control characters, those that turn the
   direction of writing or cannot be seen, and what is no UTF-8. *)
let printable text =
  let b = Buffer.create (String.length text) in
  let rec go i =
    if i < String.length text then begin
      let n, c = character text i in
      if c < 0 then Printf.bprintf b "\\u%04x" (Char.code text.[i])
      else if c < 32 || (c >= 127 && c < 160) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c = 0xFEFF
      then Printf.bprintf b "\\u%04x" c
      else Buffer.add_string b (String.sub text i n);
      go (i + n)
    end in
  go 0;
  Buffer.contents b

(* label names a switch for people. *)
let label f s = Printf.sprintf "%s (0x%s)" f.switches.(s).name f.switches.(s).guid
