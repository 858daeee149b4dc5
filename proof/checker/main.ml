(* weft-proof: what the proven checker says of a folder of tables. The verdict is Judge.check's, which
   is extracted from proof/theories; all else here reads files and prints. *)

open Fabric

let usage = "usage: weft-proof [--fabric FILE] [--certificate FILE] [--contract C] [--endpoints E] [--json] DIR
       weft-proof --step OLD NEW [--fabric FILE] [--old-fabric FILE] [--certificate FILE] [--json]
       weft-proof --deadlock DIR [--fabric FILE] [--contract C] [--endpoints E] [--json]
       weft-proof --jobs | --cases

DIR is what weft route --out writes: lfts.dump, sl2vl.dump, paths.psl, certificate, and groups.far if
switches choose from groups of ports; the network is
fabric.ibnetdiscover in it, or FILE (weft convert and weft generate write that form). With --step: all
mixtures of the tables of two folders, by NEW/transition.certificate, on the network of NEW; what
OLD's hosts and LIDs were is in the network of OLD, where that is another.
--deadlock: whether packets can come to wait for each other for ever; an order of sending is looked for,
and proven to end so, with buffers of one packet and static ports: where switches choose from groups none is
looked for. C and E are those of DIR/certificate, if not given, and without one any and hca.
DIR may be a lossless Ethernet network, with ethernet.tables and its certificate, as weft verify
--write-proof writes it; C, --fabric, --step and --deadlock are for InfiniBand.
--jobs: arguments with tabs between on each line, an answer in JSON on each line.
--cases: small cases on standard input, a line for each (docs/proof.md).
Exit codes: 0 proven, 1 not proven (--deadlock: no order was found, which proves nothing) or packets lost, 2 usage, 3 bad input, 4 internal error.\n"

exception Usage of string
exception Unwritten of string (* an answer that could not be written *)

(* told writes an answer, whole. *)
let told text = try print_string text; flush stdout with Sys_error e -> raise (Unwritten ("standard output: " ^ e))

type job = {
  mutable fabric : string option;
  mutable old_fabric : string option;
  mutable certificate : string option;
  mutable contract : string option;
  mutable scope : string option;
  mutable json : bool;
  mutable step : bool;
  mutable deadlock : bool;
  mutable dirs : string list; (* the last first *)
}

let parse words =
  let j = { fabric = None; old_fabric = None; certificate = None; contract = None; scope = None; json = false; step = false; deadlock = false; dirs = [] } in
  let rec go = function
    | "--fabric" :: v :: r -> j.fabric <- Some v; go r
    | "--old-fabric" :: v :: r -> j.old_fabric <- Some v; go r
    | "--certificate" :: v :: r -> j.certificate <- Some v; go r
    | "--contract" :: v :: r -> j.contract <- Some v; go r
    | "--endpoints" :: v :: r -> j.scope <- Some v; go r
    | "--json" :: r -> j.json <- true; go r
    | "--step" :: r -> j.step <- true; go r
    | "--deadlock" :: r -> j.deadlock <- true; go r
    | w :: _ when String.length w > 0 && w.[0] = '-' -> raise (Usage (Printf.sprintf "%s: no such flag, or no value behind it" w))
    | w :: r -> j.dirs <- w :: j.dirs; go r
    | [] -> ()
  in
  go words;
  let n = List.length j.dirs in
  if n <> if j.step then 2 else 1 then raise (Usage (Printf.sprintf "%d folders given" n));
  if j.old_fabric <> None && not j.step then raise (Usage "--old-fabric is for --step");
  if j.deadlock && (j.step || j.certificate <> None) then raise (Usage "--deadlock is about one folder, and without a certificate");
  j

let contract_of file text =
  match text with
  | "honored" -> Judge.Honored
  | "directed" -> Judge.Directed
  | "any" -> Judge.AnyLevel
  | _ -> (
    match String.split_on_char ':' text with
    | [ "single"; n ] when (match int_of_string_opt n with Some v -> v >= 0 && v <= 15 && string_of_int v = n | None -> false) -> Judge.Single (int_of_string n)
    | _ -> Text.refuse "%s:2: no contract %S: honored, directed, single:N or any" file text)

let kinds_of file = function
  | "hca" -> [ Adapter ]
  | "ca" -> [ Adapter; Aggregation; Router ]
  | "all" -> [ Adapter; Aggregation; Router; Port0 ]
  | text -> Text.refuse "%s:3: no endpoints %S: hca, ca or all" file text

let range n = List.init n Fun.id

let scope_of f kinds = List.filter (fun e -> List.mem f.endpoints.(e).kind kinds && fst f.endpoints.(e).where >= 0) (range (Array.length f.endpoints))

(* outside is what there is in the network and a verdict is not about, in the words of weft verify. *)
let outside f kinds =
  List.filter_map (fun (kind, name) ->
    let n = Array.fold_left (fun n e -> if e.kind = kind then n + 1 else n) 0 f.endpoints in
    if n = 0 || List.mem kind kinds then None else Some (name, n)) [ (Aggregation, "aggregation nodes"); (Router, "routers") ]

(* groups is a hint: sources that seem to be treated alike. The checker makes sure of it. *)
let groups f tables ends =
  let seen = Hashtbl.create 1024 and keys = ref [] in
  List.iter (fun e ->
    let s, port = f.endpoints.(e).where in
    let key = (s, List.map (fun (t : Tables.t) -> (t.levels.row.(e), t.lanes.class_of.(s).(port))) tables) in
    match Hashtbl.find_opt seen key with
    | Some l -> l := e :: !l
    | None -> let l = ref [ e ] in Hashtbl.add seen key l; keys := l :: !keys) ends;
  List.rev_map (fun l -> List.rev !l) !keys

(* canon is a hint too: the lowest lane with the same ranks everywhere. *)
let canon f (c : Certificate.t) =
  let links = Array.length f.ends in
  let same v w =
    let rec go l = l >= links || (Certificate.rank c l v = Certificate.rank c l w && go (l + 1)) in
    go 0 in
  let lowest = Array.init 15 (fun v -> List.find (same v) (range (v + 1))) in
  fun v -> if v < 15 then lowest.(v) else v

type verdict = { holds : bool; delivers : bool option; why : Judge.fault option }

let network f =
  let net = {
    Judge.wired = (fun s p -> let w = f.wired.(s) in if p < Array.length w then w.(p) else Judge.Nothing);
    far = (fun c -> f.ends.(c));
    hangs = (fun e -> f.endpoints.(e).where);
    own = (fun s -> match Hashtbl.find_opt f.by_port (f.switches.(s).guid, 0) with Some e -> e | None -> -1);
  } in
  let own = Array.init (Array.length f.switches) net.own in
  { net with own = (fun s -> own.(s)) }

let judge f tables more (c : Certificate.t) contract ends ~step =
  let net = network f in
  let lids = Array.map (fun e -> List.init (1 lsl e.lmc) (fun i -> e.lid + i)) f.endpoints in
  let ask must =
    (* What there is to choose from is of all tables together: it is enough to say so of the first. *)
    let routings = List.mapi (fun i t -> Tables.routing (if i = 0 then more else fun _ _ -> []) t) tables in
    Judge.check net routings (Certificate.rank c) (canon f c) c.top (fun e -> lids.(e)) must max_int contract ends (groups f tables ends) in
  if step then (match ask false with None -> { holds = true; delivers = None; why = None } | w -> { holds = false; delivers = None; why = w })
  else
    match ask true with
    | None -> { holds = true; delivers = Some true; why = None }
    | Some { what = Judge.Discards | Judge.Misled _; _ } as lost -> (
      match ask false with
      | None -> { holds = true; delivers = Some false; why = lost }
      | w -> { holds = false; delivers = Some false; why = w })
    | w -> { holds = false; delivers = None; why = w }

let why f (w : Judge.fault) =
  let link c v =
    let s, p = f.begins.(c) in
    Printf.sprintf "%s, port %d, lane %d" (label f s) p v in
  let node e = if e < 0 then "a port 0 without a LID" else Printf.sprintf "node 0x%s, port %d" f.endpoints.(e).node f.endpoints.(e).port in
  let s, port = w.place in
  let where = Printf.sprintf "at %s, from port %d, LID %d, SL %d: " (label f s) port w.lid w.sl in
  match w.what with
  | Judge.Unranked (c, v) -> where ^ "packets go on by " ^ link c v ^ ", which has no rank"
  | Judge.NotRising (c, v, c', v') -> where ^ "the rank does not rise from " ^ link c v ^ " to " ^ link c' v'
  | Judge.Discards -> where ^ "packets are discarded"
  | Judge.Misled e -> where ^ "packets get to " ^ node e ^ ", which has another LID"
  | Judge.Exhausted -> "internal: out of fuel"
  | Judge.Unlike e | Judge.Missed e -> "internal: the groups of sources are wrong at " ^ node e
  | Judge.Nobody -> "no pair of endpoints in scope may send: nothing is proven of any packet"

let quoted s =
  let b = Buffer.create 64 in
  Buffer.add_char b '"';
  let rec go i =
    if i < String.length s then begin
      let n, c = character s i in
      (match s.[i] with
       | '"' | '\\' -> Buffer.add_char b '\\'; Buffer.add_char b s.[i]
       | _ when c < 0 -> Buffer.add_string b "\\ufffd"
       | _ when c < 32 || (c >= 127 && c < 160) -> Printf.bprintf b "\\u%04x" c
       | _ -> Buffer.add_string b (String.sub s i n));
      go (i + n)
    end in
  go 0;
  Buffer.add_char b '"';
  Buffer.contents b

(* whole_levels refuses a file of service levels that lacks pairs. Under other contracts than these no verdict depends on
   them; a file without those of all hosts is cut short all the same. *)
let whole_levels f contract ends (t : Tables.t) =
  let ends = match contract with Judge.Honored | Judge.Directed -> ends | _ -> List.filter (fun e -> f.endpoints.(e).kind = Adapter) ends in
  Tables.complete f (Filename.concat t.folder "paths.psl") t.levels ends

(* assumed says of which files of a folder lines that were lost would not be seen: those without a number of lines. A step
   may not be proven by an entry that was lost; one folder's packets would not arrive, and that is asked. *)
let assumed contract ~step (t : Tables.t) (groups : Groups.t option) =
  let file name what = Filename.concat t.folder name ^ ": " ^ what in
  List.concat [
    if step && not t.forwarding.sized then [ file "lfts.dump" "tables without counts; entries lost from it are not seen" ] else [];
    if (contract = Judge.Honored || contract = Judge.Directed) && not t.levels.sized then [ file "paths.psl" "no number of lines at its end; lines lost from it are not seen" ] else [];
    match groups with Some { sized = false; _ } -> [ file "groups.far" "no number of lines at its end; lines lost from it are not seen" ] | _ -> [] ]

let strings l = "[" ^ String.concat "," (List.map quoted l) ^ "]"

let run j =
  let existing path = if Text.exists path then Some path else None in
  let dir, old = match j.dirs with [ d ] -> (d, None) | [ d; o ] -> (d, Some o) | _ -> assert false in
  let in_folder d = Filename.concat d "fabric.ibnetdiscover" in
  let f = Fabric.read (match j.fabric with Some f -> f | None -> in_folder dir) in
  let file = match j.certificate with Some c -> c | None -> Filename.concat dir (if j.step then "transition.certificate" else "certificate") in
  let c = Certificate.read f file in
  let asked what line have = function
    | Some want when want <> have -> Text.refuse "%s:%d: the certificate is for %s %s, not %s" file line what have want
    | _ -> () in
  asked "contract" 2 c.contract j.contract;
  asked "endpoints" 3 c.scope j.scope;
  let contract = contract_of file c.contract and kinds = kinds_of file c.scope in
  let ends = scope_of f kinds in
  let fresh = Tables.read f Tables.Fresh None dir in
  let before o =
    match j.old_fabric, existing (in_folder o) with
    | Some p, _ | None, Some p -> Tables.Before (Fabric.read p)
    | None, None -> Tables.Unplaced in
  let folders = (match old with None -> [] | Some o -> [ (o, before o) ]) @ [ (dir, Tables.Fresh) ] in
  let tables = List.map (fun (d, age) -> if age = Tables.Fresh then fresh else Tables.read f age (Some fresh) d) folders in
  List.iter (whole_levels f contract ends) tables;
  let groups = List.map2 (Groups.beside f) (List.map snd folders) tables in
  let more = Groups.more f (List.filter_map Fun.id groups) in
  let assumed = List.concat (List.map2 (assumed contract ~step:j.step) tables groups) in
  let trees = List.exists (fun (d, _) -> Text.exists (Filename.concat d "multicast.mcfdbs")) folders in
  let beyond = outside f kinds in
  let v = judge f tables more c contract ends ~step:j.step in
  let reason = Option.map (why f) v.why in
  let b = Buffer.create 256 in
  let finding = not v.holds || v.delivers = Some false in
  if j.json then
    Printf.bprintf b "{\"schema\":\"weft/proof/1\",\"holds\":%b,\"delivers\":%s,\"contract\":%s,\"endpoints\":%s,\"switches\":%d,\"in_scope\":%d,\"step\":%b,\"outside\":%s,\"assumed\":%s,\"why\":%s}\n"
      v.holds (match v.delivers with None -> "null" | Some d -> string_of_bool d) (quoted c.contract) (quoted c.scope)
      (Array.length f.switches) (List.length ends) j.step (strings (List.map fst beyond @ if trees then [ "multicast" ] else [])) (strings assumed) (match reason with None -> "null" | Some r -> quoted r)
  else begin
    Printf.bprintf b "network    %s: %d switches, %d endpoints in scope\n" (printable f.file) (Array.length f.switches) (List.length ends);
    Printf.bprintf b "verdict    %s (contract %s, endpoints %s)%s\n"
      (if v.holds then "proven free of deadlock" else "not proven") c.contract c.scope (if j.step then ", for every mixture of the tables" else "");
    (match v.delivers with
     | Some true -> Buffer.add_string b "packets    all arrive where they are sent\n"
     | Some false -> Buffer.add_string b "packets    not all arrive\n"
     | None -> ());
    List.iter (fun (name, n) ->
      Printf.bprintf b "outside    the packets of %s: %d" name n;
      (match f.uncalled with
       | first :: more when name = "aggregation nodes" ->
         Printf.bprintf b "; 0x%s%s by the device, but not called one" first (if more = [] then " is one" else Printf.sprintf " and %d more are" (List.length more))
       | _ -> ());
      Buffer.add_char b '\n') beyond;
    if trees then Buffer.add_string b "outside    multicast.mcfdbs: this is about unicast alone\n";
    List.iter (fun a -> Printf.bprintf b "assumed    %s\n" (printable a)) assumed;
    match reason with Some r -> Printf.bprintf b "why        %s\n" (printable r) | None -> ()
  end;
  (Buffer.contents b, if (match v.why with Some { what = Judge.Exhausted | Judge.Unlike _ | Judge.Missed _; _ } -> true | _ -> false) then 4 else if finding then 1 else 0)

(* ethernet is weft-proof of a folder with ethernet.tables. *)
let ethernet j dir =
  let refuse flag = raise (Usage (Printf.sprintf "%s is for InfiniBand, and %s is a lossless Ethernet network (%s)" flag dir Ethernet.tables_file)) in
  if j.step then refuse "--step";
  if j.deadlock then refuse "--deadlock";
  if j.fabric <> None then refuse "--fabric";
  if j.contract <> None then refuse "--contract";
  let f = Ethertables.read (Filename.concat dir Ethernet.tables_file) in
  let file = match j.certificate with Some c -> c | None -> Filename.concat dir "certificate" in
  let c = Ethernet.certificate f file in
  (match j.scope with
   | Some want when want <> c.scope -> Text.refuse "%s:2: the certificate is for endpoints %s, not %s" file c.scope want
   | _ -> ());
  let v = Ethernet.judge f c in
  let reasons = List.map (Ethernet.why f) v.faults in
  let devices = Array.length f.names and cables = Array.length f.far / 2 and prefixes = Array.fold_left (fun n p -> n + List.length p) 0 f.prefixes in
  let beyond = Ethernet.beyond f c.scope in
  let b = Buffer.create 256 in
  if j.json then
    Printf.bprintf b "{\"schema\":\"weft/proof/1\",\"holds\":%b,\"delivers\":%b,\"network\":\"ethernet\",\"endpoints\":%s,\"devices\":%d,\"cables\":%d,\"prefixes\":%d,\"step\":false,\"outside\":%s,\"why\":%s}\n"
      v.holds v.delivers (quoted c.scope) devices cables prefixes (strings (if beyond > 0 then [ "prefixes without hosts" ] else []))
      (if reasons = [] then "null" else quoted (String.concat "; " reasons))
  else begin
    Printf.bprintf b "network    %s: %d devices, %d cables, %d prefixes\n" (printable f.file) devices cables prefixes;
    Printf.bprintf b "verdict    %s (endpoints %s), whatever next hops are chosen\n" (if v.holds then "proven free of deadlock under priority flow control" else "not proven") c.scope;
    Printf.bprintf b "packets    %s\n" (if v.delivers then "all arrive where they are sent, by every choice of next hops" else "not all arrive by every choice of next hops");
    if beyond > 0 then Printf.bprintf b "outside    the packets to prefixes without hosts: %d\n" beyond;
    List.iteri (fun i reason -> Printf.bprintf b "%s%s\n" (if i = 0 then "why        " else "           ") (printable reason)) reasons
  end;
  (Buffer.contents b, if List.exists Ethernet.internal v.faults then 4 else if v.holds && v.delivers then 0 else 1)

(* deadlock is weft-proof --deadlock. *)
let deadlock j =
  let dir = List.hd j.dirs in
  let f = Fabric.read (match j.fabric with Some f -> f | None -> Filename.concat dir "fabric.ibnetdiscover") in
  (* The certificate of the folder says what its tables were made for. Its ranks are not asked. *)
  let file = Filename.concat dir "certificate" in
  let own = if Text.exists file then Some (Certificate.read f file) else None in
  let contract_text, contract_from = match j.contract, own with
    | Some c, _ -> (c, "flag")
    | None, Some c -> ignore (contract_of file c.Certificate.contract); (c.Certificate.contract, "certificate")
    | None, None -> ("any", "default") in
  let scope, scope_from = match j.scope, own with
    | Some s, _ -> (s, "flag")
    | None, Some c -> ignore (kinds_of file c.Certificate.scope); (c.Certificate.scope, "certificate")
    | None, None -> ("hca", "default") in
  let contract = (try contract_of "" contract_text with Text.Bad _ -> raise (Usage ("no contract " ^ contract_text ^ ": honored, directed, single:N or any")))
  and kinds = (try kinds_of "" scope with Text.Bad _ -> raise (Usage ("no endpoints " ^ scope ^ ": hca, ca or all"))) in
  let ends = scope_of f kinds in
  let t = Tables.read f Tables.Fresh None dir in
  whole_levels f contract ends t;
  let lids = Array.map (fun e -> List.init (1 lsl e.lmc) (fun i -> e.lid + i)) f.endpoints in
  (* Where switches choose, the packets of an order may go elsewhere, and need not stand for ever: what is
     proven is about tables with one port for each entry. *)
  let chosen = match Groups.beside f Tables.Fresh t with None -> false | Some g -> Groups.chooses f t.forwarding (Groups.more f [ g ]) in
  let found = if chosen then None else Witness.find (network f) (Tables.routing (fun _ _ -> []) t) (fun e -> lids.(e)) contract ends ~blocks:1 in
  let b = Buffer.create 256 in
  let each form = List.map (fun ((c, v), (w : Witness.standing)) ->
    let s, p = f.begins.(c) in
    form s p v f.endpoints.(w.way.sender) w.way.address w.way.sl_of) (Option.value ~default:[] found) in
  if j.json then
    Printf.bprintf b "{\"schema\":\"weft/proof/1\",\"deadlocks\":%b,\"contract\":%s,\"contract_from\":%s,\"endpoints\":%s,\"endpoints_from\":%s,\"switches\":%d,\"in_scope\":%d,\"outside\":%s,\"waiting\":[%s]}\n"
      (found <> None) (quoted contract_text) (quoted contract_from) (quoted scope) (quoted scope_from) (Array.length f.switches) (List.length ends)
      (strings (if chosen then [ "groups of ports" ] else []))
      (String.concat "," (each (fun s p v e lid sl ->
        Printf.sprintf "{\"switch\":\"0x%s\",\"port\":%d,\"vl\":%d,\"sender\":\"0x%s\",\"lid\":%d,\"sl\":%d}" f.switches.(s).guid p v e.node lid sl)))
  else begin
    Printf.bprintf b "network    %s: %d switches, %d endpoints in scope\n" (printable f.file) (Array.length f.switches) (List.length ends);
    Printf.bprintf b "verdict    %s (contract %s, endpoints %s)\n"
      (if found = None then "no deadlock shown, which proves nothing" else "proven to deadlock, with buffers of one packet") contract_text scope;
    if contract_from = "certificate" || scope_from = "certificate" then
      Printf.bprintf b "assumed    %s of %s\n" (if contract_from <> "certificate" then "endpoints" else if scope_from <> "certificate" then "contract" else "contract and endpoints")
        (printable (Filename.concat dir "certificate"));
    if chosen then Buffer.add_string b "outside    groups.far: switches choose from groups of ports, and an order is proven for static ports alone\n";
    List.iteri (fun i line -> Printf.bprintf b "%s%s\n" (if i = 0 then "order      " else "           ") (printable line))
      (each (fun s p v e lid sl -> Printf.sprintf "node 0x%s sends to LID %d on SL %d; the packet stands at %s, port %d, lane %d" e.node lid sl (label f s) p v))
  end;
  (Buffer.contents b, if found = None then 1 else 0)

let run j =
  match List.find_opt (fun d -> Text.exists (Filename.concat d Ethernet.tables_file)) j.dirs with
  | Some d -> ethernet j d
  | None -> if j.deadlock then deadlock j else run j

let guarded f fail =
  try f () with
  | Text.Bad e -> fail e 3
  | Usage e -> fail e 2
  | Unwritten e -> fail e 4
  | Sys_error e -> fail e 3
  | Stack_overflow -> fail "out of stack" 4
  | Out_of_memory -> fail "out of memory" 4
  | e -> fail ("internal: " ^ Printexc.to_string e) 4

let rec jobs () =
  match input_line stdin with
  | exception End_of_file -> 0
  | line ->
    told (guarded
      (fun () -> let j = parse (String.split_on_char '\t' line) in j.json <- true; fst (run j))
      (fun e code -> Printf.sprintf "{\"schema\":\"weft/proof/1\",\"error\":%s,\"code\":%d}\n" (quoted e) code));
    jobs ()

let () =
  (* What is made lives shortly: a larger nursery spares the collector work. *)
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 18; space_overhead = 200 };
  let fail e code = prerr_endline ("weft-proof: " ^ printable e); if code = 2 then prerr_string ("\n" ^ usage); code in
  exit (guarded
    (fun () ->
      match List.tl (Array.to_list Sys.argv) with
      | [ "--jobs" ] -> jobs ()
      | [ "--cases" ] -> Cases.run (fun line -> told (line ^ "\n"))
      | [ "--help" ] | [ "-h" ] -> told usage; 0
      | words -> let out, code = run (parse words) in told out; code)
    fail)
